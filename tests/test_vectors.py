"""The vectors agree, and the replay would say so if they did not."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import replay

VECTORS = Path(__file__).parent / "vectors"
GROUPS = sorted(replay.GROUPS)


def test_every_group_has_a_file_and_every_file_a_group() -> None:
    assert sorted(path.stem for path in VECTORS.glob("*.jsonl")) == GROUPS


@pytest.mark.parametrize("group", GROUPS)
def test_group_agrees(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = VECTORS / f"{group}.jsonl"
    rows = len(path.read_text("utf-8").splitlines())
    assert replay.main([str(path)]) == 0
    assert capsys.readouterr().out == f"{rows} passed, 0 failed\n"


def flipped(value: Any) -> Any:
    """Another value of the same kind; of a list, its last entry is flipped."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "?"
        case [*head, last]:
            return [*head, flipped(last)]
        case dict() if value:
            key = next(iter(value))
            return value | {key: flipped(value[key])}
        case _:
            return 0


@pytest.mark.parametrize("group", GROUPS)
def test_a_flipped_expectation_is_reported(group: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, *others = (json.loads(line) for line in (VECTORS / f"{group}.jsonl").read_text("utf-8").splitlines())
    fields = list(replay.GROUPS[group](first))
    assert fields
    for field in fields:
        path = tmp_path / f"{group}.jsonl"
        bad = first | {field: flipped(first[field])}
        path.write_text("".join(json.dumps(row) + "\n" for row in (bad, *others)), "utf-8")
        assert replay.main([str(path)]) == 1
        report = capsys.readouterr().out.splitlines()
        assert report[0].startswith(f"{group}.jsonl row 1: ")
        assert report[-1] == f"{len(others)} passed, 1 failed"


def test_true_is_not_one(tmp_path: Path) -> None:
    path = tmp_path / "copy_tier.jsonl"
    path.write_text('{"tier":null,"base":1,"slot":0,"k":2,"h":true,"rows":2}\n', "utf-8")
    assert replay.main([str(path)]) == 1


def test_a_row_that_raises_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "process_state.jsonl"
    path.write_text('{"env":{},"script":[["exit"]],"results":[null]}\n', "utf-8")
    assert replay.main([str(path)]) == 1
    assert capsys.readouterr().out.endswith("\n0 passed, 1 failed\n")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("unheard_of.jsonl", b"{}\n", "no group is named 'unheard_of'"),
        ("copy_tier.jsonl", None, "No such file"),
        ("copy_tier.jsonl", b"", "no rows"),
        ("copy_tier.jsonl", b"\n \n", "no rows"),
        ("copy_tier.jsonl", b"{\n", ":1: not JSON"),
        ("copy_tier.jsonl", b"\n[1]\n", ":2: not a JSON object"),
        ("copy_tier.jsonl", b"\xff", "not UTF-8 at byte 0"),
        ("copy_tier.jsonl", b'{"k": ' + b"9" * 5000 + b"}", ":1: not JSON"),
        ("copy_tier.jsonl", b"[" * 100_000, ":1: not JSON"),
    ],
)
def test_a_file_that_cannot_be_replayed(
    name: str, content: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert replay.main([str(VECTORS / "copy_tier.jsonl"), str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ") and err.count("\n") == 1
    assert message in err


def test_no_file_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([]) == 2
    assert capsys.readouterr().err.startswith("usage: ")


def test_as_a_script_from_another_directory(tmp_path: Path) -> None:
    command = [
        sys.executable,
        replay.__file__,
        *(str(VECTORS / name) for name in ("carry_outcome.jsonl", "copy_tier.jsonl")),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "150 passed, 0 failed\n", "")
