"""Whether the figures of a reading can all be true, and whether they held still."""

from collections.abc import Iterator

from metrale_plan.errors import Problem
from metrale_plan.reading.identity import Identity
from metrale_plan.reading.raw import NvmlDevice, Sample
from metrale_plan.units import MIB, human

TOLERANCE = 256 * MIB
"""Figures this far apart, or 1 % of the total where that is more, contradict each other; samples are unstable."""


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


def contradictions(samples: tuple[Sample, ...], nvml: NvmlDevice | None, identity: Identity) -> Iterator[str]:
    """Why the figures of CUDA, and NVML's own, cannot all be true."""
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


def unstable(told: list[tuple[int, int]], identity: Identity) -> Iterator[Problem]:
    """A warning where free memory, first of each pair in `told`, moved between the samples."""
    figures = [free for free, _ in told]
    if figures and max(figures) - min(figures) > TOLERANCE:
        yield Problem(
            code="MP308",
            message=f"free memory moved while it was read, from {human(min(figures))} to {human(max(figures))} in "
            f"{len(figures)} samples; the lowest counts",
            where=identity.name,
            severity="warning",
        )
