"""The decode-rollback ring of one plan: the depth wanted, the fit against memory, what is reserved and allocated."""

from dataclasses import dataclass

from metrale_plan.config.serve import ServeConfig
from metrale_plan.model.dims import ModelDims
from metrale_plan.reserve import decode_rollback_ring_slots
from metrale_plan.reserve.decode_ring import DEFAULT_DECODE_RING_SLOTS
from metrale_plan.ring_fit import Yardstick, fit_ring


@dataclass(frozen=True, slots=True, kw_only=True)
class RingPlan:
    """Depths are whole rings; `slot_bytes` is one depth unit, slots x blob.

    Attributes:
        requested: the depth its rules want.
        skip_reason: why the rules want none, or None.
        want: the depth the reserve starts from (8 under METRALE_SSM_RESERVE_RING_FULL).
        reserved: the depth in the reserve, after the fit.
        slots: the depth that is allocated.
        yardstick: what the fit measured against, or None when nothing was fitted.
    """

    requested: int
    skip_reason: str | None
    want: int
    reserved: int
    slots: int
    slot_bytes: int
    pinned: bool
    yardstick: Yardstick | None

    @property
    def fitted(self) -> bool:
        """Whether the fit made the ring shallower than wanted."""
        return self.reserved != self.want

    @property
    def bytes(self) -> int:
        """Reserved bytes."""
        return self.reserved * self.slot_bytes


def fitted_after_load(dims: ModelDims, config: ServeConfig) -> bool:
    """Whether the engine may fit the ring to what the load leaves, which depends on the weights. 13.3.

    True on the dense loader's native FP8 route; whether the checkpoint is block-scaled FP8 is not known here.
    """
    return config.native_fp8 and dims.loader == "qwen3_5"


def plan_ring(dims: ModelDims, config: ServeConfig, slots: int, yardstick: Yardstick | None) -> RingPlan:
    """The ring at `slots` sequences; without a yardstick it keeps the depth it wants.

    Sources: engine memory plan, 5.2 and 13.3. A depth that the fit changes is published, so the allocation uses it.
    """
    rule = decode_rollback_ring_slots(
        dims.ssm_layers,
        config.speculative or config.dflash,
        config.ssm_decode_ring_slots,
        config.ring_override,
        config.watchdogs_disabled,
    )
    pinned = config.ssm_decode_ring_slots is not None
    want = DEFAULT_DECODE_RING_SLOTS if config.reserve_ring_full and dims.ssm_layers > 0 else rule.slots
    per_depth = slots * dims.blob
    reserved = want if yardstick is None else fit_ring(want, per_depth, pinned, yardstick)
    return RingPlan(
        requested=rule.slots,
        skip_reason=rule.skip_reason,
        want=want,
        reserved=reserved,
        slots=rule.slots if reserved == want else reserved,
        slot_bytes=per_depth,
        pinned=pinned,
        yardstick=yardstick,
    )
