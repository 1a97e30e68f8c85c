"""Buffers of the recurrent layers: projections, gates and chunked prefill scratch (engine memory plan, 11, 11.3)."""

from metrale_plan.arena.shape import PLACEHOLDER, ArenaShape
from metrale_plan.integers import ceil_div

CHUNK = 64


def ssm_qkvz(shape: ArenaShape) -> int:
    """The widest of the rows that use the input projection's buffer (11)."""
    dims, m, rows = shape.dims, shape.m, shape.rows
    return max(
        2 * rows * dims.qkvz,
        2 * m * dims.mamba_in,
        2 * (m + rows) * dims.kv_heads * dims.head_dim,
        2 * m * dims.shared_inter,
        PLACEHOLDER,
    )


def ssm_ba(shape: ArenaShape) -> int:
    """The widest of the rows that use the beta and alpha buffer; the propose needs at most 128 (11)."""
    dims, m = shape.dims, shape.m
    latent = (2 * m * dims.qk_rope_head_dim, 2 * m * dims.q_lora_rank) if dims.mla else ()
    return max(4 * m * dims.lin_v_heads, 2 * m * dims.moe_latent, *latent, 4 * shape.prop * dims.hidden, PLACEHOLDER)


def ssm_deinterleaved(shape: ArenaShape) -> int:
    """The widest of the rows that use the buffer of the split projection (11)."""
    dims, m = shape.dims, shape.m
    return max(
        2 * shape.rows * dims.qkvz,
        2 * m * dims.mamba_xbc,
        2 * m * dims.q_heads * dims.head_dim,
        2 * m * dims.q_heads * dims.mla,
        PLACEHOLDER,
    )


def ssm_gates(shape: ArenaShape) -> int:
    """The widest of the rows that use the gates' buffer (11)."""
    return max(8 * shape.m * shape.dims.lin_v_heads, 2 * shape.prop * shape.dims.hidden, PLACEHOLDER)


def ssm_conv_out_f32(shape: ArenaShape) -> int:
    """The convolution's output in FP32, or the rotary part of MLA queries (11)."""
    dims, m = shape.dims, shape.m
    latent = 2 * m * dims.q_heads * dims.qk_rope_head_dim if dims.mla else 0
    return max(4 * m * dims.qkvz, latent, PLACEHOLDER)


def gdn_fla_scratch(shape: ArenaShape) -> int:
    """Chunked delta-net prefill; 0 unless the heads are 128 x 128 (11.3)."""
    dims = shape.dims
    if not dims.wide_heads:
        return 0
    key, value = dims.lin_k_dim, dims.lin_v_dim
    chunk = CHUNK * key * 2 + CHUNK * value * 2 + key * value * 2 + CHUNK * value * 2 + CHUNK * 4
    return (ceil_div(shape.m, CHUNK) + 16) * dims.lin_v_heads * chunk


def ssd_scratch(shape: ArenaShape) -> int:
    """Chunked Mamba-2 prefill; 0 for every other model (11.3)."""
    dims = shape.dims
    if dims.mamba_heads == 0:
        return 0
    chunks = ceil_div(shape.m, CHUNK) + 1
    groups = max(dims.ssm_groups, 1)
    return 2 * dims.mamba_heads * chunks * CHUNK * 4 + chunks * groups * CHUNK * CHUNK * 4


def recurrent_projections(shape: ArenaShape) -> dict[str, int]:
    """The projection buffers, in the plan's order (11)."""
    return {
        "ssm_qkvz": ssm_qkvz(shape),
        "ssm_ba": ssm_ba(shape),
        "ssm_deinterleaved": ssm_deinterleaved(shape),
        "ssm_gates": ssm_gates(shape),
        "ssm_conv_out_f32": ssm_conv_out_f32(shape),
    }


def recurrent_scratch(shape: ArenaShape) -> dict[str, int]:
    """The chunked prefill buffers, in the plan's order (11.3)."""
    return {"gdn_fla_scratch": gdn_fla_scratch(shape), "ssd_scratch": ssd_scratch(shape)}
