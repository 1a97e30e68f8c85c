"""Annotations for a GitHub workflow: errors and warnings at their lines, within the limits of one step.

GitHub shows ten errors and ten warnings of a step and drops the rest in silence, so the largest come first and the
rest are told as ordinary lines of the log.
"""

from collections.abc import Iterator

from metrale_plan.gate.outcome import Finding
from metrale_plan.gate.summary import GateReport
from metrale_plan.printable import printable
from metrale_plan.render.gate.concise import one_line

PER_STEP = 10
"""Annotations of one kind that a step may make."""


def render(report: GateReport) -> str:
    """Workflow commands, then the findings beyond the limit, then the summary."""
    shown: list[str] = []
    rest: list[str] = []
    told = {"error": 0, "warning": 0}
    for finding, devices in report.findings:
        if finding.severity not in told:
            continue
        if told[finding.severity] < PER_STEP:
            told[finding.severity] += 1
            shown.append(_command(finding, devices))
        else:
            rest.append(f"{finding.path}:{finding.line}: {finding.code} {_text(finding, devices)}")
    lines = [*shown, *_gate_problems(report, told), *_rest(rest), report.summary]
    return "\n".join(lines) + "\n"


def _command(finding: Finding, devices: tuple[str, ...]) -> str:
    title = f"metrale-plan {finding.code}"
    place = f"file={prop(finding.path)},line={finding.line},title={prop(title)}"
    return f"::{finding.severity} {place}::{data(_text(finding, devices))}"


def _text(finding: Finding, devices: tuple[str, ...]) -> str:
    on = f"{', '.join(devices)}: " if devices else ""
    accepted = f"\naccepted: {finding.accepted}" if finding.accepted else ""
    nearest = f"\ndid you mean: {', '.join(finding.nearest)}" if finding.nearest else ""
    return f"{on}{finding.message}{accepted}{nearest}"


def _gate_problems(report: GateReport, told: dict[str, int]) -> Iterator[str]:
    """The gate's own error and warnings, where the limits leave room."""
    problems = [*([report.error] if report.error else []), *report.warnings]
    for problem in problems:
        kind = problem.severity if problem.severity in told else "warning"
        if told[kind] < PER_STEP:
            told[kind] += 1
            yield f"::{kind} title={prop(f'metrale-plan {problem.code}')}::{data(problem.message)}"


def _rest(lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{len(lines)} more findings, beyond the {PER_STEP} annotations of a kind that a step can show:"
        yield from (f"  {safe(one_line(line))}" for line in lines)


def data(text: str) -> str:
    """Text of a workflow command's message."""
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def prop(text: str) -> str:
    """Text of a workflow command's property."""
    return data(text).replace(":", "%3A").replace(",", "%2C")


def safe(line: str) -> str:
    """A log line that cannot be taken for a workflow command."""
    return line.replace("::", ": :").replace("##[", "## [")
