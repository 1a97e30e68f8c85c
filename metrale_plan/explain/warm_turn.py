"""Warm turns of the drafter carry, replayed: the store is merged, the carry tried, the slot left for the next turn.

Beside the figures that the engine keeps, the replay keeps which keys the rows are of: an append that skips keys leaves
rows of keys with gaps, which rows and last key alone do not tell.

Source: `mtp_carry`; the order in which outcomes are tried is this planner's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from metrale_plan.carry import (
    Adopted,
    CarriedDrafter,
    CarryOutcome,
    ForeignHiddens,
    ForeignSession,
    NoCarry,
    NoHiddens,
    PrefixMismatch,
    StoreRange,
    plan_append,
    stamped_merge,
)
from metrale_plan.integers import ceil_div

REBUILD_MS, REBUILD_ROWS = 1136, 11_947
"""A rebuild of so many drafter rows took so many milliseconds, measured on GB10 on 2026-07-21."""

ORDER = (
    ("NoCarry", "no entry in the slot, or one without rows or without a key"),
    ("ForeignSession", "the request has no session (0), or another than the entry's"),
    ("PrefixMismatch", "too few tokens in common for any row"),
    ("Adopted", "with nothing appended, when no key is missing"),
    ("ForeignHiddens", "no append plan, and another ticket's hidden rows are in the store"),
    ("NoHiddens", "no append plan otherwise"),
    ("Adopted", "with an append"),
)
"""Outcomes in the order they are tried, and when each applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Token ids, or only how many of them there are.

    Attributes:
        ids: the ids, or None.
        count: how many.
        common: of a prompt without ids, how many it shares with the carried entry.
    """

    count: int
    ids: tuple[int, ...] | None = None
    common: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a finished turn leaves in the carry slot; `tokens` None means its prompt."""

    tokens: Tokens | None = None
    rows: int | None = None
    last_pair_key: int | None = None
    keyless: bool = False
    session: int | None = None
    blocks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Hidden rows `[start, start + count)` written by a ticket; None means the turn's own."""

    start: int
    count: int
    ticket: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One request: who asks, for what, which hidden rows are written before the carry is tried, and what it leaves."""

    session: int
    ticket: int
    prompt: Tokens
    writes: tuple[Write, ...] = ()
    leaves: Left | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the slot and the hidden store hold at first, and the turns in order."""

    entry: Left | None
    store: StoreRange
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Pair keys `first` to `last`."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The carry slot's entry: `blocks` are drafter KV blocks, `block_bytes` what they take (None without a model)."""

    tokens: int
    rows: int
    last_pair_key: int | None
    session: int
    blocks: int
    block_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """One write to the hidden store, and the range before and after it."""

    ticket: int
    start: int
    count: int
    before: StoreRange
    after: StoreRange


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """One replayed turn.

    Attributes:
        common: tokens that the prompt shares with the entry.
        visible: the half-open range of hidden rows that the turn's ticket may read.
        outcome: its name; `text` is the engine's log line.
        step: which entry of `ORDER` decided it, from 1; `why` is when that one applies.
        rows_kept, rows_dropped: of the entry's rows.
        append_first, append_rows: the append plan, or None.
        needed: keys that the prompt needs in all.
        carried: keys that the entry's rows are of, in runs. Of an entry that the case states, the newest rows' keys are
            taken to have no gaps.
        adopted, appended: keys that the turn gets; adopted ones in runs.
        missing: needed keys it is left without, in runs.
        stored_bytes: of the hidden rows in the store's range; None without a model.
        rebuild_rows, rebuild_ms: what a rebuild of the whole prompt's rows would have computed, and taken.
        append_ms: the appended rows at the same rate.
        slot_after: what the next turn finds; None when nothing is known of what the turn left, and it finds nothing.
    """

    number: int
    session: int
    ticket: int
    prompt_tokens: int
    entry: Slot | None
    common: int
    store_before: StoreRange
    merges: tuple[Merge, ...]
    store_after: StoreRange
    visible: tuple[int, int]
    outcome: str
    text: str
    step: int
    why: str
    rows_kept: int
    rows_dropped: int
    append_first: int | None
    append_rows: int | None
    needed: Keys | None
    carried: tuple[Keys, ...]
    adopted: tuple[Keys, ...]
    appended: Keys | None
    missing: tuple[Keys, ...]
    stored_rows: int
    stored_bytes: int | None
    rebuild_rows: int
    rebuild_ms: float
    append_ms: float
    slot_after: Slot | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Bytes of a hidden row and of a drafter KV block (None: unknown), and the tokens of a block."""

    hidden_row: int | None
    draft_block: int | None
    block_tokens: int


def attempt(
    entry: CarriedDrafter | None, prompt: Sequence[int], session: int, ticket: int, store: StoreRange
) -> CarryOutcome:
    """How one carry attempt ends, by `ORDER`."""
    if entry is None or entry.rows == 0 or entry.last_pair_key is None:
        return NoCarry()
    if not entry.session_matches(session):
        return ForeignSession(entry.session_hash, session)
    usable = entry.usable_by(prompt, session)
    if usable is None:
        return PrefixMismatch(entry.common_prefix_len(prompt), entry.rows)
    rows, key = usable
    if key + 1 > len(prompt) - 2:
        return Adopted(rows, 0, key + 1)
    plan = plan_append(key, len(prompt), *store.visible_to(ticket))
    if plan is not None:
        return Adopted(rows, plan.rows, plan.first_key)
    if store.owner not in (0, ticket):
        return ForeignHiddens(store.owner, ticket)
    return NoHiddens()


def _step(outcome: CarryOutcome) -> int:
    """Which entry of `ORDER` an outcome is, from 1; of the two adoptions, the later one appends."""
    steps = [at for at, (name, _) in enumerate(ORDER, 1) if name == type(outcome).__name__]
    return steps[-1] if isinstance(outcome, Adopted) and outcome.appended else steps[0]


def rebuild_ms(rows: int) -> float:
    """Milliseconds that computing `rows` drafter rows takes at the measured rate."""
    return round(rows * REBUILD_MS / REBUILD_ROWS, 1)


@dataclass(frozen=True, slots=True)
class _Carried:
    """The slot's entry, and the keys that its rows are of, in runs."""

    entry: CarriedDrafter
    keys: tuple[Keys, ...]


def replay(case: Case, geometry: Geometry) -> Iterator[TurnResult]:
    """Every turn in order; each finds the slot and the store as the one before left them."""
    unshared = (-number for number in count(1))  # ids that no other token has, for tokens known only by number
    held = None if case.entry is None else _stated(case.entry, None, 0, unshared)
    store = case.store
    for number, turn in enumerate(case.turns, 1):
        prompt = _prompt(turn.prompt, held, unshared)
        merges: list[Merge] = []
        before = store
        for write in turn.writes:
            writer = turn.ticket if write.ticket is None else write.ticket
            merged = stamped_merge(store, writer, write.start, write.count)
            merges.append(Merge(ticket=writer, start=write.start, count=write.count, before=store, after=merged))
            store = merged
        outcome = attempt(None if held is None else held.entry, prompt, turn.session, turn.ticket, store)
        adopted, appended = _got(held, prompt, turn.session, outcome)
        after = _left(turn, prompt, outcome, adopted, appended, unshared)
        got = (adopted, appended)
        yield _result(number, turn, prompt, held, before, tuple(merges), store, outcome, got, after, geometry)
        held = after


def _prompt(prompt: Tokens, held: _Carried | None, unshared: Iterator[int]) -> tuple[int, ...]:
    if prompt.ids is not None:
        return prompt.ids
    shared = () if held is None else tuple(held.entry.tokens[: prompt.common])
    return (*shared, *(next(unshared) for _ in range(prompt.count - len(shared))))


def _stated(
    left: Left,
    prompt: tuple[int, ...] | None,
    session: int,
    unshared: Iterator[int],
    known: tuple[Keys, ...] | None = None,
) -> _Carried:
    """What a case says is in the slot, the rest by what a turn leaves.

    Args:
        known: keys of the rows that a turn which adopted had for its prompt; decoding adds one per token.
    """
    if left.tokens is None:
        tokens = prompt or ()
    elif left.tokens.ids is not None:
        tokens = left.tokens.ids
    else:
        kept = (prompt or ())[: left.tokens.count]
        tokens = (*kept, *(next(unshared) for _ in range(left.tokens.count - len(kept))))
    key = left.last_pair_key
    if key is None and not left.keyless and len(tokens) >= 2:
        key = len(tokens) - 2
    if known is not None and key is not None and left.rows is None:
        decoded = Keys(first=len(prompt or ()) - 1, last=key)
        keys = _joined((*_up_to(known, key), *([decoded] if decoded.first <= key else ())))
        rows = _rows_of(keys)
    else:
        rows = left.rows if left.rows is not None else 0 if key is None else key + 1
        keys = (Keys(first=max(key - rows + 1, 0), last=key),) if key is not None and rows else ()
    owner = session if left.session is None else left.session
    return _Carried(CarriedDrafter(left.blocks, rows, key, tokens, owner), keys)


def _got(
    held: _Carried | None, prompt: tuple[int, ...], session: int, outcome: CarryOutcome
) -> tuple[tuple[Keys, ...], Keys | None]:
    """Keys adopted and appended. Rows are dropped off the tail, so with gaps there more than the last key may go."""
    if held is None or not isinstance(outcome, Adopted):
        return (), None
    usable = held.entry.usable_by(prompt, session)
    assert usable is not None
    appended = None
    if outcome.appended:
        appended = Keys(first=outcome.first_key, last=outcome.first_key + outcome.appended - 1)
    return _up_to(_oldest(held.keys, outcome.rows), usable[1]), appended


def _left(
    turn: Turn,
    prompt: tuple[int, ...],
    outcome: CarryOutcome,
    adopted: tuple[Keys, ...],
    appended: Keys | None,
    unshared: Iterator[int],
) -> _Carried | None:
    """What the turn leaves: what it says; else, once adopted, its prompt's rows; else nothing that is known."""
    if not isinstance(outcome, Adopted):
        return None if turn.leaves is None else _stated(turn.leaves, prompt, turn.session, unshared)
    known = _joined((*adopted, *([appended] if appended else ())))
    if turn.leaves is not None:
        return _stated(turn.leaves, prompt, turn.session, unshared, known)
    rows = outcome.rows + outcome.appended
    return _Carried(CarriedDrafter((), rows, len(prompt) - 2, prompt, turn.session), known)


# Runs of keys, ascending and apart


def _rows_of(keys: Sequence[Keys]) -> int:
    return sum(run.last - run.first + 1 for run in keys)


def _joined(keys: Sequence[Keys]) -> tuple[Keys, ...]:
    """The same keys, runs that touch made one."""
    joined: list[Keys] = []
    for run in keys:
        if joined and joined[-1].last + 1 == run.first:
            joined[-1] = Keys(first=joined[-1].first, last=run.last)
        else:
            joined.append(run)
    return tuple(joined)


def _up_to(keys: Sequence[Keys], last: int) -> tuple[Keys, ...]:
    """Those up to key `last`."""
    return tuple(Keys(first=run.first, last=min(run.last, last)) for run in keys if run.first <= last)


def _oldest(keys: Sequence[Keys], rows: int) -> tuple[Keys, ...]:
    """The first `rows` of them."""
    kept: list[Keys] = []
    for run in keys:
        if rows <= 0:
            break
        kept.append(Keys(first=run.first, last=min(run.last, run.first + rows - 1)))
        rows -= run.last - run.first + 1
    return tuple(kept)


def _gaps(keys: Sequence[Keys], needed: Keys | None) -> tuple[Keys, ...]:
    """The needed keys that are not among `keys`."""
    if needed is None:
        return ()
    gaps: list[Keys] = []
    at = needed.first
    for run in keys:
        if run.first > at:
            gaps.append(Keys(first=at, last=run.first - 1))
        at = max(at, run.last + 1)
    return (*gaps, *([Keys(first=at, last=needed.last)] if at <= needed.last else ()))


def _result(
    number: int,
    turn: Turn,
    prompt: tuple[int, ...],
    held: _Carried | None,
    before: StoreRange,
    merges: tuple[Merge, ...],
    store: StoreRange,
    outcome: CarryOutcome,
    got: tuple[tuple[Keys, ...], Keys | None],
    after: _Carried | None,
    geometry: Geometry,
) -> TurnResult:
    adopted, appended = got
    kept = outcome.rows if isinstance(outcome, Adopted) else 0
    needed = Keys(first=0, last=len(prompt) - 2) if len(prompt) >= 2 else None
    step = _step(outcome)
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
        append_rows=_rows_of((appended,)) if appended else None,
        needed=needed,
        carried=() if held is None else held.keys,
        adopted=adopted,
        appended=appended,
        missing=_gaps((*adopted, *([appended] if appended else ())), needed),
        stored_rows=stored,
        stored_bytes=None if geometry.hidden_row is None else stored * geometry.hidden_row,
        rebuild_rows=rebuild,
        rebuild_ms=rebuild_ms(rebuild),
        append_ms=rebuild_ms(outcome.appended if isinstance(outcome, Adopted) else 0),
        slot_after=_slot(after, geometry),
    )


def _slot(held: _Carried | None, geometry: Geometry) -> Slot | None:
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
