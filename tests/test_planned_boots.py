"""Three real boots, planned the way a user would: model files and serve arguments through the command line."""

from typing import Any

import pytest
from boots import BOOTS, DENSE, MOE, NEMOTRON, boot
from cli import cli_json
from test_arena import DENSE_ENTRIES, MOE_ENTRIES, NEMOTRON_ENTRIES

from metrale_plan.terms import RUNTIME_HEADROOM
from metrale_plan.units import MIB

SETTING_FLAGS = {
    "enable_prefix_caching": "--enable-prefix-caching",
    "speculative": "--speculative",
}

SECTION_20: dict[str, dict[str, Any]] = {
    "dense-27b-default-tier": {
        "ssm_pool": 34474033152,
        "marconi": 1270874112,
        "gdn_two_phase": 93061120,
        "carry_stash": 884989120,
        "decode_ring": 0,
        "inference_reserve": 40129034865,
        "buffer_arena": 1119782272,
        "arena": 1177369216,
        "arena_entries": 37,
        "batch_tokens": {"preflight": 2048, "build": 2176},
        "blob": 158859264,
        "block": 524288,
        "draft_block": 65536,
    },
    "moe-35b-fp8-recipe": {
        "ssm_pool": 1840250880,
        "marconi": 1069547520,
        "gdn_two_phase": 270532608,
        "carry_stash": 106554424,
        "decode_ring": 0,
        "inference_reserve": 6692962793,
        "buffer_arena": 2221663364,
        "arena": 2226847908,
        "arena_entries": 33,
        "batch_tokens": {"preflight": 8192, "build": 8200},
        "blob": 66846720,
        "block": 327680,
        "draft_block": 32768,
    },
    "nemotron-3-nano-recipe": {
        "ssm_pool": 454459392,
        "marconi": 0,
        "gdn_two_phase": 0,
        "carry_stash": 0,
        "decode_ring": 3231711232,
        "inference_reserve": 7092247985,
        "buffer_arena": 1555794572,
        "arena": 1558164620,
        "arena_entries": 33,
        "batch_tokens": {"preflight": 8192, "build": 8200},
        "blob": 50495488,
        "block": 49152,
        "draft_block": None,
    },
}
"""Byte values that the engine's memory plan gives for these boots."""

ARENA_ENTRIES = {DENSE: DENSE_ENTRIES, MOE: MOE_ENTRIES, NEMOTRON: NEMOTRON_ENTRIES}


def serve_args(record: dict[str, Any]) -> list[str]:
    """The serve arguments of a boot: its own, or its settings where a recipe gave them."""
    if "recipe" not in record:
        return [str(arg) for arg in record["serve_args"]]
    args: list[str] = []
    for key, value in record["settings"].items():
        if key.startswith(("model_", "w4a4_")):  # the model file's own, and a figure of the weights
            continue
        if value is True:
            args.append(f"--{key.replace('_', '-')}")
        else:
            args += [f"--{key.replace('_', '-')}", str(value)]
    return args


def planned(name: str, command: str = "plan") -> Any:
    """The document of one boot, planned at its date on its device."""
    record = boot(name).record
    return cli_json(
        command, "--device", "gb10", "--rules", record["date"], "--", "met", "serve", record["checkpoint"],
        *serve_args(record),
    )  # fmt: skip


def check_logged_mib(name: str, document: Any) -> None:
    """Every reserve term of a document is what the boot logged."""
    reserve, logged = document["reserve"], boot(name).record["reserve_mib"]
    for term in ("ssm_pool", "ssm_h_stage", "replay_ring", "marconi", "gdn_two_phase", "per_sequence", "decode_ring"):
        assert reserve[term] // MIB == logged[term], term
    assert reserve["carry_stash"] // MIB == logged["gdn_carry_stash"]
    assert reserve["driver_fixed"] // MIB == logged["driver_fixed"]
    assert reserve["driver_bookkeeping"] // MIB == logged["driver_bookkeeping"]
    assert sum(reserve[term] for term in RUNTIME_HEADROOM) // MIB == logged["runtime_headroom"]


def check_exact_bytes(name: str, document: Any) -> None:
    """Every byte value and every arena entry of a document is the engine's plan's."""
    reserve, expected = document["reserve"], SECTION_20[name]
    for term in ("ssm_pool", "marconi", "gdn_two_phase", "carry_stash", "decode_ring", "inference_reserve"):
        assert reserve[term] == expected[term], term
    assert reserve["buffer_arena"] == expected["buffer_arena"]
    assert reserve["total"] == expected["inference_reserve"] + expected["buffer_arena"]
    assert sum(document["arena"].values()) == expected["arena"]
    assert len(document["arena"]) == expected["arena_entries"]
    assert {entry: document["arena"][entry] for entry in ARENA_ENTRIES[name]} == ARENA_ENTRIES[name]
    assert document["batch_tokens"] == expected["batch_tokens"]
    assert document["model"]["blob_bytes"] == expected["blob"]
    assert document["kv"]["block_bytes"] == expected["block"]
    assert document["kv"]["draft_block_bytes"] == expected["draft_block"]


@pytest.mark.parametrize("name", BOOTS)
def test_every_reserve_term_is_the_logged_mib(name: str) -> None:
    check_logged_mib(name, planned(name))


@pytest.mark.parametrize("name", BOOTS)
def test_every_byte_value_is_exact(name: str) -> None:
    check_exact_bytes(name, planned(name))


@pytest.mark.parametrize("name", BOOTS)
def test_the_arena_is_the_ledger_row_to_a_tenth_of_a_mib(name: str) -> None:
    ledger = boot(name).record["ledger"]["arena"]
    arena = planned(name)["arena"]
    assert round(sum(arena.values()) / MIB, 1) == ledger["mib"]
    assert len(arena) == ledger["allocations"]


@pytest.mark.parametrize("name", BOOTS)
def test_the_model_file_gives_the_boots_geometry(name: str) -> None:
    dims, model = boot(name).dims, planned(name)["model"]
    assert model["model_type"] == dims.model_type
    assert model["loader"] == dims.loader
    assert (model["ssm_layers"], model["attention_layers"]) == (dims.ssm_layers, dims.attention_layers)
    assert (model["h_state_bytes"], model["conv_state_bytes"]) == (dims.h_unit, dims.conv_unit)


def test_the_dense_boot_counts() -> None:
    document = planned("dense-27b-default-tier")
    assert document["pool"]["slots"] == 129
    assert document["verify"]["slots_with_dummy"] == 33
    assert sum(document["verify"]["h_steps"]) == 51
    assert document["verify"]["conv_steps"] == 4


@pytest.mark.parametrize("name", BOOTS)
def test_preflight_gives_the_same_reserve_and_fits(name: str) -> None:
    document = planned(name, "preflight")
    assert document["exit_code"] == 0
    assert document["verdict"]["fits"] is True
    assert document["verdict"]["need"] == SECTION_20[name]["inference_reserve"] + SECTION_20[name]["buffer_arena"]
