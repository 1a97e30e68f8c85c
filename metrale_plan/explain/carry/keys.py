"""Runs of pair keys, ascending and apart."""

from collections.abc import Sequence

from metrale_plan.explain.carry.values import Keys


def rows_of(keys: Sequence[Keys]) -> int:
    """How many rows the runs are."""
    return sum(run.last - run.first + 1 for run in keys)


def joined_runs(keys: Sequence[Keys]) -> tuple[Keys, ...]:
    """The same keys, runs that touch made one."""
    joined: list[Keys] = []
    for run in keys:
        if joined and joined[-1].last + 1 == run.first:
            joined[-1] = Keys(first=joined[-1].first, last=run.last)
        else:
            joined.append(run)
    return tuple(joined)


def up_to(keys: Sequence[Keys], last: int) -> tuple[Keys, ...]:
    """Those up to key `last`."""
    return tuple(Keys(first=run.first, last=min(run.last, last)) for run in keys if run.first <= last)


def oldest(keys: Sequence[Keys], rows: int) -> tuple[Keys, ...]:
    """The first `rows` of them."""
    kept: list[Keys] = []
    for run in keys:
        if rows <= 0:
            break
        kept.append(Keys(first=run.first, last=min(run.last, run.first + rows - 1)))
        rows -= run.last - run.first + 1
    return tuple(kept)


def gaps_of(keys: Sequence[Keys], needed: Keys | None) -> tuple[Keys, ...]:
    """The needed keys that are not among `keys`."""
    if needed is None:
        return ()
    gaps: list[Keys] = []
    at = needed.first
    for run in keys:
        if run.first > at:
            gaps.append(Keys(first=at, last=run.first - 1))
        at = max(at, run.last + 1)
    return (*gaps, *([Keys(first=at, last=needed.last)] if at <= needed.last else ()))
