"""GitLab's code quality report: a JSON list of findings with fingerprints that survive a moved line."""

from typing import Any

from metrale_plan.codes import BY_CODE
from metrale_plan.gate.outcome import Finding
from metrale_plan.gate.summary import GateReport
from metrale_plan.render.json_text import json_text


def render(report: GateReport) -> str:
    """The list, errors and warnings only; a report without any is an empty list."""
    seen: dict[str, int] = {}
    entries = [_entry(finding, devices, seen) for finding, devices in report.findings if finding.severity != "note"]
    return json_text(entries, indent=2) + "\n"


def _entry(finding: Finding, devices: tuple[str, ...], seen: dict[str, int]) -> dict[str, Any]:
    on = f"{', '.join(devices)}: " if devices else ""
    accepted = f" (accepted: {finding.accepted})" if finding.accepted else ""
    return {
        "description": f"{on}{finding.message}{accepted}",
        "check_name": finding.code,
        "fingerprint": _fingerprint(finding, devices, seen),
        "severity": _severity(finding),
        "location": {"path": finding.path, "lines": {"begin": finding.line}},
    }


def _severity(finding: Finding) -> str:
    entry = BY_CODE.get(finding.code)
    if finding.severity == "warning":
        return "minor"
    return "major" if entry is not None and entry.kind == "cannot tell" else "critical"


def _fingerprint(finding: Finding, devices: tuple[str, ...], seen: dict[str, int]) -> str:
    """What stays the same when lines move and sizes change; a count sets equals apart."""
    from hashlib import sha256

    identity = "\0".join((finding.code, finding.path, finding.setting or "", *devices))
    seen[identity] = seen.get(identity, 0) + 1
    return sha256(f"{identity}\0{seen[identity]}".encode("utf-8", "surrogateescape")).hexdigest()
