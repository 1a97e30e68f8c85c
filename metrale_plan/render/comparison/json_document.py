"""The JSON document of `diff`: the envelope, and every comparison with its changes."""

from typing import Any

from metrale_plan.gate.compare import Change, Comparison, Side, percent
from metrale_plan.gate.diff_report import DiffReport
from metrale_plan.render.json import envelope
from metrale_plan.render.json_text import json_text


def render(report: DiffReport) -> str:
    """The document as text."""
    return json_text(document(report), indent=2) + "\n"


def document(report: DiffReport) -> dict[str, Any]:
    """The document, schema `metrale-plan/1`."""
    return {
        **envelope("diff", report.exit_code, [], report.error),
        "diff": {
            "summary": report.summary,
            "comparisons": [_comparison(comparison) for comparison in report.comparisons],
        },
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    before, after = comparison.before, comparison.after
    old, new = (side.total if side is not None else None for side in (before, after))
    return {
        "name": comparison.name,
        "was": comparison.was,
        "device": comparison.device,
        "status": comparison.status,
        "exit_code": comparison.exit_code,
        "over_limit": comparison.over_limit,
        "before": _side(before),
        "after": _side(after),
        "total": {
            "before": old,
            "after": new,
            "delta": comparison.growth,
            "percent": None if comparison.growth is None else percent(old, new),
        },
        "changes": [_change(change) for change in comparison.changes],
    }


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "path": side.label,
        "exit_code": side.exit_code,
        "rules": side.document.get("rules"),
        "verdict": side.document.get("verdict"),
        "error": side.document.get("error"),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "key": change.key,
        "kind": change.kind,
        "before": change.before,
        "after": change.after,
        "delta": change.delta,
        "percent": change.percent,
    }
