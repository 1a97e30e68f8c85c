"""What can go wrong for a user: one exception family, each carrying what a message, JSON and SARIF need.

`PlanError` and its kin end a command with an exit code; the pure core raises plain `ValueError` with the engine's text.
"""

from dataclasses import dataclass, field
from typing import Literal

from metrale_plan.printable import LONGEST_PLACE, shortened

Severity = Literal["note", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding as a value.

    Attributes:
        code: stable code from the registry in `codes`.
        message: what was wrong, in one sentence.
        where: "file:line", flag or variable, or None.
        accepted: what would have been accepted, or None.
        nearest: nearest valid spellings.
        severity: "note" and "warning" let a command go on; only a warning counts for `--fail-on-warning`.
    """

    code: str
    message: str
    where: str | None = None
    accepted: str | None = None
    nearest: tuple[str, ...] = field(default=())
    severity: Severity = "error"


class PlanError(Exception):
    """A command cannot go on; `exit_code` is the contract's."""

    exit_code = 2

    def __init__(
        self,
        code: str,
        message: str,
        *,
        where: str | None = None,
        accepted: str | None = None,
        nearest: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        where = None if where is None else shortened(where, LONGEST_PLACE)
        self.problem = Problem(code=code, message=shortened(message), where=where, accepted=accepted, nearest=nearest)


class InputError(PlanError):
    """Bad input or usage: a file, key, flag or value that can never be right."""

    exit_code = 2


class SettingsRefused(PlanError):
    """Legal values whose combination the engine refuses before it counts a byte."""

    exit_code = 1


class CannotTell(PlanError):
    """Memory was needed and could not be read, or the reading contradicts itself."""

    exit_code = 3
