"""The comparison as markdown for a pull request: a line per config, each with its changes folded below."""

from metrale_plan.gate.compare import Comparison
from metrale_plan.gate.diff_report import DiffReport
from metrale_plan.render.comparison.words import change_growth, growth, name_of, renamed, value, verdict
from metrale_plan.render.markdown import cell, raw, row

LIMIT = 60_000
"""Characters; a pull request's comment holds 65,536."""

HEAD = ("| config | device | total | before | after |", "| --- | --- | ---: | --- | --- |")


def render(report: DiffReport) -> str:
    """The whole text, within the limit; what had to be left out is counted."""
    lines = [f"### metrale-plan diff: {cell(report.summary)}", "", *HEAD]
    shown = [comparison for comparison in report.comparisons if comparison.status != "same"] or list(report.comparisons)
    room = LIMIT - 500
    left_out = 0
    details: list[str] = []
    for comparison in shown:
        text = _line(comparison)
        detail = _details(comparison)
        size = len(text) + sum(len(line) + 1 for line in detail) + 1
        if size > room:
            left_out += 1
            continue
        room -= size
        lines.append(text)
        details += detail
    if left_out:
        lines += ["", f"{left_out} more are not shown here."]
    return "\n".join([*lines, *details]) + "\n"


def _line(comparison: Comparison) -> str:
    before, after = comparison.before, comparison.after
    total = "" if before is None or after is None or comparison.growth is None else growth(before.total, after.total)
    over = " **over the limit**" if comparison.over_limit else ""
    return row(
        f"{cell(renamed(comparison))} ({comparison.status})",
        comparison.device or "",
        f"{total}{over}",
        cell(verdict(before)),
        cell(verdict(after)),
    )


def _details(comparison: Comparison) -> list[str]:
    if not comparison.changes:
        return []
    on = f" on {comparison.device}" if comparison.device else ""
    rows = [
        row(
            change.kind,
            cell(name_of(change)),
            cell(value(change, change.before)),
            cell(value(change, change.after)),
            change_growth(change),
        )
        for change in comparison.changes
    ]
    title = f"{raw(comparison.name)}{on}: {len(comparison.changes)} changes"
    head = ("| kind | what | before | after | growth |", "| --- | --- | ---: | ---: | ---: |")
    return ["", f"<details><summary>{title}</summary>", "", *head, *rows, "", "</details>"]
