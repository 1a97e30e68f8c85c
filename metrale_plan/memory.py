"""Which device a plan is for, and what memory it is compared with: flags over a profile over the live reading."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from metrale_plan import catalog
from metrale_plan.device import DeviceSpec, MemoryReading, MemorySource
from metrale_plan.errors import CannotTell, InputError, Problem
from metrale_plan.units import ACCEPTED, parse_size

DEFAULT_PROFILE = "gb10"
"""Profile that `plan` uses when nothing was said, and whose SM count and split-K policy stand in for a bare total."""

LiveReader = Callable[[int], tuple[DeviceSpec, MemoryReading]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRequest:
    """What was stated about memory, as texts of `--device`, `--free-memory` and `--total-memory`."""

    device: str | None = None
    free: str | None = None
    total: str | None = None
    ordinal: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAnswer:
    """The device to plan for (None when its total is not known), the reading, and why either is missing."""

    device: DeviceSpec | None
    reading: MemoryReading
    failure: CannotTell | None = None
    notes: tuple[Problem, ...] = ()


def read_size(flag: str, text: str) -> int:
    """Bytes of a size flag.

    Raises:
        InputError: the text is not a size, or names no unit.
    """
    try:
        return parse_size(text)
    except ValueError as error:
        raise InputError("MP218", f"{flag} {error}", where=flag, accepted=ACCEPTED) from None


def for_plan(request: MemoryRequest) -> MemoryAnswer:
    """What `plan` needs: a total to budget on. It reads nothing and compares with nothing."""
    stated, profile = _stated(request)
    spec = profile or catalog.load_device(DEFAULT_PROFILE)
    if stated.total is not None:
        spec = replace(spec, total=stated.total)
    source: MemorySource = "flag" if stated.total is not None else "device"
    reading = MemoryReading(source=source, device=spec.id, free=stated.free, total=spec.total, unified=spec.unified)
    return MemoryAnswer(device=spec, reading=reading)


def for_preflight(request: MemoryRequest, live: LiveReader) -> MemoryAnswer:
    """What `preflight` compares with. Each figure falls through on its own: flag, profile, live reading.

    Free is the live reading's only when neither a device nor a total was stated; stated ones are all free.
    """
    stated, profile = _stated(request)
    spec, total = profile, stated.total
    if total is None and profile is not None:
        total = profile.total
    if total is None:
        return _live(request.ordinal, stated.free, live)
    spec = replace(profile or catalog.load_device(DEFAULT_PROFILE), total=total)
    free = total if stated.free is None else stated.free
    source: MemorySource = "flag" if stated.total is not None or stated.free is not None else "device"
    reading = MemoryReading(
        source=source, device=profile.id if profile else None, free=free, total=total, unified=spec.unified
    )
    return MemoryAnswer(device=spec, reading=reading)


@dataclass(frozen=True, slots=True)
class _Stated:
    free: int | None
    total: int | None


def _stated(request: MemoryRequest) -> tuple[_Stated, DeviceSpec | None]:
    stated = _Stated(
        None if request.free is None else read_size("--free-memory", request.free),
        None if request.total is None else read_size("--total-memory", request.total),
    )
    if stated.total == 0:
        raise InputError("MP218", "--total-memory is zero", where="--total-memory", accepted="the device's memory")
    return stated, None if request.device is None else catalog.load_device(request.device)


def _live(ordinal: int, free: int | None, live: LiveReader) -> MemoryAnswer:
    try:
        spec, reading = live(ordinal)
    except CannotTell as failure:
        reading = MemoryReading(source="none", device=None, free=free, total=None)
        return MemoryAnswer(device=None, reading=reading, failure=failure)
    if free is not None:
        reading = replace(reading, source="flag", free=free)
    matched = catalog.match_device(reading.device or "", spec)
    notes: list[Problem] = []
    if matched is None:
        notes.append(
            Problem(
                code="MP305",
                message=f"{reading.device} matches no bundled device: its own {spec.sm_count} SMs and the legacy "
                "split-K policy are used",
                where=reading.device,
                severity="warning",
            )
        )
    elif matched.sm_count != spec.sm_count:
        notes.append(
            Problem(
                code="MP306",
                message=f"{reading.device} has {spec.sm_count} SMs, its class {matched.hardware_class} has "
                f"{matched.sm_count}",
                where=reading.device,
                severity="warning",
            )
        )
    return MemoryAnswer(device=matched_spec(spec, matched), reading=reading, notes=tuple(notes))


def matched_spec(live: DeviceSpec, matched: DeviceSpec | None) -> DeviceSpec:
    """The live device with the class facts of the profile it matches; total and SM count stay its own."""
    if matched is None:
        return live
    return replace(matched, total=live.total, sm_count=live.sm_count, unified=live.unified)
