"""The entry in the carry slot, with the keys that its rows are of; prompts that refer to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from metrale_plan.carry import CarriedDrafter
from metrale_plan.explain.carry.case import Left, Tokens
from metrale_plan.explain.carry.keys import joined_runs, rows_of, up_to
from metrale_plan.explain.carry.values import Keys


@dataclass(frozen=True, slots=True)
class Carried:
    """The slot's entry, and the keys that its rows are of, in runs."""

    entry: CarriedDrafter
    keys: tuple[Keys, ...]


def prompt_of(prompt: Tokens, held: Carried | None, unshared: Iterator[int]) -> tuple[int, ...]:
    """A prompt's token ids; of one without ids, those shared with the entry, then ids that no other token has."""
    if prompt.ids is not None:
        return prompt.ids
    shared = () if held is None else tuple(held.entry.tokens[: prompt.common])
    return (*shared, *(next(unshared) for _ in range(prompt.count - len(shared))))


def stated(
    left: Left,
    prompt: tuple[int, ...] | None,
    session: int,
    unshared: Iterator[int],
    known: tuple[Keys, ...] | None = None,
) -> Carried:
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
        keys = joined_runs((*up_to(known, key), *([decoded] if decoded.first <= key else ())))
        rows = rows_of(keys)
    else:
        rows = left.rows if left.rows is not None else 0 if key is None else key + 1
        keys = (Keys(first=max(key - rows + 1, 0), last=key),) if key is not None and rows else ()
    owner = session if left.session is None else left.session
    return Carried(CarriedDrafter(left.blocks, rows, key, tokens, owner), keys)
