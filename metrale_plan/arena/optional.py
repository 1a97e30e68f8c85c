"""Buffers that adapters or environment variables ask for (engine memory plan, 11)."""

from metrale_plan.arena.shape import ArenaShape
from metrale_plan.integers import align
from metrale_plan.units import MIB


def lora_buffers(shape: ArenaShape, rank: int) -> dict[str, int]:
    """Buffers of adapters up to `rank`; none for rank 0 (11)."""
    if rank <= 0:
        return {}
    dims, m = shape.dims, shape.m
    return {
        "lora_xa": 2 * m * rank,
        "lora_delta": 2 * m * max(dims.hidden, dims.inter, dims.q_mul * dims.q_heads * dims.head_dim),
        "lora_hact": 2 * m * dims.inter,
        "lora_seq_slot": 4 * m,
    }


def q2_dequant_scratch(shape: ArenaShape) -> int:
    """One weight widened to BF16, the largest of a layer (`METRALE_GGUF_NATIVE_Q2`, 11)."""
    dims = shape.dims
    queries, keys_values = dims.q_heads * dims.q_mul * dims.head_dim, 2 * dims.kv_heads * dims.head_dim
    return 2 * dims.hidden * max(dims.inter, dims.qkvz, dims.mamba_in, queries, keys_values)


def q2_act_q8(shape: ArenaShape) -> int:
    """Activations at 8 bits for the quantised matrix product (`METRALE_GGUF_NATIVE_Q2_MMQ`, 11)."""
    dims = shape.dims
    return 4 * shape.m * align(max(dims.hidden, dims.inter, dims.q_heads * dims.head_dim), 256) + MIB


def ssm_rowwise_w_bf16(shape: ArenaShape) -> int:
    """Recurrent projections of all layers at BF16 (`METRALE_FP8_ROWWISE`, 11)."""
    dims = shape.dims
    return dims.ssm_layers * (2 * dims.qkvz * dims.hidden + 2 * dims.hidden * dims.value_dim)


def variable_buffers(shape: ArenaShape) -> dict[str, int]:
    """The buffers that environment variables switch on, in the plan's order (11)."""
    config = shape.config
    return {
        "q2_dequant_scratch": q2_dequant_scratch(shape) if config.native_q2 else 0,
        "q2_act_q8": q2_act_q8(shape) if config.native_q2_mmq else 0,
        "ssm_rowwise_w_bf16": ssm_rowwise_w_bf16(shape) if config.fp8_rowwise else 0,
    }
