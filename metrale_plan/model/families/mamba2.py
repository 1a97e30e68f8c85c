"""Mamba-2 state-space layers, as in Nemotron-H."""

from metrale_plan.model.dims import Recurrent
from metrale_plan.model.families.facts import Facts

NAME: Recurrent = "mamba2"
WORDS: frozenset[str] = frozenset({"mamba", "mamba2", "ssm"})
COUNTS: tuple[str, ...] = ("mamba_count",)
MODEL_TYPES: frozenset[str] = frozenset({"nemotron_h", "nemotron_h_puzzle"})
HEADS: tuple[str, ...] = ("mamba_heads", "mamba_head_dim", "ssm_state", "ssm_groups")
NEEDS: tuple[str, ...] = (*HEADS, "conv_kernel")


def widths(facts: Facts) -> dict[str, int]:
    """The recurrent fields of ModelDims."""
    return {name: facts.count(name) for name in NEEDS}
