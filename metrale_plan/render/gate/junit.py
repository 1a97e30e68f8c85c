"""JUnit XML: a suite per device, a case per config; refused is a failure, invalid and cannot tell are errors."""

import re

from metrale_plan.gate.outcome import Outcome
from metrale_plan.gate.summary import GateReport

NO_DEVICE = "no device"

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may hold, escaped or not."""

ELEMENTS = {
    "refused": "failure",
    "invalid": "error",
    "cannot tell": "error",
    "bug": "error",
    "skipped": "skipped",
}


def render(report: GateReport) -> str:
    """The document, with its XML declaration."""
    from xml.etree import ElementTree

    suites: dict[str, list[Outcome]] = {}
    for outcome in report.outcomes:
        suites.setdefault(outcome.device or NO_DEVICE, []).append(outcome)
    counts = _counts(list(report.outcomes))
    if report.error is not None:  # nothing checked, which a report without cases would hide
        counts |= {"tests": str(len(report.outcomes) + 1), "errors": str(int(counts["errors"]) + 1)}
    root = ElementTree.Element("testsuites", {"name": "metrale-plan check", **counts})
    for device, outcomes in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": clean(device), **_counts(outcomes)})
        for outcome in outcomes:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                {
                    "name": clean(outcome.path),
                    "classname": f"metrale-plan.{clean(device)}",
                    "file": clean(outcome.path),
                },
            )
            element = ELEMENTS.get(outcome.status)
            if element is not None:
                attributes = {"message": clean(outcome.reason)}
                if element != "skipped":
                    attributes["type"] = outcome.findings[0].code if outcome.findings else outcome.status
                ElementTree.SubElement(case, element, attributes).text = clean(_details(outcome))
    if report.error is not None:
        alone = {**_counts([]), "tests": "1", "errors": "1"}
        suite = ElementTree.SubElement(root, "testsuite", {"name": "metrale-plan", **alone})
        case = ElementTree.SubElement(suite, "testcase", {"name": "check", "classname": "metrale-plan"})
        told = {"message": clean(report.error.message), "type": report.error.code}
        ElementTree.SubElement(case, "error", told).text = clean(report.error.accepted or "")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _counts(outcomes: list[Outcome]) -> dict[str, str]:
    def count(element: str) -> str:
        return str(sum(ELEMENTS.get(outcome.status) == element for outcome in outcomes))

    return {
        "tests": str(len(outcomes)),
        "failures": count("failure"),
        "errors": count("error"),
        "skipped": count("skipped"),
        "time": "0",
    }


def _details(outcome: Outcome) -> str:
    return "\n".join(
        f"{finding.path}:{finding.line}: {finding.severity}[{finding.code}] {finding.message}"
        + (f"\n  accepted: {finding.accepted}" if finding.accepted else "")
        for finding in outcome.findings
    )


def clean(text: str) -> str:
    """The text without what XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
