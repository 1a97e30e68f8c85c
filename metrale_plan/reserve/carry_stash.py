"""Carried-state stash of a proposer (engine memory plan, 7)."""

from metrale_plan.config.serve import ServeConfig
from metrale_plan.model.dims import ModelDims

ROW_CAP = 8
WIDEST_VERIFY = 128


def carry_stash(dims: ModelDims, config: ServeConfig, verify_slots: int) -> int:
    """Bytes of the stash for `verify_slots` verify slots, the dummy included (7).

    0 without a proposer, under a half-precision pool, and for heads that the fused kernels do not take.
    """
    if not config.proposer or config.f16_pool or dims.lin_v_heads == 0 or not dims.wide_heads:
        return 0
    heads, key, value = dims.lin_v_heads, dims.lin_k_dim, dims.lin_v_dim
    floats = ROW_CAP * (heads * value + heads + heads * key)
    conv_elems = ROW_CAP * dims.conv_dim
    per_slot = 4 * floats + 2 * conv_elems + 4  # FP32 rows, BF16 windows, one u32 count
    per_layer_tables = WIDEST_VERIFY * (3 * 8 + 4)  # three pointers and a u32 for each sequence of the verify
    shared_tables = 2 * WIDEST_VERIFY * 4
    return dims.ssm_layers * (verify_slots * per_slot + per_layer_tables) + shared_tables
