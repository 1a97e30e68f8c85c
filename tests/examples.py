"""The folders of `examples/`: a command and what it prints at 80 columns. Run as a script, it writes them anew."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from cli import Outcome, cli

EXAMPLES = Path(__file__).parent.parent / "examples"


def folders() -> list[Path]:
    """Every example with a `command`."""
    return sorted(path.parent for path in EXAMPLES.glob("*/command"))


@dataclass(frozen=True)
class Command:
    """A shell line: assignments, then `metrale-plan` and its arguments."""

    env: dict[str, str]
    argv: list[str]


def command(folder: Path) -> Command:
    words = shlex.split((folder / "command").read_text("utf-8"))
    at = words.index("metrale-plan")
    return Command(dict(word.split("=", 1) for word in words[:at]), words[at + 1 :])


def run(folder: Path) -> Outcome:
    """The example as a user in its folder would run it, piped, at 80 columns."""
    asked = command(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        return cli(*asked.argv, env={"COLUMNS": "80", **asked.env})
    finally:
        os.chdir(before)


def exit_code(folder: Path) -> int:
    """What the example exits with: the number in its `exit_code`, 0 where there is none."""
    file = folder / "exit_code"
    return int(file.read_text("utf-8")) if file.exists() else 0


def main() -> None:
    for folder in folders():
        outcome = run(folder)
        (folder / "stdout").write_text(outcome.out, "utf-8")
        (folder / "stderr").write_text(outcome.err, "utf-8")
        if outcome.code:
            (folder / "exit_code").write_text(f"{outcome.code}\n", "utf-8")


if __name__ == "__main__":
    main()
