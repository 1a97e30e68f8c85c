"""When the prefix cache is real (engine memory plan, 3.3)."""

from metrale_plan.config.serve import ServeConfig
from metrale_plan.model.dims import ModelDims
from metrale_plan.rules import EngineRules

GLM_TYPES = frozenset({"glm5_next", "glm5_next_text"})


def is_glm(dims: ModelDims) -> bool:
    """Whether the model is GLM-Next, under its outer or its text model type."""
    return dims.model_type in GLM_TYPES


def glm_indexer_paged(config: ServeConfig, rules: EngineRules) -> bool:
    """Whether GLM's indexer rows live in KV blocks; older engines had no paged form (engine memory plan, 3.3, 9)."""
    return rules.glm_paged_indexer and not config.glm_indexer_flat


def kv_is_whole_state(dims: ModelDims, config: ServeConfig, rules: EngineRules) -> bool:
    """Whether KV blocks and recurrent snapshots hold all that a prefix needs (engine memory plan, 3.3)."""
    if is_glm(dims):
        return glm_indexer_paged(config, rules) or config.glm_prefix_unproven
    if dims.model_type == "deepseek_v4":
        return all(ratio == 0 for ratio in dims.compress_ratios)
    return True


def prefix_active(dims: ModelDims, config: ServeConfig, rules: EngineRules) -> bool:
    """Whether prefix caching is both asked for and possible (engine memory plan, 3.3)."""
    return config.enable_prefix_caching and kv_is_whole_state(dims, config, rules)
