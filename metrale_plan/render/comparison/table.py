"""The comparison as tables: a heading and the verdicts, then what changed."""

from metrale_plan.gate.compare import Change, Comparison
from metrale_plan.gate.diff_report import DiffReport
from metrale_plan.render.comparison.words import change_growth, growth, name_of, title, value, verdict
from metrale_plan.render.plain import plain
from metrale_plan.render.sheet import Column, Grid, Part, Row, Sheet, Style, Text

WIDTH = 120
"""Of a table that goes into a file."""


def render(report: DiffReport) -> str:
    """The tables as text of a fixed width."""
    return plain(sheet(report), WIDTH)


def sheet(report: DiffReport) -> Sheet:
    """The tables as a sheet, for whatever they are printed on."""
    parts: list[Part] = []
    for comparison in report.comparisons:
        if comparison.status == "same" and len(report.comparisons) > 1:
            continue
        parts += _parts(comparison)
    if len(report.comparisons) > 1 or not parts:
        parts.append(Text(report.summary, "strong"))
    return tuple(parts)


def _parts(comparison: Comparison) -> list[Part]:
    parts: list[Part] = [
        Text(title(comparison), "strong"),
        Text(f"before: {verdict(comparison.before)}", indent=2),
        Text(f"after: {verdict(comparison.after)}", indent=2),
    ]
    if comparison.growth is not None:
        before, after = comparison.before, comparison.after
        assert before is not None and after is not None
        style: Style = "bad" if comparison.over_limit else "plain"
        parts.append(Text(f"total: {growth(before.total, after.total)}", style, indent=2))
    if comparison.changes:
        columns = (Column("kind"), Column("growth", "right"), Column("what: before -> after", flexible=True))
        parts.append(Grid(columns, tuple(map(_row, comparison.changes))))
    return parts


def _row(change: Change) -> Row:
    values = f"{value(change, change.before)} -> {value(change, change.after)}"
    return Row((change.kind, change_growth(change), f"{name_of(change)}: {values}"))
