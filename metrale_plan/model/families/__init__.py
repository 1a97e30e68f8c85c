"""Families of recurrent layers, one file and one registry line each, and the way from a file's facts to ModelDims."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from metrale_plan.errors import Problem
from metrale_plan.model.dims import LayerKind, ModelDims, Recurrent
from metrale_plan.model.families import gdn, kda, mamba2
from metrale_plan.model.families.facts import SEPARATE_STACKS, UNTOLD, Facts
from metrale_plan.model.families.schedule import KIND_OF, Schedule, attention_kinds, kinds_of, schedule
from metrale_plan.model.spellings import DIMS, PATTERN_LETTERS


class Family(Protocol):
    """What a module of this folder provides.

    `WORDS` and `COUNTS` are layer words and count keys that only this family has, `HEADS` the dimensions that show it,
    `MODEL_TYPES` decide only where a file gives none of those, `NEEDS` is what its state takes.
    """

    NAME: Recurrent
    WORDS: frozenset[str]
    COUNTS: tuple[str, ...]
    MODEL_TYPES: frozenset[str]
    HEADS: tuple[str, ...]
    NEEDS: tuple[str, ...]

    def widths(self, facts: Facts) -> dict[str, int]:
        """The recurrent fields of ModelDims."""


FAMILIES: tuple[Family, ...] = (mamba2, kda, gdn)
"""Every family, the one with the most telling signs first. Models without recurrent layers have none."""

LOADERS = {
    "qwen3_5": "qwen3_5",
    "qwen3_5_moe": "qwen3_6_moe",
    "qwen3_6_moe": "qwen3_6_moe",
    "nemotron_h": "nemotron_h",
}
"""The engine's weight loader by model type, where it is known."""

ALWAYS = ("hidden", "vocab", "q_heads", "kv_heads")
PLAIN = (
    "tokenizer_vocab",
    "moe_latent",
    "zero_experts",
    "q_lora_rank",
    "qk_rope_head_dim",
    "o_groups",
    "o_lora_rank",
    "hc_mult",
    "hc_lowrank",
    "index_topk",
    "index_n_heads",
    "index_head_dim",
    "index_compress_ratio",
    "index_kpool",
)
"""Fields of ModelDims that are a file's number as it stands."""


class Resolution(NamedTuple):
    """Dimensions, or what is missing for them: the spelling of each key to add. The family may be known either way."""

    dims: ModelDims | None
    missing: tuple[str, ...]
    family: Recurrent | None


def resolve(facts: Facts) -> Resolution:
    """ModelDims from one file's facts; InputError MP206 where its layers contradict each other."""
    told = schedule(facts)
    family = _family(facts, told)
    layers = told.layers
    recurrent = family is not None and ("linear" in layers or not layers)
    name: Recurrent = family.NAME if recurrent and family is not None else "none"

    q_heads = facts.count("q_heads") or max(facts.get("q_heads_by_layer") or [0])
    shapes = _kv_shapes(facts, layers)
    kv_heads, head_dim = _kv_heads(facts, q_heads), _head_dim(facts, q_heads)
    experts = facts.count("experts") if facts.flag("experts_used", default=True) else 0
    moe_inter, shared_inter = _expert_widths(facts) if experts else (0, 0)
    found = {
        "hidden": facts.count("hidden"),
        "vocab": facts.count("vocab"),
        "q_heads": q_heads,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "inter": _uniform(facts, "inter"),
        "experts": experts,
        "top_k": _uniform(facts, "top_k") if experts else 0,
        "moe_inter": moe_inter,
        "kv_lora_rank": _latent_rank(facts, kv_heads, head_dim),
    }

    missing = [] if layers else [_first("layer_count")] if not facts.count("layer_count") else []
    if not layers:
        missing.append(_first("pattern"))
    needs = [*ALWAYS, "head_dim", *(("top_k", "moe_inter") if experts else ("inter",))]
    if recurrent and family is not None:
        needs += family.NEEDS
    missing += [_first(name) for name in needs if not found.get(name, facts.count(name))]
    if not facts.model_type:
        missing.append("model_type")
    if missing:
        return Resolution(None, tuple(missing), name if layers or recurrent else None)

    plain: dict[str, Any] = {name: facts.count(name) for name in PLAIN}
    plain |= found
    if recurrent and family is not None:
        plain |= family.widths(facts)
    has_mtp = _has_draft_head(facts)
    return Resolution(
        ModelDims(
            loader=facts.loader or LOADERS.get(facts.model_type),
            model_type=facts.model_type,
            recurrent=name,
            layers=layers,
            attn_gated=facts.flag("attn_gated"),
            mrope_interleaved=facts.flag("mrope_interleaved"),
            shared_inter=shared_inter,
            has_mtp=has_mtp,
            mtp_dense_ffn=has_mtp and facts.flag("mtp_dense_ffn", default=experts == 0),
            mtp_layers=_mtp_layers(facts, told) if has_mtp else (),
            kv_shapes=shapes,
            compress_ratios=tuple(facts.get("compress_ratios") or ())[: len(layers)],
            **plain,
        ),
        (),
        name,
    )


def _first(name: str) -> str:
    """The spelling to ask for: MODEL.toml's, else config.json's."""
    return DIMS[name].spellings[0]


def _family(facts: Facts, told: Schedule) -> Family | None:
    """The family of the recurrent layers: by their words and counts, then by dimensions, then by model type."""
    if told.layers and "linear" not in told.layers:
        return None
    signs: tuple[Callable[[Family], bool], ...] = (
        lambda family: not family.WORDS.isdisjoint(told.words) or facts.gives(family.COUNTS),
        lambda family: facts.gives(family.HEADS),
        lambda family: facts.model_type in family.MODEL_TYPES,
    )
    for sign in signs:
        for family in FAMILIES:
            if sign(family):
                return family
    return gdn if "linear" in told.layers or facts.count("linear_count") else None


def _uniform(facts: Facts, name: str) -> int:
    """One number for a dimension that may be listed by layer: the widest."""
    value = facts.get(name)
    return max(value) if isinstance(value, list) else facts.count(name)


def _kv_heads(facts: Facts, q_heads: int) -> int:
    """The KV heads; an encoder-decoder config has no key for them, since each query head has its own."""
    fact = facts.fact("q_heads")
    own = fact is not None and fact.spelling in SEPARATE_STACKS
    return _uniform(facts, "kv_heads") or (q_heads if own else 0)


def _head_dim(facts: Facts, q_heads: int) -> int:
    """The head width; under MLA its two parts; where a plain model leaves it out, the hidden size over the heads."""
    given = _uniform(facts, "head_dim")
    if given:
        return given
    if facts.count("kv_lora_rank"):
        nope = facts.count("qk_nope_head_dim")
        return nope + facts.count("qk_rope_head_dim") if nope else 0
    hidden = facts.count("hidden")
    if not q_heads or hidden % q_heads:
        return 0
    message = f"head_dim; taken as hidden size over query heads, {hidden // q_heads}"
    facts.notes.append(Problem(code=UNTOLD, message=message, where=facts.where, severity="note"))
    return hidden // q_heads


def _latent_rank(facts: Facts, kv_heads: int, head_dim: int) -> int:
    """The latent KV rank; where a single KV head with a rotary part of its own has none, its whole width is latent."""
    if facts.fact("kv_lora_rank") is not None or kv_heads != 1 or not facts.count("qk_rope_head_dim"):
        return facts.count("kv_lora_rank")
    message = f"kv_lora_rank; one KV head with a rotary part is taken as one latent head of {head_dim}"
    facts.notes.append(Problem(code=UNTOLD, message=message, where=facts.where, severity="note"))
    return head_dim


def _expert_widths(facts: Facts) -> tuple[int, int]:
    """Widths of one routed expert and of all shared ones.

    Some checkpoints without shared experts call the routed width `intermediate_size`; some give only how many shared
    experts there are, each as wide as a routed one.
    """
    routed, shared, count = _uniform(facts, "moe_inter"), facts.count("shared_inter"), facts.count("shared_experts")
    if not routed and not shared and not count:
        routed = _uniform(facts, "inter")
    if facts.fact("shared_inter") is None:
        shared = count * routed
    return routed, shared


def _kv_shapes(facts: Facts, layers: Sequence[LayerKind]) -> tuple[tuple[int, int], ...]:
    """(KV heads, head width) of each attention layer where they differ, else empty."""
    attention = attention_kinds(layers)
    heads = _by_layer(facts, "kv_heads", layers)
    widths = _by_layer(facts, "head_dim", layers)
    if heads is None or widths is None:
        return ()
    for kind, heads_name, width_name in (
        ("full", "global_kv_heads", "global_head_dim"),
        ("sliding", "sliding_kv_heads", "sliding_head_dim"),
    ):
        for index, own in enumerate(attention):
            if own == kind and "sliding" in attention:
                heads[index] = facts.count(heads_name) or heads[index]
                widths[index] = facts.count(width_name) or widths[index]
    shapes = tuple(zip(heads, widths, strict=True))
    return shapes if len(set(shapes)) > 1 else ()


def _by_layer(facts: Facts, name: str, layers: Sequence[LayerKind]) -> list[int] | None:
    """A dimension for each attention layer; a list may name all layers or the attention layers only."""
    value = facts.get(name)
    attention = attention_kinds(layers)
    if not isinstance(value, list):
        return [facts.count(name)] * len(attention)
    if not layers:
        return None
    if len(value) == len(attention):
        return list(value)
    if len(value) == len(layers):
        return [count for count, kind in zip(value, layers, strict=True) if kind in attention]
    fact = facts.fact(name)
    lists = f"{fact.spelling if fact else name} lists {len(value)} layers"
    raise facts.contradiction(f"{lists}, but there are {len(layers)}, {len(attention)} with attention", name)


def _has_draft_head(facts: Facts) -> bool:
    """Whether the checkpoint has a draft head: by its count, else by its layer kinds, unless it is switched off."""
    if not facts.flag("mtp_used", default=True):
        return False
    if facts.fact("mtp_count") is not None:
        return facts.count("mtp_count") > 0
    return any(facts.fact(name) is not None for name in ("mtp_kinds", "mtp_pattern"))


def _mtp_layers(facts: Facts, told: Schedule) -> tuple[LayerKind, ...]:
    """Layer kinds of the draft head, from its own keys, else from what a long layer list has beyond the layers."""
    if words := facts.get("mtp_kinds"):
        return kinds_of(facts, "mtp_kinds", words)
    if letters := facts.get("mtp_pattern"):
        return kinds_of(facts, "mtp_pattern", [PATTERN_LETTERS.get(letter, letter) for letter in letters])
    kind = KIND_OF.get(facts.get("mtp_kind") or "")
    if kind is None and facts.flag("mtp_indexer"):
        kind = "sparse"  # an indexer that the draft head shares is one that its layer has
    if kind is not None:
        return (kind,) * max(facts.count("mtp_count"), 1)
    return kinds_of(facts, "layer_types", told.mtp_words)
