"""Markdown for a pull request or a step's summary: the summary, what does not pass, then the rest folded."""

from metrale_plan.gate.outcome import Outcome
from metrale_plan.gate.summary import GateReport
from metrale_plan.render.markdown import cell, row
from metrale_plan.units import gib

LIMIT = 60_000
"""Characters; a pull request's comment holds 65,536."""

HEAD = ("| outcome | device | config | need | headroom | why |", "| --- | --- | --- | ---: | ---: | --- |")


def render(report: GateReport) -> str:
    """The whole text, within the limit; what had to be left out is counted."""
    title = "metrale-plan: " + ("pass" if report.exit_code == 0 else f"not passed (exit {report.exit_code})")
    lines = [f"### {title}", "", f"{cell(report.summary)}."]
    if report.unreached is not None:
        lines += ["", f"{cell(report.unreached)}."]
    problems = [*([report.error] if report.error else []), *report.warnings]
    if problems:
        lines += ["", *(f"- `{problem.code}` {cell(problem.message)}" for problem in problems)]
    failing = [outcome for outcome in report.outcomes if _needs_a_look(outcome)]
    passing = [outcome for outcome in report.outcomes if not _needs_a_look(outcome)]
    room = LIMIT - sum(len(line) + 1 for line in lines) - 500
    if failing:
        shown = _within([_row(outcome) for outcome in failing], room)
        room -= sum(len(line) + 1 for line in shown)
        lines += ["", *HEAD, *shown, *_left_out(len(failing) - len(shown))]
    if passing:
        shown = _within([_row(outcome) for outcome in passing], room)
        title = f"{len(passing)} passed or skipped"
        lines += ["", f"<details><summary>{title}</summary>", "", *HEAD, *shown, *_left_out(len(passing) - len(shown))]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _needs_a_look(outcome: Outcome) -> bool:
    return outcome.status not in ("pass", "skipped") or bool(outcome.findings)


def _row(outcome: Outcome) -> str:
    need, headroom = ("" if figure is None else gib(figure) for figure in (outcome.need, outcome.headroom))
    if not outcome.findings:
        why = cell(outcome.reason)
    else:
        why = "<br>".join(
            f"`{finding.code}` {cell(finding.message)} ({cell(finding.path)}:{finding.line})"
            for finding in outcome.findings
        )
    return row(outcome.status, outcome.device or "", cell(outcome.path), need, headroom, why)


def _within(rows: list[str], room: int) -> list[str]:
    """The first rows that fit."""
    kept: list[str] = []
    for text in rows:
        room -= len(text) + 1
        if room < 0:
            break
        kept.append(text)
    return kept


def _left_out(count: int) -> list[str]:
    return ["", f"{count} more are not shown here."] if count else []
