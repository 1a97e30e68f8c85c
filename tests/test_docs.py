"""What the documents show is what the program does."""

import shlex
from pathlib import Path

from cli import cli

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def first_command() -> list[str]:
    line = next(line for line in README.splitlines() if "metrale-plan preflight" in line and line.startswith("python3"))
    return shlex.split(line.rpartition("metrale-plan ")[2])


def test_the_readme_shows_what_its_first_command_prints() -> None:
    outcome = cli(*first_command())
    assert outcome.code == 0
    shown = README.split("```text\n")[1].split("```")[0]
    assert outcome.out == shown


def test_the_readme_has_one_command_for_the_tests() -> None:
    lines = [line for line in README.splitlines() if line.startswith("python3 -m venv")]
    assert len(lines) == 2
    assert lines[1].endswith(".venv/bin/python -m pytest")
