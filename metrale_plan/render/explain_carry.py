"""The screen of `explain-carry`: armed or not, what the stores take, and each replayed turn with its key ranges."""

from metrale_plan.carry import StoreRange
from metrale_plan.explain.carry import CarryExplanation
from metrale_plan.explain.carry.values import Keys, Slot, TurnResult
from metrale_plan.render.sheet import Column, Drawing, Grid, Lane, Part, Row, Sheet, Span, Text
from metrale_plan.render.words import legend, origin_text, size
from metrale_plan.units import human

KEY_MARKS = (
    ("=", "carried"),
    ("#", "adopted"),
    ("+", "appended"),
    (".", "missing"),
    ("~", "readable hidden rows"),
)


def carry_sheet(explained: CarryExplanation, subject: str) -> Sheet:
    """The whole screen; `subject` names model, device and rules."""
    state = explained.state
    word = {True: "ARMED", False: "NOT ARMED", None: "ARMED ONLY IF CONFIGURED"}[state.armed]
    parts: list[Part] = [
        Text(f"CARRY {word}: {state.why}", "good" if state.armed else "unsure", indent=2),
        Text(subject, "quiet"),
        Text(origin_text("dispatch cap", state.cap), indent=2),
    ]
    if not explained.drafts_with_mtp:
        parts.append(Text("nothing drafts with an MTP head here (--speculative is not given)", "unsure"))
    elif explained.has_mtp is False:
        parts.append(Text("the model has no MTP head, so there are no drafter rows to carry", "unsure"))
    if explained.bytes.hidden_row is None:
        parts.append(Text("Name a MODEL for the bytes.", "quiet"))
    else:
        parts.append(_bytes(explained))
    if not explained.turns:
        parts.append(_order(explained))
        return tuple(parts)
    if state.armed is not True:
        parts.append(Text("The turns below are simulated as if it were armed.", "unsure"))
    for turn in explained.turns:
        parts += _turn(turn, explained)
    return tuple(parts)


def _bytes(explained: CarryExplanation) -> Grid:
    sizes = explained.bytes
    rows = [Row(("hidden row", size(sizes.hidden_row), "one token, BF16"))]
    if sizes.store_rows is not None:
        rows.append(Row(("hidden store", size(sizes.store), f"{sizes.store_rows:,} rows, one per token of a sequence")))
    rows.append(Row(("drafter KV block", size(sizes.draft_block), f"{sizes.block_tokens} rows")))
    return Grid((Column("store"), Column("size", "right"), Column("what", flexible=True)), tuple(rows))


def _order(explained: CarryExplanation) -> Grid:
    rows = tuple(Row((f"{at}. {stage.outcome}", stage.when)) for at, stage in enumerate(explained.order, 1))
    return Grid((Column("outcome"), Column("when", flexible=True)), rows, "a warm turn's outcome, by our order:")


def _turn(turn: TurnResult, explained: CarryExplanation) -> list[Part]:
    parts: list[Part] = [
        Text(f"TURN {turn.number}: {turn.text}", "good" if turn.outcome == "Adopted" else "bad", apart=True),
        Text(
            f"{turn.outcome}: session {turn.session:#x}, ticket {turn.ticket}, prompt of {turn.prompt_tokens:,} "
            f"tokens, {turn.common:,} in common with the slot",
            "quiet",
            indent=2,
        ),
        Text(f"decided at step {turn.step} of {len(explained.order)} of our order: {turn.why}", "quiet", indent=2),
        _store(turn),
    ]
    drawing = _keys(turn)
    if drawing is not None:
        parts.append(drawing)
    parts.append(_figures(turn, explained))
    return parts


def _store(turn: TurnResult) -> Grid:
    rows = [Row(("before", _range(turn.store_before), ""))]
    for merge in turn.merges:
        wrote = f"ticket {merge.ticket} wrote [{merge.start:,}, {merge.start + merge.count:,})"
        rows.append(Row((wrote, _range(merge.after), f"was {_range(merge.before)}")))
    lo, hi = turn.visible
    stored = f", {human(turn.stored_bytes)}" if turn.stored_bytes is not None else ""
    seen = f"ticket {turn.ticket} may read [{lo:,}, {hi:,}); {turn.stored_rows:,} rows stored{stored}"
    rows.append(Row(("at the attempt", _range(turn.store_after), seen)))
    return Grid((Column("hidden store"), Column("StoreRange"), Column("note", flexible=True)), tuple(rows))


def _range(held: StoreRange) -> str:
    return f"owner {held.owner} [{held.lo:,}, {held.hi:,})"


def _keys(turn: TurnResult) -> Drawing | None:
    if turn.needed is None:
        return None
    last = max(turn.needed.last, turn.carried[-1].last if turn.carried else 0)
    lanes = [Lane("needed", (_span(turn.needed, "-"),))]
    if turn.carried:
        lanes.append(Lane("carried", tuple(_span(keys, "=") for keys in turn.carried)))
    appended = (turn.appended,) if turn.appended else ()
    got = (*(_span(keys, "#") for keys in turn.adopted), *(_span(keys, "+") for keys in appended))
    lanes.append(Lane("turn", (*got, *(_span(keys, ".") for keys in turn.missing))))
    lo, hi = turn.visible
    if hi > lo and lo <= last:
        lanes.append(Lane("hidden rows", (Span(lo, min(hi - 1, last), "~"),)))
    marks = {keys.first for keys in (*turn.carried, *turn.adopted, *appended, *turn.missing)}
    title = f"keys: {legend(KEY_MARKS)}"
    return Drawing(tuple(lanes), 0, last, tuple(sorted(marks)), title)


def _span(keys: Keys, mark: str) -> Span:
    return Span(keys.first, keys.last, mark)


def _figures(turn: TurnResult, explained: CarryExplanation) -> Grid:
    rows = [Row(("carried entry", _slot(turn.entry)))]
    if turn.entry is not None:
        rows.append(Row(("rows kept, dropped", f"{turn.rows_kept:,} kept, {turn.rows_dropped:,} dropped")))
    if turn.appended is not None:
        took = f"{turn.append_rows:,} rows from key {turn.append_first:,} to {turn.appended.last:,}"
        rows.append(Row(("append plan", f"{took}, about {turn.append_ms:,.1f} ms")))
    else:
        rows.append(Row(("append plan", "none")))
    rows += [Row(("missing keys", f"{keys.first:,} to {keys.last:,}")) for keys in turn.missing]
    rate = f"{explained.rebuild_ms:,} ms per {explained.rebuild_rows:,} rows (GB10)"
    rows.append(Row(("a rebuild instead", f"{turn.rebuild_rows:,} rows, about {turn.rebuild_ms:,.1f} ms at {rate}")))
    left = _slot(turn.slot_after) if turn.slot_after else "taken as empty: nothing says what this turn leaves"
    rows.append(Row(("slot afterwards", left)))
    return Grid((Column("carry"), Column("", flexible=True)), tuple(rows))


def _slot(slot: Slot | None) -> str:
    if slot is None:
        return "empty"
    key = "no key" if slot.last_pair_key is None else f"last key {slot.last_pair_key:,}"
    kept = f" ({human(slot.block_bytes)})" if slot.block_bytes is not None else ""
    return (
        f"{slot.rows:,} rows, {key}, {slot.tokens:,} tokens, session {slot.session:#x}, "
        f"{slot.blocks:,} drafter blocks{kept}"
    )
