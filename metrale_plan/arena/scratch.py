"""The metadata scratch of decode and prefill (engine memory plan, 11.1)."""

from metrale_plan.arena.shape import ArenaShape
from metrale_plan.integers import align, ceil_div

FLOOR = 65536
BATCHED_SEQUENCES = 8


def prefill_metadata(shape: ArenaShape, tokens: int) -> int:
    """`meta(n)`: metadata of `tokens` prompt tokens and one block table (11.1)."""
    size = align(4 * tokens * shape.dims.position_streams, 8) + 8 * tokens
    size = align(size, 4) + 4 * shape.blocks_per_seq
    return align(size, 4) + 4


def decode_tables(shape: ArenaShape) -> int:
    """`tables`: block tables of 256 sequences or of the decode rows, past a fixed head (11.1)."""
    tables, decode = shape.blocks_per_seq * 4, shape.decode_rows
    return 32768 + max(24 * 256 + 256 * tables, 24 * decode + decode * tables)


def batched_prefill(shape: ArenaShape) -> int:
    """`batched`: metadata of eight prompts prefilled together (11.1)."""
    streams = shape.dims.position_streams
    each = max(ceil_div(shape.m, BATCHED_SEQUENCES), 1)
    tokens = BATCHED_SEQUENCES * each
    routing = align(8 * tokens * shape.dims.top_k, 64)
    prompts = BATCHED_SEQUENCES * align(align(4 * each * streams, 8) + 8 * each, 64)
    packed = streams * align(4 * tokens, 8) + align(8 * tokens, 8)
    lengths = 2 * align(64, 8) + align(36, 8) + align(32, 8)
    return routing + prompts + packed + lengths + 64


def scratch(shape: ArenaShape) -> int:
    """`scratch`: the largest of its users, never below 64 KiB (11.1)."""
    routed = 8 * shape.m * shape.dims.top_k + prefill_metadata(shape, shape.m)
    return max(FLOOR, routed, decode_tables(shape), batched_prefill(shape))
