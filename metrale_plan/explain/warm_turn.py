"""Warm turns of the drafter carry, replayed: the store is merged, the carry tried, the slot left for the next turn.

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
        carried: keys of the entry, drawn as if no key before them were skipped.
        adopted, appended: keys that the turn gets.
        missing: keys it is left without.
        stored_bytes: of the hidden rows in the store's range; None without a model.
        rebuild_rows, rebuild_ms: what a rebuild of the whole prompt's rows would have computed, and taken.
        append_ms: the appended rows at the same rate.
        slot_after: what the next turn finds; None when it is empty or nobody said.
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
    carried: Keys | None
    adopted: Keys | None
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


def replay(case: Case, geometry: Geometry) -> Iterator[TurnResult]:
    """Every turn in order; each finds the slot and the store as the one before left them."""
    unshared = (-number for number in count(1))  # ids that no other token has, for tokens known only by number
    entry = None if case.entry is None else _entry(case.entry, None, 0, unshared)
    store = case.store
    for number, turn in enumerate(case.turns, 1):
        prompt = _prompt(turn.prompt, entry, unshared)
        merges: list[Merge] = []
        before = store
        for write in turn.writes:
            writer = turn.ticket if write.ticket is None else write.ticket
            merged = stamped_merge(store, writer, write.start, write.count)
            merges.append(Merge(ticket=writer, start=write.start, count=write.count, before=store, after=merged))
            store = merged
        outcome = attempt(entry, prompt, turn.session, turn.ticket, store)
        after = _left(turn, prompt, outcome, unshared)
        yield _result(number, turn, prompt, entry, before, tuple(merges), store, outcome, after, geometry)
        entry = after


def _prompt(prompt: Tokens, entry: CarriedDrafter | None, unshared: Iterator[int]) -> tuple[int, ...]:
    if prompt.ids is not None:
        return prompt.ids
    shared = () if entry is None else tuple(entry.tokens[: prompt.common])
    return (*shared, *(next(unshared) for _ in range(prompt.count - len(shared))))


def _entry(left: Left, prompt: tuple[int, ...] | None, session: int, unshared: Iterator[int]) -> CarriedDrafter:
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
    rows = left.rows if left.rows is not None else 0 if key is None else key + 1
    return CarriedDrafter(left.blocks, rows, key, tokens, session if left.session is None else left.session)


def _left(turn: Turn, prompt: tuple[int, ...], outcome: CarryOutcome, unshared: Iterator[int]) -> CarriedDrafter | None:
    """What the turn leaves: what it says; else, once adopted, its prompt's rows; else nothing that is known."""
    if turn.leaves is not None:
        return _entry(turn.leaves, prompt, turn.session, unshared)
    if isinstance(outcome, Adopted):
        return CarriedDrafter((), outcome.rows + outcome.appended, len(prompt) - 2, prompt, turn.session)
    return None


def _result(
    number: int,
    turn: Turn,
    prompt: tuple[int, ...],
    entry: CarriedDrafter | None,
    before: StoreRange,
    merges: tuple[Merge, ...],
    store: StoreRange,
    outcome: CarryOutcome,
    after: CarriedDrafter | None,
    geometry: Geometry,
) -> TurnResult:
    common = 0 if entry is None else entry.common_prefix_len(prompt)
    last_needed = len(prompt) - 2
    needed = Keys(first=0, last=last_needed) if last_needed >= 0 else None
    carried = adopted = appended = None
    missing: tuple[Keys, ...] = () if needed is None else (needed,)
    if entry is not None and entry.last_pair_key is not None and entry.rows:
        carried = Keys(first=max(entry.last_pair_key - entry.rows + 1, 0), last=entry.last_pair_key)
    if isinstance(outcome, Adopted):
        assert entry is not None
        usable = entry.usable_by(prompt, turn.session)
        assert usable is not None
        key = usable[1]
        adopted = Keys(first=max(key - outcome.rows + 1, 0), last=key)
        if outcome.appended:
            appended = Keys(first=outcome.first_key, last=outcome.first_key + outcome.appended - 1)
        missing = (Keys(first=key + 1, last=outcome.first_key - 1),) if outcome.first_key > key + 1 else ()
    kept = outcome.rows if isinstance(outcome, Adopted) else 0
    visible = store.visible_to(turn.ticket)
    step = _step(outcome)
    stored = max(store.hi - store.lo, 0)
    rebuild = 0 if needed is None else needed.last + 1
    return TurnResult(
        number=number,
        session=turn.session,
        ticket=turn.ticket,
        prompt_tokens=len(prompt),
        entry=_slot(entry, geometry),
        common=common,
        store_before=before,
        merges=merges,
        store_after=store,
        visible=visible,
        outcome=type(outcome).__name__,
        text=str(outcome),
        step=step,
        why=ORDER[step - 1][1],
        rows_kept=kept,
        rows_dropped=0 if entry is None else entry.rows - kept,
        append_first=appended.first if appended else None,
        append_rows=outcome.appended if isinstance(outcome, Adopted) and outcome.appended else None,
        needed=needed,
        carried=carried,
        adopted=adopted,
        appended=appended,
        missing=missing,
        stored_rows=stored,
        stored_bytes=None if geometry.hidden_row is None else stored * geometry.hidden_row,
        rebuild_rows=rebuild,
        rebuild_ms=rebuild_ms(rebuild),
        append_ms=rebuild_ms(outcome.appended if isinstance(outcome, Adopted) else 0),
        slot_after=_slot(after, geometry),
    )


def _slot(entry: CarriedDrafter | None, geometry: Geometry) -> Slot | None:
    if entry is None:
        return None
    blocks = len(entry.block_table) or ceil_div(entry.rows, geometry.block_tokens)
    return Slot(
        tokens=len(entry.tokens),
        rows=entry.rows,
        last_pair_key=entry.last_pair_key,
        session=entry.session_hash,
        blocks=blocks,
        block_bytes=None if geometry.draft_block is None else blocks * geometry.draft_block,
    )
