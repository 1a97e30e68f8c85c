"""Drafts of a width before anything lifts or clamps them, and the capacity that they give each verify slot."""

from metrale_plan.config.serve import ServeConfig
from metrale_plan.integers import less
from metrale_plan.ladder import ladder_drafts_from_steps, mtp_ladder_drafts
from metrale_plan.reserve import verify_slot_drafts

OWN_WIDTH = "drafts of its own width"
"""Why a slot has its capacity, where no wider width asks for more."""


def static_drafts(config: ServeConfig, width: int) -> int:
    """Drafts by the ladder at `width`; under DFlash γ, or what its own ladder says."""
    if config.dflash:
        ladder = config.dflash_draft_ladder
        return ladder_drafts_from_steps(ladder, width, less(config.drafts, 1)) if ladder else config.drafts
    return mtp_ladder_drafts(width, config.num_drafts, config.ladder, config.ladder_disabled)


def capacities(config: ServeConfig, count: int) -> tuple[tuple[int, str, int | None], ...]:
    """Of slots 0 to `count` - 1: draft capacity before any copy tier, why, and the wider width that asks for it.

    Source: engine memory plan, 3.2.
    """
    if config.dflash:
        return ((config.drafts, "γ, on every slot", None),) * count
    if config.full_width_pools:
        return ((config.num_drafts, "full-width pools", None),) * count
    if config.num_drafts == 0:
        return ((0, "no drafts at all", None),) * count
    cap = config.mtp_max_seqs
    at = [0, *(static_drafts(config, width) for width in range(1, max(cap, count) + 1))]

    def of(slot: int) -> tuple[int, str, int | None]:
        capacity = verify_slot_drafts(slot, cap, config.num_drafts, at.__getitem__)
        asking = next(width for width in range(slot + 1, len(at)) if at[width] >= capacity)
        return (capacity, OWN_WIDTH, None) if asking == slot + 1 else (capacity, f"drafts of width {asking}", asking)

    return tuple(of(slot) for slot in range(count))
