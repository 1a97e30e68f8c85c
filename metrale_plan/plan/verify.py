"""The verify side of one plan: rows, slots, drafts and intermediates, and the pool they are kept in."""

from dataclasses import dataclass

from metrale_plan.config.serve import ServeConfig
from metrale_plan.ladder import mtp_ladder_drafts
from metrale_plan.model.dims import ModelDims
from metrale_plan.pool import PoolCounts, PoolPlan, PoolShape, VerifyCounts, pool_counts_tiered
from metrale_plan.reserve import mtp_state_slots, verify_slot_drafts
from metrale_plan.reserve.copy_tier import CopyTier, tier_rows
from metrale_plan.rules import EngineRules


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyPlan:
    """What speculation keeps at a number of slots.

    Attributes:
        slots: verify slots, without the dummy.
        drafts: draft capacity of each of them, before the copy tier.
        rows: rows of one sequence's verify (`K`), raised by the copy tier.
        base_rows: the same before the copy tier.
        tier: prompt lookup's copy tier, or None.
        counts: h steps per slot (dummy last) and conv steps, as the pool holds them.
    """

    slots: int
    drafts: tuple[int, ...]
    rows: int
    base_rows: int
    tier: CopyTier | None
    counts: VerifyCounts


def drafts_at(config: ServeConfig, n_active: int) -> int:
    """Static draft count at a width of `n_active` sequences; γ is the ceiling under DFlash."""
    return mtp_ladder_drafts(n_active, config.drafts, config.ladder, config.ladder_disabled)


def verify_slots(config: ServeConfig, slots: int) -> int:
    """Pool slots that verify covers, without the dummy."""
    return mtp_state_slots(slots, config.mtp_max_seqs, config.full_width_pools)


def copy_tier(config: ServeConfig) -> CopyTier | None:
    """Prompt lookup's tier: so many first slots are raised to so many drafts. Engine memory plan, 3.2."""
    if not config.prompt_lookup:
        return None
    widest = verify_slots(config, config.ceiling)
    return CopyTier(max(1, min(config.prompt_lookup_max_seqs, widest)), config.prompt_lookup_max_drafts)


def plan_verify(config: ServeConfig, slots: int) -> VerifyPlan | None:
    """The verify side at `slots` sequences, or None when nothing drafts. Engine memory plan, 4."""
    if not config.proposer:
        return None
    covered = verify_slots(config, slots)
    drafts = _slot_capacities(config, covered)
    tier, base = copy_tier(config), config.drafts + 1
    shape = PoolShape(
        max_slots=slots,
        spec=True,
        num_intermediates=base,
        num_drafts=config.drafts,
        uniform_h=config.dflash,
        rollback=config.ssm_rollback_mode,
    )
    counts = pool_counts_tiered(shape, covered, drafts, tier).verify
    assert counts is not None
    return VerifyPlan(
        slots=covered, drafts=drafts, rows=tier_rows(tier, base), base_rows=base, tier=tier, counts=counts
    )


def _slot_capacities(config: ServeConfig, covered: int) -> tuple[int, ...]:
    """Draft capacity of slots 0..covered; every width's draft count is looked up once."""
    if config.full_width_pools:
        return (config.drafts,) * covered
    widest = max(config.mtp_max_seqs, covered)
    at_width = [0, *(drafts_at(config, n) for n in range(1, widest + 1))]
    return tuple(
        verify_slot_drafts(slot, config.mtp_max_seqs, config.drafts, at_width.__getitem__) for slot in range(covered)
    )


def plan_pool(
    dims: ModelDims, config: ServeConfig, slots: int, verify: VerifyPlan | None, rules: EngineRules
) -> PoolPlan:
    """The recurrent state pool as the reserve counts it; without recurrent layers it holds nothing."""
    counts = PoolCounts(slots + 1 if dims.ssm_layers else 0, verify.counts if verify else None)
    if not rules.dummies_in_reserve:
        counts = _without_dummies(counts)
    return PoolPlan(dims.ssm_layers, dims.h_unit, dims.conv_unit, config.f16_pool, counts)


def _without_dummies(counts: PoolCounts) -> PoolCounts:
    """Before 2026-09-30 the reserve left the dummies out."""
    verify = counts.verify
    bare = None if verify is None else VerifyCounts(verify.h_steps[:-1], verify.conv_steps)
    return PoolCounts(max(counts.slots - 1, 0), bare)
