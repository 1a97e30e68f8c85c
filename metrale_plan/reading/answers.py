"""What each source of a reading answered, or how it failed."""

from collections.abc import Iterator

from metrale_plan.device import SourceAnswer
from metrale_plan.reading.host import host_room
from metrale_plan.reading.identity import identity_of, joined
from metrale_plan.reading.raw import Failure, NvmlDevice, NvmlRaw, RawReading
from metrale_plan.reading.status import version
from metrale_plan.units import human


def answers_of(raw: RawReading, ordinal: int) -> tuple[SourceAnswer, ...]:
    """What each source said, in the order they were asked."""
    return tuple(_answers(raw, ordinal))


def _answers(raw: RawReading, ordinal: int) -> Iterator[SourceAnswer]:
    if raw.failure is not None:
        yield SourceAnswer("reading", False, raw.failure.text)
        return
    cuda = raw.cuda
    device = next((device for device in cuda.devices if device.ordinal == ordinal), None)
    failed = cuda.failure or next(iter(device.failures if device else ()), None)
    if device is not None and device.samples:
        sample = device.samples[0]
        yield SourceAnswer("cuda", True, f"{human(sample.free)} free of {human(sample.total)}")
    if failed is not None:
        yield SourceAnswer("cuda", False, _told(failed))
    elif device is None:
        shown = {None: "no GPU", 0: "no GPU", 1: "1 GPU"}.get(cuda.device_count, f"{cuda.device_count} GPUs")
        runtime = f"CUDA runtime {version(cuda.runtime_version)}, " if cuda.runtime_version else ""
        yield SourceAnswer("cuda", False, f"{runtime}{shown}, none read with ordinal {ordinal}")
    yield _nvml_answer(raw.nvml, None if device is None else joined(identity_of(device), raw.nvml)[1])
    room = host_room(raw.host)
    if room.available is None:
        yield SourceAnswer("host", False, "; ".join(map(_told, raw.host.failures)) or "no MemAvailable")
    else:
        group = "" if room.cgroup_room is None else f", a control group leaves {human(room.cgroup_room)}"
        beside = "".join(f"; {_told(failure)}" for failure in raw.host.failures)
        yield SourceAnswer("host", True, f"{human(room.available)} available{group}{beside}")


def _nvml_answer(nvml: NvmlRaw, gpu: NvmlDevice | None) -> SourceAnswer:
    if gpu is None and nvml.failure is not None:
        return SourceAnswer("nvml", False, _told(nvml.failure))
    if gpu is None:
        return SourceAnswer("nvml", False, f"{len(nvml.devices)} listed, none of them this GPU")
    if gpu.free is None or gpu.total is None:
        return SourceAnswer("nvml", False, "; ".join(map(_told, gpu.failures)) or "no memory figures")
    held = {0: "", 1: ", 1 process"}.get(len(gpu.processes), f", {len(gpu.processes)} processes")
    return SourceAnswer("nvml", True, f"[{gpu.index}] {human(gpu.free)} free of {human(gpu.total)}{held}")


def _told(failure: Failure) -> str:
    status = "" if failure.status is None else f" (status {failure.status})"
    return f"{failure.call}: {failure.text}{status}"
