"""Batch tokens: the width of arena and prefill scratch, computed twice (engine memory plan, 10)."""

from metrale_plan.config.serve import ServeConfig
from metrale_plan.integers import less
from metrale_plan.model.dims import ModelDims

PREFILL_UNSET = 8192
"""`--max-prefill-tokens` of this very number means that nobody set it."""

RECURRENT_CHUNK = 8192
LAUNCH_GRID_LIMIT = 65535


def _given_prefill(config: ServeConfig) -> int | None:
    return config.max_prefill_tokens if config.max_prefill_tokens not in (0, PREFILL_UNSET) else None


def recurrent_chunk(dims: ModelDims, config: ServeConfig) -> int:
    """`chunk`: tokens of one recurrent prefill chunk; 0 without recurrent layers (engine memory plan, 10)."""
    if dims.ssm_layers == 0:
        return 0
    given = _given_prefill(config)
    return min(config.max_seq_len, RECURRENT_CHUNK if given is None else given)


def requested_tokens(dims: ModelDims, config: ServeConfig) -> int:
    """`request`: prefill tokens asked for; a given count stands even above `max_seq_len` (engine memory plan, 10)."""
    given = _given_prefill(config)
    if given is not None:
        return given
    return recurrent_chunk(dims, config) or config.max_prefill_tokens or config.max_seq_len


def verify_tokens(config: ServeConfig) -> int:
    """`spec`: rows that one sequence's verify needs of the batch (engine memory plan, 10)."""
    if config.dflash:
        return config.drafts + 1
    return config.num_drafts + 2 if config.proposer else 1


def preflight_width(dims: ModelDims, config: ServeConfig) -> int:
    """`M`: the width that the reserve assumes, before any clamp (engine memory plan, 10)."""
    return max(requested_tokens(dims, config), verify_tokens(config), config.ceiling)


def prefill_budget(dims: ModelDims, config: ServeConfig) -> int:
    """Prefill tokens of one build-time step: the request after the swap and launch-grid clamps (10)."""
    budget = requested_tokens(dims, config)
    if config.high_speed_swap:
        budget = min(budget, less(config.swap_blocks_per_seq * config.block_size, config.ceiling))
    if budget > LAUNCH_GRID_LIMIT:
        block = max(config.block_size, 1)
        budget = LAUNCH_GRID_LIMIT // block * block
    return budget


def build_width(dims: ModelDims, config: ServeConfig) -> int:
    """`M_build`: the width that is allocated (engine memory plan, 10).

    `METRALE_MAX_BATCH_TOKENS` only ever raises it, so an unset 0 needs no case of its own.
    """
    width = max(prefill_budget(dims, config) + config.ceiling, verify_tokens(config), config.ceiling)
    return max(width, config.max_batch_tokens)
