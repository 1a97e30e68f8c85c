"""What a replayed turn shows, and the bytes it is shown in."""

from dataclasses import dataclass

from metrale_plan.carry import StoreRange


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
