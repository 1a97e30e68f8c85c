"""The recurrent-state pool: how many blobs of which kind, and their bytes.

Source: the engine's memory plan, section 4 (`ssm_reserve::pool_plan`). Both dummies are counted: one live slot, and
one verify slot, the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from metrale_plan.reserve.copy_tier import CopyTier, tier_h, tier_rows
from metrale_plan.reserve.state import ssm_h_stored_bytes

ROLLBACK_MODES = ("snapshot", "replay")


@dataclass(frozen=True, slots=True)
class PoolShape:
    """What decides the counts.

    Attributes:
        max_slots: sequences resident at once, without the dummy.
        spec: whether a proposer runs.
        num_intermediates: rows of one sequence's verify, before any tier.
        num_drafts: the most drafts per step; the caller's per-slot figures come from it.
        uniform_h: every verify slot holds what the dummy does (DFlash).
        rollback: "snapshot", or "replay", which keeps no intermediates.

    Raises:
        ValueError: another `rollback`.
    """

    max_slots: int
    spec: bool
    num_intermediates: int
    num_drafts: int
    uniform_h: bool
    rollback: str

    def __post_init__(self) -> None:
        if self.rollback not in ROLLBACK_MODES:
            raise ValueError(f"rollback is {self.rollback!r}, not one of {', '.join(ROLLBACK_MODES)}")


@dataclass(frozen=True, slots=True)
class VerifyCounts:
    """Blobs of the verify slots: h intermediates of each, the dummy last, and conv intermediates of any one."""

    h_steps: tuple[int, ...]
    conv_steps: int


@dataclass(frozen=True, slots=True)
class PoolCounts:
    """Live slots, the dummy included, and what the verify slots hold (None without a proposer)."""

    slots: int
    verify: VerifyCounts | None


def pool_counts(shape: PoolShape, mtp_slots: int, ladder_h: Sequence[int]) -> PoolCounts:
    """The counts of a pool whose `mtp_slots` verify slots (without the dummy) want `ladder_h` h intermediates each.

    Raises:
        ValueError: `ladder_h` is too short for the verify slots.
    """
    return pool_counts_tiered(shape, mtp_slots, ladder_h, None)


def pool_counts_tiered(shape: PoolShape, mtp_slots: int, ladder_h: Sequence[int], tier: CopyTier | None) -> PoolCounts:
    """`pool_counts` with a copy tier, which raises the rows of a verify and the figures of the tier's slots.

    Raises:
        ValueError: `ladder_h` is too short for the verify slots.
    """
    slots = shape.max_slots + 1
    if not shape.spec:
        return PoolCounts(slots, None)
    if shape.rollback == "replay":
        return PoolCounts(slots, VerifyCounts((0,) * (mtp_slots + 1), 0))
    rows = tier_rows(tier, shape.num_intermediates)
    most = max(rows - 1, 0)
    if shape.uniform_h:
        return PoolCounts(slots, VerifyCounts((most,) * (mtp_slots + 1), rows))
    if len(ladder_h) < mtp_slots:
        raise ValueError(f"{mtp_slots} verify slots, but h intermediates of only {len(ladder_h)}")
    held = [min(tier_h(tier, ladder_h[slot], slot), most) for slot in range(mtp_slots)]
    return PoolCounts(slots, VerifyCounts((*held, most), rows))


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """The pool in bytes; every property counts bytes, over all layers unless it says otherwise.

    Attributes:
        layers: recurrent layers.
        h_f32_bytes: one layer's h state of one sequence in FP32.
        conv_bytes: one layer's conv state of one sequence.
        f16_pool: whether h is stored in FP16.
        counts: how many of each.

    Raises:
        ValueError: from any property, when `h_f32_bytes` is not a multiple of 4.
    """

    layers: int
    h_f32_bytes: int
    conv_bytes: int
    f16_pool: bool
    counts: PoolCounts

    @property
    def h_stored(self) -> int:
        """One stored h blob: one layer, one sequence."""
        return ssm_h_stored_bytes(self.h_f32_bytes, self.f16_pool)

    @property
    def _blob(self) -> int:
        return self.h_stored + self.conv_bytes

    @property
    def _verify(self) -> VerifyCounts:
        return self.counts.verify or VerifyCounts((), 0)

    @property
    def live(self) -> int:
        """One h and one conv blob per live slot."""
        return self.layers * self.counts.slots * self._blob

    @property
    def h_intermediates(self) -> int:
        """One h blob per h step of each verify slot."""
        return self.layers * sum(self._verify.h_steps) * self.h_stored

    @property
    def conv_intermediates(self) -> int:
        """One conv blob per conv step of each verify slot."""
        return self.layers * len(self._verify.h_steps) * self._verify.conv_steps * self.conv_bytes

    @property
    def checkpoints(self) -> int:
        """One h and one conv blob per verify slot."""
        return self.layers * len(self._verify.h_steps) * self._blob

    @property
    def total(self) -> int:
        """The whole pool: the four parts together."""
        return self.live + self.h_intermediates + self.conv_intermediates + self.checkpoints

    @property
    def per_layer(self) -> int | None:
        """One layer's share of `total`; None without layers."""
        return self.total // self.layers if self.layers else None
