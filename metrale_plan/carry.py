"""The drafter carry: which of a finished turn's drafter rows the next turn of its session may take over.

Source: `mtp_carry`. A drafter row belongs to a pair key `k`, which needs tokens `0..=k + 1` and hidden row `k`. Keys,
rows and tokens are counts or positions, never bytes, except in `hidden_row_offset`. Intervals are half open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metrale_plan.text import parse_count

DEFAULT_MARCONI_MIN_TOKENS = 256
"""Matched tokens below which no recurrent-state snapshot is restored."""

_BF16 = 2


def marconi_min_tokens(value: str | None) -> int:
    """The restore threshold in tokens for a text of `METRALE_MARCONI_MIN_TOKENS` (None: unset); 256 unless a count.

    Source: `mtp_carry: marconi_min_tokens`.
    """
    tokens = None if value is None else parse_count(value)
    return DEFAULT_MARCONI_MIN_TOKENS if tokens is None else tokens


def carry_armed(carry: bool, multi_seq: bool) -> bool:
    """Whether the carry runs: configured, and the dispatch cap lets one sequence speculate at a time.

    Source: `mtp_carry: carry_armed_with`.
    """
    return carry and not multi_seq


@dataclass(frozen=True, slots=True)
class CarriedDrafter:
    """What a finished turn leaves in the carry slot. Source: `mtp_carry: CarriedDrafter`.

    Attributes:
        block_table: drafter KV blocks, by id.
        rows: drafter rows resident in them.
        last_pair_key: pair key of the newest row, or None.
        tokens: the finished turn's token ids.
        session_hash: the finished turn's session; 0 is no session.
    """

    block_table: Sequence[int]
    rows: int
    last_pair_key: int | None
    tokens: Sequence[int]
    session_hash: int

    def common_prefix_len(self, prompt: Sequence[int]) -> int:
        """How many leading tokens the entry and `prompt` share."""
        common = 0
        for ours, theirs in zip(self.tokens, prompt, strict=False):
            if ours != theirs:
                break
            common += 1
        return common

    def session_matches(self, session_hash: int) -> bool:
        """Whether the rows belong to `session_hash`; 0 matches nothing, not even an entry of 0."""
        return session_hash != 0 and self.session_hash == session_hash

    def usable_by(self, prompt: Sequence[int], session_hash: int) -> tuple[int, int] | None:
        """`(rows, last pair key)` that a request of this session may take over, or None.

        A key survives when the common prefix holds the tokens it needs; each key above costs one row off the tail.
        """
        if not self.session_matches(session_hash) or self.last_pair_key is None:
            return None
        key = min(self.last_pair_key, self.common_prefix_len(prompt) - 2)
        rows = self.rows - (self.last_pair_key - key)
        return (rows, key) if key >= 0 and rows > 0 else None


@dataclass(frozen=True, slots=True)
class AppendPlan:
    """`rows` drafter rows to append, the first for pair key `first_key`. Source: `mtp_carry: AppendPlan`."""

    first_key: int
    rows: int


def plan_append(last_pair_key: int, prompt_len: int, hidden_lo: int, hidden_hi: int) -> AppendPlan | None:
    """The rows to append after `last_pair_key` for a prompt of `prompt_len` tokens, or None.

    Keys run to `prompt_len - 2`. Those before the hidden store's interval `[hidden_lo, hidden_hi)` are skipped; None
    when no key is missing or the store ends too early. Source: `mtp_carry: plan_append`.
    """
    last_key = prompt_len - 2
    first_key = max(last_pair_key + 1, hidden_lo)
    if first_key > last_key or hidden_hi <= last_key:
        return None
    return AppendPlan(first_key, last_key - first_key + 1)


def hidden_row_offset(base: int, pos: int, hidden_size: int) -> int:
    """Address of row `pos` in a BF16 store of `hidden_size` elements a row at `base`.

    Source: `mtp_carry: hidden_row_offset`.
    """
    return base + pos * hidden_size * _BF16


@dataclass(frozen=True, slots=True)
class StoreRange:
    """Rows `[lo, hi)` of the hidden store and the ticket that wrote them; owner 0 is unclaimed.

    Source: `mtp_carry: StoreRange`.
    """

    owner: int
    lo: int
    hi: int

    EMPTY: ClassVar["StoreRange"]

    def visible_to(self, reader: int) -> tuple[int, int]:
        """The `(lo, hi)` that ticket `reader` may read: its own rows, else `(0, 0)`; ticket 0 reads nothing."""
        return (self.lo, self.hi) if reader != 0 and self.owner == reader else (0, 0)


StoreRange.EMPTY = StoreRange(0, 0, 0)


def merge_interval(cur: tuple[int, int], start: int, count: int) -> tuple[int, int]:
    """`cur` after a write of `[start, start + count)`: their union when they overlap or touch, else the write alone.

    Source: `mtp_carry: merge_interval`.
    """
    lo, hi = cur
    end = start + count
    if lo < hi and start <= hi and lo <= end:
        return min(lo, start), max(hi, end)
    return start, end


def stamped_merge(cur: StoreRange, writer: int, start: int, count: int) -> StoreRange:
    """`cur` after ticket `writer` wrote `[start, start + count)`: merged if it owns `cur`, else replaced.

    Ticket 0 owns nothing, so its writes always replace. Source: `mtp_carry: stamped_merge`.
    """
    if cur.owner != 0 and cur.owner == writer:
        return StoreRange(writer, *merge_interval((cur.lo, cur.hi), start, count))
    return StoreRange(writer, start, start + count)


class CarryOutcome:
    """How a carry attempt ended: one frozen variant each, a subclass whose `str()` is the engine's log text.

    Source: `mtp_carry: CarryOutcome`.
    """

    __slots__ = ()

    Adopted: ClassVar["type[Adopted]"]
    NoCarry: ClassVar["type[NoCarry]"]
    PrefixMismatch: ClassVar["type[PrefixMismatch]"]
    ForeignHiddens: ClassVar["type[ForeignHiddens]"]
    ForeignSession: ClassVar["type[ForeignSession]"]
    NoHiddens: ClassVar["type[NoHiddens]"]


@dataclass(frozen=True, slots=True)
class Adopted(CarryOutcome):
    """`rows` taken over and `appended` computed anew, from pair key `first_key` on."""

    rows: int
    appended: int
    first_key: int

    def __str__(self) -> str:
        return f"adopted rows={self.rows} appended={self.appended} first_key={self.first_key}"


@dataclass(frozen=True, slots=True)
class NoCarry(CarryOutcome):
    """The slot was empty."""

    def __str__(self) -> str:
        return "no carried state"


@dataclass(frozen=True, slots=True)
class PrefixMismatch(CarryOutcome):
    """This session's entry, but only `common` tokens in common, too few for any of its `entry_rows`."""

    common: int
    entry_rows: int

    def __str__(self) -> str:
        return f"prefix mismatch (common={self.common} entry_rows={self.entry_rows})"


@dataclass(frozen=True, slots=True)
class ForeignHiddens(CarryOutcome):
    """The hidden rows are ticket `owner`'s, and ticket `expected` wanted them."""

    owner: int
    expected: int

    def __str__(self) -> str:
        return f"hidden rows belong to sequence gen {self.owner}, not {self.expected}"


@dataclass(frozen=True, slots=True)
class ForeignSession(CarryOutcome):
    """Another session's entry, or a request without a session."""

    entry_session: int
    prompt_session: int

    def __str__(self) -> str:
        return f"foreign session (entry={self.entry_session:#x} prompt={self.prompt_session:#x})"


@dataclass(frozen=True, slots=True)
class NoHiddens(CarryOutcome):
    """The hidden store lacks rows that the append needs."""

    def __str__(self) -> str:
        return "hidden store does not cover the append span"


CarryOutcome.Adopted = Adopted
CarryOutcome.NoCarry = NoCarry
CarryOutcome.PrefixMismatch = PrefixMismatch
CarryOutcome.ForeignHiddens = ForeignHiddens
CarryOutcome.ForeignSession = ForeignSession
CarryOutcome.NoHiddens = NoHiddens
