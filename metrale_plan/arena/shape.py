"""What every arena entry is sized from: the model, the serve, and one width (engine memory plan, 11)."""

from dataclasses import dataclass

from metrale_plan.config.serve import ServeConfig
from metrale_plan.device import DeviceSpec
from metrale_plan.integers import align
from metrale_plan.model.dims import ModelDims
from metrale_plan.rules import EngineRules

PLACEHOLDER = 256
"""Bytes of a buffer that the model has no use for but that is allocated anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaShape:
    """Inputs of the arena.

    Attributes:
        m: width in tokens.
        vocab: vocabulary rows of the logits.
    """

    dims: ModelDims
    config: ServeConfig
    device: DeviceSpec
    rules: EngineRules
    m: int
    vocab: int

    @property
    def rows(self) -> int:
        """The width in whole tiles of 16."""
        return align(self.m, 16)

    @property
    def rows3(self) -> int:
        """The same for expert buffers, which hold at least three rows."""
        return align(max(self.m, 3), 16)

    @property
    def decode_rows(self) -> int:
        """`D`: rows of one decode step at the slot ceiling."""
        return max(self.config.ceiling, 32)

    @property
    def wide(self) -> int:
        """Elements of the widest normalised row."""
        return max(self.dims.hidden, self.dims.mamba_inner)

    @property
    def prop(self) -> int:
        """`prop`: the width, at most 128."""
        return min(self.m, 128)

    @property
    def blocks_per_seq(self) -> int:
        """`B`: entries of one sequence's block table."""
        return self.config.max_seq_len // self.config.block_size + 1 if self.config.block_size else 256

    @property
    def act_width(self) -> int:
        """`P`: elements of the widest row that is quantised to FP8."""
        dims = self.dims
        return max(dims.hidden, dims.q_heads * dims.head_dim, dims.mamba_inner, dims.value_dim)
