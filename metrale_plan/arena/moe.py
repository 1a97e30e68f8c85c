"""Router and expert buffers; a dense model uses the expert ones for its FFN (engine memory plan, 11, 11.4)."""

from metrale_plan.arena.shape import PLACEHOLDER, ArenaShape
from metrale_plan.integers import align, ceil_div

TABLE_EXPERTS = 256
"""Expert count that the grouped kernels have a second table for."""


def router_buffers(shape: ArenaShape) -> dict[str, int]:
    """Router input and logits; placeholders without experts (11)."""
    dims, m = shape.dims, shape.m
    if not dims.experts:
        return dict.fromkeys(("gate_logits", "gate_logits_f32", "moe_router_in_f32"), PLACEHOLDER)
    routed = dims.experts + dims.zero_experts
    return {"gate_logits": 2 * m * routed, "gate_logits_f32": 4 * m * routed, "moe_router_in_f32": 4 * m * dims.hidden}


def expert_act(shape: ArenaShape) -> int:
    """Bytes of `expert_gate_out` and of `expert_up_out`; the element's size is dated (11)."""
    dims = shape.dims
    if not dims.experts:
        return 2 * shape.rows3 * dims.inter
    return shape.rules.moe_expert_elem * shape.rows3 * max(dims.top_k * dims.moe_inter, dims.inter)


def expert_down_out(shape: ArenaShape) -> int:
    """Bytes of the experts' outputs before they are combined (11)."""
    dims = shape.dims
    if not dims.experts:
        return 2 * shape.rows3 * dims.hidden
    return 2 * shape.rows3 * dims.top_k * (dims.moe_latent or dims.hidden)


def moe_fp8_scratch(shape: ArenaShape) -> int:
    """Activations at FP8, their scales and the grouped kernels' work items; 0 without experts (11.4)."""
    dims, m = shape.dims, shape.m
    if not dims.experts:
        return 0
    routed = m * dims.top_k
    shared = max(dims.hidden, dims.shared_inter)
    cols = ceil_div(max(dims.hidden, dims.moe_inter), 64)
    act = max(m * shared, routed * dims.moe_inter)
    scales = 4 * max(m * ceil_div(shared, 128), routed * ceil_div(dims.moe_inter, 128))
    items = (ceil_div(routed, 128) + dims.experts + 1) * cols
    end = align(act, 256) + align(scales, 256) + align(8 * items, 256) + 4
    if dims.experts == TABLE_EXPERTS:
        end = align(end, 256) + align(8 * dims.experts * cols, 256) + 4
    return end


def expert_buffers(shape: ArenaShape) -> dict[str, int]:
    """Router, expert and FP8 buffers, in the plan's order (11)."""
    return router_buffers(shape) | {
        "expert_gate_out": expert_act(shape),
        "expert_up_out": expert_act(shape),
        "expert_down_out": expert_down_out(shape),
        "moe_fp8_scratch": moe_fp8_scratch(shape),
    }
