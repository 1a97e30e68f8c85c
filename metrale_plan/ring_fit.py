"""Fitting the decode-rollback ring to memory: two yardsticks and the fit itself (engine memory plan, 13.3).

Sums and products saturate at 2^64 - 1, as the engine's do.
"""

from dataclasses import dataclass
from typing import Literal

from metrale_plan.config.serve import ServeConfig
from metrale_plan.integers import ceil_div, less, saturating_add, saturating_mul
from metrale_plan.kv import uniform_block_bytes
from metrale_plan.model.dims import ModelDims
from metrale_plan.reserve.decode_ring import fit_decode_ring_slots

YardstickKind = Literal["before_load", "after_load"]

GRID = 128
"""Rows and columns that one scale of a block-scaled weight covers."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What the ring must fit into: `beside` and the ring together may take up to `limit` bytes."""

    kind: YardstickKind
    beside: int
    limit: int

    def fits(self, ring: int) -> bool:
        return saturating_add(self.beside, ring) <= self.limit


def before_load_yardstick(fixed: int, arena: int, free: int) -> Yardstick:
    """The reserve without a ring and the arena, against free memory before the weights load (13.3)."""
    return Yardstick("before_load", saturating_add(fixed, arena), free)


def after_load_yardstick(budget: int, weights: int, derived: int, arena: int, fixed: int, floor: int) -> Yardstick:
    """A floor of KV, against what the budget leaves once everything else is loaded (13.3)."""
    return Yardstick("after_load", floor, less(budget, saturating_add(weights, derived, arena, fixed)))


def fit_ring(want: int, per_depth: int, pinned: bool, yardstick: Yardstick) -> int:
    """The ring depth that is published: `want`, or the deepest step of the ladder that fits (13.3).

    Args:
        want: depth by section 5.2.
        per_depth: bytes of one unit of depth, ceiling x blob.
        pinned: the flag gave the depth; such a depth is never shrunk.
    """
    if want == 0 or per_depth == 0 or pinned or yardstick.fits(saturating_mul(want, per_depth)):
        return want
    # Before the load the verdict is about to refuse; it should name the ring that was asked for.
    if yardstick.kind == "before_load" and not yardstick.fits(0):
        return want
    return fit_decode_ring_slots(want, yardstick.beside, per_depth, yardstick.limit)


def kv_floor(dims: ModelDims, config: ServeConfig) -> int:
    """KV bytes that the after-load fit keeps free: `kv_floor_tokens` of every sequence (13.3)."""
    per_token = uniform_block_bytes(dims, config) // max(config.block_size, 1)
    tokens = min(config.kv_floor_tokens, config.max_seq_len)
    return saturating_mul(saturating_mul(config.ceiling, tokens), per_token)


def scale_grid(out: int, k: int) -> int:
    """Bytes of an `out x k` weight's block scales, FP32 (13.3)."""
    return 4 * ceil_div(out, GRID) * ceil_div(k, GRID)


def block_fp8(out: int, k: int) -> int:
    """Bytes of an `out x k` weight at FP8 with its block scales (13.3)."""
    return out * k + scale_grid(out, k)


def attention_copies(dims: ModelDims, *, prefill_q_t: bool = False, prefill_kernels: bool = True) -> int:
    """Copies of the attention projections that the native FP8 route makes, all layers (13.3).

    Args:
        prefill_q_t: `METRALE_ATTN_PREFILL_Q_T` is 1.
        prefill_kernels: the build has the prefill kernels.
    """
    kv_width, q_width = dims.kv_heads * dims.head_dim, dims.q_heads * dims.head_dim
    layer = 2 * block_fp8(kv_width, dims.hidden)
    if prefill_q_t or not prefill_kernels:
        layer += block_fp8(q_width * dims.q_mul, dims.hidden)
    if not prefill_kernels:
        layer += block_fp8(dims.hidden, q_width)
    return dims.attention_layers * layer


def recurrent_copies(dims: ModelDims) -> int:
    """Fused recurrent weights that the native FP8 route makes, all layers (13.3)."""
    layer = dims.qkvz * dims.hidden
    layer += scale_grid(dims.conv_dim, dims.hidden) + scale_grid(dims.value_dim, dims.hidden)
    layer += scale_grid(dims.hidden, dims.value_dim)
    layer += 4 * dims.lin_v_heads * dims.hidden
    return dims.ssm_layers * layer


def derived_copies(
    dims: ModelDims, *, prefill_q_t: bool = False, prefill_kernels: bool = True, gdn_fp8: bool = True
) -> int:
    """`derived`: what the native FP8 route adds to the stored weights (13.3).

    Args:
        prefill_q_t: `METRALE_ATTN_PREFILL_Q_T` is 1.
        prefill_kernels: the build has the prefill kernels.
        gdn_fp8: `METRALE_NO_GDN_FP8` is absent.
    """
    attention = attention_copies(dims, prefill_q_t=prefill_q_t, prefill_kernels=prefill_kernels)
    return attention + (recurrent_copies(dims) if gdn_fp8 else 0)
