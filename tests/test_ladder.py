"""The draft ladder and the dispatch cap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.ladder import (
    DEFAULT_LADDER,
    DEFAULT_MTP_MAX_SEQS,
    MAX_MTP_MAX_SEQS,
    MtpMaxSeqsSource,
    Steps,
    as_steps,
    ladder_drafts_from_steps,
    mtp_ladder_drafts,
    parse_ladder,
    parse_mtp_k_ladder,
    resolve_mtp_max_seqs,
)
from metrale_plan.text import U64_MAX, WHITE_SPACE

counts = st.integers(0, U64_MAX)
small = st.integers(0, 40)
ladders = st.lists(st.tuples(small, small), max_size=6).map(tuple)


@pytest.mark.parametrize(
    ("n_active", "num_drafts", "drafts"),
    [
        (1, 3, 3),
        (4, 3, 3),
        (5, 3, 3),
        (8, 3, 3),
        (9, 3, 1),
        (16, 3, 1),
        (17, 3, 1),
        (32, 3, 1),
        (64, 3, 1),
        (16, 1, 1),
        (2, 1, 1),
        (2, 0, 0),
    ],
)
def test_default_ladder(n_active: int, num_drafts: int, drafts: int) -> None:
    assert mtp_ladder_drafts(n_active, num_drafts, DEFAULT_LADDER, False) == drafts


def test_a_disabled_ladder_gives_the_ceiling() -> None:
    assert [mtp_ladder_drafts(n, 5, DEFAULT_LADDER, True) for n in (1, 9, 64)] == [5, 5, 5]


def test_steps_come_out_sorted_by_width_and_stay_in_order_within_one() -> None:
    assert parse_ladder("32:2, 4:3,8:3, 16:2,24:2") == ((4, 3), (8, 3), (16, 2), (24, 2), (32, 2))
    assert parse_ladder("8:1,4:9,8:0,4:2") == ((4, 9), (4, 2), (8, 1), (8, 0))


def test_the_first_step_that_covers_the_width_counts_else_the_last() -> None:
    steps = parse_ladder("4:3,8:2")
    assert steps is not None
    assert [ladder_drafts_from_steps(steps, n, 3) for n in (4, 5, 8, 9)] == [3, 2, 2, 2]
    assert ladder_drafts_from_steps([[28, 1], [17, 5]], 17, 7) == 1
    assert ladder_drafts_from_steps([[4, 3]], 5, 7) == 3
    assert ladder_drafts_from_steps((), 5, 7) == 7


@pytest.mark.parametrize("value", ["", "2", "2:x", "4:three", "4:3,broken,8:2", "2:2,,4:1", "4:3,", "4::3", "4:-1"])
def test_one_malformed_step_voids_the_whole(value: str) -> None:
    assert parse_ladder(value) is None
    with pytest.raises(ValueError, match="is not a list of n_max:drafts steps"):
        parse_mtp_k_ladder(value)


@pytest.mark.parametrize("value", ["0:2", "2:0", "4:3,+0:1"])
def test_only_the_flag_refuses_zeros(value: str) -> None:
    assert parse_ladder(value) is not None
    with pytest.raises(ValueError) as refused:
        parse_mtp_k_ladder(value)
    assert str(refused.value) == f'--mtp-k-ladder "{value}": widths and draft counts start at 1'


@given(
    st.lists(st.tuples(counts, counts), min_size=1, max_size=8),
    st.lists(st.text(WHITE_SPACE, max_size=3), min_size=4, max_size=4),
)
def test_a_formatted_ladder_reads_back(steps: list[tuple[int, int]], spaces: list[str]) -> None:
    a, b, c, d = spaces
    text = ",".join(f"{a}{width}{b}:{c}{drafts}{d}" for width, drafts in steps)
    assert parse_ladder(text) == tuple(sorted(steps, key=lambda step: step[0]))


@given(st.text())
def test_both_parsers_agree_on_any_text(value: str) -> None:
    steps = parse_ladder(value)
    if steps is None or any(0 in step for step in steps):
        with pytest.raises(ValueError):
            parse_mtp_k_ladder(value)
    else:
        assert parse_mtp_k_ladder(value) == steps


@given(ladders, counts, st.integers(0, 20), st.booleans())
def test_drafts_lie_between_one_and_the_ceiling(steps: Steps, n_active: int, num_drafts: int, disabled: bool) -> None:
    drafts = mtp_ladder_drafts(n_active, num_drafts, steps, disabled)
    assert min(1, num_drafts) <= drafts <= num_drafts


@given(ladders, counts, st.integers(0, 20))
def test_a_higher_ceiling_never_lowers_the_drafts(steps: Steps, n_active: int, num_drafts: int) -> None:
    assert ladder_drafts_from_steps(steps, n_active, num_drafts) <= ladder_drafts_from_steps(
        steps, n_active, num_drafts + 1
    )


def test_as_steps_takes_lists() -> None:
    assert as_steps([[8, 1], [4, 3]]) == ((8, 1), (4, 3))


@pytest.mark.parametrize(
    ("cli", "model_default", "disabled", "cap", "source"),
    [
        (8, 128, False, 8, "Cli"),
        (32, 128, False, 32, "Cli"),
        (None, 128, False, 128, "ModelDefault"),
        (None, 128, True, 128, "ModelDefault"),
        (None, 0, False, 32, "EngineDefault"),
        (None, 0, True, 4, "EngineDefault"),
    ],
)
def test_the_flag_beats_the_model_beats_the_engine(
    cli: int | None, model_default: int, disabled: bool, cap: int, source: str
) -> None:
    assert resolve_mtp_max_seqs(cli, model_default, disabled) == (cap, MtpMaxSeqsSource(source))


@pytest.mark.parametrize(
    ("cli", "model_default", "shown"), [(0, 128, "0 (Cli)"), (129, 0, "129 (Cli)"), (None, 129, "129 (ModelDefault)")]
)
def test_a_cap_out_of_bounds_is_refused_from_either_source(cli: int | None, model_default: int, shown: str) -> None:
    with pytest.raises(ValueError) as refused:
        resolve_mtp_max_seqs(cli, model_default, False)
    assert str(refused.value) == f"MTP dispatch cap {shown} is outside 1..=128"


def test_constants() -> None:
    assert (DEFAULT_MTP_MAX_SEQS, MAX_MTP_MAX_SEQS) == (32, 128)
    assert parse_ladder("4:3,8:3,16:1,32:1") == DEFAULT_LADDER
