"""What `models` and `devices` tell: bundled files as rows of values, ready for a table or for JSON."""

from dataclasses import dataclass

from metrale_plan.config.serve import ServeConfig
from metrale_plan.integers import ceil_div
from metrale_plan.kv import block_bytes, parse_kv_dtype
from metrale_plan.model.dims import ModelDims
from metrale_plan.model.load import Model

ENGINE_KV_DTYPE = "fp8"
"""KV dtype of a model whose file names none (engine memory plan, 3.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model at a glance.

    Attributes:
        model: the loaded file; its `geometry` is None where dimensions are missing.
        kv_dtype: the model's own KV dtype.
        kv_bytes_per_token: K and V of all attention layers at that dtype, or None where dimensions are missing.
    """

    model: Model
    kv_dtype: str
    kv_bytes_per_token: int | None


def model_row(model: Model) -> ModelRow:
    """The row of one loaded model."""
    dtype = parse_kv_dtype(model.behavior.default_kv_dtype or ENGINE_KV_DTYPE)
    per_token = None if model.geometry is None else kv_bytes_per_token(model.geometry, dtype)
    return ModelRow(model=model, kv_dtype=dtype, kv_bytes_per_token=per_token)


def kv_bytes_per_token(dims: ModelDims, dtype: str) -> int:
    """Bytes of one token's K and V over all attention layers: its share of a block. Engine memory plan, 12.2."""
    config = ServeConfig(kv_cache_dtype=dtype)
    return ceil_div(block_bytes(dims, config), config.block_size)


def layer_counts(dims: ModelDims) -> dict[str, int]:
    """How many layers of each kind, in the order of their first appearance."""
    return {kind: dims.layers.count(kind) for kind in dict.fromkeys(dims.layers)}
