"""The gate's JSON document: the envelope, a summary, and a whole planning document per config and device."""

from typing import Any

from metrale_plan.gate.outcome import Finding, Outcome
from metrale_plan.gate.summary import GateReport
from metrale_plan.render.json import envelope
from metrale_plan.render.json_text import json_text


def render(report: GateReport) -> str:
    """The document as text, a line per result: indenting a thousand plans would take longer than making them."""
    head = json_text(head_of(report), indent=2)[: -len("\n}")]
    results = ",\n".join("    " + json_text(result(outcome)) for outcome in report.outcomes)
    return f'{head},\n  "results": [\n{results}\n  ]\n}}\n'


def head_of(report: GateReport) -> dict[str, Any]:
    """Everything but `results`, schema `metrale-plan/1`."""
    return {
        **envelope("check", report.exit_code, list(report.warnings), report.error),
        "summary": {"line": report.summary, "counts": report.counts},
    }


def result(outcome: Outcome) -> dict[str, Any]:
    """One outcome; `plan` is null where nothing was planned at all."""
    return {
        "path": outcome.path,
        "device": outcome.device,
        "exit_code": outcome.exit_code,
        "status": outcome.status,
        "reason": outcome.reason,
        "findings": [_finding(finding) for finding in outcome.findings],
        "ignored": [
            {"code": entry.code, "reason": entry.reason, "expires": entry.expires.isoformat(), "where": entry.where}
            for entry in outcome.ignored
        ],
        "plan": outcome.document,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "path": finding.path,
        "line": finding.line,
        "bytes": finding.bytes,
        "setting": finding.setting,
        "accepted": finding.accepted,
        "nearest": list(finding.nearest),
    }
