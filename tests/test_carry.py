"""The drafter carry."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.carry import (
    DEFAULT_MARCONI_MIN_TOKENS,
    AppendPlan,
    CarriedDrafter,
    CarryOutcome,
    StoreRange,
    carry_armed,
    hidden_row_offset,
    marconi_min_tokens,
    merge_interval,
    plan_append,
    stamped_merge,
)

positions = st.integers(0, 30)
tickets = st.integers(0, 3)
intervals = st.tuples(positions, positions)
tokens = st.lists(st.integers(0, 1), max_size=12)


@pytest.mark.parametrize(
    ("value", "tokens"), [(None, 256), ("0", 0), ("+12", 12), (" 12", 256), ("", 256), ("-1", 256), ("1_0", 256)]
)
def test_marconi_min_tokens(value: str | None, tokens: int) -> None:
    assert marconi_min_tokens(value) == tokens
    assert DEFAULT_MARCONI_MIN_TOKENS == 256


def test_armed_only_when_configured_and_one_sequence_speculates() -> None:
    assert [carry_armed(c, m) for c in (False, True) for m in (False, True)] == [False, False, True, False]


def carried(rows: int, key: int | None, held: list[int], session: int = 7) -> CarriedDrafter:
    return CarriedDrafter((), rows, key, held, session)


def test_a_full_prefix_keeps_all_rows_and_a_shorter_one_drops_the_tail() -> None:
    held = carried(9, 8, list(range(10)))
    assert held.usable_by([*range(10), 99], 7) == (9, 8)
    assert held.usable_by([0, 1, 2, 3, 99], 7) == (3, 2)
    assert held.usable_by([0, 1, 99], 7) == (1, 0)
    assert held.usable_by([0, 99], 7) is None


def test_compacted_rows_can_run_out_before_the_keys_do() -> None:
    assert carried(2, 8, list(range(10))).usable_by(list(range(8)), 7) is None
    assert carried(3, 8, list(range(10))).usable_by(list(range(8)), 7) == (1, 6)


@pytest.mark.parametrize(("session", "entry_session"), [(0, 7), (8, 7), (0, 0)])
def test_another_session_or_none_gets_nothing(session: int, entry_session: int) -> None:
    held = carried(9, 8, list(range(10)), entry_session)
    assert not held.session_matches(session)
    assert held.usable_by(list(range(10)), session) is None


def test_an_entry_without_rows_or_key_is_of_no_use() -> None:
    assert carried(0, 0, [1, 2]).usable_by([1, 2], 7) is None
    assert carried(5, None, [1, 2]).usable_by([1, 2], 7) is None


@given(positions, st.none() | positions, tokens, tokens, tickets, tickets)
def test_what_is_usable_lies_within_the_entry_and_the_common_prefix(
    rows: int, key: int | None, held: list[int], prompt: list[int], session: int, asked: int
) -> None:
    entry = carried(rows, key, held, session)
    common = entry.common_prefix_len(prompt)
    assert held[:common] == prompt[:common]
    assert held[common : common + 1] != prompt[common : common + 1] or common == len(held) == len(prompt)
    usable = entry.usable_by(prompt, asked)
    if usable is not None:
        assert asked == session != 0
        assert key is not None
        assert 1 <= usable[0] <= rows
        assert 0 <= usable[1] <= min(key, common - 2)
        assert rows - usable[0] == key - usable[1]


def test_append_covers_the_new_span() -> None:
    assert plan_append(2, 10, 0, 10) == AppendPlan(3, 6)
    assert plan_append(2, 10, 5, 9) == AppendPlan(5, 4)
    assert plan_append(2, 10, 0, 8) is None
    assert plan_append(8, 10, 0, 10) is None
    assert plan_append(0, 1, 0, 10) is None
    assert plan_append(2, 10, 0, 0) is None


@given(positions, positions, positions, positions)
def test_an_append_starts_after_the_last_key_inside_the_store_and_ends_at_the_prompt(
    last: int, length: int, lo: int, hi: int
) -> None:
    plan = plan_append(last, length, lo, hi)
    if plan is None:
        assert max(last + 1, lo) > length - 2 or hi <= length - 2
    else:
        assert plan.first_key in (last + 1, lo) and plan.first_key >= max(last + 1, lo)
        assert plan.rows >= 1
        assert plan.first_key + plan.rows == length - 1 <= hi


def test_hidden_rows_are_bf16() -> None:
    assert hidden_row_offset(1000, 3, 2048) == 1000 + 3 * 4096


def test_a_gap_replaces_and_a_touch_extends() -> None:
    assert merge_interval((10, 20), 20, 5) == (10, 25)
    assert merge_interval((10, 20), 5, 5) == (5, 20)
    assert merge_interval((10, 20), 12, 3) == (10, 20)
    assert merge_interval((10, 20), 21, 4) == (21, 25)
    assert merge_interval((10, 20), 2, 7) == (2, 9)
    assert merge_interval((10, 10), 10, 4) == (10, 14)


@given(intervals, positions, positions)
def test_a_merge_holds_the_write_and_never_a_row_nobody_wrote(cur: tuple[int, int], start: int, count: int) -> None:
    lo, hi = merge_interval(cur, start, count)
    assert lo <= start and start + count <= hi
    assert set(range(lo, hi)) <= set(range(*cur)) | set(range(start, start + count))


@given(st.builds(StoreRange, tickets, positions, positions), tickets, positions, positions)
def test_a_stamped_merge_belongs_to_the_writer_and_merges_only_its_own(
    cur: StoreRange, writer: int, start: int, count: int
) -> None:
    merged = stamped_merge(cur, writer, start, count)
    assert merged.owner == writer
    own = writer != 0 and cur.owner == writer
    expected = merge_interval((cur.lo, cur.hi), start, count) if own else (start, start + count)
    assert (merged.lo, merged.hi) == expected
    assert merged.visible_to(writer) == (expected if writer else (0, 0))


def test_rows_are_visible_to_their_owner_alone() -> None:
    held = StoreRange(3, 5, 9)
    assert [held.visible_to(reader) for reader in (3, 4, 0)] == [(5, 9), (0, 0), (0, 0)]
    assert StoreRange(0, 0, 0) == StoreRange.EMPTY
    assert StoreRange.EMPTY.visible_to(0) == (0, 0)


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (CarryOutcome.Adopted(rows=3, appended=2, first_key=9), "adopted rows=3 appended=2 first_key=9"),
        (CarryOutcome.NoCarry(), "no carried state"),
        (CarryOutcome.PrefixMismatch(common=1, entry_rows=8), "prefix mismatch (common=1 entry_rows=8)"),
        (CarryOutcome.ForeignHiddens(owner=8, expected=9), "hidden rows belong to sequence gen 8, not 9"),
        (
            CarryOutcome.ForeignSession(entry_session=0xBEEF, prompt_session=0),
            "foreign session (entry=0xbeef prompt=0x0)",
        ),
        (CarryOutcome.NoHiddens(), "hidden store does not cover the append span"),
    ],
)
def test_outcomes_read_as_the_engine_logs_them(outcome: object, text: str) -> None:
    assert str(outcome) == text
    assert hash(outcome) == hash(outcome)
