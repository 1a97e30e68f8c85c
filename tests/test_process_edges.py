"""Where the program meets its surroundings: readers that go away, help, odd bytes, settings that point elsewhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli import cli, cli_json

PLAN = [sys.executable, "-m", "metrale_plan"]
ROOT = Path(__file__).parent.parent


def shell(command: str) -> subprocess.CompletedProcess[str]:
    program = f"{sys.executable} -m metrale_plan"
    return subprocess.run(
        ["bash", "-c", command.replace("PLAN", program)], capture_output=True, text=True, cwd=ROOT, check=False
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("PLAN preflight qwen3.8-27b --device gb10 --format json >&-", 0),
        ("PLAN preflight qwen3.8-27b --device gb10 --free-memory 1GiB >&-", 1),
        ("PLAN preflight qwen3.8-27b --device gb10 --max-batch-size 129 2>&-", 2),
        ("PLAN preflight qwen3.8-27b --device gb10 | true; exit ${PIPESTATUS[0]}", 0),
        ("PLAN preflight qwen3.8-27b --device gb10 --free-memory 1GiB | true; exit ${PIPESTATUS[0]}", 1),
    ],
)
def test_a_reader_that_goes_away_changes_no_exit_code(command: str, code: int) -> None:
    done = shell(command)
    assert done.returncode == code
    assert "Traceback" not in done.stdout + done.stderr


def test_a_full_disk_is_no_bug() -> None:
    done = shell("PLAN plan qwen3.8-27b >/dev/full")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("argv", [["--help"], ["plan", "--help"]])
def test_help_is_an_answer_and_goes_where_answers_go(argv: list[str]) -> None:
    assert "Usage: metrale-plan" in cli(*argv).out
    document = cli(*argv, "--format", "json").json
    assert "Usage: metrale-plan" in document["help"]


def test_no_command_is_bad_usage_in_either_form() -> None:
    assert (cli().code, "Usage" in cli().out) == (2, True)
    assert cli("--format", "json").json["error"]["code"] == "MP220"


def test_bytes_that_are_no_text_do_not_break_the_document() -> None:
    env = {"METRALE_SOMETHING": "a\udcffb", "METRALE_OTHER": "\\udcff"}
    out = cli("plan", "qwen3.8-27b", "--format", "json", env=env).out
    json.loads(out).__str__().encode("utf-8")
    assert json.loads(out)["settings"]["METRALE_OTHER"]["value"] == "\\udcff"


@pytest.mark.parametrize(("block", "gamma"), [(8, 10), (13, 15), (40, 15)])
def test_gamma_comes_from_a_readable_drafter(tmp_path: Path, block: int, gamma: int) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"block_size": block}))
    for where in (tmp_path, tmp_path / "config.json"):
        document = cli_json("plan", "qwen3.8-27b", "--dflash", "--draft-model", str(where))
        assert document["settings"]["dflash_gamma"] == {"value": gamma, "source": "engine", "where": None}
        assert document["ladder"]["verify_k"] == gamma + 1
    given = cli_json("plan", "qwen3.8-27b", "--dflash", "--draft-model", str(tmp_path), "--dflash-gamma", "4")
    assert given["ladder"]["num_drafts"] == 4


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"block_size": true}', '{"block_size": -1}', "not json"])
def test_a_drafter_that_names_no_block_size_asks_for_gamma(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    document = cli_json("plan", "qwen3.8-27b", "--dflash", "--draft-model", str(tmp_path))
    assert (document["exit_code"], document["error"]["code"]) == (2, "MP222")


def test_under_dflash_every_slot_holds_gamma_whatever_the_ladder_gives_it() -> None:
    verify = cli_json("plan", "qwen3.8-27b", "--dflash", "--dflash-gamma", "6", "--max-batch-size", "32")["verify"]
    assert verify["h_steps"] == [6] * 33
    assert verify["drafts"] == [3] * 8 + [1] * 24


def test_a_kernel_target_chooses_the_model_and_never_in_silence() -> None:
    assert cli_json("plan", "--kernel-target", "qwen3.6-27b")["model"]["name"] == "qwen3.6-27b"
    for target in ("qwen3.6-27b", "unheard-of"):
        document = cli_json("plan", "qwen3.8-27b", "--kernel-target", target)
        assert document["model"]["name"] == "qwen3.8-27b"
        assert "MP290" in [w["code"] for w in document["warnings"]]


def test_more_stated_free_than_there_is_is_said() -> None:
    document = cli_json("preflight", "qwen3.8-27b", "--device", "gb10", "--free-memory", "200GiB")
    assert document["exit_code"] == 0
    assert "MP320" in [w["code"] for w in document["warnings"]]


def test_a_carry_switch_matters_only_where_there_is_a_carry_term() -> None:
    env = {"METRALE_NO_GDN_CARRY": "1"}
    argv = ["preflight", "qwen3.8-27b", "--speculative", "--device", "gb10"]
    assert cli_json(*argv, env=env)["exit_code"] == 3
    assert cli_json(*argv, "--rules", "2026-09-30", env=env)["exit_code"] == 0


def test_nearest_spellings_are_named_once() -> None:
    near = cli_json("plan", "qwen3.8-27b", "--max-batchsize", "3")["error"]["nearest"]
    assert near[0] == "--max-batch-size"
    assert len(near) == len(set(near))
