"""Recurrent prefill scratch (engine memory plan, 6)."""

from metrale_plan.config.serve import ServeConfig
from metrale_plan.model.dims import ModelDims


def prefill_row_bytes(dims: ModelDims) -> int:
    """Bytes of scratch for one prefill token, one layer's worth that all layers share (6)."""
    return 2 * dims.conv_dim + 8 * dims.lin_v_heads + 4 * dims.value_dim


def gdn_two_phase(dims: ModelDims, width: int) -> int:
    """Bytes for `width` tokens; 0 without delta-net layers, so Mamba-2 has none (6).

    The reserve passes the preflight width.
    """
    if dims.conv_dim == 0 or dims.ssm_layers == 0:
        return 0
    return width * prefill_row_bytes(dims)


def gdn_two_phase_allocated(dims: ModelDims, config: ServeConfig, build_width: int) -> int:
    """Bytes allocated after the load: the build width, but never more tokens than a sequence can hold (6)."""
    return gdn_two_phase(dims, min(build_width, config.max_seq_len))
