"""Quantised activations of a dense FFN, and the one weight that may be widened (engine memory plan, 11.5)."""

from metrale_plan.arena.shape import ArenaShape
from metrale_plan.integers import align
from metrale_plan.units import MIB

FUSED_ROWS = 16


def ffn_bf16_weight(shape: ArenaShape) -> int:
    """One FFN weight at BF16 when a row threshold is in force; dated (11.5).

    `METRALE_FFN_W4A16_LT_MIN_ROWS` wins over the class's threshold, also when it is 0.
    """
    config, device = shape.config, shape.device
    threshold = device.ffn_min_rows if config.ffn_min_rows is None else config.ffn_min_rows
    if threshold <= 0 or not shape.rules.ffn_bf16_weight:
        return 0
    return 2 * shape.dims.inter * shape.dims.hidden


def dense_ffn_buffers(shape: ArenaShape) -> dict[str, int]:
    """Buffers that only a model without experts has, in the plan's order (11.5)."""
    dims, m, rows = shape.dims, shape.m, shape.rows
    if dims.experts:
        return {}
    k = max(dims.hidden, dims.inter)
    return {
        "ffn_act_q8": 4 * m * align(k, 256) + MIB,
        "ffn_act_a": rows * k,
        "ffn_act_scale": 4 * rows * (k // 32),
        "ffn_act_scale_kmajor": 4 * rows * (k // 128),
        "ffn_gate_up_fused": 2 * FUSED_ROWS * 2 * dims.inter,
        "ffn_bf16_weight": ffn_bf16_weight(shape),
    }
