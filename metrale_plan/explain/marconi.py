"""Snapshot slots of the prefix cache: asked for, kept, what one holds, and when one is restored.

Sources: the engine's memory plan, 3.3 and 5.1; `mtp_carry: marconi_min_tokens`.
"""

from typing import NamedTuple

from metrale_plan.carry import DEFAULT_MARCONI_MIN_TOKENS
from metrale_plan.config.given import Settings
from metrale_plan.config.serve import ServeConfig
from metrale_plan.explain.origin import Lost, Origin, origin_of
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan import MemoryPlan
from metrale_plan.plan.lines import marconi_slot_bytes
from metrale_plan.prefix_cache import glm_indexer_paged, is_glm, kv_is_whole_state
from metrale_plan.rules import EngineRules

MEASURED = ((99, -9.7), (219, 9.8), (349, 7.5), (629, 10.6))
"""Matched tokens, and per cent that restoring gained over no caching, one sequence, measured 2026-07-28."""


class Measurement(NamedTuple):
    """One measured match: its effect, and whether a match of that length is restored under the threshold in force."""

    matched: int
    effect_percent: float
    restored: bool


class MarconiExplanation(NamedTuple):
    """The whole screen.

    Attributes:
        kept: slots reserved; `skip_reason` says why fewer than asked.
        forced: `METRALE_SSM_MARCONI_FULL` keeps them without a prefix cache.
        active: whether the prefix cache is real: asked for, and `whole_state`.
        whole_state_why: what decides that about the model.
        state_bytes: FP32 state of every recurrent layer; with `hidden_row_bytes` it makes `slot_bytes`.
        bytes, allocated_bytes: what the kept slots reserve, and what they are allocated: always with the hidden row,
            and nothing without recurrent layers.
        dropped_bytes: what the dropped slots would have reserved.
        floor: whether any match is too short to restore.
    """

    requested: Origin
    kept: int
    skip_reason: str | None
    forced: bool
    active: bool
    enabled: Origin
    whole_state: bool
    whole_state_why: str
    layers: int
    h_bytes: int
    conv_bytes: int
    state_bytes: int
    hidden_row_bytes: int
    hidden_row_counted: bool
    f16_pool: bool
    slot_bytes: int
    bytes: int
    allocated_bytes: int
    dropped_bytes: int
    threshold: Origin
    default_threshold: int
    floor: bool
    measured: tuple[Measurement, ...]


def explain_marconi(
    plan: MemoryPlan, dims: ModelDims, config: ServeConfig, settings: Settings, rules: EngineRules
) -> MarconiExplanation:
    """Everything about the snapshot slots of one serve."""
    slot = marconi_slot_bytes(dims, hidden_row=rules.marconi_hidden_row)
    requested = origin_of(settings["ssm_cache_slots"])
    variable = settings.get("METRALE_MARCONI_MIN_TOKENS")
    ignored: tuple[Lost, ...] = ()
    if variable is not None and isinstance(variable.value, str):
        why = "not a count, so the engine ignores it"
        ignored = (Lost(value=variable.value, source="env", where="METRALE_MARCONI_MIN_TOKENS", why=why),)
    threshold = origin_of(settings["marconi_min_tokens"], *ignored)
    return MarconiExplanation(
        requested=requested,
        kept=plan.marconi.slots,
        skip_reason=plan.marconi.skip_reason,
        forced=config.marconi_reserve_full,
        active=plan.prefix_active,
        enabled=origin_of(settings["enable_prefix_caching"]),
        whole_state=kv_is_whole_state(dims, config, rules),
        whole_state_why=_whole_state_why(dims, config, rules),
        layers=dims.ssm_layers,
        h_bytes=dims.h_unit,
        conv_bytes=dims.conv_unit,
        state_bytes=dims.blob,
        hidden_row_bytes=2 * dims.hidden,
        hidden_row_counted=rules.marconi_hidden_row,
        f16_pool=config.f16_pool,
        slot_bytes=slot,
        bytes=plan.bytes_of("marconi"),
        allocated_bytes=plan.marconi.slots * marconi_slot_bytes(dims, hidden_row=True) if dims.ssm_layers else 0,
        dropped_bytes=(config.ssm_cache_slots - plan.marconi.slots) * slot,
        threshold=threshold,
        default_threshold=DEFAULT_MARCONI_MIN_TOKENS,
        floor=config.marconi_min_tokens > 0,
        measured=tuple(
            Measurement(matched=matched, effect_percent=effect, restored=matched >= config.marconi_min_tokens)
            for matched, effect in MEASURED
        ),
    )


def _whole_state_why(dims: ModelDims, config: ServeConfig, rules: EngineRules) -> str:
    if is_glm(dims):
        if glm_indexer_paged(config, rules):
            return "its sparse-attention indexer is paged with the KV blocks"
        if config.glm_prefix_unproven:
            return "METRALE_GLM53_PREFIX_CACHE_UNPROVEN vouches for it, though its indexer rows are per sequence"
        why = "METRALE_GLM_DSA_INDEXER_FLAT is 1" if config.glm_indexer_flat else "these rules have no paged form"
        return f"its sparse-attention indexer rows live outside the KV blocks: {why}"
    if dims.model_type == "deepseek_v4":
        compressed = sum(ratio != 0 for ratio in dims.compress_ratios)
        if compressed:
            return f"{compressed} layers keep compressed state that KV blocks do not hold"
        return "no layer compresses its KV"
    if dims.ssm_layers:
        return "KV blocks and snapshots of the recurrent state hold all that a prefix needs"
    return "KV blocks hold all that a prefix needs"
