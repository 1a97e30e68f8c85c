"""Which device a plan is for, and what memory it is compared with: flags over a profile over the live reading."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from metrale_plan import catalog
from metrale_plan.device import DeviceSpec, MemoryReading, MemorySource
from metrale_plan.errors import CannotTell, InputError, Problem
from metrale_plan.probes.profile import matched, read_profile
from metrale_plan.probes.stated import read_size, read_stated
from metrale_plan.units import gib

if TYPE_CHECKING:
    from metrale_plan.reading.raw import RawReading

DEFAULT_PROFILE = "gb10"
"""Profile that `plan` uses when nothing was said, and whose SM count and split-K policy stand in for a bare total."""

MOST_SAMPLES = 10_000

LONGEST_OVER = 24 * 3600.0
"""Seconds that samples may be spread over: beyond a day no figure is of one moment."""

LiveReader = Callable[[int], "RawReading"]
"""From CUDA's ordinal to what the machine, or a recording, says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRequest:
    """What was stated about memory, and how to read it, as texts.

    Attributes:
        device, free, total: of `--device`, `--free-memory` and `--total-memory`.
        probe: a recording to read in place of the machine.
        samples, over: how many readings, and the time from the first to the last.
        floor: of `--unified-floor`.
        ordinal: CUDA's number of the GPU.
    """

    device: str | None = None
    free: str | None = None
    total: str | None = None
    probe: str | None = None
    samples: int | None = None
    over: str | None = None
    floor: str | None = None
    ordinal: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAnswer:
    """The device to plan for (None when its total is not known), the reading, and why either is missing."""

    device: DeviceSpec | None
    reading: MemoryReading
    failure: CannotTell | None = None
    notes: tuple[Problem, ...] = ()


def for_plan(request: MemoryRequest) -> MemoryAnswer:
    """What `plan` needs: a total to budget on. It reads nothing and compares with nothing."""
    stated, profile = read_stated(request.free, request.total), read_profile(request.device)
    spec = profile or catalog.load_device(DEFAULT_PROFILE)
    if stated.total is not None:
        spec = replace(spec, total=stated.total)
    source: MemorySource = "flag" if stated.total is not None else "device"
    reading = MemoryReading(source=source, device=spec.id, free=stated.free, total=spec.total, unified=spec.unified)
    return MemoryAnswer(device=spec, reading=reading)


def for_fit(request: MemoryRequest) -> MemoryAnswer:
    """What an explanation fits to: as `for_plan`, and free is what was stated, else all of a stated device or total."""
    answer = for_plan(request)
    if answer.reading.free is not None or (request.device is None and request.total is None):
        return answer
    return replace(answer, reading=replace(answer.reading, free=answer.reading.total))


def for_preflight(request: MemoryRequest, live: LiveReader) -> MemoryAnswer:
    """What `preflight` compares with. Each figure falls through on its own: flag, profile, live reading.

    Free is the live reading's only when neither a device nor a total was stated; stated ones are all free.
    """
    stated, profile = read_stated(request.free, request.total), read_profile(request.device)
    floor = None if request.floor is None else read_size("--unified-floor", request.floor)
    total = stated.total
    if total is None and profile is not None:
        total = profile.total
    if total is None:
        answer = judged_answer(live(request.ordinal), request.ordinal, stated.free)
        if stated.free is not None and answer.device is not None:
            answer = replace(answer, notes=(*answer.notes, *_above_total(stated.free, answer.device.total)))
        return _with_floor(answer, floor)
    _refuse_both(request)
    spec = replace(profile or catalog.load_device(DEFAULT_PROFILE), total=total)
    free = total if stated.free is None else stated.free
    source: MemorySource = "flag" if stated.total is not None or stated.free is not None else "device"
    reading = MemoryReading(
        source=source, device=profile.id if profile else None, free=free, total=total, unified=spec.unified
    )
    return _with_floor(MemoryAnswer(device=spec, reading=reading, notes=_above_total(free, total)), floor)


def _above_total(free: int, total: int) -> tuple[Problem, ...]:
    """The warning on a stated free figure that no device of that total can have."""
    if free <= total:
        return ()
    message = f"--free-memory {gib(free)} is more than the total of {gib(total)}"
    return (Problem(code="MP320", message=message, where="--free-memory", severity="warning"),)


def _refuse_both(request: MemoryRequest) -> None:
    """A recording beside a device or a total would be passed over without a word."""
    other = "--device" if request.device is not None else "--total-memory"
    if request.probe is not None:
        raise InputError(
            "MP220",
            f"--probe and {other} exclude each other: both say which memory to compare with",
            where="--probe",
            accepted="one of the two; --free-memory may stand beside --probe",
        )


def _with_floor(answer: MemoryAnswer, floor: int | None) -> MemoryAnswer:
    """The answer with its floor, the one asked for or the reading's own, where host and device share one memory."""
    reading = answer.reading
    kept = reading.floor if floor is None else floor
    if kept is None or not reading.unified:
        return answer
    note = f"{gib(kept)} of the shared memory should stay free for the host; the free figure includes them"
    return replace(answer, reading=replace(reading, floor=kept, notes=(*reading.notes, note)))


def judged_answer(raw: "RawReading", ordinal: int, free: int | None = None) -> MemoryAnswer:
    """A raw reading by its rules, the GPU matched to a bundled class; a stated `free` counts in place of its own."""
    from metrale_plan.reading import judge_reading, with_stated_free

    judged = judge_reading(raw, ordinal)
    if free is not None:
        judged = with_stated_free(judged, free)
    if judged.device is None:
        return MemoryAnswer(device=None, reading=judged.reading, failure=judged.failure, notes=judged.problems)
    spec, warning = matched(judged.reading.device or "", judged.device)
    notes = judged.problems if warning is None else (*judged.problems, warning)
    return MemoryAnswer(device=spec, reading=judged.reading, failure=judged.failure, notes=notes)


def live_reader(request: MemoryRequest, *, in_child: bool = False) -> LiveReader:
    """How a request reads: its recording, else this machine, in a child process where the command goes on afterwards.

    Raises:
        InputError: a recording that is none (MP309) or cannot be read (MP201), a wrong `--samples` or `--over`, or
            either beside a recording (MP220).
    """
    samples, over = sampling(request)
    if request.probe is not None:
        from metrale_plan.probes.recording import load

        recorded = load(request.probe)
        return lambda _ordinal: recorded

    def read(ordinal: int) -> "RawReading":
        from metrale_plan.probes.base import ProbeRequest
        from metrale_plan.probes.live import read_in_child, read_live

        asked = ProbeRequest(ordinal=ordinal, samples=samples, over=over)
        return read_in_child(asked) if in_child else read_live(asked)

    return read


def sampling(request: MemoryRequest) -> tuple[int, float]:
    """How many samples, and over how many seconds.

    Raises:
        InputError: MP211, no sample at all, or a text that is no duration; MP220, beside a recording.
    """
    if request.probe is not None and (request.samples, request.over) != (None, None):
        flag = "--over" if request.samples is None else "--samples"
        message = f"--probe and {flag} exclude each other: the samples of a recording are taken already"
        raise InputError("MP220", message, where=flag, accepted="one of the two")
    samples = 3 if request.samples is None else request.samples
    if not 1 <= samples <= MOST_SAMPLES:
        accepted = f"a whole number from 1 to {MOST_SAMPLES}"
        raise InputError("MP211", f"--samples {samples} is not {accepted}", where="--samples", accepted=accepted)
    if request.over is None:
        return samples, 0.0
    from metrale_plan.durations import ACCEPTED, parse_duration

    try:
        over = parse_duration(request.over)
    except ValueError as error:
        raise InputError("MP211", f"--over {error}", where="--over", accepted=ACCEPTED) from None
    if over > LONGEST_OVER:
        raise InputError("MP211", f"--over {request.over} is too long", where="--over", accepted="at most 24h")
    return samples, over
