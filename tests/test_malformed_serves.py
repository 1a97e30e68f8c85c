"""Malformed recipes, command lines, flag files and environments: each names the place, the key and what was meant."""

import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from metrale_plan._entry import run

CHECKPOINT = "unsloth/Qwen3.8-27B-NVFP4"
HEAD = f'recipe_version: "2"\nmodel: {CHECKPOINT}\nruntime: metrale\n'
DEFAULTS = HEAD + "defaults:\n  "
ENV = HEAD + "env:\n  "


@dataclass(frozen=True)
class Case:
    """One malformed text.

    Attributes:
        code: of the error.
        place: its line in the file, or its whole `where` where there is no file.
        key: what the message has to name.
        nearest: the spelling that it offers first, or None where nothing resembles it.
    """

    text: str
    code: str
    place: int | str | None
    key: str
    nearest: str | None = None


RECIPES = {
    "top key misspelt": Case(HEAD.replace("runtime", "runtme"), "MP232", 3, "runtme", "runtime"),
    "top key unknown": Case(HEAD + "image: x\n", "MP232", 4, "image"),
    "flag misspelt": Case(DEFAULTS + "max_batchsize: 8", "MP232", 5, "max_batchsize", "max_batch_size"),
    "flag with dashes": Case(DEFAULTS + "max-seq-len: 8", "MP232", 5, "max-seq-len", "max_seq_len"),
    "flag of the command line": Case(DEFAULTS + "served_model_name: x", "MP232", 5, "served_model_name", "model_name"),
    "flag at the top": Case(HEAD + "max_batch_size: 8", "MP232", 4, "max_batch_size", "defaults: max_batch_size"),
    "variable among flags": Case(
        DEFAULTS + 'METRALE_FP8_ROWWISE: "1"', "MP232", 5, "METRALE_FP8_ROWWISE", "env: METRALE_FP8_ROWWISE"
    ),
    "key twice": Case(DEFAULTS + "block_size: 16\n  port: 1\n  block_size: 32", "MP231", 7, "block_size"),
    "top key twice": Case(HEAD + "model: x/y", "MP231", 4, "model"),
    "one flag in two spellings": Case(DEFAULTS + "max_seq_len: 8\n  max_model_len: 9", "MP231", 6, "max_model_len"),
    "bare flag with a word": Case(DEFAULTS + "speculative: yes", "MP233", 5, "speculative", "true"),
    "bare flag off": Case(DEFAULTS + "speculative: off", "MP233", 5, "speculative", "false"),
    "bare flag as text": Case(DEFAULTS + 'speculative: "true"', "MP233", 5, "speculative", "true"),
    "bare flag with a number": Case(DEFAULTS + "speculative: 1", "MP233", 5, "speculative", "true"),
    "true where a word is needed": Case(
        DEFAULTS + "ssm_batched_recurrent: true", "MP233", 5, "ssm_batched_recurrent", "on"
    ),
    "true where a number is needed": Case(DEFAULTS + "num_drafts: true", "MP233", 5, "num_drafts"),
    "empty value": Case(DEFAULTS + "num_drafts:", "MP233", 5, "num_drafts"),
    "list as a value": Case(DEFAULTS + "num_drafts: [1, 2]", "MP233", 5, "num_drafts"),
    "mapping as a value": Case(DEFAULTS + "num_drafts: {a: 1}", "MP233", 5, "num_drafts"),
    "cap out of range": Case(DEFAULTS + "mtp_max_seqs: 129", "MP211", 5, "mtp_max_seqs"),
    "ladder with a word": Case(DEFAULTS + 'mtp_k_ladder: "4:three"', "MP211", 5, "mtp_k_ladder"),
    "ring too deep": Case(DEFAULTS + "ssm_decode_ring_slots: 9", "MP211", 5, "ssm_decode_ring_slots"),
    "precision misspelt": Case(DEFAULTS + "kv_cache_dtype: bf61", "MP211", 5, "kv_cache_dtype", "bf16"),
    "auto with a capital": Case(DEFAULTS + "max_batch_size: Auto", "MP211", 5, "max_batch_size", "auto"),
    "utilization in per cent": Case(DEFAULTS + "gpu_memory_utilization: 85", "MP211", 5, "gpu_memory_utilization"),
    "utilization not finite": Case(DEFAULTS + "gpu_memory_utilization: .nan", "MP211", 5, "gpu_memory_utilization"),
    "precision in capitals": Case(DEFAULTS + "kv_cache_dtype: BF16", "MP211", 5, "kv_cache_dtype", "bf16"),
    "flag in capitals": Case(DEFAULTS + "NUM_DRAFTS: 3", "MP232", 5, "NUM_DRAFTS", "num_drafts"),
    "bare flag with a list": Case(DEFAULTS + "speculative: [true]", "MP233", 5, "speculative is a list"),
    "bare flag left empty": Case(DEFAULTS + "speculative: ~", "MP233", 5, "speculative is empty"),
    "escape above Unicode": Case(DEFAULTS + 'model_name: "\\U00110000"', "MP230", 5, "escape"),
    "more nodes than a count": Case(HEAD + "max_nodes: " + "9" * 5000, "MP233", 4, "max_nodes"),
    "format left empty": Case(HEAD.replace('"2"', ""), "MP236", 1, "recipe_version is empty", "2"),
    "number with an underscore": Case(DEFAULTS + "max_seq_len: 32_768", "MP211", 5, "max_seq_len"),
    "number with an exponent": Case(DEFAULTS + "max_seq_len: 1e4", "MP211", 5, "max_seq_len"),
    "negative count": Case(DEFAULTS + "num_drafts: -1", "MP211", 5, "num_drafts"),
    "defaults a list": Case(HEAD + "defaults:\n  - max_batch_size: 8", "MP233", 4, "defaults"),
    "runtime misspelt": Case(HEAD.replace("metrale", "metral"), "MP233", 3, "runtime", "metrale"),
    "runtime with a capital": Case(HEAD.replace("metrale", "Metrale"), "MP233", 3, "runtime", "metrale"),
    "newer format": Case(HEAD.replace('"2"', '"3"'), "MP236", 1, "recipe_version", "2"),
    "model missing": Case('recipe_version: "2"\nruntime: metrale\n', "MP236", 1, "model"),
    "model empty": Case(HEAD.replace(CHECKPOINT, ""), "MP233", 2, "model"),
    "model unknown": Case(HEAD.replace(CHECKPOINT, "unsloth/Qwen3.8-27B-NVFP"), "MP207", 2, "NVFP", CHECKPOINT),
    "nodes as text": Case(HEAD + "max_nodes: two", "MP233", 4, "max_nodes"),
    "fewer nodes than the least": Case(HEAD + "min_nodes: 2\nmax_nodes: 1", "MP233", 5, "max_nodes"),
    "a list": Case("- model: x\n", "MP230", 1, "mapping"),
    "not closed": Case(DEFAULTS + "lora_adapter: [a=b", "MP230", 5, "expected"),
    "a tab": Case(HEAD + "defaults:\n\tblock_size: 16", "MP230", 5, "tab"),
    "two documents": Case(HEAD + "---\n" + HEAD, "MP230", 4, "document"),
    "alias of nothing": Case(DEFAULTS + "block_size: *none", "MP230", 5, "none"),
    "merge key": Case(HEAD + "metadata: &m {port: 1}\ndefaults:\n  <<: *m", "MP230", 6, "<<"),
    "foreign tag": Case(DEFAULTS + 'block_size: !!python/name:os.system ""', "MP230", 5, "python/name"),
    "bomb": Case(
        HEAD
        + "metadata:\n  a: &a [1,1,1,1,1,1,1,1,1]\n"
        + "".join(f"  {b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
        + "defaults:\n  num_drafts: *i",
        "MP233",
        15,
        "num_drafts",
    ),
    "too deep": Case(HEAD + "metadata: " + "[" * 5000, "MP230", None, "deep"),
    "variable misspelt": Case(
        ENV + 'METRALE_MTP_K_LADER: "4:3"', "MP238", 5, "METRALE_MTP_K_LADER", "METRALE_MTP_K_LADDER"
    ),
    "variable empty": Case(ENV + "METRALE_FP8_ROWWISE:", "MP233", 5, "METRALE_FP8_ROWWISE"),
    "variables as a list": Case(ENV + "- METRALE_FP8_ROWWISE=1", "MP233", 4, "env"),
}

FILES = {
    "flag misspelt": Case(f"{CHECKPOINT}\n# two\n--max-batchsize 8", "MP210", 3, "--max-batchsize", "--max-batch-size"),
    "flag with underscores": Case("--max_seq_len 8", "MP210", 1, "--max_seq_len", "--max-seq-len"),
    "flag as in a recipe": Case("\n--max-model-len 8", "MP210", 2, "--max-model-len", "--max-seq-len"),
    "value missing": Case("--num-drafts\n--speculative", "MP212", 1, "--num-drafts"),
    "value missing at the end": Case("--speculative\n--num-drafts", "MP212", 2, "--num-drafts"),
    "bare flag with =": Case("--speculative=true", "MP212", 1, "--speculative", "--speculative"),
    "bare flag with a word": Case("--port 1 \\\n--speculative on", "MP212", 2, "--speculative", "--speculative"),
    "value out of range": Case("--mtp-max-seqs=129", "MP211", 1, "--mtp-max-seqs"),
    "word misspelt": Case("--scheduler salai", "MP211", 1, "--scheduler", "slai"),
    "flag of the planner": Case("--port 1\n--device gb10", "MP213", 2, "--device"),
    "file within the file": Case("--port 1\n@more.args", "MP239", 2, "@more.args"),
    "open quote": Case("--port 1\n--model-name 'x", "MP239", 2, "quote"),
    "two serves": Case(f"met serve {CHECKPOINT}\nmet serve {CHECKPOINT}", "MP239", 2, "more than one"),
    "value of the shell": Case(f"met serve {CHECKPOINT} \\\n  --port $PORT", "MP239", 2, "$PORT"),
    "two checkpoints": Case(f"{CHECKPOINT}\nspeculative", "MP220", 2, "speculative", "--speculative"),
    "variable misspelt": Case("export METRALE_FP8_ROWISE=1", "MP238", 1, "METRALE_FP8_ROWISE", "METRALE_FP8_ROWWISE"),
    "unit without a serve": Case("[Service]\nExecStart=/usr/bin/sleep 1", "MP239", 2, "ExecStart"),
    "compose without a serve": Case("services:\n  a:\n    image: x", "MP239", 1, "no service"),
    "compose with two serves": Case(
        "services:\n  a: {command: met serve x}\n  b: {command: met serve y}", "MP239", 1, "a, b"
    ),
    "compose flag misspelt": Case(
        f"command:\n - met\n - serve\n - {CHECKPOINT}\n - --speculativ", "MP210", 5, "--speculativ", "--speculative"
    ),
    "compose command a mapping": Case("command:\n  met: serve", "MP230", 1, "mapping"),
    "compose not YAML": Case("command: [met, serve\nx: 1", "MP230", 2, "expected"),
}

LINES = {
    "flag misspelt": Case(
        "met serve x --max-batchsize 8", "MP210", "--max-batchsize", "--max-batchsize", "--max-batch-size"
    ),
    "one dash": Case("met serve x -speculative", "MP210", "-speculative", "-speculative", "--speculative"),
    "a long dash": Case("met serve x —speculative", "MP210", "—speculative", "—speculative", "--speculative"),
    "command misspelt": Case("met sevre x", "MP239", "sevre", "sevre", "serve"),
    "container without a serve": Case("docker run -it image bash", "MP239", "docker", "docker"),
    "ladder with a zero": Case("met serve x --mtp-k-ladder 0:1", "MP211", "--mtp-k-ladder", "--mtp-k-ladder"),
    "variable in front misspelt": Case(
        "METRALE_SSM_MARCONI_FUL=1 met serve x",
        "MP238",
        "METRALE_SSM_MARCONI_FUL",
        "METRALE_SSM_MARCONI_FUL",
        "METRALE_SSM_MARCONI_FULL",
    ),
}

ENVIRONMENTS = {
    "a letter missing": Case(
        "METRALE_DISABLE_WATCHDOG", "MP238", "METRALE_DISABLE_WATCHDOG", "WATCHDOG", "METRALE_DISABLE_WATCHDOGS"
    ),
    "two letters swapped": Case(
        "METRALE_FP8_ROWWIES", "MP238", "METRALE_FP8_ROWWIES", "ROWWIES", "METRALE_FP8_ROWWISE"
    ),
    "a letter too many": Case(
        "METRALE_KV_OVERCOMMITT", "MP238", "METRALE_KV_OVERCOMMITT", "COMMITT", "METRALE_KV_OVERCOMMIT"
    ),
}


def refused(argv: list[str], environ: dict[str, str]) -> dict[str, object]:
    out = io.StringIO()
    code = run([*argv[:1], "--format", "json", *argv[1:]], environ, out, io.StringIO())
    document = json.loads(out.getvalue())
    assert (code, document["exit_code"]) == (2, 2)
    error: dict[str, object] = document["error"]
    return error


def checked(case: Case, error: dict[str, object], file: Path | None = None) -> None:
    assert error["code"] == case.code, error
    place = f"{file}:{case.place}" if isinstance(case.place, int) else case.place
    if place is not None or file is None:
        assert error["where"] == place
    assert case.key in str(error["message"])
    nearest: list[str] = error["nearest"]  # type: ignore[assignment]
    assert (nearest[0] if nearest else None) == case.nearest


@pytest.mark.parametrize("case", RECIPES.values(), ids=RECIPES)
def test_recipe(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "serve.yaml"
    file.write_text(case.text, newline="")
    checked(case, refused(["plan", "--recipe", str(file)], {}), file)


@pytest.mark.parametrize("case", FILES.values(), ids=FILES)
@pytest.mark.parametrize("way", ["--args-file", "@"])
def test_file_of_flags(case: Case, way: str, tmp_path: Path) -> None:
    file = tmp_path / "serve.args"
    file.write_text(case.text, newline="")
    argv = ["plan", way, str(file)] if way != "@" else ["plan", "--", "met", "serve", f"@{file}"]
    checked(case, refused(argv, {}), file)


@pytest.mark.parametrize("case", LINES.values(), ids=LINES)
@pytest.mark.parametrize("quoted", [False, True], ids=["words", "one text"])
def test_command_line(case: Case, quoted: bool) -> None:
    words = [case.text] if quoted else case.text.split()
    checked(case, refused(["plan", "--", *words], {}))


@pytest.mark.parametrize("case", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_environment(case: Case) -> None:
    checked(case, refused(["plan", "qwen3.8-27b"], {case.text: "1"}))


def test_a_name_that_differs_in_digits_alone_is_another_variable() -> None:
    out = io.StringIO()
    assert run(["plan", "qwen3.8-27b", "--format", "json"], {"METRALE_DENSE_FP4": "1"}, out, io.StringIO()) == 0
    assert json.loads(out.getvalue())["settings"]["METRALE_DENSE_FP4"]["value"] == "1"


def test_missing_files_are_named() -> None:
    for flag in ("--recipe", "--args-file"):
        error = refused(["plan", flag, "/nowhere/serve.yaml"], {})
        assert (error["code"], error["where"]) == ("MP201", "/nowhere/serve.yaml")
