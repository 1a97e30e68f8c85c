"""Running the program in this process, as a user would, with an environment of the test's own."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metrale_plan._entry import run


@dataclass(frozen=True)
class Outcome:
    """What one run printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout as the one JSON document it must be."""
        return json.loads(self.out)


def cli(*argv: str, env: Mapping[str, str] | None = None) -> Outcome:
    """Run `metrale-plan ARGV` with exactly `env` as its environment."""
    out, err = io.StringIO(), io.StringIO()
    code = run(argv, dict(env or {}), out, err)
    return Outcome(code, out.getvalue(), err.getvalue())


def cli_json(*argv: str, env: Mapping[str, str] | None = None) -> Any:
    """The document of a run with `--format json`."""
    command, *rest = argv
    return cli(command, "--format", "json", *rest, env=env).json
