"""Buffers every model has: hidden states, attention, logits, token ids, FP8 activations (engine memory plan, 11)."""

from metrale_plan.arena.shape import PLACEHOLDER, ArenaShape
from metrale_plan.integers import ceil_div

QSA_ROWS = 2048


def stream_buffers(shape: ArenaShape) -> dict[str, int]:
    """Hidden states through attention to logits, in the plan's order (11)."""
    dims, m, rows = shape.dims, shape.m, shape.rows
    heads = dims.q_heads * dims.q_mul + 2 * dims.kv_heads
    attended = max(dims.q_heads * dims.head_dim, dims.mamba_inner, dims.q_heads * dims.mla)
    return {
        "hidden_states": 2 * m * dims.hidden,
        "residual": 2 * m * dims.hidden,
        "norm_output": 2 * m * shape.wide,
        "qkv_output": 2 * rows * heads * dims.head_dim,
        "attn_output": 2 * m * attended,
        "moe_output": 2 * rows * dims.hidden,
        "logits": 2 * min(m, max(256, shape.decode_rows + 1)) * shape.vocab,
    }


def qsa_select_scratch(shape: ArenaShape) -> int:
    """Selection scratch of a compressed sparse-attention indexer; a placeholder without one (11)."""
    dims = shape.dims
    heads, dim, ratio = dims.index_n_heads, dims.index_head_dim, dims.index_compress_ratio
    if not dims.index_topk or not ratio:
        return PLACEHOLDER
    scores = ceil_div(shape.config.max_seq_len, ratio) * 4
    chosen = dims.index_topk // ratio * 4
    return QSA_ROWS * ((heads + 1) * dim * 2 + heads * dim * 4 + scores + chosen)


def token_ids(shape: ArenaShape) -> int:
    """One u32 per token (11)."""
    return max(4 * shape.m, PLACEHOLDER)


def fp8_activations(shape: ArenaShape) -> dict[str, int]:
    """Activations at FP8 and their scales per 128 elements, in both layouts (11)."""
    scales = 4 * shape.rows * ceil_div(shape.act_width, 128)
    return {
        "fp8_act": shape.rows * shape.act_width,
        "fp8_act_scale": scales,
        "fp8_act_scale_kmajor": scales,
    }


def unreserved_buffers(shape: ArenaShape) -> dict[str, int]:
    """The two buffers that are allocated but left out of the reserved sum (11)."""
    dims = shape.dims
    return {
        "o_latent": max(2 * shape.m * dims.o_groups * dims.o_lora_rank, PLACEHOLDER),
        "norm_unit_w": 2 * shape.wide,
    }
