"""One replayed turn as it is shown."""

from metrale_plan.carry import Adopted, CarryOutcome, StoreRange
from metrale_plan.explain.carry.case import Turn
from metrale_plan.explain.carry.entry import Carried
from metrale_plan.explain.carry.keys import gaps_of, rows_of
from metrale_plan.explain.carry.outcome import ORDER, step_of
from metrale_plan.explain.carry.values import Geometry, Keys, Merge, Slot, TurnResult
from metrale_plan.integers import ceil_div

REBUILD_MS, REBUILD_ROWS = 1136, 11_947
"""A rebuild of so many drafter rows took so many milliseconds, measured on GB10 on 2026-07-21."""


def rebuild_ms(rows: int) -> float:
    """Milliseconds that computing `rows` drafter rows takes at the measured rate."""
    return round(rows * REBUILD_MS / REBUILD_ROWS, 1)


def result_of(
    number: int,
    turn: Turn,
    prompt: tuple[int, ...],
    held: Carried | None,
    before: StoreRange,
    merges: tuple[Merge, ...],
    store: StoreRange,
    outcome: CarryOutcome,
    got: tuple[tuple[Keys, ...], Keys | None],
    after: Carried | None,
    geometry: Geometry,
) -> TurnResult:
    """One turn's figures; `got` is the keys adopted and appended, `held` and `after` the slot around the turn."""
    adopted, appended = got
    kept = outcome.rows if isinstance(outcome, Adopted) else 0
    needed = Keys(first=0, last=len(prompt) - 2) if len(prompt) >= 2 else None
    step = step_of(outcome)
    stored = max(store.hi - store.lo, 0)
    rebuild = 0 if needed is None else needed.last + 1
    return TurnResult(
        number=number,
        session=turn.session,
        ticket=turn.ticket,
        prompt_tokens=len(prompt),
        entry=_slot(held, geometry),
        common=0 if held is None else held.entry.common_prefix_len(prompt),
        store_before=before,
        merges=merges,
        store_after=store,
        visible=store.visible_to(turn.ticket),
        outcome=type(outcome).__name__,
        text=str(outcome),
        step=step,
        why=ORDER[step - 1][1],
        rows_kept=kept,
        rows_dropped=0 if held is None else held.entry.rows - kept,
        append_first=appended.first if appended else None,
        append_rows=rows_of((appended,)) if appended else None,
        needed=needed,
        carried=() if held is None else held.keys,
        adopted=adopted,
        appended=appended,
        missing=gaps_of((*adopted, *([appended] if appended else ())), needed),
        stored_rows=stored,
        stored_bytes=None if geometry.hidden_row is None else stored * geometry.hidden_row,
        rebuild_rows=rebuild,
        rebuild_ms=rebuild_ms(rebuild),
        append_ms=rebuild_ms(outcome.appended if isinstance(outcome, Adopted) else 0),
        slot_after=_slot(after, geometry),
    )


def _slot(held: Carried | None, geometry: Geometry) -> Slot | None:
    if held is None:
        return None
    entry = held.entry
    blocks = len(entry.block_table) or ceil_div(entry.rows, geometry.block_tokens)
    return Slot(
        tokens=len(entry.tokens),
        rows=entry.rows,
        last_pair_key=entry.last_pair_key,
        session=entry.session_hash,
        blocks=blocks,
        block_bytes=None if geometry.draft_block is None else blocks * geometry.draft_block,
    )
