"""Runtime headroom and the budget that part of it is taken from (engine memory plan, 8)."""

from dataclasses import dataclass

from metrale_plan.config.serve import ServeConfig
from metrale_plan.rules import EngineRules
from metrale_plan.units import GIB, MIB

DRIVER_FIXED = GIB
BOOKKEEPING_PER_MILLE = 21
FLAT_WITH_PROPOSER = 4 * GIB
FLAT_WITHOUT_PROPOSER = 512 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """Bytes of each part; either the three terms or the flat figure of older engines, never both."""

    carry_stash: int = 0
    driver_fixed: int = 0
    driver_bookkeeping: int = 0
    flat: int = 0

    @property
    def total(self) -> int:
        """`runtime_headroom`."""
        return self.carry_stash + self.driver_fixed + self.driver_bookkeeping + self.flat


def memory_budget(total_bytes: int, utilization: float) -> int:
    """Bytes the serve may use: a double-precision product, truncated (8)."""
    return int(float(total_bytes) * utilization)


def driver_bookkeeping(budget: int) -> int:
    """Bytes the driver keeps for itself: 21 per mille of whole thousands of the budget (8)."""
    return budget // 1000 * BOOKKEEPING_PER_MILLE


def runtime_headroom(config: ServeConfig, rules: EngineRules, *, budget: int, carry: int) -> Headroom:
    """Headroom of the reserve: terms, or one flat figure on rules from before they existed (8, and section 0)."""
    if not rules.headroom_terms:
        return Headroom(flat=FLAT_WITH_PROPOSER if config.proposer else FLAT_WITHOUT_PROPOSER)
    return Headroom(carry_stash=carry, driver_fixed=DRIVER_FIXED, driver_bookkeeping=driver_bookkeeping(budget))
