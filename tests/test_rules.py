"""Each dated rule on both sides of its date: in the rules value, and in the bytes or refusals it changes."""

from dataclasses import fields
from datetime import date, timedelta
from typing import Any

import pytest
from boots import BOOTS, DENSE, boot
from cli import cli_json

from metrale_plan.config.serve import ServeConfig
from metrale_plan.plan import MemoryPlan, make_plan
from metrale_plan.rules import EARLIEST, LATEST, EngineRules, rules_on

CHANGES: dict[str, tuple[date, Any, Any]] = {
    "dummies_in_reserve": (date(2026, 9, 30), False, True),
    "given_gamma_in_reserve": (date(2026, 9, 30), False, True),
    "headroom_terms": (date(2026, 10, 1), False, True),
    "charge_chunk_slack": (date(2026, 10, 1), False, True),
    "head_twin_before_kv": (date(2026, 10, 1), False, True),
    "prefix_share_per_mille": (date(2026, 10, 2), 0, 3),
    "copy_tier_in_replay_ring": (date(2026, 10, 2), False, True),
    "leaked_copies": (date(2026, 10, 2), True, False),
    "expert_table_decision": (date(2026, 10, 2), False, True),
    "marconi_hidden_row": (date(2026, 10, 3), False, True),
    "moe_expert_elem": (date(2026, 10, 5), 2, 4),
    "ffn_bf16_weight": (date(2026, 10, 9), False, True),
    "dflash_ladder_bounded": (date(2026, 10, 9), False, True),
    "glm_paged_indexer": (date(2026, 10, 9), False, True),
}


def test_every_rule_has_its_date_here() -> None:
    assert {field.name for field in fields(EngineRules)} - {"asked"} == CHANGES.keys()


@pytest.mark.parametrize("name", CHANGES)
def test_a_rule_changes_on_its_date_and_not_a_day_earlier(name: str) -> None:
    day, before, after = CHANGES[name]
    assert getattr(rules_on(day - timedelta(days=1)), name) == before
    assert getattr(rules_on(day), name) == after
    assert getattr(rules_on(LATEST), name) == after


def test_the_latest_rules_are_the_defaults() -> None:
    assert rules_on() == EngineRules()
    assert (date(2026, 9, 30), date(2026, 10, 9)) == (EARLIEST, LATEST)


def planned(day: date, **settings: Any) -> MemoryPlan:
    """The dense 27B on one day."""
    dense = boot(DENSE)
    return make_plan(dense.dims, ServeConfig(**settings), rules_on(day), dense.device)


def around(day: date, **settings: Any) -> tuple[MemoryPlan, MemoryPlan]:
    return planned(day - timedelta(days=1), **settings), planned(day, **settings)


def test_dummies_join_the_reserve_on_september_30() -> None:
    dims = boot(DENSE).dims
    # One live slot, and one verify slot of 3 h steps, 4 windows and a checkpoint, over all layers.
    before, after = around(date(2026, 9, 30), speculative=True, num_drafts=3)
    unit = dims.h_unit + dims.conv_unit
    one = dims.ssm_layers * (unit + 3 * dims.h_unit + 4 * dims.conv_unit + unit)
    assert after.bytes_of("ssm_pool") - before.bytes_of("ssm_pool") == one
    before, after = around(date(2026, 9, 30), ssm_h_dtype="f16-pool", gdn_fused_norm=True)
    assert after.bytes_of("ssm_h_stage") - before.bytes_of("ssm_h_stage") == dims.h_unit
    before, after = around(date(2026, 9, 30), speculative=True, num_drafts=3, ssm_rollback_mode="replay")
    row = 2 * dims.qkvz + 8 * dims.lin_v_heads
    assert after.bytes_of("replay_ring") - before.bytes_of("replay_ring") == 3 * dims.ssm_layers * row


def test_headroom_becomes_terms_on_october_1() -> None:
    before, after = around(date(2026, 10, 1), speculative=True)
    assert before.bytes_of("flat_headroom") == 4 * 2**30
    assert (before.bytes_of("driver_fixed"), before.bytes_of("carry_stash")) == (0, 0)
    assert after.bytes_of("flat_headroom") == 0
    assert after.bytes_of("driver_fixed") == 2**30
    assert planned(date(2026, 9, 30)).bytes_of("flat_headroom") == 512 * 2**20


def test_the_copy_tier_widens_the_replay_ring_on_october_2() -> None:
    settings = {
        "speculative": True,
        "num_drafts": 3,
        "ssm_rollback_mode": "replay",
        "prompt_lookup": True,
        "prompt_lookup_max_drafts": 8,
    }
    before, after = around(date(2026, 10, 2), **settings)
    assert after.bytes_of("replay_ring") * 3 == before.bytes_of("replay_ring") * 8


def test_snapshots_gain_the_hidden_row_on_october_3() -> None:
    before, after = around(date(2026, 10, 3), enable_prefix_caching=True)
    assert after.bytes_of("marconi") - before.bytes_of("marconi") == 16 * 2 * 5120


def test_expert_buffers_double_on_october_5() -> None:
    argv = ["plan", "qwen3.6-35b-a3b", "--rules"]
    before, after = (cli_json(*argv, day)["arena"] for day in ("2026-10-04", "2026-10-05"))
    assert after["expert_gate_out"] == 2 * before["expert_gate_out"]


def test_a_bf16_ffn_weight_joins_the_arena_on_october_9() -> None:
    before, after = around(date(2026, 10, 9), ffn_min_rows=1)
    assert "ffn_bf16_weight" not in before.arena
    assert after.arena["ffn_bf16_weight"] == 2 * 17408 * 5120
    assert "ffn_bf16_weight" not in planned(LATEST).arena


def test_glm_keeps_its_indexer_per_sequence_until_october_9() -> None:
    argv = ["plan", "glm-5.3-flash", "--enable-prefix-caching", "--rules"]
    before, after = (cli_json(*argv, day) for day in ("2026-10-08", "2026-10-09"))
    assert before["reserve"]["per_sequence"] > 0
    assert after["reserve"]["per_sequence"] == 0
    assert before["marconi"]["slots"] == 0
    assert after["marconi"]["slots"] == 16


def test_a_dflash_ladder_is_bounded_from_october_9() -> None:
    argv = ["plan", "qwen3.8-27b", "--dflash", "--dflash-gamma", "4", "--dflash-draft-ladder", "4:4", "--rules"]
    assert cli_json(*argv, "2026-10-08")["exit_code"] == 0
    refused = cli_json(*argv, "2026-10-09")
    assert (refused["exit_code"], refused["error"]["code"]) == (1, "MP110")


@pytest.mark.parametrize("name", BOOTS)
def test_a_boots_own_build_is_what_its_date_says(name: str) -> None:
    recorded = boot(name)
    for switch, form in recorded.record["build"].items():
        assert getattr(recorded.rules, switch) == form, switch
