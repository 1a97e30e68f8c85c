"""Dangerous combinations: each warns for values that somebody set, and stays silent for the same value as a default."""

import io
import json
from pathlib import Path

import pytest

from metrale_plan._entry import run

M27 = "qwen3.8-27b"
CODES = {f"MP13{digit}" for digit in range(10)}


def warned(*argv: str, environ: dict[str, str] | None = None) -> dict[str, str]:
    out = io.StringIO()
    run(["plan", "--format", "json", *argv], environ or {}, out, io.StringIO())
    document = json.loads(out.getvalue())
    assert document["error"] is None
    return {w["code"]: w["where"] for w in document["warnings"] if w["code"] in CODES and w["severity"] == "warning"}


@pytest.mark.parametrize(
    ("argv", "code", "where"),
    [
        ("--speculative --carry", "MP130", "--mtp-max-seqs"),
        ("--speculative --carry --mtp-max-seqs 2", "MP130", "--mtp-max-seqs"),
        ("--speculative --num-drafts 2 --mtp-k-ladder 1:4,8:2", "MP131", "--mtp-k-ladder"),
        ("--mtp-k-ladder 1:4", "MP131", "--mtp-k-ladder"),
        ("--dflash --dflash-gamma 3 --mtp-k-ladder 1:4,8:2", "MP131", "--mtp-k-ladder"),
        ("--ssm-cache-slots 16", "MP132", "--ssm-cache-slots"),
        ("--kv-cache-dtype nvfp4", "MP133", "--kv-cache-dtype"),
        ("--gpu-memory-utilization 0.9", "MP134", "--gpu-memory-utilization"),
        ("--max-num-seqs 64", "MP135", "--max-num-seqs"),
    ],
)
def test_each_combination_warns_at_the_flag(argv: str, code: str, where: str) -> None:
    assert warned(M27, *argv.split()) == {code: where}


@pytest.mark.parametrize(
    "argv",
    [
        "",
        "--speculative",
        "--speculative --no-carry",
        "--speculative --carry --mtp-max-seqs 1",
        "--speculative --num-drafts 2",
        "--speculative --num-drafts 2 --mtp-k-ladder 1:2,8:1",
        "--ssm-cache-slots 0",
        "--ssm-cache-slots 16 --enable-prefix-caching",
        "--kv-cache-dtype fp8",
        "--gpu-memory-utilization 0.85",
        "--gpu-memory-utilization 0.9 --device h100-sxm",
        "--max-num-seqs 64 --max-batch-size 8",
        "--max-num-seqs 8",
    ],
)
def test_defaults_and_sound_values_stay_silent(argv: str) -> None:
    assert warned(M27, *argv.split()) == {}


def test_snapshots_of_a_model_without_recurrent_layers_stay_silent() -> None:
    assert warned("qwen3-vl-30b-a3b", "--ssm-cache-slots", "8") == {}


def recipe(path: Path, *defaults: str, env: str = "") -> str:
    lines = ['recipe_version: "2"', "model: unsloth/Qwen3.8-27B-NVFP4", "runtime: metrale", "defaults:"]
    text = "\n".join([*lines, *(f"  {line}" for line in defaults or ("block_size: 16",)), *([env] if env else [])])
    file = path / "serve.yaml"
    file.write_text(text + "\n")
    return str(file)


def test_a_recipe_s_line_is_named(tmp_path: Path) -> None:
    file = recipe(tmp_path, "kv_cache_dtype: bf16", "gpu_memory_utilization: 0.9", "max_num_seqs: 32")
    assert warned("--recipe", file) == {"MP133": f"{file}:5", "MP134": f"{file}:6", "MP135": f"{file}:7"}


def test_a_default_that_a_recipe_writes_out_stays_silent(tmp_path: Path) -> None:
    assert warned("--recipe", recipe(tmp_path, "ssm_cache_slots: 16", "max_num_seqs: 128")) == {}


def test_a_variable_beside_the_recipe_that_changes_the_plan(tmp_path: Path) -> None:
    ambient = {"METRALE_SSM_MARCONI_FULL": "1", "METRALE_MTP_STATIC_RUNG": "1", "METRALE_MTP_K_LADDER": "4:1"}
    pinned = recipe(tmp_path, 'mtp_k_ladder: "8:1"')
    assert warned("--recipe", pinned, environ=ambient) == {"MP136": "METRALE_SSM_MARCONI_FULL"}
    assert warned("--recipe", pinned, "--isolated-env", environ=ambient) == {}
    assert warned(M27, environ=ambient) == {}
    inside = recipe(tmp_path, env='env: {METRALE_SSM_MARCONI_FULL: "1", METRALE_MTP_K_LADDER: "4:1"}')
    assert warned("--recipe", inside, environ=ambient) == {}


def test_a_ladder_that_is_switched_off() -> None:
    ambient = {"METRALE_NO_MTP_K_LADDER": "1"}
    assert warned(M27, "--speculative", "--mtp-k-ladder", "4:1", environ=ambient) == {"MP137": "--mtp-k-ladder"}
