"""The reserve as a list of lines, in the engine's order; every total is a sum over them."""

from collections.abc import Iterator

from metrale_plan.config.serve import ServeConfig
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan.ring import RingPlan
from metrale_plan.plan.verify import VerifyPlan
from metrale_plan.pool import PoolPlan
from metrale_plan.prefix_cache import is_glm
from metrale_plan.reserve import (
    MarconiSlotDecision,
    ssm_h_prefill_stage_bytes,
    ssm_replay_ring_bytes,
    ssm_replay_row_bytes,
)
from metrale_plan.reserve.carry_stash import carry_stash
from metrale_plan.reserve.headroom import runtime_headroom
from metrale_plan.reserve.line import Line
from metrale_plan.reserve.per_sequence import per_sequence
from metrale_plan.reserve.prefill_scratch import gdn_two_phase, prefill_row_bytes
from metrale_plan.reserve.replay import glm_replay_row_bytes
from metrale_plan.rules import EngineRules

POOL = "layers x slots x (h + conv)"
POOL_WITH_VERIFY = (
    "layers x (slots x (h + conv) + h_steps x h + verify_slots x conv_steps x conv + verify_slots x (h + conv))"
)


def marconi_slot_bytes(dims: ModelDims, *, hidden_row: bool = True) -> int:
    """Bytes of one snapshot: FP32 state of every recurrent layer, also under f16-pool, and the last hidden row."""
    return dims.blob + (2 * dims.hidden if hidden_row else 0)


def replay_row(dims: ModelDims) -> int:
    """Bytes of one recurrent layer's row in the replay ring. Engine memory plan, 4."""
    if is_glm(dims):
        return glm_replay_row_bytes(dims.lin_v_heads, dims.lin_v_dim)
    return ssm_replay_row_bytes(dims.qkvz, dims.lin_v_heads)


def fixed_lines(
    dims: ModelDims,
    config: ServeConfig,
    rules: EngineRules,
    *,
    slots: int,
    width: int,
    budget: int,
    pool: PoolPlan,
    verify: VerifyPlan | None,
    marconi: MarconiSlotDecision,
) -> Iterator[Line]:
    """Every term of the reserve but the ring, zero terms included. Engine memory plan, 13.1.

    Args:
        slots: sequences the reserve is for.
        width: preflight batch tokens.
        budget: bytes the utilization allows.
    """
    counts = pool.counts
    yield Line(
        term="ssm_pool",
        bytes=pool.total,
        formula=POOL_WITH_VERIFY if counts.verify else POOL,
        inputs={
            "layers": dims.ssm_layers,
            "slots": counts.slots,
            "h": pool.h_stored,
            "conv": dims.conv_unit,
            "h_steps": sum(counts.verify.h_steps) if counts.verify else 0,
            "verify_slots": len(counts.verify.h_steps) if counts.verify else 0,
            "conv_steps": counts.verify.conv_steps if counts.verify else 0,
        },
    )
    staged = counts.slots if dims.ssm_layers else 0
    yield Line(
        term="ssm_h_stage",
        bytes=ssm_h_prefill_stage_bytes(staged, dims.h_unit, config.f16_pool),
        formula="slots x h",
        inputs={"slots": staged, "h": dims.h_unit},
    )
    yield _replay_line(dims, config, rules, verify)
    slot_bytes = marconi_slot_bytes(dims, hidden_row=rules.marconi_hidden_row)
    yield Line(
        term="marconi",
        bytes=marconi.slots * slot_bytes,
        formula="snapshots x slot",
        inputs={"snapshots": marconi.slots, "slot": slot_bytes},
    )
    yield Line(
        term="gdn_two_phase",
        bytes=gdn_two_phase(dims, width),
        formula="tokens x row",
        inputs={"tokens": width, "row": prefill_row_bytes(dims)},
    )
    verify_slots = len(counts.verify.h_steps) if counts.verify else 0
    headroom = runtime_headroom(config, rules, budget=budget, carry=carry_stash(dims, config, verify_slots))
    yield Line(
        term="carry_stash",
        bytes=headroom.carry_stash,
        formula="layers x (verify_slots x stash rows + tables) + pointers",
        inputs={"layers": dims.ssm_layers, "verify_slots": verify_slots},
    )
    yield Line(term="driver_fixed", bytes=headroom.driver_fixed, formula="fixed", inputs={}, basis="measured")
    yield Line(
        term="driver_bookkeeping",
        bytes=headroom.driver_bookkeeping,
        formula="budget // 1000 x 21",
        inputs={"budget": budget},
        basis="measured",
    )
    yield Line(
        term="flat_headroom",
        bytes=headroom.flat,
        formula="one figure, on rules before 2026-10-01",
        inputs={},
        basis="measured",
    )
    yield Line(
        term="per_sequence",
        bytes=per_sequence(dims, config, rules, slots),
        formula="slots x indexer rows of one sequence",
        inputs={"slots": slots},
    )


def ring_line(ring: RingPlan, slots: int, blob: int) -> Line:
    """The decode-rollback ring at the reserved depth."""
    return Line(
        term="decode_ring",
        bytes=ring.bytes,
        formula="depth x slots x blob",
        inputs={"depth": ring.reserved, "slots": slots, "blob": blob},
    )


def arena_line(size: int, width: int) -> Line:
    """The buffer arena at the preflight width."""
    return Line(term="buffer_arena", bytes=size, formula="the buffers of tokens in one batch", inputs={"tokens": width})


def _replay_line(dims: ModelDims, config: ServeConfig, rules: EngineRules, verify: VerifyPlan | None) -> Line:
    replay = config.ssm_rollback_mode == "replay" and verify is not None
    rows = slots = 0
    if replay and verify is not None:
        rows = verify.rows if rules.copy_tier_in_replay_ring else verify.base_rows
        slots = verify.slots + (1 if rules.dummies_in_reserve else 0)
    row = replay_row(dims)
    return Line(
        term="replay_ring",
        bytes=ssm_replay_ring_bytes(dims.ssm_layers, row, rows, slots),
        formula="layers x row x (rows - 1) x verify_slots",
        inputs={"layers": dims.ssm_layers, "row": row, "rows": rows, "verify_slots": slots},
    )
