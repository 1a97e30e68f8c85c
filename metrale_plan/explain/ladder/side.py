"""One ladder under one set of settings: its steps, widths, slots and pools."""

from metrale_plan.config.serve import ServeConfig
from metrale_plan.explain.ladder.slots import pools_of, slot_groups
from metrale_plan.explain.ladder.values import Side
from metrale_plan.explain.ladder.widths import steps_in_force, width_runs
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan.verify import VerifyPlan, plan_pool, plan_verify
from metrale_plan.rules import EngineRules


def side_of(label: str, config: ServeConfig, rules: EngineRules, dims: ModelDims | None) -> Side:
    """This config's ladder, priced where there is a model; `label` names it beside another."""
    verify = verify_of(config)
    pool = None if dims is None else plan_pool(dims, config, config.ceiling, verify, rules)
    counted = verify.counts if pool is None or pool.counts.verify is None else pool.counts.verify
    groups = slot_groups(config, verify, counted.h_steps, dims)
    rung, runs = width_runs(config)
    return Side(
        label=label,
        ladder=config.ladder,
        disabled=config.ladder_disabled,
        pinned=config.ladder_pinned,
        full_width=config.full_width_pools,
        steps=tuple(steps_in_force(config)),
        runs=runs,
        slots=verify.slots,
        slots_with_dummy=len(counted.h_steps),
        groups=groups,
        rung=rung,
        pools=None if pool is None else pools_of(pool, groups),
    )


def pool_total(config: ServeConfig, rules: EngineRules, dims: ModelDims) -> int:
    """Bytes of the recurrent pool, verify side included."""
    return plan_pool(dims, config, config.ceiling, verify_of(config), rules).total


def verify_of(config: ServeConfig) -> VerifyPlan:
    """The verify plan of a config that drafts."""
    verify = plan_verify(config, config.ceiling)
    assert verify is not None
    return verify
