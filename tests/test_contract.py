"""The interface that users script against: keys, sources, exit codes, precedence."""

import json
from typing import Any

import pytest
from cli import cli, cli_json

PLAN_KEYS = {
    "model": {"name", "checkpoint", "model_type", "loader", "recurrent", "ssm_layers", "attention_layers",
              "h_state_bytes", "conv_state_bytes", "blob_bytes"},
    "ladder": {"steps", "source", "pinned", "disabled", "cap", "num_drafts", "verify_k"},
    "verify": {"slots", "slots_with_dummy", "drafts", "h_steps", "conv_steps"},
    "pool": {"slots", "layers", "h_unit", "h_stored_unit", "conv_unit", "live", "h_intermediates",
             "conv_intermediates", "checkpoints", "total"},
    "marconi": {"requested", "slots", "skip_reason", "bytes"},
    "decode_ring": {"requested", "slots", "skip_reason", "fitted", "slot_bytes", "bytes"},
    "batch_tokens": {"preflight", "build"},
    "reserve": {"ssm_pool", "ssm_h_stage", "replay_ring", "marconi", "gdn_two_phase", "carry_stash", "driver_fixed",
                "driver_bookkeeping", "per_sequence", "decode_ring", "flat_headroom", "inference_reserve",
                "buffer_arena", "total"},
    "kv": {"dtype", "block_bytes", "draft_block_bytes", "blocks", "draft_blocks", "limit", "full_length_sequences"},
    "memory": {"source", "device", "free", "total", "unified", "samples", "notes"},
    "verdict": {"fits", "checked", "need", "free", "headroom", "stage", "suggestions"},
}  # fmt: skip
TOP = {"schema", "rules", "command", "exit_code", "settings", "arena", "weights", "warnings", "error", *PLAN_KEYS}


def test_a_preflight_document_has_every_key() -> None:
    document = cli_json("preflight", "qwen3.8-27b", "--speculative", "--device", "gb10")
    assert document.keys() >= TOP
    for key, inner in PLAN_KEYS.items():
        assert document[key].keys() >= inner, key
    assert document["rules"] == "2026-10-09"
    assert document["weights"] is None
    assert 0 not in document["arena"].values()
    for setting in document["settings"].values():
        assert setting.keys() == {"value", "source", "where"}


@pytest.mark.parametrize("argv", [["plan", "no-such-model"], ["plan", "qwen3.8-27b", "--bad"], ["preflight"]])
def test_a_failed_document_has_every_key_too(argv: list[str]) -> None:
    document = cli_json(*argv)
    assert document.keys() >= TOP
    assert document["error"].keys() == {"code", "message", "where", "accepted", "nearest"}
    assert document["exit_code"] == 2


def test_the_parts_sum_to_their_totals() -> None:
    document = cli_json("preflight", "qwen3.8-27b", "--speculative", "--num-drafts", "3", "--device", "gb10")
    reserve = document["reserve"]
    parts = PLAN_KEYS["reserve"] - {"inference_reserve", "buffer_arena", "total"}
    assert reserve["inference_reserve"] == sum(reserve[part] for part in parts)
    assert reserve["total"] == reserve["inference_reserve"] + reserve["buffer_arena"]
    pool = document["pool"]
    assert pool["total"] == sum(pool[p] for p in ("live", "h_intermediates", "conv_intermediates", "checkpoints"))
    assert document["verdict"]["headroom"] == document["verdict"]["free"] - document["verdict"]["need"]


def test_without_a_proposer_there_is_no_verify_but_a_ladder() -> None:
    document = cli_json("plan", "qwen3.8-27b")
    assert document["verify"] is None
    assert document["ladder"]["verify_k"] is None
    assert document["ladder"]["steps"] == [[4, 3], [8, 3], [16, 1], [32, 1]]
    assert document["verdict"] is None


def source(document: Any, key: str) -> tuple[Any, str]:
    setting = document["settings"][key]
    return setting["value"], setting["source"]


def test_a_flag_beats_the_command_beats_the_variable_beats_the_model_beats_the_engine() -> None:
    env = {"METRALE_MTP_K_LADDER": "4:2"}
    after = ["--", "met", "serve", "Qwen/Qwen3.6-35B-A3B-FP8", "--mtp-k-ladder", "8:3", "--num-drafts", "2"]
    document = cli_json("plan", "--mtp-k-ladder", "16:1", "--device", "gb10", *after, env=env)
    assert source(document, "mtp_k_ladder") == ([[16, 1]], "flag")
    assert source(document, "num_drafts") == (2, "command")
    assert source(document, "mtp_max_seqs") == (128, "model")
    assert document["settings"]["mtp_max_seqs"]["where"].rpartition(":")[2].isdigit()
    assert source(document, "block_size") == (16, "engine")
    assert [w["code"] for w in document["warnings"] if w["severity"] == "warning"] == ["MP214"]
    document = cli_json("plan", *after, env=env)
    assert source(document, "mtp_k_ladder") == ([[8, 3]], "command")
    document = cli_json("plan", "qwen3.8-27b", env=env)
    assert source(document, "mtp_k_ladder") == ([[4, 2]], "env")
    assert document["settings"]["mtp_k_ladder"]["where"] == "METRALE_MTP_K_LADDER"
    assert document["ladder"]["pinned"] is True


def test_model_wins_over_the_checkpoint_with_a_warning() -> None:
    document = cli_json("plan", "qwen3.8-27b", "--", "met", "serve", "Qwen/Qwen3.6-35B-A3B-FP8")
    assert document["model"]["name"] == "qwen3.8-27b"
    assert "MP215" in [w["code"] for w in document["warnings"]]
    listed = cli_json("plan", "qwen3.8-27b", "--", "met", "serve", "unsloth/Qwen3.8-27B-NVFP4")
    assert "MP215" not in [w["code"] for w in listed["warnings"]]


def test_an_unknown_checkpoint_names_the_nearest() -> None:
    document = cli_json("plan", "--", "met", "serve", "unsloth/Qwen3.8-27B-NVFP5")
    assert (document["exit_code"], document["error"]["code"]) == (2, "MP207")
    assert "unsloth/Qwen3.8-27B-NVFP4" in document["error"]["nearest"]


@pytest.mark.parametrize(
    ("flags", "env", "held"),
    [
        (["--tp-size", "2"], {}, True),
        (["--tp-size", "1"], {}, False),
        (["--ep-size", "2"], {}, True),
        (["--world-size", "2"], {}, True),
        (["--lora-adapter", "a=b"], {}, True),
        (["--max-loras", "4"], {}, False),
        (["--max-lora-rank", "16"], {}, False),
        (["--lora-adapter", "a=b", "--max-loras", "4"], {}, True),
        (["--high-speed-swap"], {}, True),
        (["--forward", "circuit"], {}, True),
        (["--forward", "legacy"], {}, False),
        ([], {"METRALE_NO_GDN_CARRY": "1"}, False),
        (["--speculative"], {"METRALE_NO_GDN_CARRY": "1"}, True),
        ([], {"METRALE_DS41_MAX_TOKENS": "4096"}, True),
        ([], {"METRALE_DS41_MAX_TOKENS": "2048"}, False),
        (["--port", "9000", "--scheduler", "slai", "--swap-space-gb", "8"], {}, False),
    ],
)
def test_what_the_plan_does_not_count_is_never_passed_over(flags: list[str], env: dict[str, str], held: bool) -> None:
    argv = ["qwen3.8-27b", "--device", "gb10", "--", "met", "serve", *flags]
    preflight, plan = cli_json("preflight", *argv, env=env), cli_json("plan", *argv, env=env)
    named = [w["message"] for w in plan["warnings"] if w["code"] == "MP120"]
    if not held:
        assert (preflight["exit_code"], preflight["verdict"]["fits"], named) == (0, True, [])
        return
    assert (preflight["exit_code"], preflight["verdict"]["fits"]) == (3, None)
    name = flags[0] if not env else next(iter(env))
    assert name in preflight["error"]["message"]
    assert plan["exit_code"] == 0
    assert name in named[0]


@pytest.mark.parametrize(
    ("env", "code", "in_force"),
    [
        ({"METRALE_MTP_K_LADDER": "4:three"}, "MP216", "default ladder"),
        ({"METRALE_SSM_DECODE_RING": "yes"}, "MP216", "other rules"),
        ({"METRALE_DISABLE_WATCHDOGS": "yes"}, "MP216", "stay on"),
        ({"METRALE_KV_FLOOR_TOKENS": "many"}, "MP216", "4096"),
        ({"METRALE_MAX_BATCH_TOKENS": "-1"}, "MP216", "computed width"),
        ({"METRALE_ATTN_DECODE_SPLITK": "sometimes"}, "MP216", "class"),
        ({"METRALE_MARCONI_MIN_TOKENS": "1_000"}, "MP216", "256"),
        ({"METRALE_KV_OVERCOMMIT": "never"}, "MP216", "does nothing"),
        ({"METRALE_KV_EXTERNAL_RESERVE_GB": "some"}, "MP216", "nothing is held"),
        ({"METRALE_PROPOSE_META_STRIDE": "wide"}, "MP216", "sequence length"),
        ({"METRALE_NO_MTP_K_LADDER": "0"}, "MP217", "switches it on"),
        ({"METRALE_MTP_POOL_FULL_WIDTH": ""}, "MP217", "switches it on"),
    ],
)
def test_a_variable_that_does_not_do_what_it_says_is_a_warning(env: dict[str, str], code: str, in_force: str) -> None:
    document = cli_json("plan", "qwen3.8-27b", env=env)
    warning = next(w for w in document["warnings"] if w["code"] == code)
    assert warning["severity"] == "warning"
    assert in_force in warning["message"]
    assert warning["where"] == next(iter(env))
    assert cli("plan", "qwen3.8-27b", "--fail-on-warning", env=env).code == 4


def test_notes_do_not_fail_a_plan() -> None:
    assert cli("preflight", "qwen3.8-27b", "--device", "gb10", "--fail-on-warning").code == 0


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["--mtp-max-seqs", "129"], 2),
        (["--mtp-max-seqs", "0"], 2),
        (["--mtp-k-ladder", "4:three"], 2),
        (["--mtp-k-ladder", "0:3"], 2),
        (["--ssm-decode-ring-slots", "9"], 2),
        (["--ssm-decode-ring-slots", " 8"], 2),
        (["--max-batch-size", "256"], 2),
        (["--max-batch-size", "auto"], 0),
        (["--gpu-memory-utilization", "0"], 2),
        (["--gpu-memory-utilization", "1.01"], 2),
        (["--gpu-memory-utilization", "nan"], 2),
        (["--max-seq-len", "0"], 2),
        (["--max-seq-len", "+4096"], 0),
        (["--max-seq-len", "4_096"], 2),
        (["--max-seq-len", "9223372036854775808"], 2),
        (["--kv-cache-dtype", "fp9"], 2),
        (["--kv-cache-dtype", "turbo4k3v"], 0),
        (["--dflash"], 2),
        (["--speculative", "--dflash", "--dflash-gamma", "8"], 1),
        (["--prompt-lookup-decoding"], 1),
        (["--ssm-h-dtype", "f16-pool"], 1),
        (["--ssm-h-dtype", "f16-pool", "--gdn-fused-norm"], 0),
        (["--dflash", "--dflash-gamma", "4", "--dflash-draft-ladder", "4:4"], 1),
        (["--dflash", "--dflash-gamma", "4", "--dflash-draft-ladder", "4:4", "--rules", "2026-10-08"], 0),
        (["--rules", "2026-09-29"], 2),
        (["--rules", "2026-10-10"], 2),
        (["--rules", "today"], 2),
        (["--stage", "kv"], 2),
        (["--device", "h100"], 2),
        (["--gpu-ordinal", "x"], 2),
        (["--total-memory", "80"], 2),
        (["--", "met", "serve", "--device", "gb10"], 2),
        (["--", "met", "serve", "--speculative=true"], 2),
        (["--", "met", "serve", "--num-drafts"], 2),
        (["--", "met", "serve", "--unheard-of"], 2),
        (["--", "met", "serve", "a/b", "c/d"], 2),
    ],
)
def test_exit_codes(argv: list[str], code: int) -> None:
    command = "preflight" if "--stage" in argv else "plan"
    outcome = cli(command, "--format", "json", "qwen3.8-27b", *argv)
    assert outcome.code == code, outcome.out
    error = outcome.json["error"]
    assert (error is None) == (code == 0)
    if code == 1:
        assert outcome.json["verdict"]["fits"] is False
        assert outcome.json["verdict"]["stage"] == "settings"
        assert outcome.json["reserve"] is None


def test_a_refused_setting_beats_memory_and_bad_input_beats_both() -> None:
    assert cli("preflight", "qwen3.8-27b").code == 3
    assert cli("preflight", "qwen3.8-27b", "--tp-size", "3").code == 1
    assert cli("preflight", "qwen3.8-27b", "--tp-size", "3", "--num-drafts", "x").code == 2


@pytest.mark.parametrize(
    ("argv", "source", "free", "total"),
    [
        (["--device", "gb10"], "device", 124610 * 2**20, 124610 * 2**20),
        (["--device", "gb10", "--free-memory", "50GiB"], "flag", 50 * 2**30, 124610 * 2**20),
        (["--total-memory", "80GiB"], "flag", 80 * 2**30, 80 * 2**30),
        (["--device", "h100-sxm", "--total-memory", "79.2GiB"], "flag", 85040352460, 85040352460),
        (["--device", "h100-nvl"], "device", 100931731456, 100931731456),
    ],
)
def test_each_memory_figure_falls_through_on_its_own(argv: list[str], source: str, free: int, total: int) -> None:
    memory = cli_json("preflight", "qwen3.8-27b", *argv)["memory"]
    assert (memory["source"], memory["free"], memory["total"]) == (source, free, total)


def test_free_memory_alone_leaves_the_total_unknown_here() -> None:
    document = cli_json("preflight", "qwen3.8-27b", "--free-memory", "50GiB")
    assert document["exit_code"] == 3
    assert document["memory"]["total"] is None
    assert document["model"]["name"] == "qwen3.8-27b"


def test_the_ring_is_requested_in_plan_and_fitted_in_preflight() -> None:
    assert cli_json("plan", "qwen3.8-27b", "--max-batch-size", "32")["decode_ring"]["slots"] == 8
    argv = ["qwen3.8-27b", "--max-batch-size", "32", "--device", "gb10", "--free-memory", "40GiB"]
    document = cli_json("preflight", *argv)
    ring = document["decode_ring"]
    assert (ring["requested"], ring["fitted"], document["exit_code"]) == (8, True, 0)
    assert 0 <= ring["slots"] < 8
    assert ring["bytes"] == ring["slots"] * ring["slot_bytes"]
    assert "MP102" in [w["code"] for w in document["warnings"]]
    pinned = cli_json("preflight", *argv, "--ssm-decode-ring-slots", "8")
    assert (pinned["decode_ring"]["slots"], pinned["exit_code"]) == (8, 1)


def test_a_full_ring_in_the_reserve_only() -> None:
    env = {"METRALE_SSM_RESERVE_RING_FULL": "1"}
    ring = cli_json("plan", "qwen3.8-27b", "--speculative", env=env)["decode_ring"]
    assert (ring["requested"], ring["slots"], ring["bytes"]) == (0, 0, 8 * ring["slot_bytes"])


def test_auto_batch_reserves_at_128_slots() -> None:
    document = cli_json("plan", "qwen3.8-27b", "--max-batch-size", "auto")
    assert document["settings"]["max_batch_size"]["value"] == "auto"
    assert document["pool"]["slots"] == 129


def test_stage_all_names_what_it_did_not_reach() -> None:
    document = cli_json("preflight", "qwen3.8-27b", "--device", "gb10")
    assert document["verdict"]["checked"] == ["reserve"]
    note = next(w for w in document["warnings"] if w["code"] == "MP104")
    assert note["severity"] == "note"
    assert "load, kv" in note["message"]
    only = cli_json("preflight", "qwen3.8-27b", "--device", "gb10", "--stage", "reserve")
    assert "MP104" not in [w["code"] for w in only["warnings"]]


def test_stdout_holds_the_answer_and_stderr_the_talk() -> None:
    outcome = cli("preflight", "qwen3.8-27b", "--device", "gb10")
    assert outcome.out.startswith("FITS at reserve")
    assert "note[MP103]" in outcome.err
    assert "MP103" not in outcome.out
    refused = cli("preflight", "qwen3.8-27b", "--device", "gb10", "--free-memory", "5GiB")
    assert "needs 18.07 GiB, free 5.00 GiB, short by 13.07 GiB" in refused.out
    assert "largest: decode-rollback ring 9,696 MiB" in refused.out


def test_a_bug_is_one_line_and_exit_5(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("metrale_plan.assemble.make_plan", broken)
    outcome = cli("plan", "qwen3.8-27b")
    assert (outcome.code, outcome.out) == (5, "")
    assert "a bug in metrale-plan: ZeroDivisionError: boom" in outcome.err
    assert outcome.err.count("\n") == 1
    assert json.loads(cli("plan", "qwen3.8-27b", "--format", "json").out)["exit_code"] == 5


def test_a_ring_that_is_fitted_after_the_load_is_never_guessed() -> None:
    env = {"METRALE_DENSE_FP8": "1"}
    argv = ["qwen3.8-27b", "--device", "gb10", "--stage", "reserve"]
    wanted = cli_json("preflight", *argv, env=env)
    assert (wanted["exit_code"], wanted["decode_ring"]["slots"]) == (0, 8)
    assert "MP121" in [w["code"] for w in wanted["warnings"]]
    need, ring = wanted["verdict"]["need"], wanted["reserve"]["decode_ring"]
    between = cli_json("preflight", *argv, "--free-memory", f"{need - 1}B", env=env)
    assert (between["exit_code"], between["verdict"]["fits"]) == (3, None)
    assert "METRALE_DENSE_FP8" in between["error"]["message"]
    assert cli_json("preflight", *argv, "--free-memory", f"{need - ring - 1}B", env=env)["exit_code"] == 1
    assert cli_json("preflight", *argv, "--free-memory", f"{need - 1}B")["decode_ring"]["fitted"] is True
    fallback = cli_json("preflight", *argv, env=env | {"METRALE_ATTN_W4A4": ""})
    assert "MP121" not in [w["code"] for w in fallback["warnings"]]
    moe = cli_json("preflight", "qwen3.6-35b-a3b", "--device", "gb10", env=env)
    assert "MP121" not in [w["code"] for w in moe["warnings"]]


def test_what_is_not_known_of_a_family_is_said() -> None:
    messages = [w["message"] for w in cli_json("plan", "glm-5.3-flash")["warnings"] if w["code"] == "MP122"]
    assert "paged indexer" in messages[0]
    flat = cli_json("plan", "glm-5.3-flash", env={"METRALE_GLM_DSA_INDEXER_FLAT": "1"})["warnings"]
    assert not any("paged indexer" in w["message"] for w in flat)
