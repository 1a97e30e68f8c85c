"""Verify slots, state bytes, snapshot slots, the decode ring, the copy tier and the replay ring."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.ladder import DEFAULT_LADDER, ladder_drafts_from_steps
from metrale_plan.reserve import (
    CopyTier,
    DecodeRingDecision,
    MarconiSlotDecision,
    decode_rollback_ring_slots,
    fit_decode_ring_slots,
    marconi_snapshot_slots,
    mtp_state_slots,
    parse_decode_ring_slots,
    prefix_caching_active,
    ssm_h_prefill_stage_bytes,
    ssm_h_stored_bytes,
    ssm_replay_ring_bytes,
    ssm_replay_row_bytes,
    tier_h,
    tier_rows,
    verify_slot_drafts,
    verify_slot_h_intermediates,
    watchdogs_disabled_from_value,
)
from metrale_plan.reserve.decode_ring import DECODE_RING_FIT_LADDER, DEFAULT_DECODE_RING_SLOTS
from metrale_plan.reserve.replay import glm_replay_row_bytes
from metrale_plan.reserve.verify import MTP_STATE_SLOTS_FLOOR
from metrale_plan.text import U64_MAX

sizes = st.integers(0, U64_MAX)
batches = st.integers(0, 300)
slots = st.integers(0, 40)


def test_the_floor_covers_small_batches_and_the_cap_wide_ones() -> None:
    assert MTP_STATE_SLOTS_FLOOR == 32
    assert [mtp_state_slots(n, 4, False) for n in (0, 8, 32, 33, 128)] == [0, 8, 32, 32, 32]
    assert [mtp_state_slots(n, 64, False) for n in (32, 33, 64, 128)] == [32, 33, 64, 64]
    assert mtp_state_slots(128, 4, True) == 128


@given(batches, batches, st.booleans())
def test_verify_slots_never_exceed_the_batch_and_grow_with_it(batch: int, cap: int, full: bool) -> None:
    held = mtp_state_slots(batch, cap, full)
    assert held <= batch
    assert held <= mtp_state_slots(batch + 1, cap, full)
    assert held <= mtp_state_slots(batch, cap + 1, full)


def test_default_ladder_tiers_the_slots() -> None:
    drafts = [verify_slot_drafts(i, 32, 3, lambda n: ladder_drafts_from_steps(DEFAULT_LADDER, n, 3)) for i in range(40)]
    assert drafts == [3] * 8 + [1] * 32


def test_a_later_deeper_step_lifts_the_slots_before_it() -> None:
    drafts = [verify_slot_drafts(i, 3, 9, lambda n: (1, 2, 5, 1)[n - 1]) for i in range(4)]
    assert drafts == [5, 5, 5, 1]


@given(slots, slots, st.integers(0, 8), st.lists(st.integers(0, 12), min_size=41, max_size=41))
def test_slot_drafts_bound_every_width_that_can_reach_the_slot(
    slot: int, cap: int, num_drafts: int, per_width: list[int]
) -> None:
    held = verify_slot_drafts(slot, cap, num_drafts, lambda n: per_width[n - 1])
    assert min(1, num_drafts) <= held <= num_drafts
    assert all(min(per_width[n - 1], num_drafts) <= held for n in range(slot + 1, cap + 1))
    assert verify_slot_drafts(slot, cap, num_drafts + 1, lambda n: per_width[n - 1]) >= held


def test_a_huge_cap_costs_nothing_once_the_ceiling_is_met() -> None:
    assert verify_slot_drafts(0, U64_MAX, 3, lambda n: 3) == 3


def test_a_single_draft_still_asks_for_the_ladder_and_none_does_not() -> None:
    asked: list[int] = []

    def drafts_at(width: int) -> int:
        asked.append(width)
        return 1

    assert verify_slot_drafts(5, 8, 1, drafts_at) == 1
    assert asked == [6]
    assert verify_slot_drafts(5, 8, 0, drafts_at) == 0
    assert asked == [6]


def test_uniform_verify_ignores_the_slot() -> None:
    assert verify_slot_h_intermediates(9, 3, True, lambda slot: 1 // 0) == 3
    assert verify_slot_h_intermediates(9, 3, False, lambda slot: slot + 100) == 109


def test_h_state_bytes() -> None:
    assert ssm_h_stored_bytes(2_097_152, False) == 2_097_152
    assert ssm_h_stored_bytes(2_097_152, True) == 1_048_576
    assert ssm_h_prefill_stage_bytes(33, 2_097_152, True) == 33 * 2_097_152
    assert ssm_h_prefill_stage_bytes(33, 2_097_152, False) == 0


@pytest.mark.parametrize("f16_pool", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 6, U64_MAX])
def test_h_state_must_be_whole_fp32_elements(size: int, f16_pool: bool) -> None:
    with pytest.raises(ValueError) as refused:
        ssm_h_stored_bytes(size, f16_pool)
    assert str(refused.value) == "h-state blobs are FP32-element sized"


def test_snapshot_slots_need_a_prefix_cache_unless_forced() -> None:
    dropped = marconi_snapshot_slots(16, False, False)
    assert dropped.slots == 0
    assert dropped.skip_reason is not None and dropped.skip_reason.startswith("prefix caching inactive")
    assert marconi_snapshot_slots(16, True, False) == MarconiSlotDecision(16, None)
    assert marconi_snapshot_slots(16, False, True) == MarconiSlotDecision(16, None)
    assert marconi_snapshot_slots(0, False, False) == MarconiSlotDecision(0, None)


def test_prefix_caching_needs_flag_and_model() -> None:
    assert [prefix_caching_active(f, s) for f in (False, True) for s in (False, True)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("given_", "slots", "reason"),
    [
        ((0, False, 5, "1", False), 0, None),
        ((1, True, 5, "0", True), 5, None),
        ((1, True, None, "1", True), 8, None),
        ((1, False, None, "0", False), 0, None),
        ((1, True, None, " 1", True), 0, "speculative decode active"),
        ((1, False, None, None, True), 0, "watchdogs disabled"),
        ((1, False, None, "8", False), 8, None),
    ],
)
def test_decode_ring_rules_in_order(
    given_: tuple[int, bool, int | None, str | None, bool], slots: int, reason: str | None
) -> None:
    assert decode_rollback_ring_slots(*given_) == DecodeRingDecision(slots, reason)


@pytest.mark.parametrize(("value", "slots"), [("auto", None), ("0", 0), ("8", 8), ("+008", 8)])
def test_ring_depths(value: str, slots: int | None) -> None:
    assert parse_decode_ring_slots(value) == slots


@pytest.mark.parametrize("value", ["", "9", "AUTO", " 8", "8 ", "-1", "9" * 10_000])
def test_ring_depths_refused(value: str) -> None:
    with pytest.raises(ValueError, match="--ssm-decode-ring-slots"):
        parse_decode_ring_slots(value)


@pytest.mark.parametrize(
    ("value", "disabled"),
    [(None, False), ("", False), ("0", False), ("1", True), ("\u3000tRuE\n", True), ("\x1c1", False), ("yes", False)],
)
def test_watchdogs(value: str | None, disabled: bool) -> None:
    assert watchdogs_disabled_from_value(value) is disabled


@given(sizes, sizes, sizes, sizes)
def test_the_fitted_depth_is_the_deepest_that_fits(start: int, reserve: int, per_slot: int, free: int) -> None:
    depth = fit_decode_ring_slots(start, reserve, per_slot, free)
    assert depth in DECODE_RING_FIT_LADDER and depth <= start and depth <= DEFAULT_DECODE_RING_SLOTS

    def fits(d: int) -> bool:
        return min(reserve + min(d * per_slot, U64_MAX), U64_MAX) <= free

    assert fits(depth) or not any(map(fits, DECODE_RING_FIT_LADDER))
    assert not any(fits(d) for d in DECODE_RING_FIT_LADDER if depth < d <= start)
    assert depth <= fit_decode_ring_slots(start, reserve, per_slot, min(free + 1, U64_MAX))


@given(st.none() | st.builds(CopyTier, slots, slots), slots, slots)
def test_a_tier_only_raises_and_only_its_slots(tier: CopyTier | None, base: int, slot: int) -> None:
    held, rows = tier_h(tier, base, slot), tier_rows(tier, base)
    assert held >= base and rows >= base
    if tier is None or slot >= tier.slots:
        assert held == base
    else:
        assert held >= tier.drafts and rows > tier.drafts


def test_replay_rows() -> None:
    assert ssm_replay_row_bytes(12_288, 32) == 24_576 + 256
    assert glm_replay_row_bytes(64, 128) == 10 * 64 * 128 + 4 * 64


@given(slots, slots, slots, slots)
def test_the_replay_ring_leaves_out_one_row_of_each_verify(layers: int, row: int, k: int, held: int) -> None:
    ring = ssm_replay_ring_bytes(layers, row, k, held)
    assert ring == layers * row * held * (k - 1 if k else 0)
    assert ring <= ssm_replay_ring_bytes(layers, row, k, held + 1)
