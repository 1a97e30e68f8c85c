"""What surrounds one command: the tokens after `--`, the environment, and how to print; gathered once by `_entry`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One run of the program.

    Attributes:
        after: the tokens after the first `--`.
        environ: the whole environment.
        json: whether stdout must be one JSON document whatever happens.
        color: "auto", "always" or "never".
        formats: every `--format`, in order.
        outputs: every `--output`, as FORMAT=FILE texts.
    """

    after: tuple[str, ...]
    environ: Mapping[str, str]
    json: bool
    color: str
    stdout: TextIO
    stderr: TextIO
    formats: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
