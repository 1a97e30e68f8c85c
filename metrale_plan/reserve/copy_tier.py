"""The copy tier: with prompt lookup on, the first slots verify longer drafts.

Source: the engine's memory plan, section 3.2 (`ssm_reserve::copy_tier`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CopyTier:
    """The first `slots` slots verify up to `drafts` drafts."""

    slots: int
    drafts: int


def tier_h(tier: CopyTier | None, base: int, slot: int) -> int:
    """h intermediates of `slot` (from 0): `base`, raised to the tier's drafts on the tier's slots."""
    return base if tier is None or slot >= tier.slots else max(base, tier.drafts)


def tier_rows(tier: CopyTier | None, k: int) -> int:
    """Rows of one sequence's verify: `k`, raised to the tier's drafts plus one."""
    return k if tier is None else max(k, tier.drafts + 1)
