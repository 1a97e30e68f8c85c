"""The gate's table: a line per config and device, then the summary."""

from metrale_plan.gate.outcome import Outcome
from metrale_plan.gate.summary import GateReport
from metrale_plan.render.plain import plain
from metrale_plan.render.sheet import Column, Grid, Row, Sheet, Style, Text
from metrale_plan.units import gib

WIDTH = 120
"""Of a table that goes into a file."""

STYLES: dict[str, Style] = {
    "pass": "good",
    "refused": "bad",
    "invalid": "bad",
    "bug": "bad",
    "cannot tell": "unsure",
    "skipped": "quiet",
}


def render(report: GateReport) -> str:
    """The table as text of a fixed width."""
    return plain(sheet(report), WIDTH)


def sheet(report: GateReport) -> Sheet:
    """The table as a sheet, for whatever it is printed on."""
    columns = (
        Column("outcome"),
        Column("device"),
        Column("need", "right"),
        Column("headroom", "right"),
        Column("config", flexible=True),
    )
    rows = tuple(_row(outcome) for outcome in report.outcomes)
    style: Style = "good" if report.exit_code == 0 else "bad"
    summary = [Text(report.summary, style)]
    if report.unreached is not None:
        summary.append(Text(report.unreached, "quiet"))
    return (Grid(columns, rows), *summary) if rows else tuple(summary)


def _row(outcome: Outcome) -> Row:
    size = ["" if figure is None else gib(figure) for figure in (outcome.need, outcome.headroom)]
    quiet = outcome.status == "pass" and not outcome.findings
    config = outcome.path if quiet or not outcome.reason else f"{_place(outcome)}: {outcome.reason}{_code(outcome)}"
    return Row((outcome.status, outcome.device or "", *size, config), STYLES[outcome.status])


def _place(outcome: Outcome) -> str:
    """The config, and the line of what the reason speaks of."""
    line = outcome.findings[0].line if outcome.findings else 1
    return f"{outcome.path}:{line}" if line > 1 else outcome.path


def _code(outcome: Outcome) -> str:
    """The code that `explain` has more about; a pass names those of its warnings itself."""
    return f" [{outcome.findings[0].code}]" if outcome.exit_code != 0 and outcome.findings else ""
