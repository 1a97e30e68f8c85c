"""The plan against a memory reading: fits, does not fit, or cannot tell, as a value; and the engine's own hint."""

from dataclasses import dataclass, field
from typing import Literal

from metrale_plan.config.serve import ServeConfig
from metrale_plan.integers import less
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan import MemoryPlan
from metrale_plan.reserve.line import Line
from metrale_plan.reserve.prefill_scratch import prefill_row_bytes
from metrale_plan.terms import RUNTIME_HEADROOM

Stage = Literal["settings", "reserve", "load", "kv"]

STAGES: tuple[Stage, ...] = ("reserve", "load", "kv")
"""What `--stage all` would go through, in the engine's order."""

PLANNED: tuple[Stage, ...] = ("reserve",)
"""Stages that a plan can answer today."""

LEAST_HINTED_LENGTH = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer.

    Attributes:
        fits: True speaks of `checked` only; None when it cannot be told.
        checked: stages asked and answered.
        unreached: stages asked and not answered.
        need, free, headroom: bytes of the stage that refused, else of the reserve; headroom is signed.
        stage: what refused, or None.
        held_by: settings that the plan does not count, when those are why it cannot tell.
        largest: the largest lines, biggest first.
        hint: what the engine itself would advise, when it refuses.
    """

    fits: bool | None
    checked: tuple[Stage, ...] = ()
    unreached: tuple[Stage, ...] = ()
    need: int | None = None
    free: int | None = None
    stage: Stage | None = None
    held_by: tuple[str, ...] = ()
    largest: tuple[Line, ...] = ()
    hint: str | None = None
    suggestions: tuple[object, ...] = field(default=())

    @property
    def headroom(self) -> int | None:
        """Free minus need."""
        return None if self.need is None or self.free is None else self.free - self.need


SETTINGS_REFUSED = Verdict(fits=False, stage="settings")


def judge(
    plan: MemoryPlan,
    dims: ModelDims,
    config: ServeConfig,
    *,
    free: int | None,
    asked: tuple[Stage, ...] = STAGES,
    held_by: tuple[str, ...] = (),
    ring_unknown: bool = False,
) -> Verdict:
    """The reserve's verdict: refused when reserve and arena together exceed free memory. Engine memory plan, 13.4.

    Args:
        free: free bytes before the load, or None when they could not be read.
        asked: stages that the user wants answered.
        held_by: settings in force that the plan does not count; with any, nothing can be told.
        ring_unknown: the ring stands at the depth it wants and the engine may still make it shallower; it matters
            only when the answer depends on it.
    """
    need = plan.total
    if ring_unknown and free is not None and need > free >= need - plan.ring.bytes:
        held_by = (*held_by, "METRALE_DENSE_FP8")
    largest = tuple(sorted((line for line in plan.lines if line.bytes), key=lambda line: -line.bytes)[:3])
    unreached = tuple(stage for stage in asked if stage not in PLANNED)
    if free is None or held_by:
        return Verdict(fits=None, need=need, free=free, unreached=asked, held_by=held_by, largest=largest)
    fits = need <= free
    return Verdict(
        fits=fits,
        checked=("reserve",),
        unreached=unreached if fits else (),
        need=need,
        free=free,
        stage=None if fits else "reserve",
        largest=largest,
        hint=None if fits else engine_hint(plan, dims, config, free),
    )


def engine_hint(plan: MemoryPlan, dims: ModelDims, config: ServeConfig, free: int) -> str:
    """What the engine prints beside its refusal; it does not promise that the change fits. Engine memory plan, 13.4."""
    row = prefill_row_bytes(dims) if dims.ssm_layers else 0
    if row:
        terms = ("ssm_pool", "ssm_h_stage", "marconi", "decode_ring", *RUNTIME_HEADROOM)
        independent = sum(plan.bytes_of(term) for term in terms)
        length = max(less(free, independent) // 2 // row, LEAST_HINTED_LENGTH)
        if length < config.max_seq_len:
            return f"try --max-seq-len {length}"
    if config.ceiling > 1:
        return "reduce --max-batch-size"
    return "use a smaller model or a larger GPU"
