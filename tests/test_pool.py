"""Counts and bytes of the recurrent-state pool."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.pool import PoolCounts, PoolPlan, PoolShape, VerifyCounts, pool_counts, pool_counts_tiered
from metrale_plan.reserve import CopyTier

SHAPE = PoolShape(max_slots=3, spec=True, num_intermediates=4, num_drafts=3, uniform_h=False, rollback="snapshot")

small = st.integers(0, 12)
shapes = st.builds(
    PoolShape,
    max_slots=small,
    spec=st.booleans(),
    num_intermediates=small,
    num_drafts=small,
    uniform_h=st.booleans(),
    rollback=st.sampled_from(["snapshot", "replay"]),
)
tiers = st.none() | st.builds(CopyTier, small, small)
figures = st.lists(small, max_size=8)
verifies = st.none() | st.builds(VerifyCounts, st.lists(small).map(tuple), small)
plans = st.builds(
    PoolPlan,
    layers=small,
    h_f32_bytes=small.map(lambda n: 4 * n),
    conv_bytes=small,
    f16_pool=st.booleans(),
    counts=st.builds(PoolCounts, small, verifies),
)


def test_a_slot_holds_its_figure_and_the_dummy_the_most() -> None:
    assert pool_counts(SHAPE, 3, [3, 1, 9]) == PoolCounts(4, VerifyCounts((3, 1, 3, 3), 4))


def test_uniform_slots_hold_the_most() -> None:
    uniform = dataclasses.replace(SHAPE, uniform_h=True)
    assert pool_counts(uniform, 3, [3, 1, 9]) == PoolCounts(4, VerifyCounts((3, 3, 3, 3), 4))


def test_replay_keeps_no_steps_and_no_proposer_no_verify_slots() -> None:
    replay = dataclasses.replace(SHAPE, rollback="replay")
    assert pool_counts(replay, 3, [3, 1, 9]) == PoolCounts(4, VerifyCounts((0, 0, 0, 0), 0))
    assert pool_counts(dataclasses.replace(SHAPE, spec=False), 3, []) == PoolCounts(4, None)


def test_a_tier_raises_rows_and_its_own_slots() -> None:
    tiered = pool_counts_tiered(SHAPE, 3, [3, 1, 1], CopyTier(slots=2, drafts=6))
    assert tiered == PoolCounts(4, VerifyCounts((6, 6, 1, 6), 7))


def test_without_intermediates_no_step_is_negative() -> None:
    empty = dataclasses.replace(SHAPE, num_intermediates=0)
    assert pool_counts(empty, 1, [5]) == PoolCounts(4, VerifyCounts((0, 0), 0))


def test_a_missing_figure_and_an_unknown_mode_are_refused() -> None:
    with pytest.raises(ValueError, match="3 verify slots"):
        pool_counts(SHAPE, 3, [1, 1])
    with pytest.raises(ValueError, match="rollback"):
        dataclasses.replace(SHAPE, rollback="ring")


@given(shapes, figures, tiers)
def test_counts_stay_within_the_shape(shape: PoolShape, ladder_h: list[int], tier: CopyTier | None) -> None:
    counts = pool_counts_tiered(shape, len(ladder_h), ladder_h, tier)
    assert counts.slots == shape.max_slots + 1
    assert (counts.verify is None) == (not shape.spec)
    if counts.verify is not None:
        h_steps, conv_steps = counts.verify.h_steps, counts.verify.conv_steps
        assert len(h_steps) == len(ladder_h) + 1
        assert max(h_steps) == h_steps[-1] == max(conv_steps - 1, 0)
    if tier is None:
        assert counts == pool_counts(shape, len(ladder_h), ladder_h)


@given(plans)
def test_the_total_is_the_sum_of_the_parts_and_of_the_layers(plan: PoolPlan) -> None:
    parts = (plan.live, plan.h_intermediates, plan.conv_intermediates, plan.checkpoints)
    assert plan.total == sum(parts)
    if plan.layers == 0:
        assert plan.per_layer is None and plan.total == 0
    else:
        assert plan.per_layer is not None and plan.per_layer * plan.layers == plan.total
    if plan.counts.verify is None:
        assert parts[1:] == (0, 0, 0)


@given(shapes, figures.filter(bool), tiers)
def test_bytes_grow_with_slots_layers_and_the_wide_pool(
    shape: PoolShape, ladder_h: list[int], tier: CopyTier | None
) -> None:
    def total(max_slots: int, verify_slots: int, layers: int, f16: bool) -> int:
        wider = dataclasses.replace(shape, max_slots=max_slots)
        counts = pool_counts_tiered(wider, verify_slots, ladder_h, tier)
        return PoolPlan(layers, 64, 10, f16, counts).total

    base = total(shape.max_slots, len(ladder_h) - 1, 3, True)
    assert base < total(shape.max_slots + 1, len(ladder_h) - 1, 3, True)
    assert base <= total(shape.max_slots, len(ladder_h), 3, True)
    assert base < total(shape.max_slots, len(ladder_h) - 1, 4, True)
    assert base < total(shape.max_slots, len(ladder_h) - 1, 3, False)


def test_one_layer_by_hand() -> None:
    plan = PoolPlan(2, 100, 7, True, PoolCounts(4, VerifyCounts((3, 1, 3), 4)))
    assert plan.h_stored == 50
    assert plan.live == 2 * 4 * 57
    assert plan.h_intermediates == 2 * 7 * 50
    assert plan.conv_intermediates == 2 * 3 * 4 * 7
    assert plan.checkpoints == 2 * 3 * 57
    assert plan.per_layer == 228 + 350 + 84 + 171


def test_a_broken_h_state_is_refused_when_asked_for() -> None:
    with pytest.raises(ValueError, match="FP32-element sized"):
        _ = PoolPlan(1, 6, 7, True, PoolCounts(1, None)).total
