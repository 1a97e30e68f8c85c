"""Verify slots by what they hold, and the bytes of them."""

from collections.abc import Iterator

from metrale_plan.config.serve import ServeConfig
from metrale_plan.explain.ladder.capacity import capacities
from metrale_plan.explain.ladder.runs import joined
from metrale_plan.explain.ladder.values import Pools, SlotGroup
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan.verify import VerifyPlan
from metrale_plan.pool import PoolPlan


def slot_groups(
    config: ServeConfig, verify: VerifyPlan, h_steps: tuple[int, ...], dims: ModelDims | None
) -> tuple[SlotGroup, ...]:
    """Verify slots that are alike, together; `h_steps` are those of the pool, the dummy last where it is counted."""
    return tuple(_priced(group, config, dims) for group in joined(_slots(config, verify, h_steps)))


def _slots(config: ServeConfig, verify: VerifyPlan, h_steps: tuple[int, ...]) -> Iterator[SlotGroup]:
    known = capacities(config, verify.slots)
    for slot, steps in enumerate(h_steps):
        dummy = slot >= verify.slots
        capacity, why, from_width = (None, "the dummy", None) if dummy else known[slot]
        if capacity is not None and steps > capacity:
            why = f"{why}; {steps} by the copy tier"
        yield SlotGroup(
            first=slot,
            last=slot,
            dummy=dummy,
            capacity=capacity,
            why=why,
            from_width=from_width,
            h_steps=steps,
            conv_steps=verify.counts.conv_steps,
        )


def _priced(group: SlotGroup, config: ServeConfig, dims: ModelDims | None) -> SlotGroup:
    if dims is None:
        return group
    layers, conv = dims.ssm_layers, dims.conv_unit
    h = dims.h_unit // 2 if config.f16_pool else dims.h_unit
    count = group.last - group.first + 1
    h_bytes, conv_bytes = layers * group.h_steps * h, layers * group.conv_steps * conv
    checkpoint = layers * (h + conv)
    slot = h_bytes + conv_bytes + checkpoint
    return group._replace(
        h_bytes=count * h_bytes,
        conv_bytes=count * conv_bytes,
        checkpoint_bytes=count * checkpoint,
        slot_bytes=slot,
        bytes=count * slot,
    )


def pools_of(pool: PoolPlan, groups: tuple[SlotGroup, ...]) -> Pools:
    """The pool's bytes by kind; the dummy's are those of its group."""
    return Pools(
        live=pool.live,
        h_intermediates=pool.h_intermediates,
        conv_intermediates=pool.conv_intermediates,
        checkpoints=pool.checkpoints,
        verify=pool.total - pool.live,
        total=pool.total,
        dummy=sum(group.bytes or 0 for group in groups if group.dummy),
    )
