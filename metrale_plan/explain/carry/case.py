"""A case to replay: what the slot and the hidden store hold at first, and the turns."""

from dataclasses import dataclass

from metrale_plan.carry import StoreRange


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
