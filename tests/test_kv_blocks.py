"""KV blocks (engine memory plan, 12)."""

from dataclasses import replace

import pytest
from boots import DENSE, MOE, NEMOTRON, boot

from metrale_plan.config.serve import ServeConfig
from metrale_plan.kv import (
    KV_DTYPE_SHORT,
    KV_DTYPES,
    block_bytes,
    draft_block_bytes,
    draft_blocks,
    edge_layers,
    layer_dtypes,
    pair_bytes,
    parse_kv_dtype,
    uniform_block_bytes,
)
from metrale_plan.model.dims import LayerKind, ModelDims

FULL: tuple[LayerKind, ...] = ("full",)


def attention(layers: int) -> ModelDims:
    """A model whose layers cache one head of 64: 1024 elements a side in a block of 16."""
    return ModelDims(
        loader=None,
        model_type="llama",
        recurrent="none",
        layers=FULL * layers,
        hidden=1024,
        vocab=32000,
        q_heads=8,
        kv_heads=1,
        head_dim=64,
        has_mtp=True,
    )


# n = 1024, g = 64: bf16 2048, fp8 1024, nvfp4 and turbo4 512 + 64 = 576, turbo3 384 + 64 = 448,
# turbo2 256 + 64 = 320, turbo8 1024 + 128 = 1152.
PAIRS = {
    "bf16": 4096,
    "fp8": 2048,
    "nvfp4": 1152,
    "turbo4": 1152,
    "turbo3": 896,
    "turbo2": 640,
    "turbo8": 2304,
    "turbo4k_turbo3v": 576 + 448,
    "turbo4k_turbo8v": 576 + 1152,
    "turbo3k_turbo8v": 448 + 1152,
    "bf16k_turbo4v": 2048 + 576,
    "bf16k_turbo3v": 2048 + 448,
    "bf16k_turbo2v": 2048 + 320,
    "fp8k_turbo4v": 1024 + 576,
    "fp8k_turbo3v": 1024 + 448,
    "fp8k_turbo2v": 1024 + 320,
}

SHORT = {
    "turbo4k3v": "turbo4k_turbo3v",
    "turbo4k8v": "turbo4k_turbo8v",
    "turbo3k8v": "turbo3k_turbo8v",
    "bf16k4v": "bf16k_turbo4v",
    "bf16k3v": "bf16k_turbo3v",
    "bf16k2v": "bf16k_turbo2v",
    "fp8k4v": "fp8k_turbo4v",
    "fp8k3v": "fp8k_turbo3v",
    "fp8k2v": "fp8k_turbo2v",
}


def test_every_dtype() -> None:
    assert {dtype: pair_bytes(dtype, 1024) for dtype in KV_DTYPES} == PAIRS


def test_sides_round_down_each_on_its_own() -> None:
    # n = 1003: n//16 = 62; 501 + 62; 3009//8 = 376 + 62; 250 + 62; 1003 + 124
    sides = {dtype: pair_bytes(dtype, 1003) // 2 for dtype in ("nvfp4", "turbo3", "turbo2", "turbo8")}
    assert sides == {"nvfp4": 563, "turbo3": 438, "turbo2": 312, "turbo8": 1127}


def test_short_spellings() -> None:
    assert dict(KV_DTYPE_SHORT) == SHORT
    assert {text: parse_kv_dtype(text) for text in SHORT} == SHORT
    assert all(parse_kv_dtype(name) == name for name in KV_DTYPES)
    assert pair_bytes("bf16k3v", 1024) == PAIRS["bf16k_turbo3v"]


@pytest.mark.parametrize("text", ["", "FP8", "fp16", "turbo", "turbo8k_turbo8v", "turbo8k8v", " fp8", "auto"])
def test_unknown_dtypes(text: str) -> None:
    with pytest.raises(ValueError, match="KV cache dtype"):
        parse_kv_dtype(text)


# 12.2


@pytest.mark.parametrize(
    ("dtype", "layers", "asked", "edge"),
    [
        ("fp8", 16, 0, 0),
        ("bf16", 16, 0, 0),
        ("nvfp4", 16, 0, 0),
        ("turbo2", 16, 0, 13),  # ceil(64 / 5)
        ("turbo2", 4, 0, 4),
        ("bf16k_turbo3v", 16, 0, 13),
        ("bf16k3v", 10, 0, 8),
        ("turbo3", 16, 0, 6),  # ceil(16 / 3)
        ("turbo4", 3, 0, 2),
        ("turbo8", 9, 0, 3),
        ("fp8k_turbo2v", 16, 0, 6),
        ("bf16k_turbo2v", 16, 0, 6),
        ("turbo2", 16, 1, 1),
        ("fp8", 16, 2, 2),
        ("fp8", 16, None, 16),
        ("turbo3", 16, None, 16),
    ],
)
def test_edge(dtype: str, layers: int, asked: int | None, edge: int) -> None:
    assert edge_layers(ServeConfig(kv_cache_dtype=dtype, kv_high_precision_layers=asked), layers) == edge


@pytest.mark.parametrize(
    ("dtype", "asked", "size"),
    [
        ("fp8", 0, 8 * 2048),
        ("fp8", 1, 2 * 4096 + 6 * 2048),
        ("fp8", 2, 4 * 4096 + 4 * 2048),
        ("fp8", 4, 8 * 4096),
        ("fp8", 100, 8 * 4096),
        ("fp8", None, 8 * 4096),
        ("bf16", 2, 8 * 4096),
        ("turbo3", 0, 6 * 4096 + 2 * 896),  # edge = ceil(8 / 3) = 3
        ("turbo2", 0, 8 * 4096),  # edge = ceil(32 / 5) = 7
        ("bf16k2v", 1, 2 * 4096 + 6 * 2368),
    ],
)
def test_block_bytes(dtype: str, asked: int | None, size: int) -> None:
    config = ServeConfig(kv_cache_dtype=dtype, kv_high_precision_layers=asked)
    assert block_bytes(attention(8), config) == size
    assert uniform_block_bytes(attention(8), config) == 8 * pair_bytes(dtype, 1024)


def test_odd_layer_count_shares_the_middle() -> None:
    config = ServeConfig(kv_cache_dtype="fp8", kv_high_precision_layers=2)
    assert layer_dtypes(attention(5), config) == ("bf16", "bf16", "fp8", "bf16", "bf16")
    assert layer_dtypes(attention(3), config) == ("bf16",) * 3


def test_block_size_scales_a_block() -> None:
    assert block_bytes(attention(8), ServeConfig(block_size=4096)) == 256 * 8 * 2048
    assert block_bytes(attention(8), ServeConfig(block_size=1, kv_cache_dtype="nvfp4")) == 8 * 2 * (32 + 4)


def test_mla_caches_one_latent_head() -> None:
    dims = replace(attention(4), kv_heads=8, kv_lora_rank=512, qk_rope_head_dim=64)
    assert block_bytes(dims, ServeConfig()) == 4 * 2 * 16 * 576
    assert block_bytes(dims, ServeConfig(kv_high_precision_layers=1)) == (2 * 4 + 2 * 2) * 16 * 576
    assert block_bytes(replace(dims, kv_lora_rank=0), ServeConfig()) == 4 * 2 * 16 * 8 * 64


def test_shapes_by_layer() -> None:
    dims = replace(attention(3), kv_shapes=((1, 64), (4, 512), (2, 64)))
    assert block_bytes(dims, ServeConfig()) == 2 * 16 * (64 + 2048 + 128)
    edges = ServeConfig(kv_high_precision_layers=1)
    assert block_bytes(dims, edges) == 2 * 16 * (2 * 64 + 2048 + 2 * 128)
    assert uniform_block_bytes(dims, edges) == 2 * 16 * (64 + 2048 + 128)


def test_no_attention_layers() -> None:
    assert block_bytes(attention(0), ServeConfig(kv_cache_dtype="turbo2")) == 0


# 12.3 and the boots


@pytest.mark.parametrize(
    ("name", "block", "draft", "pool"),
    [(DENSE, 524288, 65536, 13606846464), (MOE, 327680, 32768, 60790276096), (NEMOTRON, 49152, None, 201768960)],
)
def test_boots(name: str, block: int, draft: int | None, pool: int) -> None:
    entry = boot(name)
    blocks, drafted = entry.record["kv_blocks"], entry.record["draft_kv_blocks"]
    assert block_bytes(entry.dims, entry.config) == block
    assert draft_block_bytes(entry.dims, entry.config) == draft
    assert draft_blocks(entry.dims, entry.config, blocks) == drafted
    held = blocks * block + drafted * (draft or 0)
    assert held == pool
    assert round(held / 2**20, 1) == entry.record["ledger"]["kv"]["mib"]


@pytest.mark.parametrize(
    ("config", "dense_ffn", "size"),
    [
        (ServeConfig(), False, None),
        (ServeConfig(self_speculative=True, ngram_speculative=True), False, None),
        (ServeConfig(speculative=True), False, 16 * 64 * 2 * 2),
        (ServeConfig(dflash=True), False, 16 * 64 * 2 * 2),
        (ServeConfig(speculative=True, mtp_quantization="fp8"), False, 16 * 64 * 2 * 2),
        (ServeConfig(speculative=True, mtp_quantization="nvfp4"), False, 16 * 64 * 2),
        (ServeConfig(speculative=True, mtp_quantization="nvfp4"), True, 16 * 64 * 2 * 2),
        (ServeConfig(speculative=True, block_size=64), False, 16 * 64 * 2 * 2),
    ],
)
def test_draft_block(config: ServeConfig, dense_ffn: bool, size: int | None) -> None:
    dims = replace(attention(4), mtp_dense_ffn=dense_ffn)
    assert draft_block_bytes(dims, config) == size
    assert draft_block_bytes(replace(dims, has_mtp=False), config) is None


@pytest.mark.parametrize(("main", "blocks"), [(0, 129), (100, 129), (1000, 1000), (4128, 4128), (25437, 4128)])
def test_draft_blocks(main: int, blocks: int) -> None:
    config = ServeConfig(speculative=True, max_seq_len=2048)  # 129 a sequence, 32 sequences
    assert draft_blocks(attention(4), config, main) == blocks
    assert draft_blocks(attention(4), ServeConfig(max_seq_len=2048), main) == 0
