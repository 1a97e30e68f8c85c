"""A line per config and device that editors and grep can follow, then the summary."""

from metrale_plan.gate.outcome import Outcome
from metrale_plan.gate.summary import GateReport
from metrale_plan.printable import printable


def render(report: GateReport) -> str:
    """`file:line: device: outcome CODE reason`, and a line more for each further finding."""
    lines = [line for outcome in report.outcomes for line in _lines(outcome)]
    return "\n".join([*lines, report.summary]) + "\n"


def _lines(outcome: Outcome) -> list[str]:
    device = f" {outcome.device}:" if outcome.device else ""
    if not outcome.findings:
        reason = f" ({one_line(outcome.reason)})" if outcome.reason else ""
        return [f"{one_line(outcome.path)}:{device} {outcome.status}{reason}"]
    return [
        f"{one_line(finding.path)}:{finding.line}:{device} {outcome.status} {finding.severity}[{finding.code}] "
        f"{one_line(finding.message)}"
        for finding in outcome.findings
    ]


def one_line(text: str) -> str:
    """The text without line ends, and with its controls spelled out."""
    return printable(" ".join(text.split()))
