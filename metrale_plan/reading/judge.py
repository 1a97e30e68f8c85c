"""What the rules make of a raw reading: free and total memory of one GPU, or why nobody can tell."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from metrale_plan.device import DeviceSpec, MemoryReading, MemorySource, ReadingDetail
from metrale_plan.errors import CannotTell, Problem
from metrale_plan.reading.agreement import contradictions, unstable
from metrale_plan.reading.answers import answers_of
from metrale_plan.reading.free import UNIFIED_FLOOR, free_of, integrated_problems, least, shared_room
from metrale_plan.reading.identity import Identity, identity_of, joined
from metrale_plan.reading.notes import notes_on_device, notes_on_free
from metrale_plan.reading.processes import context_bytes, holders
from metrale_plan.reading.raw import CudaDevice, Failure, NvmlDevice, RawReading
from metrale_plan.reading.status import FULL, INSTEAD, UNREAD, explained, no_ordinal, unanswered
from metrale_plan.reading.visible import Visibility, visibility_of

CONTRADICTION = "MP310"
"""The code of figures that cannot all be true."""

ABOUT_FREE = ("MP308", "MP316", "MP318", "MP319")
"""Problems with the free figure alone."""


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
    failure = unanswered(raw, visibility, ordinal)
    if failure is None and device is None:
        failure = no_ordinal(cuda, visibility, ordinal)
    if failure is None and device is not None and not device.properties:
        failure = explained(_first(device.failures), cuda, visibility, ordinal)
    if failure is not None or device is None:
        detail = ReadingDetail(ordinal=ordinal, sources=answers_of(raw, ordinal), read_at=raw.read_at)
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
    rooms = [shared_room(sample, identity) for sample in samples]
    told = [(free_of(sample, room), sample.total) for sample, room in zip(samples, rooms, strict=True)]
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
    against = next(contradictions(samples, nvml, identity), None)
    if against is not None:
        free, failure = None, CannotTell(CONTRADICTION, f"the reading of {identity.name} contradicts itself: {against}")
    if failure is None and identity.integrated:
        problems += integrated_problems(samples, rooms, identity)
    problems += unstable(told, identity)
    detail = ReadingDetail(
        ordinal=device.ordinal,
        uuid=identity.uuid,
        pci_bus_id=identity.pci_bus_id,
        compute_capability=identity.compute_capability,
        sm_count=identity.sm_count,
        driver_free=min((sample.free for sample in samples), default=None),
        host_available=least(room.available for room in rooms),
        cgroup_room=least(room.cgroup_room for room in rooms),
        context_bytes=context_bytes(raw, nvml, identity),
        holders=tuple(holders(raw, nvml)),
        sources=answers_of(raw, device.ordinal),
        read_at=raw.read_at,
    )
    source: MemorySource = "recording" if raw.origin == "recording" else "live"
    device_notes = tuple(notes_on_device(raw, device, nvml, visibility))
    reading = MemoryReading(
        source=source if free is not None else "none",
        device=identity.name,
        free=free,
        total=total,
        unified=identity.integrated,
        samples=tuple(told),
        notes=(*notes_on_free(device, identity, rooms, detail), *device_notes),
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


def _package_problems(raw: RawReading) -> Iterator[Problem]:
    if len(raw.packages) > 1:
        yield Problem(
            code="MP307",
            message=f"{' and '.join(raw.packages)} are installed together and overwrite each other's files: uninstall "
            "all of them, then install one",
            severity="warning",
        )


def _full(identity: Identity, failed: Failure) -> Problem:
    return Problem(
        code="MP316",
        message=f"{identity.name} is full: not even a CUDA context could be created there ({failed.text})",
        where=identity.name,
        severity="warning",
    )


def _first(failures: tuple[Failure, ...]) -> Failure:
    return failures[0] if failures else Failure(call="getDeviceProperties", text="nothing was read")
