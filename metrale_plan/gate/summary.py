"""GateReport: every outcome of one run of the gate, and what they come to."""

from collections import Counter
from dataclasses import dataclass, field

from metrale_plan.errors import Problem
from metrale_plan.gate.outcome import Finding, Outcome, most_serious


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The outcomes in the order asked for, the gate's own warnings, and why nothing was checked if so.

    Attributes:
        own_codes: exit codes that the gate's own warnings come to, beside those of the outcomes.
    """

    outcomes: tuple[Outcome, ...]
    warnings: tuple[Problem, ...] = ()
    error: Problem | None = None
    version: str = field(default="")
    own_codes: tuple[int, ...] = ()

    @property
    def exit_code(self) -> int:
        """The most serious of all; nothing checked is never a pass."""
        return (
            2
            if self.error is not None
            else most_serious((*self.own_codes, *(outcome.exit_code for outcome in self.outcomes)))
        )

    @property
    def counts(self) -> dict[str, int]:
        """Outcomes by status, those that occur, worst first."""
        found = Counter(outcome.status for outcome in self.outcomes)
        order = ("bug", "invalid", "refused", "cannot tell", "pass", "skipped")
        return {status: found[status] for status in order if found[status]}  # type: ignore[index]

    @property
    def summary(self) -> str:
        """The counts in a line."""
        words = {"pass": "passed", "bug": "met a bug"}
        told = ", ".join(f"{count} {words.get(status, status)}" for status, count in self.counts.items())
        checked = sum(outcome.status != "skipped" for outcome in self.outcomes)
        return f"{checked} checked: {told}" if told else "nothing checked"

    @property
    def unreached(self) -> str | None:
        """How far the passes go, in a line; None where every stage was reached or nothing passed."""
        passed = [outcome for outcome in self.outcomes if outcome.exit_code == 0 and outcome.unreached]
        if not passed:
            return None
        stages = dict.fromkeys(stage for outcome in passed for stage in outcome.unreached)
        checked = dict.fromkeys(stage for outcome in passed for stage in outcome.checked)
        return f"a pass speaks of the stages {', '.join(checked)} only; not reached: {', '.join(stages)}"

    @property
    def findings(self) -> tuple[tuple[Finding, tuple[str, ...]], ...]:
        """Each finding once with the devices it is about; errors first, most bytes first."""
        devices: dict[Finding, list[str]] = {}
        for outcome in self.outcomes:
            for finding in outcome.findings:
                named = devices.setdefault(finding, [])
                if outcome.device is not None and outcome.device not in named:
                    named.append(outcome.device)
        rank = {"error": 0, "warning": 1, "note": 2}
        ordered = sorted(devices, key=lambda finding: (rank[finding.severity], -finding.bytes))
        return tuple((finding, tuple(devices[finding])) for finding in ordered)


def gate_report(
    outcomes: tuple[Outcome, ...], warnings: tuple[Problem, ...], version: str, own_codes: tuple[int, ...] = ()
) -> GateReport:
    """The report of a run; with nothing checked it says so as an error."""
    error = None
    if all(outcome.status == "skipped" for outcome in outcomes):
        what = f"all {len(outcomes)} were skipped" if outcomes else "no config was found"
        error = Problem(
            code="MP272",
            message=f"nothing was checked: {what}",
            accepted="a MODEL.toml, a recipe or an args file, or a folder or pattern that leads to one",
        )
    return GateReport(outcomes=outcomes, warnings=warnings, error=error, version=version, own_codes=own_codes)
