"""The screen of `explain-ladder`: origin, steps, the staircase, slots and their bytes, and another ladder beside it."""

from metrale_plan.explain.ladder.capacity import OWN_WIDTH
from metrale_plan.explain.ladder.values import Against, LadderExplanation, Side, WidthRun
from metrale_plan.render.sheet import Column, Drawing, Grid, Lane, Part, Row, Sheet, Span, Text
from metrale_plan.render.words import legend, number, origin_text, shown, signed, size, span, spans
from metrale_plan.terms import BY_KEY
from metrale_plan.units import human

MARKS = (
    ("#", "as planned"),
    ("+", "lifted by the rung"),
    ("x", "lifted, but clamped back by slot capacity"),
    (":", "never reached"),
)

MOST_LEVELS = 12
"""A staircase of more levels than this is a table's job."""


def ladder_sheet(explained: LadderExplanation, subject: str) -> Sheet:
    """The whole screen; `subject` names model, device and rules."""
    side = explained.side
    parts: list[Part] = [
        Text(_headline(explained), "strong"),
        Text(subject, "quiet"),
        Text(
            origin_text("MTP ladder, not used" if explained.proposer == "dflash" else "ladder", explained.source),
            indent=2,
        ),
        *_dflash_ladder(explained),
        *_cautions(explained),
        Text(origin_text("most drafts of a step", explained.num_drafts), indent=2),
        Text(_cap(explained), indent=2),
    ]
    if explained.proposer != "dflash" and not explained.switched_off_by:
        parts.append(_steps(side))
    stairs = _stairs(side)
    if stairs is not None:
        parts.append(stairs)
    parts += [_widths(side), *_rung(side)]
    if explained.pools_refused:
        parts.append(Text(f"No verify pools: {explained.pools_refused}.", "unsure"))
    else:
        parts += [_slots(explained), *_cost(explained)]
    if explained.against is not None:
        parts += _against(explained.against)
    return tuple(parts)


def _headline(explained: LadderExplanation) -> str:
    side = explained.side
    if explained.switched_off_by:
        return f"LADDER switched off by {explained.switched_off_by}: {explained.num_drafts.value} drafts at every width"
    if explained.proposer == "dflash":
        return f"NO MTP LADDER: DFlash drafts blocks of γ {explained.num_drafts.value}"
    return f"LADDER {shown(side.ladder)}, {'with the adaptive rung' if side.rung.active else 'kept static'}"


def _cautions(explained: LadderExplanation) -> list[Text]:
    texts: list[Text] = []
    if explained.assumed and not explained.pools_refused:
        texts.append(Text("nothing drafts under these settings; what follows is for --speculative", "unsure"))
    if explained.switched_off_by:
        texts.append(Text("its steps are not used; the default dispatch cap is 4 then", "quiet"))
    return texts


def _dflash_ladder(explained: LadderExplanation) -> list[Text]:
    if explained.proposer != "dflash":
        return []
    own = explained.dflash_ladder
    return [Text(origin_text("DFlash ladder", own) if own else "no DFlash ladder", indent=2)]


def _cap(explained: LadderExplanation) -> str:
    low, high = explained.cap_limits
    batch = "batch up to 128 (auto)" if explained.batch_auto else f"batch {explained.batch}"
    return f"{origin_text('dispatch cap', explained.cap)}; a serve accepts {low} to {high}; {batch}"


def _steps(side: Side) -> Grid:
    rows = []
    last = len(side.steps) - 1
    for at, step in enumerate(side.steps):
        if step.first is None:
            widths = "none: an earlier step covers them"
        else:
            widths = f"{step.first} and wider" if at == last else span(step.first, step.width)
        rows.append(Row((f"{step.width}:{step.drafts}", widths, str(step.drafts), str(step.in_force))))
    columns = (Column("step"), Column("widths"), Column("drafts", "right"), Column("after the clamp", "right"))
    return Grid(columns, tuple(rows))


def _stairs(side: Side) -> Drawing | None:
    runs = side.runs
    levels = sorted({level for run in runs for level in (run.static, run.lifted) if level}, reverse=True)
    if not levels or len(levels) > MOST_LEVELS:
        return None
    lanes = tuple(Lane(f"{level}", tuple(_treads(runs, level))) for level in levels)
    ticks = tuple(run.first for run in runs if run.first > 1)
    used = {mark.mark for lane in lanes for mark in lane.spans}
    title = f"drafts by width: {legend(mark for mark in MARKS if mark[0] in used)}"
    return Drawing(lanes, 1, runs[-1].last, ticks, title)


def _treads(runs: tuple[WidthRun, ...], level: int) -> list[Span]:
    found = []
    for run in runs:
        if run.lifted < level:
            continue
        if run.reach != "runs":
            mark = "x" if run.static < level <= run.lifted and run.drafts < level and run.drafts else ":"
        elif run.static < level:
            mark = "+" if run.drafts >= level else "x"
        else:
            mark = "#"
        found.append(Span(run.first, run.last, mark))
    return found


def _widths(side: Side) -> Grid:
    rows = tuple(
        Row(
            (
                span(run.first, run.last),
                str(run.static),
                str(run.lifted) if run.lifted != run.static else "-",
                number(run.capacity),
                str(run.drafts) if run.reach != "above the cap" else "-",
                _fate(run),
            )
        )
        for run in side.runs
    )
    return Grid(
        (
            Column("width"),
            Column("static", "right"),
            Column("lifted", "right"),
            Column("slot capacity", "right"),
            Column("drafts", "right"),
            Column("note", flexible=True),
        ),
        rows,
    )


def _fate(run: WidthRun) -> str:
    notes = []
    if run.reach == "above the cap":
        notes.append("above the dispatch cap: plain decode")
    elif run.reach == "above the batch":
        notes.append("above the batch: never this wide")
    if run.lifted > run.drafts and run.reach != "above the cap":
        notes.append("lift clamped back by slot capacity")
    elif run.lifted > run.static:
        notes.append("lift kept")
    return "; ".join(notes)


def _rung(side: Side) -> list[Text]:
    rung = side.rung
    low, high = rung.widths
    what = f"adaptive rung ({rung.drafts} drafts at widths {low}-{high})"
    if not rung.active:
        return [Text(f"No {what}: {rung.why}.", indent=2)]
    if not rung.lifted:
        return [Text(f"The {what} is on and lifts nothing: {rung.idle}.", indent=2)]
    kept = tuple(width for width in rung.lifted if width not in rung.clamped)
    if not rung.clamped:
        text = f"it lifts {spans(rung.lifted)}, and the slots have the capacity"
    elif not kept:
        text = f"it lifts {spans(rung.lifted)}, and slot capacity clamps every one of them back"
    else:
        text = f"it lifts {spans(rung.lifted)}; slot capacity clamps back {spans(rung.clamped)}"
    return [Text(f"The {what} is on ({rung.why}): {text}.", indent=2)]


def _slots(explained: LadderExplanation) -> Grid:
    side = explained.side
    priced, told = side.pools is not None, not _own_widths(side)
    rows = []
    for group in side.groups:
        name = "dummy" if group.dummy else span(group.first, group.last)
        cells: tuple[str, ...] = (name, number(group.capacity), str(group.h_steps), str(group.conv_steps))
        if priced:
            cells += (size(group.h_bytes), size(group.conv_bytes), size(group.checkpoint_bytes), size(group.bytes))
        if told:
            cells += ("" if group.dummy else group.why,)
        rows.append(Row(cells))
    if side.pools is not None:
        pools = side.pools
        sums = (pools.h_intermediates, pools.conv_intermediates, pools.checkpoints, pools.verify)
        cells = ("all", "", "", "", *(size(value) for value in sums), *([""] if told else []))
        rows.append(Row(cells, "strong", rule=True))
    columns = [Column("slots"), Column("drafts", "right"), Column("h", "right"), Column("conv", "right")]
    if priced:
        columns += [Column(title, "right") for title in ("h bytes", "conv bytes", "checkpoint", "together")]
    if told:
        columns.append(Column("drafts from", flexible=True))
    return Grid(tuple(columns), tuple(rows))


def _own_widths(side: Side) -> bool:
    """Whether every slot's capacity is what its own width asks for, which needs no column."""
    return all(group.dummy or group.why == OWN_WIDTH for group in side.groups)


def _cost(explained: LadderExplanation) -> list[Text]:
    side, texts = explained.side, []
    counts = f"{side.slots} verify slots and {side.slots_with_dummy - side.slots} dummy"
    if explained.copy_tier_slots is not None:
        counts += f"; the copy tier raises slots below {explained.copy_tier_slots} to {explained.copy_tier_drafts}"
    own = " Each slot has the drafts of its own width." if _own_widths(side) else ""
    texts.append(Text(f"{counts}.{own}", indent=2))
    pools = side.pools
    if pools is None or explained.full_width_total is None or explained.saved is None:
        texts.append(Text("Name a MODEL for the bytes.", "quiet"))
        return texts
    texts.append(
        Text(
            f"Recurrent pool {human(pools.total)}: live state {human(pools.live)}, verify pools {human(pools.verify)}, "
            f"of which the dummy {human(pools.dummy)}.",
            indent=2,
        )
    )
    if side.full_width:
        texts.append(Text("These are full-width pools: every slot holds the most drafts.", indent=2))
    else:
        texts.append(
            Text(
                f"Full-width pools would take {human(explained.full_width_total)}: {human(explained.saved)} are saved.",
                "good" if explained.saved else "plain",
                indent=2,
            )
        )
    return texts


def _against(against: Against) -> list[Part]:
    there = against.side
    lifted = there.rung.why if not there.rung.active else f"adaptive rung on, lifts nothing: {there.rung.idle}"
    if there.rung.lifted:
        back = f", clamped back at {spans(there.rung.clamped)}" if there.rung.clamped else ", none clamped back"
        lifted = f"adaptive rung lifts {spans(there.rung.lifted)}{back}"
    parts: list[Part] = [
        Text(f"AGAINST {there.label} (each pair: in force, other)", "strong", apart=True),
        Text(lifted, "quiet"),
    ]
    parts.append(
        Grid(
            (Column("width"), Column("static", "right"), Column("slot capacity", "right"), Column("drafts", "right")),
            tuple(
                Row((span(pair.first, pair.last), _pair(pair.static), _pair(pair.capacity), _pair(pair.drafts)))
                for pair in against.widths
            ),
        )
    )
    priced = there.pools is not None
    columns = [Column("slot"), Column("drafts", "right"), Column("h steps", "right")]
    if priced:
        columns += [Column("one slot, in force", "right"), Column("one slot, other", "right")]
    rows = []
    for slot in against.slots:
        cells: tuple[str, ...] = (span(slot.first, slot.last), _pair(slot.capacity), _pair(slot.h_steps))
        if priced:
            cells += (size(slot.slot_bytes[0]), size(slot.slot_bytes[1]))
        rows.append(Row(cells))
    parts.append(Grid(tuple(columns), tuple(rows)))
    if against.terms:
        parts.append(
            Grid(
                (
                    Column("reserve term"),
                    Column("in force", "right"),
                    Column("other", "right"),
                    Column("difference", "right"),
                ),
                tuple(
                    Row(
                        (
                            BY_KEY[term.term].label if term.term in BY_KEY else "reserve and arena",
                            human(term.here),
                            human(term.there),
                            signed(term.difference),
                        ),
                        "strong" if term.term == "total" else "plain",
                        rule=term.term == "total",
                    )
                    for term in against.terms
                ),
            )
        )
    return parts


def _pair(pair: tuple[int | None, int | None]) -> str:
    return f"{number(pair[0])}, {number(pair[1])}"
