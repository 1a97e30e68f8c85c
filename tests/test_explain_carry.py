"""`explain-carry`: armed or not, and warm turns replayed."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli import cli, cli_json
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.carry import CarriedDrafter, CarryOutcome, StoreRange, plan_append
from metrale_plan.explain.carry.outcome import attempt
from metrale_plan.explain.carry.turn import rebuild_ms

TURN = {"session": 7, "ticket": 2, "prompt": [1, 2, 3, 4, 5]}
ENTRY = {"tokens": [1, 2, 3, 9], "session": 7}


def replayed(tmp_path: Path, case: Any, *argv: str) -> Any:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case), "utf-8")
    document = cli_json("explain-carry", "--case", str(path), *argv)
    assert document["error"] is None, document["error"]
    return document["explain_carry"]["turns"]


@pytest.mark.parametrize(
    ("argv", "armed"),
    [
        ((), False),
        (("--carry",), False),
        (("--carry", "--mtp-max-seqs", "2"), False),
        (("--carry", "--mtp-max-seqs", "1"), True),
        (("--no-carry", "--mtp-max-seqs", "1"), False),
        (("--mtp-max-seqs", "1"), None),
    ],
)
def test_armed_only_at_a_cap_of_one(argv: tuple[str, ...], armed: bool | None) -> None:
    assert cli_json("explain-carry", *argv)["explain_carry"]["state"]["armed"] is armed


def test_the_armed_state_is_the_headline() -> None:
    out = cli("explain-carry", "--carry").out
    assert out.startswith("CARRY NOT ARMED: the dispatch cap of 32 lets several sequences")


def test_variants_are_outcomes() -> None:
    assert isinstance(CarryOutcome.Adopted(1, 2, 3), CarryOutcome)
    assert isinstance(CarryOutcome.NoHiddens(), CarryOutcome)
    assert str(CarryOutcome.Adopted(1, 2, 3)) == "adopted rows=1 appended=2 first_key=3"
    assert CarryOutcome.NoCarry() == CarryOutcome.NoCarry() != CarryOutcome.NoHiddens()


HELD = CarriedDrafter((), 3, 2, (1, 2, 3, 4), 7)
PROMPT = (1, 2, 3, 4, 5, 6)
OURS = StoreRange(2, 0, 6)


@pytest.mark.parametrize(
    ("entry", "prompt", "session", "ticket", "store", "outcome"),
    [
        (None, PROMPT, 0, 0, OURS, CarryOutcome.NoCarry()),
        (CarriedDrafter((), 0, 2, (1, 2, 3), 9), PROMPT, 7, 2, OURS, CarryOutcome.NoCarry()),
        (CarriedDrafter((), 3, None, (1, 2, 3), 9), PROMPT, 7, 2, OURS, CarryOutcome.NoCarry()),
        (HELD, (9,), 0, 2, OURS, CarryOutcome.ForeignSession(7, 0)),
        (HELD, (9,), 8, 2, OURS, CarryOutcome.ForeignSession(7, 8)),
        (HELD, (1, 9), 7, 2, OURS, CarryOutcome.PrefixMismatch(1, 3)),
        (HELD, (1, 2, 3, 4), 7, 2, StoreRange.EMPTY, CarryOutcome.Adopted(3, 0, 3)),
        (HELD, PROMPT, 7, 2, StoreRange(3, 0, 6), CarryOutcome.ForeignHiddens(3, 2)),
        (HELD, PROMPT, 7, 0, StoreRange(3, 0, 6), CarryOutcome.ForeignHiddens(3, 0)),
        (HELD, PROMPT, 7, 2, StoreRange.EMPTY, CarryOutcome.NoHiddens()),
        (HELD, PROMPT, 7, 2, StoreRange(2, 0, 4), CarryOutcome.NoHiddens()),
        (HELD, PROMPT, 7, 2, OURS, CarryOutcome.Adopted(3, 2, 3)),
        (HELD, PROMPT, 7, 2, StoreRange(2, 4, 6), CarryOutcome.Adopted(3, 1, 4)),
    ],
)
def test_outcomes_in_their_order(
    entry: CarriedDrafter | None,
    prompt: tuple[int, ...],
    session: int,
    ticket: int,
    store: StoreRange,
    outcome: CarryOutcome,
) -> None:
    assert attempt(entry, prompt, session, ticket, store) == outcome


small = st.integers(0, 12)
tokens = st.lists(st.integers(0, 1), max_size=10)


@given(small, st.none() | small, tokens, tokens, st.integers(0, 2), st.integers(0, 2), small, small)
def test_an_adoption_is_what_the_rules_of_its_parts_allow(
    rows: int, key: int | None, held: list[int], prompt: list[int], session: int, ticket: int, lo: int, size: int
) -> None:
    entry = CarriedDrafter((), rows, key, held, 1)
    store = StoreRange(1, lo, lo + size)
    outcome = attempt(entry, prompt, session, ticket, store)
    if isinstance(outcome, CarryOutcome.Adopted):
        usable = entry.usable_by(prompt, session)
        assert usable is not None and outcome.rows == usable[0]
        plan = plan_append(usable[1], len(prompt), *store.visible_to(ticket))
        assert outcome.appended == (plan.rows if plan else 0)
        assert outcome.first_key + outcome.appended == len(prompt) - 1


def test_a_warm_turn(tmp_path: Path) -> None:
    store = {"owner": 2, "lo": 2, "hi": 5}
    (turn,) = replayed(tmp_path, {"entry": ENTRY, "store": store, "turn": [TURN]})
    assert turn["text"] == "adopted rows=2 appended=2 first_key=2"
    assert (turn["step"], turn["why"]) == (7, "with an append")
    assert (turn["common"], turn["rows_kept"], turn["rows_dropped"]) == (3, 2, 1)
    assert (turn["append_first"], turn["append_rows"]) == (2, 2)
    assert turn["carried"] == [{"first": 0, "last": 2}]
    assert turn["adopted"] == [{"first": 0, "last": 1}]
    assert turn["appended"] == {"first": 2, "last": 3}
    assert turn["missing"] == []
    assert turn["rebuild_rows"] == 4


def test_a_store_that_starts_later_leaves_keys_missing(tmp_path: Path) -> None:
    store = {"owner": 2, "lo": 3, "hi": 5}
    (turn,) = replayed(tmp_path, {"entry": ENTRY, "store": store, "turn": [TURN]})
    assert turn["missing"] == [{"first": 2, "last": 2}]
    assert turn["appended"] == {"first": 3, "last": 3}


def test_turns_replay_in_order_and_merge_the_store(tmp_path: Path) -> None:
    case = {
        "entry": ENTRY,
        "turn": [
            {**TURN, "writes": [{"start": 2, "count": 2}, {"start": 4, "count": 1}]},
            {**TURN, "prompt": [1, 2, 3, 4, 5, 6], "writes": [{"start": 9, "count": 1}, {"start": 4, "count": 2}]},
            {**TURN, "prompt": [1, 2, 3, 4, 5, 6, 7], "writes": [{"start": 0, "count": 7, "ticket": 5}]},
        ],
    }
    first, second, third = replayed(tmp_path, case)
    assert first["store_before"] == {"owner": 0, "lo": 0, "hi": 0}
    assert [merge["after"] for merge in first["merges"]] == [
        {"owner": 2, "lo": 2, "hi": 4},
        {"owner": 2, "lo": 2, "hi": 5},
    ]
    assert second["store_before"] == first["store_after"]
    # A gap replaces, then the lower run touches nothing of it and replaces again.
    assert [(m["after"]["lo"], m["after"]["hi"]) for m in second["merges"]] == [(9, 10), (4, 6)]
    # The first turn said nothing, so it left its prompt's rows; the second goes on from them.
    assert first["slot_after"]["rows"] == 4
    assert second["text"] == "adopted rows=4 appended=1 first_key=4"
    assert third["text"] == "hidden rows belong to sequence gen 5, not 2"
    assert third["slot_after"] is None


def test_counts_do_for_tokens() -> None:
    flags = ("--carried-tokens", "12000", "--prompt-tokens", "12600", "--common-prefix", "11900")
    document = cli_json("explain-carry", *flags, "--stored", "11890:12600")
    (turn,) = document["explain_carry"]["turns"]
    assert turn["text"] == "adopted rows=11899 appended=700 first_key=11899"
    assert turn["entry"]["rows"] == 11_999
    assert turn["rebuild_ms"] == pytest.approx(12_599 * 1136 / 11_947, abs=0.05)


def test_generated_tokens_are_shared_with_nobody(tmp_path: Path) -> None:
    turn = {"session": 7, "ticket": 2, "prompt_len": 8, "common_prefix": 4}
    case = {
        "entry": {"token_count": 6, "session": 7},
        "turn": [{**turn, "leaves": {"token_count": 10}}, {**turn, "prompt_len": 12, "common_prefix": 9}],
    }
    _, second = replayed(tmp_path, case)
    assert second["common"] == 9


def test_the_measured_rebuild() -> None:
    assert rebuild_ms(11_947) == 1136.0
    assert rebuild_ms(0) == 0.0


def test_bytes_of_the_27b(tmp_path: Path) -> None:
    argv = ("qwen3.8-27b", "--speculative", "--max-seq-len", "1000")
    case = {"entry": {"token_count": 40, "session": 7}, "turn": [{"session": 7, "prompt": []}],
            "store": {"owner": 1, "lo": 0, "hi": 10}}  # fmt: skip
    (turn,) = replayed(tmp_path, case, *argv)
    assert turn["entry"]["blocks"] == 3  # 39 rows in blocks of 16
    assert turn["entry"]["block_bytes"] == 3 * 65536
    assert turn["stored_bytes"] == 10 * 2 * 5120
    sizes = cli_json("explain-carry", *argv)["explain_carry"]["bytes"]
    assert sizes["store"] == 1000 * 2 * 5120


BAD = [
    ("{", "MP260", ":1"),
    ("[]", "MP260", ""),
    ("{}", "MP260", "turn"),
    ('{"turn": [], "turn": []}', "MP260", ""),
    ('{"turn": []}', "MP260", "turn"),
    ('{"turns": [{}]}', "MP261", "turns"),
    ('{"turn": [{}]}', "MP261", "turn[0]"),
    ('{"turn": [{"prompt": [1.5]}]}', "MP261", "turn[0].prompt[0]"),
    ('{"turn": [{"prompt": [true]}]}', "MP261", "turn[0].prompt[0]"),
    ('{"turn": [{"prompt": [4294967296]}]}', "MP261", "turn[0].prompt[0]"),
    ('{"turn": [{"prompt": "12"}]}', "MP261", "turn[0].prompt"),
    ('{"turn": [{"prompt": [], "ticket": -1}]}', "MP261", "turn[0].ticket"),
    ('{"turn": [{"prompt": [], "session": "0xzz"}]}', "MP261", "turn[0].session"),
    ('{"turn": [{"prompt": [], "session": 18446744073709551616}]}', "MP261", "turn[0].session"),
    ('{"turn": [{"prompt": [], "prompt_len": 0}]}', "MP262", "turn[0].prompt_len"),
    ('{"turn": [{"prompt_len": 99999999}]}', "MP261", "turn[0].prompt_len"),
    ('{"entry": {"token_count": 5}, "turn": [{"prompt_len": 9}]}', "MP261", "turn[0].prompt_len"),
    ('{"entry": {"token_count": 5}, "turn": [{"prompt_len": 9, "common_prefix": 6}]}', "MP262", "common_prefix"),
    ('{"entry": {"tokens": [1], "token_count": 5}, "turn": [{"prompt": []}]}', "MP262", "token_count"),
    ('{"entry": {"rows": 5}, "turn": [{"prompt": []}]}', "MP261", "entry"),
    ('{"entry": [], "turn": [{"prompt": []}]}', "MP261", "entry"),
    ('{"turn": [{"prompt": [], "writes": [{"start": 1}]}]}', "MP261", "turn[0].writes[0]"),
    ('{"turn": [{"prompt": [], "writes": {"start": 1}}]}', "MP261", "turn[0].writes"),
    ('{"turn": [{"prompt": [], "writes": [{"start": 18446744073709551615, "count": 1}]}]}', "MP261", "count"),
    ('{"store": {"low": 1}, "turn": [{"prompt": []}]}', "MP261", "store.low"),
    ('{"turn": ' + "[" * 100000 + "}", "MP260", ""),
]


@pytest.mark.parametrize(("text", "code", "where"), BAD, ids=range(len(BAD)))
def test_a_bad_case_is_told_with_its_place(text: str, code: str, where: str, tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(text, "utf-8")
    outcome = cli("explain-carry", "--case", str(path))
    assert outcome.code == 2
    assert outcome.out == ""
    first = outcome.err.splitlines()[0]
    assert first.startswith(f"error[{code}]: ")
    assert where in first
    assert outcome.err.count("error[") == 1
    assert code != "MP262" or outcome.err.splitlines()[1].startswith("  accepted: ")


def test_a_toml_case_tells_its_line(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text('[[turn]]\nprompt = [1]\n\n[[turn]]\nprompt = [1, "x"]\n', "utf-8")
    error = cli_json("explain-carry", "--case", str(path))["error"]
    assert error["code"] == "MP261"
    assert error["where"] == f"{path}:5"


def test_a_misspelt_key_gets_its_nearest(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text("[[turn]]\npromt = [1]\n", "utf-8")
    error = cli_json("explain-carry", "--case", str(path))["error"]
    assert error["nearest"][0] == "prompt"
    assert error["where"] == f"{path}:2"


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("--carried-tokens", "100"), "MP263"),
        (("--prompt-tokens", "100", "--case", "x.toml"), "MP263"),
        (("--prompt-tokens", "100", "--carried-rows", "4"), "MP263"),
        (("--prompt-tokens", "100", "--stored", "5"), "MP263"),
        (("--prompt-tokens", "many"), "MP261"),
        (("--prompt-tokens", "9", "--carried-tokens", "5"), "MP261"),
        (("--case", "no-such-file.toml"), "MP201"),
    ],
)
def test_flags_that_make_no_turn(argv: tuple[str, ...], code: str) -> None:
    document = cli_json("explain-carry", *argv)
    assert document["exit_code"] == 2
    assert document["error"]["code"] == code
    assert document["explain_carry"] is None


def test_figures_that_no_engine_leaves_are_warned_of() -> None:
    argv = ("--prompt-tokens", "12", "--common-prefix", "10", "--carried-tokens", "10", "--carried-rows", "50")
    document = cli_json("explain-carry", *argv)
    assert document["exit_code"] == 0
    assert [(w["code"], w["where"]) for w in document["warnings"]] == [("MP264", "--carried-rows")]
    assert cli("explain-carry", *argv, "--fail-on-warning").code == 4


def test_drafter_blocks_hold_sixteen_rows_whatever_the_block_size() -> None:
    flags = ("--carried-tokens", "40", "--prompt-tokens", "5", "--common-prefix", "0")
    carry = cli_json("explain-carry", "qwen3.8-27b", "--speculative", "--block-size", "32", *flags)["explain_carry"]
    assert carry["bytes"]["block_tokens"] == 16
    assert (carry["turns"][0]["entry"]["blocks"], carry["turns"][0]["entry"]["block_bytes"]) == (3, 3 * 65536)


def keys(runs: list[dict[str, int]]) -> list[int]:
    return [key for run in runs for key in range(run["first"], run["last"] + 1)]


def test_skipped_keys_stay_missing_in_the_turns_that_follow(tmp_path: Path) -> None:
    turn = {"session": 7, "ticket": 2}
    case = {
        "entry": {"token_count": 100, "session": 7},
        "store": {"owner": 2, "lo": 150, "hi": 200},
        "turn": [
            {**turn, "prompt_len": 200, "common_prefix": 100},
            {**turn, "prompt_len": 250, "common_prefix": 200, "writes": [{"start": 200, "count": 50}]},
            {**turn, "prompt_len": 250, "common_prefix": 120, "leaves": {"token_count": 260}},
            {**turn, "prompt_len": 250, "common_prefix": 250},
        ],
    }
    first, second, third, fourth = replayed(tmp_path, case)
    gap = {"first": 99, "last": 149}
    assert first["missing"] == second["missing"] == [gap]
    assert second["carried"] == [{"first": 0, "last": 98}, {"first": 150, "last": 198}]
    # One row per dropped key comes off the tail, so a gap in the tail costs rows of older keys.
    assert third["text"] == "adopted rows=68 appended=99 first_key=150"
    assert third["adopted"] == [{"first": 0, "last": 67}]
    assert third["missing"] == [{"first": 68, "last": 149}]
    # Ten tokens decoded beyond the prompt add ten rows to the 167 there are.
    assert fourth["entry"]["rows"] == len(keys(fourth["carried"])) == 177
    for result in (first, second, third, fourth):
        got = keys(result["adopted"]) + (keys([result["appended"]]) if result["appended"] else [])
        assert len(got) == result["rows_kept"] + (result["append_rows"] or 0)
        assert sorted([*got, *keys(result["missing"])]) == list(range(result["prompt_tokens"] - 1))


def test_a_slot_that_nobody_spoke_of_is_said_to_be_taken_as_empty() -> None:
    out = cli("explain-carry", "--prompt-tokens", "5", env={"COLUMNS": "200"}).out
    assert "taken as empty: nothing says what this turn leaves" in out
