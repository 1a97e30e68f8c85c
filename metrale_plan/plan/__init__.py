"""make_plan: dims + settings + rules + device -> MemoryPlan, the lines the engine reserves. Pure; never reads anything.

Start here: `make_plan` names every step of the engine's preflight in its order, and each step is one small module.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from metrale_plan.arena import allocated_arena, reserved_arena
from metrale_plan.batch_tokens import build_width, preflight_width
from metrale_plan.config.serve import ServeConfig
from metrale_plan.device import DeviceSpec
from metrale_plan.kv import block_bytes, draft_block_bytes
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan.lines import arena_line, fixed_lines, ring_line
from metrale_plan.plan.ring import RingPlan, fitted_after_load, plan_ring
from metrale_plan.plan.verify import VerifyPlan, plan_pool, plan_verify
from metrale_plan.pool import PoolPlan
from metrale_plan.prefix_cache import prefix_active
from metrale_plan.reserve import MarconiSlotDecision, marconi_snapshot_slots
from metrale_plan.reserve.headroom import memory_budget
from metrale_plan.reserve.line import Line
from metrale_plan.ring_fit import before_load_yardstick
from metrale_plan.rules import EngineRules


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlan:
    """What the engine reserves before the weights load, and the counts behind it.

    Attributes:
        slots: sequences the reserve is for.
        budget: bytes that the utilization allows.
        reserve: the lines of the inference reserve, the ring last.
        arena_reserved: the arena's line at the preflight width.
        arena: the arena as it is allocated at the build width, bytes by entry.
        prefix_active: whether the prefix cache is real.
        widths: batch tokens at preflight and at build time.
    """

    slots: int
    budget: int
    verify: VerifyPlan | None
    pool: PoolPlan
    prefix_active: bool
    marconi: MarconiSlotDecision
    ring: RingPlan
    widths: tuple[int, int]
    reserve: tuple[Line, ...]
    arena_reserved: Line
    arena: Mapping[str, int]
    block_bytes: int
    draft_block_bytes: int | None

    @property
    def inference_reserve(self) -> int:
        """Sum of the reserve's lines: the engine's `total`."""
        return sum(line.bytes for line in self.reserve)

    @property
    def total(self) -> int:
        """What preflight compares with free memory: the inference reserve and the arena."""
        return self.inference_reserve + self.arena_reserved.bytes

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line that `total` sums."""
        return (*self.reserve, self.arena_reserved)

    def bytes_of(self, term: str) -> int:
        """Bytes of one term."""
        return next(line.bytes for line in self.lines if line.term == term)


def make_plan(
    dims: ModelDims, config: ServeConfig, rules: EngineRules, device: DeviceSpec, *, free: int | None = None
) -> MemoryPlan:
    """The engine's preflight reserve at the slot ceiling. Engine memory plan, 13.1 and 13.3.

    Args:
        device: its `total` is what the utilization applies to.
        free: free bytes before the load, which the ring is fitted to; None leaves the ring at the depth it wants, and
            so does a serve whose ring the engine fits only after the load.
    """
    slots = config.ceiling
    budget = memory_budget(device.total, config.gpu_memory_utilization)
    verify = plan_verify(config, slots)
    pool = plan_pool(dims, config, slots, verify, rules)
    real_prefix_cache = prefix_active(dims, config, rules)
    marconi = marconi_snapshot_slots(config.ssm_cache_slots, real_prefix_cache, config.marconi_reserve_full)
    width = preflight_width(dims, config)
    fixed = tuple(
        fixed_lines(
            dims,
            config,
            rules,
            slots=slots,
            width=width,
            budget=budget,
            pool=pool,
            verify=verify,
            marconi=marconi,
        )
    )
    arena = arena_line(reserved_arena(dims, config, device, rules), width)
    beside = sum(line.bytes for line in fixed)
    later = free is None or fitted_after_load(dims, config)
    yardstick = None if later or free is None else before_load_yardstick(beside, arena.bytes, free)
    ring = plan_ring(dims, config, slots, yardstick)
    return MemoryPlan(
        slots=slots,
        budget=budget,
        verify=verify,
        pool=pool,
        prefix_active=real_prefix_cache,
        marconi=marconi,
        ring=ring,
        widths=(width, build_width(dims, config)),
        reserve=(*fixed, ring_line(ring, slots, dims.blob)),
        arena_reserved=arena,
        arena=allocated_arena(dims, config, device, rules),
        block_bytes=block_bytes(dims, config),
        draft_block_bytes=draft_block_bytes(dims, config),
    )
