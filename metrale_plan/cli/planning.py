"""`preflight` and `plan`: their parameters, and nothing else."""

from collections.abc import Mapping
from typing import Annotated, Optional

import typer

from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.options import Device, FailOnWarning, FreeMemory, Model, Rules, TotalMemory, with_serve_flags

Stage = Annotated[
    str, typer.Option("--stage", help="`reserve` asks the engine's first question only; `all` goes on from there.")
]


@with_serve_flags
def preflight(
    ctx: typer.Context,
    flags: Mapping[str, object],
    model: Model = None,
    device: Device = None,
    free_memory: FreeMemory = None,
    total_memory: TotalMemory = None,
    rules: Rules = None,
    stage: Stage = "all",
    fail_on_warning: FailOnWarning = False,
) -> int:
    """Plan a serve, then compare the plan with the GPU's free memory before anything loads.

    Everything after `--` is read as a `met serve` command line.
    """
    return _run(
        ctx.obj, "preflight", model, flags, device, free_memory, total_memory, rules, stage, fail_on_warning, True
    )


@with_serve_flags
def plan(
    ctx: typer.Context,
    flags: Mapping[str, object],
    model: Model = None,
    device: Device = None,
    total_memory: TotalMemory = None,
    rules: Rules = None,
    fail_on_warning: FailOnWarning = False,
) -> int:
    """Print what the engine will reserve, term by term, without comparing it with any memory."""
    return _run(ctx.obj, "plan", model, flags, device, None, total_memory, rules, "all", fail_on_warning, False)


def _run(
    invocation: Invocation,
    command: str,
    model: Optional[str],
    flags: Mapping[str, object],
    device: Optional[str],
    free: Optional[str],
    total: Optional[str],
    rules: Optional[str],
    stage: str,
    fail_on_warning: bool,
    compare: bool,
) -> int:
    from metrale_plan.assemble import Request, assemble
    from metrale_plan.cli.output import emit
    from metrale_plan.errors import InputError
    from metrale_plan.memory import MemoryRequest
    from metrale_plan.nearest import nearest
    from metrale_plan.probes.cuda import read_live
    from metrale_plan.render.plan import plan_sheet

    if stage not in ("reserve", "all"):
        raise InputError(
            "MP211",
            f"--stage {stage!r} is not a stage",
            where="--stage",
            accepted="reserve, all",
            nearest=nearest(stage, ("reserve", "all")),
        )
    request = Request(
        command=command,
        model=model,
        flags=flags,
        after=invocation.after,
        environ=invocation.environ,
        memory=MemoryRequest(device=device, free=free, total=total),
        rules=rules,
        stage=stage,
        fail_on_warning=fail_on_warning,
        compare=compare,
    )
    report = assemble(request, read_live)
    emit(invocation, report, plan_sheet)
    return report.exit_code
