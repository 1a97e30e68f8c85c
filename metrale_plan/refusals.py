"""What the engine refuses before it counts a byte: legal settings that do not go together.

Each rule yields a Problem; the first of them is the error that a command reports.
"""

from collections.abc import Iterator

from metrale_plan.config.flags import EXCLUSIONS, REQUIRES
from metrale_plan.config.given import Settings
from metrale_plan.config.serve import ServeConfig
from metrale_plan.errors import Problem
from metrale_plan.model.dims import ModelDims
from metrale_plan.prefix_cache import kv_is_whole_state
from metrale_plan.rules import EngineRules

F16_MAX_GAMMA = 15
F16_MAX_DRAFTS = 3


def refusals(dims: ModelDims, config: ServeConfig, settings: Settings, rules: EngineRules) -> Iterator[Problem]:
    """Every reason the engine would refuse these settings, in its order. Engine memory plan, 13.2, 17 and 19."""
    yield from _pairs(settings)
    yield from _heads(dims, settings)
    yield from _dflash_ladder(config, rules)
    yield from _mamba_speculation(dims, config)
    yield from _f16_state(dims, config)
    yield from _swap(dims, config, settings, rules)


def _on(settings: Settings, key: str) -> bool:
    setting = settings.get(key)
    return setting is not None and setting.value not in (False, None)


def _flag(key: str) -> str:
    return "--" + key.replace("_", "-")


def _where(settings: Settings, key: str) -> str:
    return settings[key].where or _flag(key)


def _pairs(settings: Settings) -> Iterator[Problem]:
    for first, second in EXCLUSIONS:
        if _on(settings, first) and _on(settings, second):
            yield Problem(
                code="MP109",
                message=f"{_flag(first)} and {_flag(second)} exclude each other",
                where=_where(settings, second),
                accepted="one of the two",
            )
    for first, second in REQUIRES:
        if _on(settings, first) and not _on(settings, second):
            yield Problem(
                code="MP109",
                message=f"{_flag(first)} needs {_flag(second)}",
                where=_where(settings, first),
                accepted=f"{_flag(first)} together with {_flag(second)}",
            )


def _heads(dims: ModelDims, settings: Settings) -> Iterator[Problem]:
    ways = settings["tp_size"].value if "tp_size" in settings else 1
    heads = {
        "query heads": dims.q_heads,
        "KV heads": 0 if dims.mla else dims.kv_heads,  # MLA's one latent head is on every rank
        "key heads": dims.lin_k_heads,
        "value heads": dims.lin_v_heads,
    }
    uneven = [f"{count} {name}" for name, count in heads.items() if count % ways]
    if uneven:
        sizes = [str(n) for n in range(1, max(heads.values()) + 1) if all(count % n == 0 for count in heads.values())]
        yield Problem(
            code="MP108",
            message=f"tensor parallelism over {ways} does not divide {' or '.join(uneven)}",
            where=_where(settings, "tp_size"),
            accepted="--tp-size " + ", ".join(sizes),
        )


def _dflash_ladder(config: ServeConfig, rules: EngineRules) -> Iterator[Problem]:
    if not (rules.dflash_ladder_bounded and config.dflash and config.dflash_gamma is not None):
        return
    most = config.dflash_gamma - 1
    above = [f"{width}:{drafts}" for width, drafts in config.dflash_draft_ladder if drafts > most]
    if above:
        yield Problem(
            code="MP110",
            message=f"the DFlash ladder's {', '.join(above)} asks for more than γ - 1 = {most} drafts",
            where="--dflash-draft-ladder",
            accepted=f"at most {most} drafts a step",
        )


def _mamba_speculation(dims: ModelDims, config: ServeConfig) -> Iterator[Problem]:
    if config.proposer and dims.recurrent == "mamba2" and dims.ssm_layers > 0:
        yield Problem(
            code="MP106",
            message="the engine does not speculate over Mamba-2 layers",
            where=_proposer_flag(config),
            accepted="no speculation for this model",
        )


def _proposer_flag(config: ServeConfig) -> str:
    named = {
        "--speculative": config.speculative,
        "--dflash": config.dflash,
        "--self-speculative": config.self_speculative,
        "--ngram-speculative": config.ngram_speculative,
    }
    return next(flag for flag, on in named.items() if on)


def _f16_state(dims: ModelDims, config: ServeConfig) -> Iterator[Problem]:
    """Half-precision h state. Engine memory plan, 13.2."""
    if config.ssm_h_dtype == "f32" or dims.ssm_layers == 0:
        return
    gamma = config.dflash_gamma or 0
    reasons = {
        f"DFlash with γ {gamma}, above {F16_MAX_GAMMA}": config.dflash
        and config.dflash_gamma_given
        and gamma > F16_MAX_GAMMA,
        "self-speculation": config.self_speculative,
        "n-gram speculation": config.ngram_speculative,
        f"{config.num_drafts} drafts, more than {F16_MAX_DRAFTS}": config.proposer
        and not config.dflash
        and config.num_drafts > F16_MAX_DRAFTS,
        "no fused output norm (--gdn-fused-norm is not given)": not config.gdn_fused_norm,
        "METRALE_GDN_FUSED_CONV=1": config.gdn_fused_conv,
        f"heads of {dims.lin_k_dim} x {dims.lin_v_dim}, not 128 x 128": not dims.wide_heads,
    }
    found = [reason for reason, holds in reasons.items() if holds]
    if found:
        yield Problem(
            code="MP107",
            message=f"the engine refuses --ssm-h-dtype {config.ssm_h_dtype} with {'; with '.join(found)}",
            where="--ssm-h-dtype",
            accepted="--ssm-h-dtype f32, or the conditions changed",
        )


def _swap(dims: ModelDims, config: ServeConfig, settings: Settings, rules: EngineRules) -> Iterator[Problem]:
    """High-speed swap moves KV blocks, and sizes its pool by the slots. Engine memory plan, 3.3 and 14.5."""
    if not config.high_speed_swap:
        return
    where = _where(settings, "high_speed_swap")
    if not kv_is_whole_state(dims, config, rules):
        yield Problem(
            code="MP111",
            message=f"--high-speed-swap moves KV blocks, and sequences of {dims.model_type} have state outside them",
            where=where,
            accepted="no --high-speed-swap for this model",
        )
    if config.max_batch_size is None:
        yield Problem(
            code="MP112",
            message="--high-speed-swap needs a number of slots, which --max-batch-size auto leaves open",
            where=where,
            accepted="--max-batch-size with a number",
        )
