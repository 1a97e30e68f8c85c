"""Gated delta-net: separate key and value heads, as in the Qwen hybrids."""

from metrale_plan.model.dims import Recurrent
from metrale_plan.model.families.facts import Facts

NAME: Recurrent = "gdn"
WORDS: frozenset[str] = frozenset({"gdn"})
COUNTS: tuple[str, ...] = ()
MODEL_TYPES: frozenset[str] = frozenset({"qwen3_5", "qwen3_5_moe", "qwen3_6_moe", "qwen4_exp"})
HEADS: tuple[str, ...] = ("lin_k_heads", "lin_k_dim", "lin_v_heads", "lin_v_dim")
NEEDS: tuple[str, ...] = (*HEADS, "conv_kernel")


def widths(facts: Facts) -> dict[str, int]:
    """The recurrent fields of ModelDims."""
    return {name: facts.count(name) for name in NEEDS}
