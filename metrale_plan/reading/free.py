"""Which figure is free memory: CUDA's, or the host's where GPU and host share one memory."""

from collections.abc import Iterator

from metrale_plan.errors import Problem
from metrale_plan.reading.host import HostRoom, host_room, hugepage_bytes
from metrale_plan.reading.identity import Identity
from metrale_plan.reading.raw import Sample
from metrale_plan.units import GIB, human

UNIFIED_FLOOR = 8 * GIB
"""Kept free by default where host and device share one memory: over-commitment there takes the host down."""


def shared_room(sample: Sample, identity: Identity) -> HostRoom:
    """What the host leaves at this sample; nothing on a GPU with memory of its own, whatever was recorded."""
    if sample.host is None or not identity.integrated:
        return HostRoom(available=None)
    return host_room(sample.host)


def free_of(sample: Sample, room: HostRoom) -> int:
    """Free bytes of one sample. Without a host's figure (a GPU with memory of its own) CUDA's stands."""
    return sample.free if room.free is None else min(sample.total, max(sample.free, room.free))


def least(figures: Iterator[int | None]) -> int | None:
    """The least figure that is known, or None."""
    return min((figure for figure in figures if figure is not None), default=None)


def integrated_problems(samples: tuple[Sample, ...], rooms: list[HostRoom], identity: Identity) -> Iterator[Problem]:
    """What makes the host's figure missing or smaller than one might think."""
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
