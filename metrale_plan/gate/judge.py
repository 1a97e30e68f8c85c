"""A report and a policy -> what counts against a config: its own refusal or error, its warnings, breaches of policy."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from metrale_plan.config.given import Settings
from metrale_plan.errors import Problem
from metrale_plan.gate.carriers import CARRIERS, carrier, key_of, split_place, terms_of
from metrale_plan.gate.outcome import STATUS_OF, Finding, Outcome, most_serious
from metrale_plan.gate.policy import Ignore, Policy
from metrale_plan.report import Report
from metrale_plan.terms import BY_KEY
from metrale_plan.units import gib, human

EXPLICIT = frozenset({"flag", "command", "recipe"})
"""Sources of a setting that somebody wrote into the serve config itself."""

POLICY_CODES = ("MP160", "MP161", "MP162", "MP163")


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What judging needs beside the report.

    Attributes:
        path: the config, as shown.
        matched: the config's path relative to the gate config's folder, for patterns.
        file: the file that findings without a line of their own point at, as `where` names it.
        device: the device's id.
        serve: whether the config is a serve's (a recipe or a command line), not a bare model file.
        today: the day that expiry dates are compared with.
        fail_on_warning: whether a warning makes exit 4.
        locate: a file as `where` names it -> as findings show it.
    """

    path: str
    matched: str
    file: str
    device: str | None
    serve: bool
    today: date
    fail_on_warning: bool
    locate: Callable[[str], str]


def judge(report: Report, policy: Policy, case: Circumstances) -> Outcome:
    """The outcome of one config on one device. `report.exit_code` becomes 4 where only its warnings fail it."""
    findings: list[Finding] = []
    ignored: list[Ignore] = []
    codes = [report.exit_code]
    main = _own_failure(report)
    if main is not None:
        findings.append(_finding(main, report, case))
    for problem in (*_warnings(report), *_breaches(report, policy, case)):
        entry = policy.ignore_of(problem.code, case.matched, case.today)
        if entry is not None:
            ignored.append(entry)
            continue
        if problem.severity == "warning" and policy.is_error(problem.code):
            problem = replace(problem, severity="error", message=f"{problem.message} (an error by policy)")
        if problem.severity == "error":
            codes.append(1)
        elif case.fail_on_warning:
            codes.append(4)
        findings.append(_finding(problem, report, case))
    code = most_serious(codes)
    if code == 4:
        report.exit_code = 4
    rank = {"error": 0, "warning": 1, "note": 2}
    ordered = sorted(findings, key=lambda finding: (rank[finding.severity], -finding.bytes))
    verdict = report.verdict
    return Outcome(
        path=case.path,
        device=case.device,
        status=STATUS_OF[code],
        exit_code=code,
        reason=_reason(report, ordered, code),
        findings=tuple(ordered),
        ignored=tuple(dict.fromkeys(ignored)),
        need=verdict.need if verdict else None,
        free=verdict.free if verdict else None,
        headroom=verdict.headroom if verdict else None,
        checked=verdict.checked if verdict else (),
        unreached=verdict.unreached if verdict else (),
    )


def _own_failure(report: Report) -> Problem | None:
    """Why the plan itself does not pass, or None."""
    if report.error is not None:
        return report.error
    verdict = report.verdict
    if verdict is None or verdict.fits is not False:
        return None
    largest = "; ".join(f"{BY_KEY[line.term].label} {human(line.bytes)}" for line in verdict.largest)
    return Problem(
        code="MP101",
        message=f"does not fit at {verdict.stage}: needs {gib(verdict.need or 0)}, free {gib(verdict.free or 0)}, "
        f"short by {human(-(verdict.headroom or 0))}; largest: {largest}",
        accepted=verdict.hint,
    )


def _warnings(report: Report) -> Iterator[Problem]:
    """The report's warnings; one that the report's own error repeats is said once."""
    told = None if report.error is None else report.error.code
    return (problem for problem in report.warnings if problem.severity == "warning" and problem.code != told)


def _breaches(report: Report, policy: Policy, case: Circumstances) -> Iterator[Problem]:
    yield from _headroom(report, policy)
    settings = report.settings
    if settings is None:
        return
    yield from _utilization(report, settings, policy)
    for key, setting in settings.items():
        if key.startswith("METRALE_") and policy.forbids(key):
            yield Problem(
                code="MP162",
                message=f"{key} is set, and the policy forbids it",
                where=setting.where or key,
                accepted=f"{key} unset",
            )
    for key in policy.required_flags if case.serve else ():
        if key not in settings or settings[key].source not in EXPLICIT:
            flag = "--" + key.replace("_", "-")
            yield Problem(
                code="MP163",
                message=f"{flag} is not given, and the policy requires every serve to state it",
                where=flag,
                accepted=f"{flag} stated, also where it is the default",
            )


def _headroom(report: Report, policy: Policy) -> Iterator[Problem]:
    verdict, least = report.verdict, policy.least_headroom
    if least is None or verdict is None or verdict.headroom is None or verdict.free is None or not verdict.fits:
        return
    if verdict.headroom < least.of(verdict.free):
        yield Problem(
            code="MP160",
            message=f"fits with {human(verdict.headroom)} left, and the policy asks for {least.shown(verdict.free)}: "
            f"{human(least.of(verdict.free) - verdict.headroom)} short",
            accepted=f"at least {least.shown(verdict.free)} of headroom",
        )


def _utilization(report: Report, settings: Settings, policy: Policy) -> Iterator[Problem]:
    hardware_class = report.device.hardware_class if report.device else None
    ceiling = policy.utilization_ceiling.get(hardware_class or "")
    setting = settings.get("gpu_memory_utilization")
    if ceiling is not None and setting is not None and setting.value > ceiling:
        yield Problem(
            code="MP161",
            message=f"--gpu-memory-utilization {setting.value:g} is above the policy's {ceiling:g} for "
            f"{hardware_class}",
            where=setting.where or "--gpu-memory-utilization",
            accepted=f"at most {ceiling:g}",
        )


def _finding(problem: Problem, report: Report, case: Circumstances) -> Finding:
    """A problem with the line that carries it: its own, its setting's, or that of the largest term it is about."""
    settings = report.settings or {}
    sizes = {line.term: line.bytes for line in report.plan.lines} if report.plan else {}
    key, place = key_of(problem.where, settings), split_place(problem.where)
    if place is None and key is not None:
        place = split_place(settings[key].where)
    terms = list(terms_of(key)) if key is not None else []
    if problem.code in ("MP101", "MP160"):
        terms = sorted(sizes, key=lambda term: -sizes[term])
    if place is None:
        named = [term for term in terms if sizes.get(term)]
        found = carrier(named, settings)
        if found is not None:
            key, place = (key or found[0]), found[1]
    path, line = place or (case.file, 1)
    return Finding(
        code=problem.code,
        severity=problem.severity,
        message=problem.message,
        path=case.locate(path),
        line=max(line, 1),
        bytes=max((sizes.get(term, 0) for term in terms if term in CARRIERS), default=0),
        setting=key,
        accepted=problem.accepted,
        nearest=problem.nearest,
    )


def _reason(report: Report, findings: list[Finding], code: int) -> str:
    if code != 0 and findings:
        more = len(findings) - 1
        return findings[0].message + (f" (and {more} more)" if more else "")
    verdict = report.verdict
    if verdict is None or verdict.headroom is None:
        return ""
    said = f"fits at {', '.join(verdict.checked)}, {gib(verdict.headroom)} left"
    unreached = f"; not reached: {', '.join(verdict.unreached)}" if verdict.unreached else ""
    codes = ", ".join(dict.fromkeys(finding.code for finding in findings))
    warned = f"; {len(findings)} warning{'s' if len(findings) > 1 else ''}: {codes}" if findings else ""
    return said + unreached + warned
