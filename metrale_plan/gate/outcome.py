"""Outcome: what the gate says about one config on one device, and the findings that point into its file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from metrale_plan.errors import Severity
from metrale_plan.gate.policy import Ignore

Status = Literal["pass", "refused", "invalid", "cannot tell", "skipped", "bug"]

SERIOUSNESS = (5, 2, 1, 3, 4, 0)
"""Exit codes, most serious first."""

STATUS_OF: dict[int, Status] = {0: "pass", 1: "refused", 2: "invalid", 3: "cannot tell", 4: "refused", 5: "bug"}


def most_serious(codes: Iterable[int]) -> int:
    """The exit code that stands for all of them; 0 for none."""
    return min(codes, key=SERIOUSNESS.index, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to mend, at the line that carries it.

    Attributes:
        path: file, relative to the repository's root where it lies in it.
        line: 1 where no key of the file carries it.
        bytes: size of what it is about, for ordering; 0 when it is not about bytes.
        setting: key of the setting it is about, or None.
    """

    code: str
    severity: Severity
    message: str
    path: str
    line: int = 1
    bytes: int = 0
    setting: str | None = None
    accepted: str | None = None
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One config on one device.

    Attributes:
        path: the config as it was named or found.
        device: the device's id, or None where no device came into it.
        exit_code: the contract's, for this config alone; 0 when skipped.
        reason: why, in a line.
        findings: errors and warnings that count, most bytes first.
        ignored: entries of the policy that let something pass.
        need, free, headroom: bytes of the verdict, None where there is none.
        checked, unreached: stages that the verdict speaks of, and those that it does not.
        document: the whole planning document, None when skipped.
    """

    path: str
    device: str | None
    status: Status
    exit_code: int
    reason: str
    findings: tuple[Finding, ...] = ()
    ignored: tuple[Ignore, ...] = ()
    need: int | None = None
    free: int | None = None
    headroom: int | None = None
    checked: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    document: Mapping[str, Any] | None = None
