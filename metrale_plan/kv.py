"""KV blocks: dtypes, the layers kept at BF16, and the bytes of one block (engine memory plan, 12 and 13.3)."""

from collections.abc import Callable
from types import MappingProxyType

from metrale_plan.config.serve import ServeConfig
from metrale_plan.integers import ceil_div
from metrale_plan.model.dims import ModelDims

GROUP = 16
"""Elements that share one scale byte."""

DRAFT_BLOCK_TOKENS = 16
"""The draft head's blocks hold this many tokens whatever `--block-size` says."""

_SIDES: dict[str, Callable[[int], int]] = {
    "bf16": lambda n: 2 * n,
    "fp8": lambda n: n,
    "nvfp4": lambda n: n // 2 + n // GROUP,
    "turbo4": lambda n: n // 2 + n // GROUP,
    "turbo3": lambda n: 3 * n // 8 + n // GROUP,
    "turbo2": lambda n: n // 4 + n // GROUP,
    "turbo8": lambda n: n + 2 * (n // GROUP),
}

_MIXED = {
    "turbo4k_turbo3v": ("turbo4", "turbo3"),
    "turbo4k_turbo8v": ("turbo4", "turbo8"),
    "turbo3k_turbo8v": ("turbo3", "turbo8"),
    "bf16k_turbo4v": ("bf16", "turbo4"),
    "bf16k_turbo3v": ("bf16", "turbo3"),
    "bf16k_turbo2v": ("bf16", "turbo2"),
    "fp8k_turbo4v": ("fp8", "turbo4"),
    "fp8k_turbo3v": ("fp8", "turbo3"),
    "fp8k_turbo2v": ("fp8", "turbo2"),
}

KV_DTYPES: tuple[str, ...] = (*_SIDES, *_MIXED)
"""Every dtype by its long name; the mixed ones give K, then V."""

KV_DTYPE_SHORT = MappingProxyType({name.replace("_turbo", ""): name for name in _MIXED})
"""Short spelling to long name: `turbo4k3v` is `turbo4k_turbo3v`."""


def parse_kv_dtype(text: str) -> str:
    """The long name of a KV dtype given by either spelling (12.1).

    Raises:
        ValueError: no such dtype.
    """
    name = KV_DTYPE_SHORT.get(text, text)
    if name not in KV_DTYPES:
        raise ValueError(f"unknown KV cache dtype {text!r}")
    return name


def kv_sides(dtype: str) -> tuple[str, str]:
    """The dtypes of K and of V (12.1)."""
    name = parse_kv_dtype(dtype)
    return _MIXED.get(name, (name, name))


def side_bytes(side: str, elements: int) -> int:
    """Bytes of `elements` values of one side of a block (12.1)."""
    return _SIDES[side](elements)


def pair_bytes(dtype: str, elements: int) -> int:
    """Bytes of K and V of one layer's block, `elements` values each (12.1)."""
    key, value = kv_sides(dtype)
    return side_bytes(key, elements) + side_bytes(value, elements)


def layer_shapes(dims: ModelDims) -> tuple[tuple[int, int], ...]:
    """(heads, head dim) that each attention layer caches (12.1, 12.2).

    MLA caches one latent head; shapes that the model lists by layer replace the model-wide pair.
    """
    if dims.kv_shapes:
        return dims.kv_shapes
    alike = (1, dims.mla) if dims.mla else (dims.kv_heads, dims.head_dim)
    return (alike,) * dims.attention_layers


def own_edge(dtype: str, attention_layers: int) -> int:
    """Layers at each end that a dtype keeps at BF16 by itself when the flag is 0 (12.2)."""
    name = parse_kv_dtype(dtype)
    if "turbo" not in name:
        return 0
    if name in ("turbo2", "bf16k_turbo3v"):
        return max(ceil_div(4 * attention_layers, 5), 4)
    return max(ceil_div(attention_layers, 3), 2)


def edge_layers(config: ServeConfig, attention_layers: int) -> int:
    """`edge`: attention layers at each end that are kept at BF16; may exceed half of them (12.2)."""
    asked = config.kv_high_precision_layers
    edge = attention_layers if asked is None else asked
    return edge or own_edge(config.kv_cache_dtype, attention_layers)


def layer_dtypes(dims: ModelDims, config: ServeConfig) -> tuple[str, ...]:
    """The dtype of every attention layer, in order (12.2)."""
    count = len(layer_shapes(dims))
    base = parse_kv_dtype(config.kv_cache_dtype)
    edge = edge_layers(config, count)
    return tuple("bf16" if at < edge or at >= count - edge else base for at in range(count))


def block_bytes(dims: ModelDims, config: ServeConfig) -> int:
    """Bytes of one block index over all attention layers, K and V (12.2)."""
    layers = zip(layer_shapes(dims), layer_dtypes(dims, config), strict=True)
    return sum(pair_bytes(dtype, config.block_size * heads * dim) for (heads, dim), dtype in layers)


def uniform_block_bytes(dims: ModelDims, config: ServeConfig) -> int:
    """Bytes of one block index with every layer at the flag's dtype, as the ring fit prices it (13.3)."""
    return sum(pair_bytes(config.kv_cache_dtype, config.block_size * heads * dim) for heads, dim in layer_shapes(dims))


def draft_block_bytes(dims: ModelDims, config: ServeConfig) -> int | None:
    """Bytes of one block of the draft head's pool, or None where no draft head runs (12.3)."""
    if not (config.speculative or config.dflash) or not dims.has_mtp:
        return None
    element = 1 if config.mtp_quantization == "nvfp4" and not dims.mtp_dense_ffn else 2
    return DRAFT_BLOCK_TOKENS * dims.kv_heads * dims.head_dim * 2 * element


def draft_blocks(dims: ModelDims, config: ServeConfig, main_blocks: int) -> int:
    """Blocks of the draft head's pool beside `main_blocks` of the main one; 0 without a draft head (12.3)."""
    if draft_block_bytes(dims, config) is None:
        return 0
    per_seq = config.max_seq_len // DRAFT_BLOCK_TOKENS + 1
    return min(per_seq * config.mtp_max_seqs, max(main_blocks, per_seq))
