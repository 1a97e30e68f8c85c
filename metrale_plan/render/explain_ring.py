"""The screen of `explain-ring`: the rules in order, every depth with its bytes, the fit, and what depth 0 means."""

from metrale_plan.explain.ring import Condition, Depth, Fit, Loaded, RingExplanation, Rule
from metrale_plan.render.sheet import Column, Grid, Part, Row, Sheet, Style, Text
from metrale_plan.render.words import number, signed
from metrale_plan.units import human

YARDSTICKS = {"before_load": "free memory before the load", "after_load": "what the load is predicted to leave"}


def ring_sheet(explained: RingExplanation, subject: str) -> Sheet:
    """The whole screen; `subject` names model, device and rules."""
    parts: list[Part] = [Text(_headline(explained), "strong"), Text(subject, "quiet")]
    parts.append(
        Text(
            f"one unit of depth: {explained.sequences} sequences x {human(explained.blob)} of recurrent state = "
            f"{human(explained.slot_bytes)}",
            "quiet",
            indent=2,
        )
    )
    parts.append(_rules(explained.rules))
    if explained.reserve_full:
        parts.append(
            Text(
                f"METRALE_SSM_RESERVE_RING_FULL: the reserve starts from depth {explained.start}, whatever the rules "
                f"want or the flag pins; {explained.allocated} is allocated.",
                indent=2,
            )
        )
    parts.append(_depths(explained.depths))
    parts += _fit(explained)
    parts.append(Grid((Column("after-load fit needs"), Column("here"), Column("state", flexible=True)),
                      tuple(_condition(row) for row in explained.after_load)))  # fmt: skip
    parts.append(Text(_zero(explained), indent=2))
    return tuple(parts)


def _headline(explained: RingExplanation) -> str:
    why = f": {explained.skip_reason}" if explained.skip_reason else ""
    depth = f"RING depth {explained.reserved}, {human(explained.bytes)}"
    if explained.reserved != explained.start:
        return f"{depth}, fitted down from {explained.start}"
    if explained.fit is not None and explained.fit.result != explained.reserved:
        return f"{depth}, predicted to be fitted to {explained.fit.result} after the load"
    return depth + why


STYLES: dict[str, Style] = {"decides": "strong", "not met": "quiet", "outranked": "plain"}


def _rules(rules: tuple[Rule, ...]) -> Grid:
    rows = (
        Row((f"{at}. {rule.rule}", number(rule.depth), rule.outcome, rule.state), STYLES[rule.outcome])
        for at, rule in enumerate(rules, 1)
    )
    return Grid(
        (Column("rule"), Column("depth", "right"), Column("outcome"), Column("state", flexible=True)), tuple(rows)
    )


def _depths(depths: tuple[Depth, ...]) -> Grid:
    known = any(depth.fits is not None for depth in depths)
    columns = [Column("depth", "right"), Column("ring", "right"), Column("with the rest", "right")]
    if known:
        columns += [Column("left free", "right"), Column("pinned")]
    rows = []
    for depth in depths:
        cells: tuple[str, ...] = (str(depth.depth), human(depth.bytes), human(depth.need))
        if depth.headroom is not None:
            cells += (signed(depth.headroom), "fits" if depth.fits else "refused")
        elif known:
            cells += ("-", "-")
        rows.append(Row((*cells, ", ".join(depth.roles)), "strong" if depth.roles else "plain"))
    return Grid((*columns, Column("here", flexible=True)), tuple(rows))


def _fit(explained: RingExplanation) -> list[Part]:
    fit = explained.fit
    reserved = f"depth {explained.start} is reserved for it" if explained.reserve_full else "is reserved as it is"
    pin = (
        f"A depth pinned by --ssm-decode-ring-slots {'is allocated as it is, and ' if explained.reserve_full else ''}"
        f"{reserved}: no fit, and preflight refuses the serve if it does not go in."
    )
    if fit is None:
        return [Text(f"Not fitted: {explained.unfitted}.", "unsure"), Text(pin)]
    texts: list[Part] = [Text(_fit_text(fit)), Text(pin)]
    if fit.loaded is not None:
        texts.insert(0, Text(_loaded_text(fit.loaded)))
    return texts


def _fit_text(fit: Fit) -> str:
    held = "everything else" if fit.kind == "before_load" else "the floor of KV blocks"
    measured = (
        f"Fitted to {YARDSTICKS[fit.kind]}: {human(fit.limit)} less {human(fit.beside)} for {held} leaves "
        f"{human(fit.room)} for the ring."
    )
    if fit.kept is not None:
        return f"{measured} Depth {fit.wanted} is kept: {fit.kept}."
    return f"{measured} Depth {fit.wanted} does not go in; of 8, 4, 2, 1, 0 the deepest that does is {fit.result}."


def _loaded_text(loaded: Loaded) -> str:
    return (
        f"Predicted after the load: a budget of {human(loaded.budget)} less weights {human(loaded.weights)}, derived "
        f"copies {human(loaded.derived)}, arena {human(loaded.arena)} and the rest of the reserve "
        f"{human(loaded.fixed)}."
    )


def _condition(row: Condition) -> Row:
    holds = "cannot tell" if row.holds is None else "yes" if row.holds else "no"
    return Row((row.condition, holds, row.state), "quiet")


def _zero(explained: RingExplanation) -> str:
    if explained.blob == 0:
        return "The model has no recurrent layers, so a rollback needs no ring."
    return (
        "At depth 0 a sequence keeps no earlier recurrent state: when its watchdog asks for a rollback, the rollback "
        "declines and the sequence goes on from where it is."
    )
