"""JSON lines: one outcome a line, each a document of its own."""

from metrale_plan.gate.summary import GateReport
from metrale_plan.render.gate.json_document import result
from metrale_plan.render.json_text import json_text
from metrale_plan.report import SCHEMA


def render(report: GateReport) -> str:
    """A line per config and device, in order; none when nothing was found."""
    return "".join(
        json_text({"schema": SCHEMA, "command": "check", **result(outcome)}) + "\n" for outcome in report.outcomes
    )
