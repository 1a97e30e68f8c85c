"""`explain-ring`: the rules in order, the depths, and the fit."""

from typing import Any

import pytest
from cli import cli, cli_json

M27 = ("explain-ring", "qwen3.8-27b", "--max-batch-size", "32")


def value(*argv: str, env: dict[str, str] | None = None) -> Any:
    return cli_json(*argv, env=env)["explain_ring"]


def decided(ring: Any) -> list[tuple[str, str]]:
    return [(rule["rule"], rule["outcome"]) for rule in ring["rules"] if rule["outcome"] != "not met"]


RULES = ["no recurrent layers", "--ssm-decode-ring-slots", "METRALE_SSM_DECODE_RING", "speculative or DFlash",
         "watchdogs disabled", "otherwise"]  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "env", "rule", "depth"),
    [
        ((), {}, "otherwise", 8),
        ((), {"METRALE_DISABLE_WATCHDOGS": " TRUE "}, "watchdogs disabled", 0),
        (("--speculative",), {"METRALE_DISABLE_WATCHDOGS": "1"}, "speculative or DFlash", 0),
        (("--ngram-speculative",), {}, "otherwise", 8),
        (("--speculative",), {"METRALE_SSM_DECODE_RING": "1"}, "METRALE_SSM_DECODE_RING", 8),
        (("--speculative",), {"METRALE_SSM_DECODE_RING": "yes"}, "speculative or DFlash", 0),
        (("--ssm-decode-ring-slots", "3"), {"METRALE_SSM_DECODE_RING": "0"}, "--ssm-decode-ring-slots", 3),
    ],
)
def test_the_first_rule_that_applies_decides(argv: tuple[str, ...], env: dict[str, str], rule: str, depth: int) -> None:
    document = cli_json(*M27, *argv, env=env)
    ring = document["explain_ring"]
    assert [row["rule"] for row in ring["rules"]] == RULES
    first, *later = decided(ring)
    assert first == (rule, "decides")
    assert all(outcome == "outranked" for _, outcome in later)
    assert ring["requested"] == document["decode_ring"]["requested"] == depth


def test_a_model_without_recurrent_layers() -> None:
    ring = value("explain-ring", "gemma-4-31b")
    assert decided(ring)[0] == ("no recurrent layers", "decides")
    assert ring["bytes"] == ring["slot_bytes"] == 0


def test_every_depth_costs_its_units_and_the_plan_agrees() -> None:
    document = cli_json(*M27, "--device", "gb10")
    ring, total = document["explain_ring"], document["reserve"]["total"]
    assert [row["depth"] for row in ring["depths"]] == [8, 4, 2, 1, 0]
    unit = 32 * 158_859_264
    for row in ring["depths"]:
        assert row["bytes"] == row["depth"] * unit
        assert row["need"] == total - ring["bytes"] + row["bytes"]
        assert row["headroom"] == document["memory"]["free"] - row["need"]
        assert row["fits"] == (row["headroom"] >= 0)


def test_the_fit_names_its_yardstick_and_the_deepest_that_goes_in() -> None:
    document = cli_json(*M27, "--free-memory", "40GiB")
    fit = document["explain_ring"]["fit"]
    assert (fit["kind"], fit["wanted"], fit["result"], fit["kept"]) == ("before_load", 8, 4, None)
    assert fit["limit"] == 40 * 2**30
    assert fit["room"] == fit["limit"] - fit["beside"]
    assert document["decode_ring"]["fitted"] is True
    assert document["verdict"] is None
    assert document["exit_code"] == 0


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        (("--free-memory", "100GiB"), "it fits"),
        (("--free-memory", "40GiB", "--ssm-decode-ring-slots", "8"), "the flag pins a depth"),
        (("--free-memory", "1GiB"), "not even depth 0 fits"),
        (("--free-memory", "40GiB", "--speculative"), "no ring is wanted"),
    ],
)
def test_why_a_depth_is_kept(argv: tuple[str, ...], kept: str) -> None:
    ring = value(*M27, *argv)
    assert kept in ring["fit"]["kept"]
    assert ring["reserved"] == ring["start"]


def test_nothing_is_fitted_without_memory() -> None:
    ring = value(*M27)
    assert ring["fit"] is None
    assert ring["depths"][0]["fits"] is None
    assert "Not fitted: no memory was stated" in cli(*M27).out


def test_the_reserve_may_start_deeper_than_the_rules_want() -> None:
    ring = value(*M27, "--speculative", env={"METRALE_SSM_RESERVE_RING_FULL": ""})
    assert (ring["requested"], ring["start"], ring["reserved"], ring["allocated"]) == (0, 8, 8, 0)


def test_the_after_load_conditions() -> None:
    def holds(**env: str) -> list[bool | None]:
        return [row["holds"] for row in value(*M27, env=env)["after_load"]]

    assert holds() == [True, False, True, True, None]
    assert holds(METRALE_DENSE_FP8="1") == [True, True, True, True, None]
    assert holds(METRALE_DENSE_FP8="1", METRALE_ATTN_W4A4="0") == [True, True, True, False, None]


def test_depth_zero_is_explained() -> None:
    assert "the rollback declines" in " ".join(cli(*M27).out.split())


AFTER = (*M27, "--total-memory", "79.2GiB", "--enable-prefix-caching")


def test_the_fit_after_the_load_is_predicted_from_the_size_of_the_weights() -> None:
    fp8 = {"METRALE_DENSE_FP8": "1"}
    fit = value(*AFTER, "--weights", "28.75GiB", env=fp8)["fit"]
    loaded = fit["loaded"]
    assert (fit["kind"], fit["wanted"], fit["result"]) == ("after_load", 8, 4)
    assert loaded["weights"] == 28.75 * 2**30
    assert loaded["derived"] == 4_242_882_560
    assert fit["limit"] == loaded["budget"] - sum(loaded[part] for part in ("weights", "derived", "arena", "fixed"))
    assert value(*AFTER, "--weights", "10GiB", env=fp8)["fit"]["result"] == 8
    assert value(*AFTER, "--weights", "70GiB", env=fp8)["fit"]["result"] == 0
    recurrent = value(*AFTER, "--weights", "1GiB", env={**fp8, "METRALE_NO_GDN_FP8": ""})["fit"]["loaded"]["derived"]
    assert recurrent == 167_813_120


def test_without_the_weights_the_later_fit_is_left_open() -> None:
    ring = value(*AFTER, env={"METRALE_DENSE_FP8": "1"})
    assert ring["fit"] is None
    assert "--weights" in ring["unfitted"]


def test_a_size_without_a_unit_is_bad_input() -> None:
    outcome = cli(*M27, "--weights", "28")
    assert outcome.code == 2
    assert "MP218" in outcome.err and "--weights" in outcome.err


def test_a_reserve_of_full_depth_needs_it_for_every_pin() -> None:
    env = {"METRALE_SSM_RESERVE_RING_FULL": "1"}
    ring = value(*M27, "--free-memory", "40GiB", "--ssm-decode-ring-slots", "1", env=env)
    assert {row["fits"] for row in ring["depths"]} == {False}
    argv = ("--device", "gb10", "--free-memory", "40GiB", "--ssm-decode-ring-slots", "1")
    assert cli("preflight", *M27[1:], *argv, env=env).code == 1


def test_a_ring_that_nobody_wants_is_not_fitted_for_that_reason() -> None:
    assert value(*M27, "--speculative")["unfitted"] == "no ring is wanted"
