"""SARIF 2.1.0: a rule per code that occurred, quoted from the registry, and a result per finding."""

from typing import Any

from metrale_plan.codes import BY_CODE, Code
from metrale_plan.gate.outcome import Finding
from metrale_plan.gate.summary import GateReport
from metrale_plan.render.json_text import json_text

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "ROOT"

LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def render(report: GateReport) -> str:
    """The log, with one run."""
    return json_text(log(report), indent=2) + "\n"


def log(report: GateReport) -> dict[str, Any]:
    """The log as plain values."""
    codes = list(dict.fromkeys(finding.code for finding, _devices in report.findings))
    told = [*([report.error] if report.error else []), *report.warnings]
    run = {
        "tool": {
            "driver": {
                "name": "metrale-plan",
                "semanticVersion": report.version,
                "rules": [_rule(BY_CODE[code]) for code in codes],
            }
        },
        "invocations": [
            {
                "executionSuccessful": report.exit_code not in (2, 5),
                "exitCode": report.exit_code,
                "toolExecutionNotifications": [
                    {
                        "descriptor": {"id": problem.code},
                        "level": LEVELS[problem.severity],
                        "message": {"text": problem.message},
                    }
                    for problem in told
                ],
            }
        ],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, devices, codes) for finding, devices in report.findings],
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _rule(code: Code) -> dict[str, Any]:
    level = {"warning": "warning", "note": "note"}.get(code.kind, "error")
    return {
        "id": code.code,
        "name": "".join(word.capitalize() for word in code.title.replace("-", " ").split()),
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.meaning},
        "help": {"text": code.remedy},
        "defaultConfiguration": {"level": level},
    }


def _result(finding: Finding, devices: tuple[str, ...], codes: list[str]) -> dict[str, Any]:
    on = f"{', '.join(devices)}: " if devices else ""
    artifact = _artifact(finding.path)
    accepted = f" Accepted: {finding.accepted}." if finding.accepted else ""
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": LEVELS[finding.severity],
        "message": {"text": f"{on}{finding.message}.{accepted}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": {"startLine": finding.line},
                }
            }
        ],
        "partialFingerprints": {
            "codeSettingDevices/v1": "|".join((finding.code, artifact["uri"], finding.setting or "", *devices))
        },
        "properties": {"bytes": finding.bytes, "devices": list(devices)},
    }


def _artifact(path: str) -> dict[str, Any]:
    """A path inside the repository is relative to its root; one outside stands for itself."""
    from urllib.parse import quote

    uri = quote(path.encode("utf-8", "surrogateescape"))
    if path.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": ROOT}
