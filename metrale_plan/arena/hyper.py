"""Hyper-connection streams (engine memory plan, 11.5)."""

from metrale_plan.arena.shape import PLACEHOLDER, ArenaShape

ENTRIES = ("hc_streams", "hc_post", "hc_comb", "hc_lowrank_scratch")


def lowrank_scratch(shape: ArenaShape) -> int:
    """Scratch of low-rank mixing, for up to 64 FP32 rows or 2048 BF16 rows; a placeholder without it (11.5)."""
    streams, rank = shape.dims.hc_mult, shape.dims.hc_lowrank
    if rank == 0:
        return PLACEHOLDER
    mixed = streams * shape.dims.hidden
    return max(min(shape.m, 64) * (mixed + rank) * 4, min(shape.m, 2048) * (2 * mixed + rank + streams) * 2)


def hyper_buffers(shape: ArenaShape) -> dict[str, int]:
    """The four hyper-connection buffers; placeholders where the model has none (11.5)."""
    m, streams = shape.m, shape.dims.hc_mult
    if streams == 0:
        return dict.fromkeys(ENTRIES, PLACEHOLDER)
    return {
        "hc_streams": 4 * m * streams * shape.dims.hidden,
        "hc_post": max(4 * m * streams, PLACEHOLDER),
        "hc_comb": max(4 * m * streams * streams, PLACEHOLDER),
        "hc_lowrank_scratch": lowrank_scratch(shape),
    }
