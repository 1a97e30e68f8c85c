"""How many drafts each width gets: the ladder's steps, the adaptive rung, the slots' capacity, cap and batch."""

from collections.abc import Iterator
from itertools import accumulate

from metrale_plan.config.serve import ServeConfig
from metrale_plan.explain.ladder.capacity import capacities, static_drafts
from metrale_plan.explain.ladder.runs import joined
from metrale_plan.explain.ladder.values import Reach, Rung, Step, WidthRun
from metrale_plan.ladder import ladder_drafts_from_steps
from metrale_plan.plan.verify import verify_slots

RUNG_FIRST, RUNG_LAST, RUNG_DRAFTS = 9, 16, 2
"""Widths that the adaptive rung lifts, and to how many drafts."""


def steps_in_force(config: ServeConfig) -> Iterator[Step]:
    """The ladder's steps, with the widths and drafts that each has in force."""
    covered = 0
    for width, drafts in config.ladder:
        in_force = ladder_drafts_from_steps(((width, drafts),), width, config.num_drafts)
        yield Step(width=width, drafts=drafts, in_force=in_force, first=covered + 1 if width > covered else None)
        covered = max(covered, width)


def _rung_reason(config: ServeConfig) -> tuple[bool, str]:
    if config.dflash:
        return False, "DFlash does not draft by this ladder"
    if config.static_rung:
        return False, "METRALE_MTP_STATIC_RUNG is present"
    if config.ladder_pinned:
        return False, "an explicit ladder, by flag or variable, is kept static"
    return True, "no ladder was given and METRALE_MTP_STATIC_RUNG is absent"


def _idle(config: ServeConfig) -> str:
    if config.mtp_max_seqs < RUNG_FIRST:
        return f"the dispatch cap is {config.mtp_max_seqs}"
    if config.num_drafts < RUNG_DRAFTS:
        return f"the most drafts of a step is {config.num_drafts}"
    return "each of those widths has as many drafts without it"


def width_runs(config: ServeConfig) -> tuple[Rung, tuple[WidthRun, ...]]:
    """The adaptive rung, and widths 1 to the wider of cap and batch."""
    active, why = _rung_reason(config)
    cap, batch = config.mtp_max_seqs, config.ceiling
    widest = max(cap, batch)
    covered = verify_slots(config, widest)
    # Survivors are compacted onto the first slots: a batch of n holds slots 0 to n - 1, and the least roomy one rules.
    least = list(accumulate((capacity for capacity, _, _ in capacities(config, covered)), min))
    runs: list[WidthRun] = []  # a width each
    lifted_widths: list[int] = []
    clamped_widths: list[int] = []
    for width in range(1, widest + 1):
        static = static_drafts(config, width)
        lifted = static
        if active and RUNG_FIRST <= width <= RUNG_LAST:
            lifted = max(static, min(RUNG_DRAFTS, config.num_drafts))
        capacity = least[width - 1] if width <= covered else None
        runs_with = 0 if width > cap or capacity is None else min(lifted, capacity)
        if lifted > static and width <= cap:
            lifted_widths.append(width)
            if runs_with < lifted:
                clamped_widths.append(width)
        reach: Reach = "above the cap" if width > cap else "above the batch" if width > batch else "runs"
        runs.append(
            WidthRun(
                first=width,
                last=width,
                static=static,
                lifted=lifted,
                capacity=capacity,
                drafts=runs_with,
                reach=reach,
            )
        )
    rung = Rung(
        active=active,
        why=why,
        widths=(RUNG_FIRST, RUNG_LAST),
        drafts=RUNG_DRAFTS,
        lifted=tuple(lifted_widths),
        clamped=tuple(clamped_widths),
        idle=_idle(config) if active and not lifted_widths else None,
    )
    return rung, tuple(joined(runs))
