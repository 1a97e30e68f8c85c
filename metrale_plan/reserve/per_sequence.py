"""State owned by each sequence: the rows of GLM's sparse-attention indexer (engine memory plan, 9)."""

from metrale_plan.config.serve import ServeConfig
from metrale_plan.model.dims import ModelDims
from metrale_plan.prefix_cache import glm_indexer_paged, is_glm
from metrale_plan.rules import EngineRules


def indexer_layer_bytes(dims: ModelDims, config: ServeConfig) -> int:
    """Indexer rows of one sparse layer and sequence: FP32 key and a flag a token, in whole pools (9)."""
    pool = max(dims.index_kpool, 1)
    rows = config.max_seq_len // pool * pool
    return rows * (4 * dims.index_head_dim + 1)


def target_bytes(dims: ModelDims, config: ServeConfig, rules: EngineRules) -> int:
    """The target model's indexer rows of one sequence; none when they are paged with the KV (9)."""
    return 0 if glm_indexer_paged(config, rules) else dims.sparse_layers * indexer_layer_bytes(dims, config)


def proposer_bytes(dims: ModelDims, config: ServeConfig) -> int:
    """The draft head's indexer rows and its hidden and logit rows of one sequence (9).

    N-gram speculation runs no draft head.
    """
    drafts = config.speculative or config.self_speculative or config.dflash
    if not drafts or "sparse" not in dims.mtp_layers:
        return 0
    return indexer_layer_bytes(dims, config) + 6 * dims.hidden + 2 * dims.vocab + 20


def per_sequence(dims: ModelDims, config: ServeConfig, rules: EngineRules, slots: int) -> int:
    """Bytes of all slots' own state; 0 for every model but GLM-Next (9)."""
    if not is_glm(dims):
        return 0
    return (target_bytes(dims, config, rules) + proposer_bytes(dims, config)) * max(slots, 1)
