"""Kimi delta attention: as many key heads as value heads, all of one width."""

from metrale_plan.model.dims import Recurrent
from metrale_plan.model.families.facts import Facts

NAME: Recurrent = "kda"
WORDS: frozenset[str] = frozenset({"kda"})
COUNTS: tuple[str, ...] = ("kda_count",)
MODEL_TYPES: frozenset[str] = frozenset({"glm5_next", "kimi_k3"})
HEADS: tuple[str, ...] = ("kda_heads", "kda_head_dim")
NEEDS: tuple[str, ...] = (*HEADS, "conv_kernel")


def widths(facts: Facts) -> dict[str, int]:
    """The recurrent fields of ModelDims: one head count and one width serve keys and values alike."""
    heads, width = facts.count("kda_heads"), facts.count("kda_head_dim")
    return {
        "lin_k_heads": heads,
        "lin_k_dim": width,
        "lin_v_heads": heads,
        "lin_v_dim": width,
        "conv_kernel": facts.count("conv_kernel"),
    }
