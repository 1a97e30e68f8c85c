"""Warm turns of the drafter carry, replayed: the store is merged, the carry tried, the slot left for the next turn.

Beside the figures that the engine keeps, the replay keeps which keys the rows are of: an append that skips keys leaves
rows of keys with gaps, which rows and last key alone do not tell.

Source: `mtp_carry`.
"""

from collections.abc import Iterator
from itertools import count

from metrale_plan.carry import Adopted, CarriedDrafter, CarryOutcome, stamped_merge
from metrale_plan.explain.carry.case import Case, Turn
from metrale_plan.explain.carry.entry import Carried, prompt_of, stated
from metrale_plan.explain.carry.keys import joined_runs, oldest, up_to
from metrale_plan.explain.carry.outcome import attempt
from metrale_plan.explain.carry.turn import result_of
from metrale_plan.explain.carry.values import Geometry, Keys, Merge, TurnResult


def replay(case: Case, geometry: Geometry) -> Iterator[TurnResult]:
    """Every turn in order; each finds the slot and the store as the one before left them."""
    unshared = (-number for number in count(1))  # ids that no other token has, for tokens known only by number
    held = None if case.entry is None else stated(case.entry, None, 0, unshared)
    store = case.store
    for number, turn in enumerate(case.turns, 1):
        prompt = prompt_of(turn.prompt, held, unshared)
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
        yield result_of(number, turn, prompt, held, before, tuple(merges), store, outcome, got, after, geometry)
        held = after


def _got(
    held: Carried | None, prompt: tuple[int, ...], session: int, outcome: CarryOutcome
) -> tuple[tuple[Keys, ...], Keys | None]:
    """Keys adopted and appended. Rows are dropped off the tail, so with gaps there more than the last key may go."""
    if held is None or not isinstance(outcome, Adopted):
        return (), None
    usable = held.entry.usable_by(prompt, session)
    assert usable is not None
    appended = None
    if outcome.appended:
        appended = Keys(first=outcome.first_key, last=outcome.first_key + outcome.appended - 1)
    return up_to(oldest(held.keys, outcome.rows), usable[1]), appended


def _left(
    turn: Turn,
    prompt: tuple[int, ...],
    outcome: CarryOutcome,
    adopted: tuple[Keys, ...],
    appended: Keys | None,
    unshared: Iterator[int],
) -> Carried | None:
    """What the turn leaves: what it says; else, once adopted, its prompt's rows; else nothing that is known."""
    if not isinstance(outcome, Adopted):
        return None if turn.leaves is None else stated(turn.leaves, prompt, turn.session, unshared)
    known = joined_runs((*adopted, *([appended] if appended else ())))
    if turn.leaves is not None:
        return stated(turn.leaves, prompt, turn.session, unshared, known)
    rows = outcome.rows + outcome.appended
    return Carried(CarriedDrafter((), rows, len(prompt) - 2, prompt, turn.session), known)
