"""The screen of `preflight` and `plan`: a verdict line, the terms, and what is worth knowing."""

import re

from metrale_plan.errors import CannotTell, Problem, SettingsRefused
from metrale_plan.plan import MemoryPlan
from metrale_plan.render.memory import holders_text, memory_texts
from metrale_plan.render.sheet import Column, Grid, Row, Sheet, Text
from metrale_plan.report import Report
from metrale_plan.reserve.line import Line
from metrale_plan.terms import BY_KEY
from metrale_plan.units import gib, human, mib
from metrale_plan.verdict import Verdict


def plan_sheet(report: Report) -> Sheet:
    """The whole screen of one report."""
    parts: list[Text | Grid] = [*_headline(report)]
    if report.plan is not None:
        parts += [_context(report), *memory_texts(report.memory), _terms(report.plan)]
    return tuple(parts)


def _headline(report: Report) -> list[Text]:
    if report.error is not None:
        return _no_plain_answer(report, report.error)
    if report.plan is None:
        return []
    if report.verdict is None:
        total = report.plan.total
        return [Text(f"RESERVE {gib(total)} ({mib(total)}) before the weights load", "strong")]
    return verdict_texts(report.verdict, report)


def _no_plain_answer(report: Report, error: Problem) -> list[Text]:
    """A verdict line for refused settings and for what cannot be told; bad input has no answer at all."""
    from metrale_plan.codes import BY_CODE

    why = f"{BY_CODE[error.code].title} ({error.code})"
    if report.exit_code == SettingsRefused.exit_code:
        return [Text(f"REFUSED at settings: {why}", "bad")]
    if report.exit_code == CannotTell.exit_code:
        return [Text(f"CANNOT TELL: {why}", "unsure")]
    return []


REFUSALS = {"reserve": " (MP101)"}
"""The code of a refusal by the stage that refused, for `explain CODE`."""


def verdict_texts(verdict: Verdict, report: Report) -> list[Text]:
    """The verdict in a line and the largest terms; for a refusal the bar it set: need, free and the gap."""
    need, free = verdict.need or 0, verdict.free or 0
    headroom = verdict.headroom or 0
    if verdict.fits:
        reached = f"; not reached: {', '.join(verdict.unreached)}" if verdict.unreached else ""
        stages = ", ".join(verdict.checked)
        line = f"FITS at {stages}: needs {gib(need)} of {gib(free)} free, {gib(headroom)} left{reached}"
        return [Text(line, "good"), _largest(verdict)]
    gap = f"needs {gib(need)}, free {gib(free)}, short by {gib(-headroom)}"
    texts = [
        Text(f"DOES NOT FIT at {verdict.stage}: {gap}{REFUSALS.get(verdict.stage or '', '')}", "bad"),
        _largest(verdict),
    ]
    if report.memory is not None and report.memory.detail is not None:
        texts += [Text(line) for line in holders_text(report.memory.detail.holders)]
    if verdict.hint is not None:
        texts.append(Text(f"the engine's own hint (it does not promise a fit): {verdict.hint}", "quiet"))
    ring = report.plan.ring if report.plan else None
    if ring is not None and ring.want and (ring.pinned or not ring.fitted):
        why = "its depth is pinned by the flag" if ring.pinned else "not even depth 0 fits"
        texts.append(Text(f"the decode-rollback ring is kept at depth {ring.reserved}: {why}", "quiet"))
    return texts


def _largest(verdict: Verdict) -> Text:
    """The terms that carry most of the need."""
    return Text("largest: " + "; ".join(f"{BY_KEY[line.term].label} {human(line.bytes)}" for line in verdict.largest))


def _context(report: Report) -> Text:
    """Who, where, by which rules."""
    model, memory, plan = report.model, report.memory, report.plan
    assert model is not None and memory is not None and plan is not None and report.rules is not None
    place = memory.device or "a device"
    total = f" of {gib(memory.total)} ({memory.source})" if memory.total is not None else ""
    batch = plan.slots
    return Text(
        f"{model.name} on {place}{total}, {batch} slots, {plan.widths[0]} batch tokens, "
        f"engine rules of {report.rules.asked}",
        "quiet",
    )


def _terms(plan: MemoryPlan) -> Grid:
    rows = [_row(line) for line in plan.reserve if line.bytes]
    rows.append(Row(("inference reserve", mib(plan.inference_reserve), ""), rule=True))
    rows.append(_row(plan.arena_reserved))
    rows.append(Row(("compared with free memory", mib(plan.total), ""), "strong", rule=True))
    return Grid((Column("term"), Column("size", "right"), Column("how", flexible=True)), tuple(rows))


def _row(line: Line) -> Row:
    mark = "" if line.basis == "exact" else " (measured on GB10)"
    return Row((BY_KEY[line.term].label, mib(line.bytes), filled(line) + mark))


def filled(line: Line) -> str:
    """A line's formula with its numbers in place: `8 depth x 32 slots x 151.5 MiB`."""

    def amount(match: re.Match[str]) -> str:
        name = match[0]
        if name not in line.inputs:
            return name
        value = line.inputs[name]
        return human(value) if name in BYTE_INPUTS else f"{value:,} {name.replace('_', ' ')}"

    return re.sub(r"[a-z_]+", amount, line.formula)


BYTE_INPUTS = frozenset({"h", "conv", "row", "slot", "blob", "budget"})
