"""`run`: a serve that fits takes this process's place; one that does not is refused; waiting, on a made-up clock."""

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from metrale_plan._entry import run
from metrale_plan.assemble import assemble
from metrale_plan.cli.run import wait_until_it_fits
from metrale_plan.memory import MemoryRequest
from metrale_plan.report import Report
from metrale_plan.request import Request
from metrale_plan.units import GIB

CHECKPOINT = "unsloth/Qwen3.8-27B-NVFP4"
FITS = ["--device", "gb10"]
SHORT = [*FITS, "--free-memory", "4GiB"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which `met` prints what it was given and exits 7."""
    program = tmp_path / "met"
    program.write_text('#!/bin/sh\necho "met $* FULL=$METRALE_SSM_MARCONI_FULL"\nexit 7\n')
    program.chmod(0o755)
    return {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(Path(__file__).parent.parent)}


def ran(environ: dict[str, str], *argv: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "metrale_plan", "run", *argv]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_serve_that_fits_takes_this_process_s_place(environ: dict[str, str]) -> None:
    code, out, err = ran(environ, *FITS, "--", "METRALE_SSM_MARCONI_FULL=1", "met", "serve", CHECKPOINT, "--hermetic")
    assert (code, out) == (7, f"met serve {CHECKPOINT} --hermetic FULL=1\n")
    assert err.startswith("FITS at ")


def test_a_file_of_flags_is_written_out(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "serve.args").write_text("METRALE_SSM_MARCONI_FULL=1\n--max-batch-size 2\n")
    code, out, _ = ran(environ, *FITS, "--", "met", "serve", CHECKPOINT, f"@{tmp_path}/serve.args")
    assert (code, out) == (7, f"met serve {CHECKPOINT} --max-batch-size 2 FULL=1\n")


def test_a_refusal_starts_nothing_unless_forced(environ: dict[str, str]) -> None:
    code, out, _ = ran(environ, *SHORT, "--", "met", "serve", CHECKPOINT)
    assert code == 1
    assert out.startswith("DOES NOT FIT at reserve")
    code, out, err = ran(environ, *SHORT, "--force", "--", "met", "serve", CHECKPOINT)
    assert (code, out) == (7, f"met serve {CHECKPOINT} FULL=\n")
    assert err.startswith("DOES NOT FIT at reserve")


def told(*argv: str, environ: dict[str, str]) -> dict[str, object]:
    out = io.StringIO()
    code = run(["run", "--format", "json", *argv], environ, out, io.StringIO())
    document: dict[str, object] = json.loads(out.getvalue())
    assert document["exit_code"] == code
    return document


def test_a_refusal_as_json(environ: dict[str, str]) -> None:
    document = told(*SHORT, "--", "met", "serve", CHECKPOINT, environ=environ)
    assert document["exit_code"] == 1
    body: dict[str, dict[str, object]] = document["run"]  # type: ignore[assignment]
    assert body["started"] is False
    assert body["command"] == ["met", "serve", CHECKPOINT]
    assert body["plan"]["verdict"]["fits"] is False  # type: ignore[index]


@pytest.mark.parametrize(
    ("argv", "code", "where"),
    [
        ([], "MP244", "--"),
        (["--", "met", "bench"], "MP244", "--"),
        (["--", "/nowhere/met", "serve", CHECKPOINT], "MP244", "/nowhere/met"),
        (["--force", *SHORT, "--", "met", "serve", CHECKPOINT, "--max-batch-size", "129"], "MP211", "--max-batch-size"),
        (["--wait", "90", "--", "met", "serve", CHECKPOINT], "MP211", "--wait"),
        (["--max-batch-size", "4", "--", "met", "serve", CHECKPOINT], "MP210", "--max-batch-size"),
    ],
)
def test_bad_input_starts_nothing(environ: dict[str, str], argv: list[str], code: str, where: str) -> None:
    document = told(*argv, environ=environ)
    assert document["exit_code"] == 2
    error: dict[str, object] = document["error"]  # type: ignore[assignment]
    assert (error["code"], error["where"]) == (code, where)


def reports(*free: int, source: str = "live", total: int = 100 * GIB) -> list[Report]:
    """Reports that differ in free memory; each needs about 18 GiB."""
    made = []
    for size in free:
        memory = MemoryRequest(device="gb10", free=f"{size}GiB")
        report = assemble(Request(command="run", model="qwen3.8-27b", memory=memory, compare=True), lambda _: 1 / 0)  # type: ignore[arg-type, return-value]
        assert report.memory is not None
        report.memory = replace(report.memory, source=source, total=total)
        made.append(report)
    return made


def waited(made: list[Report], seconds: float) -> tuple[Report, int, list[float | None]]:
    """The last report, how many were left, and what progress was told."""
    now, told = [0.0], []

    def sleep(for_seconds: float) -> None:
        now[0] += for_seconds

    last = wait_until_it_fits(
        lambda: made.pop(0),
        seconds,
        progress=lambda report, left: told.append(None if report is None else left),
        clock=lambda: now[0],
        sleep=sleep,
    )
    return last, len(made), told


def test_it_waits_until_the_memory_is_there() -> None:
    last, left, told = waited(reports(4, 8, 40, 4), 10)
    assert (last.exit_code, left, told) == (0, 1, [10, 9, None])


def test_it_gives_up_at_the_end_of_the_time() -> None:
    last, left, told = waited(reports(4, 8, 8, 40), 1.5)
    assert (last.exit_code, left, told) == (1, 1, [1.5, 0.5, None])


@pytest.mark.parametrize(
    "made",
    [reports(4, 40, source="flag"), reports(4, 40, source="recording"), reports(4, 40, total=10 * GIB)],
    ids=["stated memory", "a recording", "more than the device has"],
)
def test_it_does_not_wait_where_waiting_cannot_help(made: list[Report]) -> None:
    last, left, told = waited(made, 60)
    assert (last.exit_code, left, told) == (1, 1, [])


def test_the_serve_has_this_process_s_number_input_and_signals(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "met").write_text('#!/bin/sh\nread line\necho "$$ $line"\nkill -TERM $$\n')
    command = [sys.executable, "-m", "metrale_plan", "run", *FITS, "--", "met", "serve", CHECKPOINT]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        out, _ = process.communicate("a prompt\n", timeout=60)
    assert out == f"{process.pid} a prompt\n"
    assert process.returncode == -signal.SIGTERM


def test_a_shell_that_serves_is_started_as_it_is(environ: dict[str, str]) -> None:
    text = f"METRALE_SSM_MARCONI_FULL=1 exec met serve {CHECKPOINT} --max-batch-size 2"
    code, out, err = ran(environ, *FITS, "--", "sh", "-c", text)
    assert (code, out) == (7, f"met serve {CHECKPOINT} --max-batch-size 2 FULL=1\n")
    assert err.startswith("FITS at ")


def test_a_file_that_names_a_checkpoint_of_its_own_would_make_two(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "serve.args").write_text("met serve some/other\n")
    code, out, err = ran(environ, *FITS, "--", "met", "serve", CHECKPOINT, f"@{tmp_path}/serve.args")
    assert (code, out) == (2, "")
    assert f"{tmp_path}/serve.args:1" in err and "some/other" in err


def test_a_program_that_cannot_start_leaves_one_document(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "met").write_text("no program")
    code, out, err = ran(environ, *FITS, "--format", "json", "--", "met", "serve", CHECKPOINT)
    assert code == 2
    assert json.loads(out)["command"] == "run"
    assert "MP244" in err
