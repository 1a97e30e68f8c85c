"""The buffer arena: every entry in bytes, as reserved before the load and as allocated (engine memory plan, 11)."""

from metrale_plan.arena.core import fp8_activations, qsa_select_scratch, stream_buffers, token_ids, unreserved_buffers
from metrale_plan.arena.ffn import dense_ffn_buffers
from metrale_plan.arena.hyper import hyper_buffers
from metrale_plan.arena.moe import expert_buffers
from metrale_plan.arena.optional import lora_buffers, variable_buffers
from metrale_plan.arena.recurrent import recurrent_projections, recurrent_scratch
from metrale_plan.arena.scratch import scratch
from metrale_plan.arena.shape import ArenaShape
from metrale_plan.arena.splitk import SplitKPolicy, parse_splitk, splitk_workspace
from metrale_plan.batch_tokens import build_width, preflight_width
from metrale_plan.config.serve import ServeConfig
from metrale_plan.device import DeviceSpec
from metrale_plan.model.dims import ModelDims
from metrale_plan.rules import EngineRules

__all__ = ["UNRESERVED", "SplitKPolicy", "allocated_arena", "arena_entries", "parse_splitk", "reserved_arena"]

UNRESERVED = frozenset({"o_latent", "norm_unit_w"})
"""Entries that are allocated but that the reserve does not count."""


def arena_entries(
    dims: ModelDims,
    config: ServeConfig,
    device: DeviceSpec,
    rules: EngineRules,
    *,
    width: int,
    vocab: int,
    lora_rank: int = 0,
) -> dict[str, int]:
    """Bytes of every allocation of the arena, in the plan's order; entries of 0 bytes are left out (11).

    Args:
        width: tokens of one batch, preflight or build.
        vocab: vocabulary rows of the logits.
        lora_rank: widest adapter, 0 without adapters.
    """
    shape = ArenaShape(dims=dims, config=config, device=device, rules=rules, m=width, vocab=vocab)
    entries = {
        **stream_buffers(shape),
        **recurrent_projections(shape),
        "scratch": scratch(shape),
        "splitk_workspace": splitk_workspace(shape),
        **recurrent_scratch(shape),
        "qsa_select_scratch": qsa_select_scratch(shape),
        "token_ids": token_ids(shape),
        **expert_buffers(shape),
        **fp8_activations(shape),
        **hyper_buffers(shape),
        **unreserved_buffers(shape),
        **dense_ffn_buffers(shape),
        **lora_buffers(shape, lora_rank),
        **variable_buffers(shape),
    }
    return {name: size for name, size in entries.items() if size > 0}


def reserved_arena(dims: ModelDims, config: ServeConfig, device: DeviceSpec, rules: EngineRules) -> int:
    """Bytes that the preflight counts: its own width, the whole vocabulary, no adapters (10, 11)."""
    width = preflight_width(dims, config)
    entries = arena_entries(dims, config, device, rules, width=width, vocab=dims.vocab)
    return sum(size for name, size in entries.items() if name not in UNRESERVED)


def allocated_arena(
    dims: ModelDims, config: ServeConfig, device: DeviceSpec, rules: EngineRules, *, lora_rank: int = 0
) -> dict[str, int]:
    """Bytes of every allocation as made: build width and the vocabulary that is served (10, 11)."""
    return arena_entries(
        dims,
        config,
        device,
        rules,
        width=build_width(dims, config),
        vocab=dims.served_vocab,
        lora_rank=lora_rank,
    )
