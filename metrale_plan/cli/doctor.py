"""`doctor`: its parameters, and how its finding is printed."""

from typing import Annotated, Optional

from metrale_plan.cli.declare import Option
from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.options import Over, Probe, Samples

Record = Annotated[
    Optional[str],
    Option("--record", metavar="FILE", help="Save the raw readings in a new file, to replay with --probe."),
]
GpuOrdinal = Annotated[
    Optional[int], Option("--gpu-ordinal", min=0, help="One GPU, as CUDA numbers them, instead of all.")
]


def doctor(
    invocation: Invocation,
    gpu_ordinal: GpuOrdinal = None,
    samples: Samples = None,
    over: Over = None,
    record: Record = None,
    probe: Probe = None,
) -> int:
    """Show driver, cupy and every GPU, what each source said of its memory, and why a figure was chosen or refused.

    With `--format json` this is what a bug report needs; it names no host and no user.
    """
    from metrale_plan.cli.output import write_json, write_problems, write_sheet
    from metrale_plan.doctor import diagnose
    from metrale_plan.errors import InputError
    from metrale_plan.memory import MemoryRequest, sampling
    from metrale_plan.probes.recording import load, save

    count, seconds = sampling(MemoryRequest(samples=samples, over=over, probe=probe))
    if probe is not None and record is not None:
        raise InputError("MP220", "--record and --probe exclude each other: a recording is there already")
    if probe is not None:
        raw = load(probe)
    else:
        from metrale_plan.probes.base import ProbeRequest
        from metrale_plan.probes.live import read_in_child

        raw = read_in_child(ProbeRequest(ordinal=gpu_ordinal, samples=count, over=seconds))
    if record is not None:
        save(raw, record)
    found = diagnose(raw, gpu_ordinal)
    if invocation.json:
        from metrale_plan.render.doctor import doctor_document
        from metrale_plan.render.json import envelope

        document = envelope("doctor", found.exit_code, list(found.warnings), found.error)
        write_json(invocation, document | {"doctor": doctor_document(found)})
        return found.exit_code
    from metrale_plan.render.doctor import doctor_sheet

    write_sheet(invocation, doctor_sheet(found))
    invocation.stdout.flush()  # so that the notes follow the answer where both go to one terminal
    write_problems(invocation.stderr, [*found.warnings, *([found.error] if found.error else [])])
    return found.exit_code
