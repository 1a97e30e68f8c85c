"""How one carry attempt ends, and the order in which that is tried.

Source: `mtp_carry`; the order is this planner's.
"""

from collections.abc import Sequence

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
)

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


def step_of(outcome: CarryOutcome) -> int:
    """Which entry of `ORDER` an outcome is, from 1; of the two adoptions, the later one appends."""
    steps = [at for at, (name, _) in enumerate(ORDER, 1) if name == type(outcome).__name__]
    return steps[-1] if isinstance(outcome, Adopted) and outcome.appended else steps[0]
