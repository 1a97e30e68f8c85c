"""`explain-marconi`: slots, what one holds, and the threshold."""

from typing import Any

import pytest
from cli import cli, cli_json


def value(*argv: str, env: dict[str, str] | None = None) -> Any:
    return cli_json("explain-marconi", *argv, env=env)["explain_marconi"]


def test_dropped_without_a_prefix_cache() -> None:
    marconi = value("qwen3.8-27b")
    assert (marconi["requested"]["value"], marconi["kept"], marconi["active"]) == (16, 0, False)
    assert "prefix caching inactive" in marconi["skip_reason"]
    assert marconi["dropped_bytes"] == 16 * marconi["slot_bytes"]


def test_kept_with_one_and_priced_as_the_plan_prices_it() -> None:
    document = cli_json("explain-marconi", "qwen3.8-27b", "--enable-prefix-caching", "--ssm-cache-slots", "5")
    marconi = document["explain_marconi"]
    assert marconi["slot_bytes"] == 158_859_264 + 2 * 5120
    assert marconi["bytes"] == 5 * marconi["slot_bytes"] == document["reserve"]["marconi"]


def test_the_state_stays_fp32_under_a_half_precision_pool() -> None:
    half = value("qwen3.8-27b", "--enable-prefix-caching", "--ssm-h-dtype", "f16-pool", "--gdn-fused-norm")
    assert half["f16_pool"]
    assert half["state_bytes"] == 158_859_264


def test_older_rules_leave_the_hidden_row_out() -> None:
    marconi = value("qwen3.8-27b", "--enable-prefix-caching", "--rules", "2026-10-02")
    assert not marconi["hidden_row_counted"]
    assert marconi["slot_bytes"] == 158_859_264


def test_forced_slots() -> None:
    marconi = value("qwen3.8-27b", env={"METRALE_SSM_MARCONI_FULL": "0"})
    assert (marconi["kept"], marconi["forced"], marconi["active"]) == (16, True, False)


@pytest.mark.parametrize(
    ("argv", "env", "safe", "why"),
    [
        (("qwen3.8-27b",), {}, True, "snapshots of the recurrent state"),
        (("gemma-4-31b",), {}, True, "KV blocks hold all"),
        (("glm-5.3-flash",), {}, True, "paged"),
        (("glm-5.3-flash", "--rules", "2026-10-08"), {}, False, "no paged form"),
        (("glm-5.3-flash",), {"METRALE_GLM_DSA_INDEXER_FLAT": "1"}, False, "METRALE_GLM_DSA_INDEXER_FLAT"),
        (
            ("glm-5.3-flash",),
            {"METRALE_GLM_DSA_INDEXER_FLAT": "1", "METRALE_GLM53_PREFIX_CACHE_UNPROVEN": ""},
            True,
            "UNPROVEN",
        ),
    ],
)
def test_whether_the_prefix_cache_is_safe_and_why(
    argv: tuple[str, ...], env: dict[str, str], safe: bool, why: str
) -> None:
    marconi = value(*argv, "--enable-prefix-caching", env=env)
    assert marconi["whole_state"] is marconi["active"] is safe
    assert why in marconi["whole_state_why"]


@pytest.mark.parametrize(
    ("argv", "env", "threshold", "source", "restored"),
    [
        ((), {}, 256, "engine", [349, 629]),
        ((), {"METRALE_MARCONI_MIN_TOKENS": "+100"}, 100, "env", [219, 349, 629]),
        ((), {"METRALE_MARCONI_MIN_TOKENS": "-1"}, 256, "engine", [349, 629]),
        (("--marconi-min-tokens", "349"), {"METRALE_MARCONI_MIN_TOKENS": "100"}, 349, "flag", [349, 629]),
        (("--marconi-min-tokens", "0"), {}, 0, "flag", [99, 219, 349, 629]),
    ],
)
def test_the_threshold(
    argv: tuple[str, ...], env: dict[str, str], threshold: int, source: str, restored: list[int]
) -> None:
    marconi = value("qwen3.8-27b", *argv, env=env)
    assert (marconi["threshold"]["value"], marconi["threshold"]["source"]) == (threshold, source)
    assert [row["matched"] for row in marconi["measured"] if row["restored"]] == restored
    assert marconi["floor"] == (threshold > 0)
    assert {row["matched"]: row["effect_percent"] for row in marconi["measured"]} == {
        99: -9.7,
        219: 9.8,
        349: 7.5,
        629: 10.6,
    }


def test_an_ignored_variable_is_told() -> None:
    lost = value("qwen3.8-27b", env={"METRALE_MARCONI_MIN_TOKENS": "-1"})["threshold"]["lost"]
    assert lost[0]["value"] == "-1"
    assert "ignores it" in lost[0]["why"]


def test_a_model_is_needed() -> None:
    assert cli("explain-marconi").code == 2


def test_without_recurrent_layers_slots_are_reserved_and_not_allocated() -> None:
    marconi = value("gemma-4-31b", "--enable-prefix-caching")
    assert marconi["bytes"] == 16 * marconi["hidden_row_bytes"] > 0 == marconi["allocated_bytes"]
    assert "no snapshots" in cli("explain-marconi", "gemma-4-31b", "--enable-prefix-caching").out


def test_the_allocation_has_the_hidden_row_under_any_rules() -> None:
    marconi = value("qwen3.8-27b", "--enable-prefix-caching", "--rules", "2026-10-02")
    assert marconi["allocated_bytes"] == 16 * (158_859_264 + 2 * 5120) > marconi["bytes"]


@pytest.mark.parametrize(("argv", "said"), [((), True), (("--enable-prefix-caching",), False)])
def test_nothing_is_called_restored_without_a_cache(argv: tuple[str, ...], said: bool) -> None:
    out = cli("explain-marconi", "qwen3.8-27b", *argv, env={"COLUMNS": "200"}).out
    assert ("nothing is restored" in out) is said
