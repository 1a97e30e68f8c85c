"""What a plan gives cause to say, beyond its verdict: coded notes and warnings, read off the plan's own lines."""

from collections.abc import Iterator

from metrale_plan.config.given import Settings
from metrale_plan.config.resolve import Uncounted
from metrale_plan.config.serve import ServeConfig
from metrale_plan.device import MemoryReading
from metrale_plan.errors import Problem
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan import MemoryPlan
from metrale_plan.plan.lines import marconi_slot_bytes
from metrale_plan.plan.ring import fitted_after_load
from metrale_plan.prefix_cache import glm_indexer_paged, is_glm, kv_is_whole_state
from metrale_plan.reserve.headroom import memory_budget
from metrale_plan.rules import EngineRules
from metrale_plan.units import gib, human
from metrale_plan.verdict import Verdict


def ring_may_shrink(plan: MemoryPlan, dims: ModelDims, config: ServeConfig) -> bool:
    """Whether the engine may still make the planned ring shallower, once the weights are loaded."""
    return plan.ring.want > 0 and not plan.ring.pinned and fitted_after_load(dims, config)


def plan_findings(plan: MemoryPlan, dims: ModelDims, config: ServeConfig, rules: EngineRules) -> Iterator[Problem]:
    """Notes and warnings on the plan itself."""
    ring, marconi = plan.ring, plan.marconi
    if ring.fitted:
        yield Problem(
            code="MP102",
            message=f"the decode-rollback ring is fitted to memory: depth {ring.reserved} instead of {ring.want}, "
            f"{human(ring.bytes)} instead of {human(ring.want * ring.slot_bytes)}",
            where="--ssm-decode-ring-slots",
            severity="warning",
        )
    if ring_may_shrink(plan, dims, config):
        yield Problem(
            code="MP121",
            message="METRALE_DENSE_FP8: on a block-scaled FP8 checkpoint the engine fits the decode-rollback ring to "
            f"what the load leaves; it is planned at depth {ring.want} and may end up shallower",
            where="METRALE_DENSE_FP8",
            severity="warning",
        )
    if is_glm(dims):
        indexer = " and what its paged indexer adds to a KV block" if glm_indexer_paged(config, rules) else ""
        yield Problem(
            code="MP122",
            message=f"GLM-Next: the engine can trim the buffer arena; by how much{indexer} is not known here",
            where=dims.model_type,
            severity="warning",
        )
    if marconi.skip_reason is not None and dims.ssm_layers > 0:
        saved = config.ssm_cache_slots * marconi_slot_bytes(dims)
        yield Problem(
            code="MP103",
            message=f"{config.ssm_cache_slots} Marconi snapshot slots are dropped, {human(saved)} not reserved: "
            f"{marconi.skip_reason}",
            where="--ssm-cache-slots",
            severity="note",
        )


def state_findings(dims: ModelDims, config: ServeConfig, settings: Settings, rules: EngineRules) -> Iterator[Problem]:
    """What the engine switches off where KV blocks are not the whole state of a sequence. Engine memory plan, 3.3."""
    if kv_is_whole_state(dims, config, rules):
        return
    why = f"sequences of {dims.model_type} have state outside the KV blocks"
    if config.enable_prefix_caching:
        yield Problem(
            code="MP113",
            message=f"--enable-prefix-caching is switched off: {why}",
            where=settings["enable_prefix_caching"].where or "--enable-prefix-caching",
            severity="warning",
        )
    space = settings.get("swap_space_gb")
    if space is not None and space.value:
        yield Problem(
            code="MP113",
            message=f"--swap-space-gb is switched off: {why}",
            where=space.where or "--swap-space-gb",
            severity="note",
        )


def verdict_findings(verdict: Verdict) -> Iterator[Problem]:
    """Notes and warnings on how far the verdict goes."""
    if verdict.fits and verdict.unreached:
        yield Problem(
            code="MP104",
            message=f"stages not reached: {', '.join(verdict.unreached)}; weights and KV blocks are not planned, "
            "so this speaks of the reserve before the weights load",
            where="--stage",
            severity="note",
        )


def memory_findings(
    plan: MemoryPlan, memory: MemoryReading, config: ServeConfig, verdict: Verdict
) -> Iterator[Problem]:
    """Warnings on the memory that the plan was compared with."""
    free, total, floor, left = memory.free, memory.total, memory.floor, verdict.headroom
    if free is not None and total is not None and plan.budget > free:
        below = largest_utilization_below(free, total)
        least = "no utilization of two decimals asks for less" if below is None else _named(below, total)
        yield Problem(
            code="MP150",
            message=f"--gpu-memory-utilization {config.gpu_memory_utilization:g} asks for {gib(plan.budget)} of "
            f"{gib(total)}, and {gib(free)} are free; {least}",
            where="--gpu-memory-utilization",
            severity="warning",
        )
    if verdict.fits and floor and left is not None and left < floor:
        yield Problem(
            code="MP311",
            message=f"host and GPU share one memory: {gib(left)} would be left of the {gib(floor)} to keep free",
            where="--unified-floor",
            severity="warning",
        )


def largest_utilization_below(free: int, total: int) -> int | None:
    """The largest utilization, in hundredths, whose budget is below free memory; None when not even 0.01 is."""
    return next((part for part in range(100, 0, -1) if memory_budget(total, part / 100) < free), None)


def _named(hundredths: int, total: int) -> str:
    budget = memory_budget(total, hundredths / 100)
    return f"the largest below that is {hundredths / 100:.2f} ({gib(budget)})"


def unmodelled_warning(held_by: tuple[str, ...]) -> Problem:
    """The settings that the plan does not count, as a warning."""
    return Problem(
        code="MP120",
        message=f"{', '.join(held_by)} changes bytes that the plan does not count",
        where=held_by[0],
        severity="warning",
    )


def uncounted(unmodelled: tuple[Uncounted, ...], plan: MemoryPlan) -> tuple[str, ...]:
    """Of the settings that the plan does not count, those that change a byte of this plan, as they are spelled."""
    return tuple(it.spelled for it in unmodelled if it.term is None or plan.bytes_of(it.term))
