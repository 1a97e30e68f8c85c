"""The rules of a memory reading: raw figures in, free and total out, or why nobody can tell. Pure.

Free is CUDA's figure; on an integrated GPU, whose driver counts reclaimable page cache as used, the larger of that and
the host's MemAvailable, which a control group's limit lowers; never more than CUDA's total. The lowest sample counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from metrale_plan.device import DeviceSpec, Holder, MemoryReading, MemorySource, ReadingDetail, SourceAnswer
from metrale_plan.errors import CannotTell, Problem
from metrale_plan.reading.host import HostRoom, host_room, hugepage_bytes
from metrale_plan.reading.identity import Identity, identity_of, joined, one_line
from metrale_plan.reading.raw import CudaDevice, Failure, NvmlDevice, NvmlRaw, RawReading, Sample
from metrale_plan.reading.status import FULL, INSTEAD, UNREAD, explained, no_ordinal, version
from metrale_plan.reading.visible import Visibility, visible_devices
from metrale_plan.units import GIB, MIB, gib, human

UNIFIED_FLOOR = 8 * GIB
"""Kept free by default where host and device share one memory: over-commitment there takes the host down."""

TOLERANCE = 256 * MIB
"""Figures this far apart, or 1 % of the total where that is more, contradict each other; samples are unstable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A raw reading by the rules.

    Attributes:
        device: the GPU, matched to no bundled class yet; None where not even its total is known.
        reading: what is known of its memory; `free` is None where it cannot be told.
        failure: why it cannot be told, or None.
        problems: coded warnings and notes.
        device_notes: those of the reading's notes that hold whatever is free.
    """

    device: DeviceSpec | None
    reading: MemoryReading
    failure: CannotTell | None = None
    problems: tuple[Problem, ...] = ()
    device_notes: tuple[str, ...] = ()


def judge_reading(raw: RawReading, ordinal: int) -> Judged:
    """Free and total memory of the GPU that CUDA numbers `ordinal`, by everything that was read."""
    cuda, visibility = raw.cuda, visibility_of(raw)
    problems = list(_package_problems(raw))
    device = next((device for device in cuda.devices if device.ordinal == ordinal), None)
    failure = _overall_failure(raw, visibility, ordinal)
    if failure is None and device is None:
        failure = no_ordinal(cuda, visibility, ordinal)
    if failure is None and device is not None and not device.properties:
        failure = explained(_first(device.failures), cuda, visibility, ordinal)
    if failure is not None or device is None:
        detail = ReadingDetail(ordinal=ordinal, sources=sources(raw, ordinal), read_at=raw.read_at)
        nothing = MemoryReading(source="none", device=None, free=None, total=None, detail=detail)
        return Judged(device=None, reading=nothing, failure=failure, problems=tuple(problems))
    identity, nvml = joined(identity_of(device), raw.nvml)
    return _judge_device(raw, device, identity, nvml, visibility, problems)


def _judge_device(
    raw: RawReading,
    device: CudaDevice,
    identity: Identity,
    nvml: NvmlDevice | None,
    visibility: Visibility,
    problems: list[Problem],
) -> Judged:
    samples, failed = device.samples, next((f for f in device.failures if f.call in ("setDevice", "memGetInfo")), None)
    rooms = [_shared_room(sample, identity) for sample in samples]
    told = [(_free(sample, room), sample.total) for sample, room in zip(samples, rooms, strict=True)]
    free: int | None = min((free for free, _ in told), default=None)
    total = samples[0].total if samples else identity.total
    failure: CannotTell | None = None
    if failed is not None and failed.status == FULL:
        free = 0
        problems.append(_full(identity, failed))
    elif failed is not None:
        free, failure = None, explained(failed, raw.cuda, visibility, device.ordinal)
    elif free is None:
        failure = CannotTell("MP304", f"{UNREAD}: nobody read the memory of {identity.name}", accepted=INSTEAD)
    against = next(_contradictions(samples, nvml, identity), None)
    if against is not None:
        free, failure = None, CannotTell(CONTRADICTION, f"the reading of {identity.name} contradicts itself: {against}")
    if failure is None and identity.integrated:
        problems += _integrated_problems(samples, rooms, identity)
    problems += _unstable(told, identity)
    context = _context_bytes(raw, nvml, identity)
    detail = ReadingDetail(
        ordinal=device.ordinal,
        uuid=identity.uuid,
        pci_bus_id=identity.pci_bus_id,
        compute_capability=identity.compute_capability,
        sm_count=identity.sm_count,
        driver_free=min((sample.free for sample in samples), default=None),
        host_available=_least(room.available for room in rooms),
        cgroup_room=_least(room.cgroup_room for room in rooms),
        context_bytes=context,
        holders=tuple(_holders(raw, nvml)),
        sources=sources(raw, device.ordinal),
        read_at=raw.read_at,
    )
    source: MemorySource = "recording" if raw.origin == "recording" else "live"
    device_notes = tuple(_device_notes(raw, device, nvml, visibility))
    reading = MemoryReading(
        source=source if free is not None else "none",
        device=identity.name,
        free=free,
        total=total,
        unified=identity.integrated,
        samples=tuple(told),
        notes=(*_free_notes(device, identity, rooms, detail), *device_notes),
        floor=UNIFIED_FLOOR if identity.integrated else None,
        detail=detail,
    )
    spec = DeviceSpec(
        id=None,
        hardware_class=None,
        total=total or 0,
        sm_count=identity.sm_count or 0,
        splitk="legacy",
        unified=identity.integrated,
    )
    known = spec if spec.total > 0 and spec.sm_count > 0 else None
    if known is None and failure is None:
        failure = CannotTell("MP304", f"{UNREAD}: {identity.name} tells no total or no SM count", accepted=INSTEAD)
    return Judged(device=known, reading=reading, failure=failure, problems=tuple(problems), device_notes=device_notes)


CONTRADICTION = "MP310"

ABOUT_FREE = ("MP308", "MP316", "MP318", "MP319")
"""Problems with the free figure alone."""


def with_stated_free(judged: Judged, free: int) -> Judged:
    """A reading whose total alone counts, free being stated: what it says of its own free figure is nobody's concern.

    One that contradicts itself still tells nothing: its total is no better than the rest of it.
    """
    if judged.device is None:
        return replace(judged, reading=replace(judged.reading, free=free))
    if judged.failure is not None and judged.failure.problem.code == CONTRADICTION:
        return judged
    problems = tuple(problem for problem in judged.problems if problem.code not in ABOUT_FREE)
    reading = replace(judged.reading, source="flag", free=free, floor=None, notes=judged.device_notes)
    return replace(judged, reading=reading, failure=None, problems=problems)


def visibility_of(raw: RawReading) -> Visibility:
    """What CUDA_VISIBLE_DEVICES did, with the GPUs that NVML knows.

    NVML's list tells which entries name a GPU, not which GPU an index names: the two may count differently.
    """
    whole = [gpu for gpu in raw.nvml.devices if gpu.mig != "slice"]
    slices = tuple(gpu.uuid for gpu in raw.nvml.devices if gpu.mig == "slice" and gpu.uuid)
    gpus = tuple(gpu.uuid for gpu in whole) if whole and raw.nvml.failure is None else None
    return visible_devices(raw.environment.get("CUDA_VISIBLE_DEVICES"), gpus, slices)


def _overall_failure(raw: RawReading, visibility: Visibility, ordinal: int) -> CannotTell | None:
    cuda = raw.cuda
    if raw.failure is not None:
        return CannotTell("MP317", f"{UNREAD}: {raw.failure.text}", accepted=INSTEAD)
    if cuda.module is None:
        if not raw.packages:
            accepted = f"pip install 'metrale-plan[cuda12]' (or [cuda13]), {INSTEAD}"
            return CannotTell("MP301", f"{UNREAD}: cupy is not installed", accepted=accepted)
        said = f": {cuda.failure.text}" if cuda.failure else ""
        return CannotTell(
            "MP301",
            f"{UNREAD}: {' and '.join(raw.packages)} cannot be imported{said}",
            accepted=f"a clean install of one of cupy-cuda12x and cupy-cuda13x, {INSTEAD}",
        )
    return None if cuda.failure is None else explained(cuda.failure, cuda, visibility, ordinal)


def _package_problems(raw: RawReading) -> Iterator[Problem]:
    if len(raw.packages) > 1:
        yield Problem(
            code="MP307",
            message=f"{' and '.join(raw.packages)} are installed together and overwrite each other's files: uninstall "
            "all of them, then install one",
            severity="warning",
        )


def _shared_room(sample: Sample, identity: Identity) -> HostRoom:
    """What the host leaves at this sample; nothing on a GPU with memory of its own, whatever was recorded."""
    if sample.host is None or not identity.integrated:
        return HostRoom(available=None)
    return host_room(sample.host)


def _free(sample: Sample, room: HostRoom) -> int:
    """Free bytes of one sample. Without a host's figure (a GPU with memory of its own) CUDA's stands."""
    return sample.free if room.free is None else min(sample.total, max(sample.free, room.free))


def contradiction(free: int, total: int, used: int | None = None) -> str | None:
    """Why free and total, or used, free and total, cannot all be true, with the figures; None when they can."""
    if total <= 0:
        return f"the total is {total} B, and {human(free)} ({free} B) are free"
    if free > total:
        return f"{human(free)} ({free} B) free of {human(total)} ({total} B)"
    if free < 0:
        return f"{free} B free of {total} B"
    if used is not None and apart(used + free, total, total):
        return f"{human(used)} used and {human(free)} free ({used + free} B) of {human(total)} ({total} B)"
    return None


def apart(one: int, other: int, total: int) -> bool:
    """Whether two figures differ by more than 1 % of the total or 256 MiB, whichever is more."""
    difference = abs(one - other)
    return difference > TOLERANCE and difference * 100 > total


def _contradictions(samples: tuple[Sample, ...], nvml: NvmlDevice | None, identity: Identity) -> Iterator[str]:
    for sample in samples:
        against = contradiction(sample.free, sample.total)
        if against is not None:
            yield f"CUDA says {against}"
    totals = sorted({sample.total for sample in samples})
    if len(totals) > 1:
        yield f"CUDA's total changed between samples, from {totals[0]} B to {totals[-1]} B"
    # On shared memory and on a cut GPU, NVML's figures speak of something else than CUDA's.
    if nvml is None or identity.integrated or nvml.mig == "parent":
        return
    if nvml.free is not None and nvml.total is not None:
        against = contradiction(nvml.free, nvml.total, nvml.used)
        if against is not None:
            yield f"NVML says {against}"


def _full(identity: Identity, failed: Failure) -> Problem:
    return Problem(
        code="MP316",
        message=f"{identity.name} is full: not even a CUDA context could be created there ({failed.text})",
        where=identity.name,
        severity="warning",
    )


def _integrated_problems(samples: tuple[Sample, ...], rooms: list[HostRoom], identity: Identity) -> Iterator[Problem]:
    if any(room.available is None for room in rooms):
        yield Problem(
            code="MP318",
            message=f"{identity.name} shares the host's memory, and MemAvailable could not be read: CUDA's own figure "
            "counts, which takes page cache for used",
            where=identity.name,
            severity="warning",
        )
    pool = next((hugepage_bytes(sample.host) for sample in samples if sample.host is not None), None)
    if pool is not None:
        yield Problem(
            code="MP319",
            message=f"a huge page pool of {human(pool[0])} is set aside, {human(pool[1])} of it free; MemAvailable "
            "leaves it out, and so does the free figure",
            where="HugePages_Total",
            severity="note",
        )


def _unstable(told: list[tuple[int, int]], identity: Identity) -> Iterator[Problem]:
    figures = [free for free, _ in told]
    if figures and max(figures) - min(figures) > TOLERANCE:
        yield Problem(
            code="MP308",
            message=f"free memory moved while it was read, from {human(min(figures))} to {human(max(figures))} in "
            f"{len(figures)} samples; the lowest counts",
            where=identity.name,
            severity="warning",
        )


def _context_bytes(raw: RawReading, nvml: NvmlDevice | None, identity: Identity) -> int | None:
    """What the reader's own context took: its line in NVML's process list, else NVML's free before and after."""
    if nvml is None or nvml.mig == "parent":
        return None
    own = next((p.bytes for p in nvml.processes if p.pid == raw.own_pid and p.bytes is not None), None)
    if own is not None:
        return own
    if identity.integrated or nvml.free_before is None or nvml.free is None or nvml.free_before <= nvml.free:
        return None
    return nvml.free_before - nvml.free


def _holders(raw: RawReading, nvml: NvmlDevice | None) -> list[Holder]:
    """Other processes with memory on this GPU, largest first; a cut GPU's list speaks of all its slices."""
    if nvml is None or nvml.mig == "parent":
        return []
    others = [Holder(p.pid, one_line(p.name) or None, p.bytes) for p in nvml.processes if p.pid != raw.own_pid]
    return sorted(others, key=lambda holder: (-(holder.bytes or 0), holder.pid))


def _free_notes(device: CudaDevice, identity: Identity, rooms: list[HostRoom], detail: ReadingDetail) -> Iterator[str]:
    if detail.driver_free is not None and detail.host_available is not None:
        yield _shared_note(detail)
    if detail.cgroup_room is not None:
        limit = _least(room.limit for room in rooms if room.cgroup_room == detail.cgroup_room)
        yield f"a control group's limit of {gib(limit or 0)} leaves {gib(detail.cgroup_room)} of host memory"
    if device.samples:
        yield _context_note(detail)
    if not identity.integrated and device.properties.get("pageableMemoryAccessUsesHostPageTables") == 1:
        yield "page cache may sit in this GPU's memory, so the free figure is the least that is free"


def _device_notes(
    raw: RawReading, device: CudaDevice, nvml: NvmlDevice | None, visibility: Visibility
) -> Iterator[str]:
    if raw.host.wsl:
        yield "this is WSL: the figures are what Windows lets it see"
    if nvml is not None and nvml.mig == "parent":
        yield "the GPU is cut into MIG slices: the figures are of this slice, and NVML's of the whole are left aside"
    if nvml is not None and nvml.mig is None and nvml.index != device.ordinal:
        yield f"CUDA's ordinal {device.ordinal} is the GPU that NVML numbers {nvml.index}"
    if visibility.text is not None:
        yield visibility.told or f"CUDA_VISIBLE_DEVICES is {visibility.text!r}; ordinals count within it"


def _shared_note(detail: ReadingDetail) -> str:
    """Both figures of an integrated GPU, and which of them counts."""
    driver, host, room = detail.driver_free or 0, detail.host_available or 0, detail.cgroup_room
    lowered = host if room is None else min(host, room)
    which = "MemAvailable" if lowered >= driver else "CUDA's figure"
    lower = ", lowered by the control group" if which == "MemAvailable" and lowered < host else ""
    return (
        f"host and GPU share one memory: CUDA says {gib(driver)} free, the host's MemAvailable {gib(host)}; "
        f"{which} counts{lower}"
    )


def _context_note(detail: ReadingDetail) -> str:
    if detail.context_bytes is not None:
        return f"reading took a CUDA context of {human(detail.context_bytes)}, which CUDA's free figure leaves out"
    return "CUDA's free figure is what is left beside one bare CUDA context; how much that takes was not measured"


def sources(raw: RawReading, ordinal: int) -> tuple[SourceAnswer, ...]:
    """What each source said, in the order they were asked."""
    return tuple(_sources(raw, ordinal))


def _sources(raw: RawReading, ordinal: int) -> Iterator[SourceAnswer]:
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


def _first(failures: tuple[Failure, ...]) -> Failure:
    return failures[0] if failures else Failure(call="getDeviceProperties", text="nothing was read")


def _least(figures: Iterator[int | None]) -> int | None:
    return min((figure for figure in figures if figure is not None), default=None)
