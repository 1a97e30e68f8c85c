"""Offers and the model's own defaults -> one complete ServeConfig, and where each value came from.

Order of every setting: flag, the same flag after `--`, recipe, variable, MODEL.toml, engine; a setting without a
variable or a model key simply has no offer there (engine memory plan, 3.1).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol

from metrale_plan.config.flags import by_key
from metrale_plan.config.given import Given, Offers, Setting, Settings
from metrale_plan.config.serve import ServeConfig
from metrale_plan.config.variables import NATIVE_FP8_FALLBACKS, UNMODELLED, Ignored, Unmodelled, by_name
from metrale_plan.errors import InputError, Problem
from metrale_plan.ladder import DEFAULT_LADDER, resolve_mtp_max_seqs
from metrale_plan.rules import EngineRules


class ModelDefaults(Protocol):
    """What resolving asks of a model file's `[behavior]`; 0 and "" mean unset."""

    @property
    def default_num_drafts(self) -> int: ...
    @property
    def mtp_max_seqs(self) -> int: ...
    @property
    def default_kv_dtype(self) -> str: ...
    @property
    def where(self) -> Mapping[str, str]:
        """ "file:line" of each key that was given."""


ENGINE_DEFAULTS: dict[str, Any] = {
    "max_batch_size": 8,
    "max_seq_len": 32768,
    "block_size": 16,
    "max_prefill_tokens": 8192,
    "gpu_memory_utilization": 0.90,
    "num_drafts": 1,
    "kv_cache_dtype": "fp8",
    "kv_high_precision_layers": 0,
    "ssm_cache_slots": 16,
    "ssm_decode_ring_slots": "auto",
    "ssm_rollback_mode": "snapshot",
    "ssm_h_dtype": "f32",
    "mtp_quantization": "bf16",
    "weight_quantization": "declared",
    "lm_head_dtype": "default",
    "enable_prefix_caching": False,
    "speculative": False,
    "self_speculative": False,
    "ngram_speculative": False,
    "dflash": False,
    "prompt_lookup_decoding": False,
    "prompt_lookup_max_seqs": 8,
    "prompt_lookup_max_drafts": 3,
    "high_speed_swap_cache_blocks_per_seq": 64,
    "marconi_min_tokens": 256,
    "gdn_fused_norm": False,
}
"""Engine defaults of the settings that a formula reads, those with a rule of their own aside (3.1)."""


class Uncounted(NamedTuple):
    """A setting in force that changes bytes which the plan does not count.

    Attributes:
        spelled: the setting as a user set it.
        term: the one reserve term that it moves, or None for any.
    """

    spelled: str
    term: str | None


@dataclass(frozen=True, slots=True)
class Resolved:
    """The outcome of resolving: what formulas read, where it came from, and what there is to say about it.

    Attributes:
        unmodelled: settings in force whose bytes the plan does not count.
    """

    config: ServeConfig
    settings: Settings
    notes: tuple[Problem, ...] = field(default=())
    unmodelled: tuple[Uncounted, ...] = field(default=())


def resolve(offers: Offers, model: ModelDefaults, rules: EngineRules, *, drafter_block: int | None = None) -> Resolved:
    """Every setting of one serve.

    Args:
        offers: what flags, command line, recipe and variables gave.
        model: the model file's defaults.
        drafter_block: block size of the DFlash drafter when its config was readable.

    Raises:
        InputError: a cap outside 1..=128 in the model file, or DFlash without a way to tell γ.
    """
    settings: dict[str, Setting] = {}
    notes: list[Problem] = []

    def take(key: str, *weaker: Given, offered: list[Given] | None = None) -> Any:
        candidates = [*(offers.all(key) if offered is None else offered), *weaker]
        first = candidates[0]
        settings[key] = Setting(first.value, first.source, first.where, tuple(candidates[1:]))
        return first.value

    def engine(key: str) -> Given:
        return Given(ENGINE_DEFAULTS[key], "engine")

    def from_model(key: str, value: Any) -> list[Given]:
        return [Given(value, "model", model.where.get(key))] if value else []

    def variable(name: str) -> Any:
        """Typed value of a variable, or its default where it is unset or not taken."""
        given = offers.best(name)
        return by_name()[name].default if given is None or isinstance(given.value, Ignored) else given.value

    def with_variable(key: str, name: str) -> list[Given]:
        """The flag's offers, then the variable's unless the engine drops the text that it gets."""
        given = offers.all(name)
        dropped = bool(given) and isinstance(given[0].value, Ignored)
        return [*offers.all(key), *(g for g in given if not dropped and not isinstance(g.value, Ignored))]

    for key in ENGINE_DEFAULTS:
        take(key, engine(key))
    take("num_drafts", *from_model("default_num_drafts", model.default_num_drafts), engine("num_drafts"))
    take("kv_cache_dtype", *from_model("default_kv_dtype", model.default_kv_dtype), engine("kv_cache_dtype"))
    for key, name in (("ssm_h_dtype", "METRALE_SSM_H_FP16"), ("marconi_min_tokens", "METRALE_MARCONI_MIN_TOKENS")):
        take(key, engine(key), offered=with_variable(key, name))

    ladder_disabled = bool(variable("METRALE_NO_MTP_K_LADDER"))
    ladder = take(
        "mtp_k_ladder",
        Given(tuple(DEFAULT_LADDER), "engine"),
        offered=with_variable("mtp_k_ladder", "METRALE_MTP_K_LADDER"),
    )
    ladder_pinned = bool(offers.all("mtp_k_ladder") or offers.all("METRALE_MTP_K_LADDER"))
    settings["mtp_max_seqs"] = _dispatch_cap(offers, model, ladder_disabled)

    gamma, gamma_given = _gamma(offers, settings, rules, drafter_block)

    for key in offers:
        if key not in settings:
            best = offers.all(key)[0]
            value = best.text if isinstance(best.value, Ignored) else best.value
            settings[key] = Setting(value, best.source, best.where, (*offers.all(key)[1:], *_table_default(key)))
    notes += _variable_notes(offers)
    notes += _before_and_after(settings)

    def of(key: str) -> Any:
        return settings[key].value

    edge, batch, ring = of("kv_high_precision_layers"), of("max_batch_size"), of("ssm_decode_ring_slots")
    config = ServeConfig(
        max_batch_size=None if batch == "auto" else batch,
        max_seq_len=of("max_seq_len"),
        block_size=of("block_size"),
        max_prefill_tokens=of("max_prefill_tokens"),
        gpu_memory_utilization=of("gpu_memory_utilization"),
        num_drafts=of("num_drafts"),
        mtp_max_seqs=of("mtp_max_seqs"),
        ladder=ladder,
        ladder_disabled=ladder_disabled,
        ladder_pinned=ladder_pinned,
        static_rung=bool(variable("METRALE_MTP_STATIC_RUNG")),
        full_width_pools=bool(variable("METRALE_MTP_POOL_FULL_WIDTH") or variable("METRALE_EP_PROTOCOL")),
        kv_cache_dtype=of("kv_cache_dtype"),
        kv_high_precision_layers=2 if edge == "auto" else None if edge in ("max", "all") else edge,
        ssm_cache_slots=of("ssm_cache_slots"),
        marconi_reserve_full=bool(variable("METRALE_SSM_MARCONI_FULL")),
        marconi_min_tokens=of("marconi_min_tokens"),
        ssm_decode_ring_slots=None if ring == "auto" else ring,
        ring_override=variable("METRALE_SSM_DECODE_RING"),
        watchdogs_disabled=bool(variable("METRALE_DISABLE_WATCHDOGS")),
        reserve_ring_full=bool(variable("METRALE_SSM_RESERVE_RING_FULL")),
        ssm_rollback_mode=of("ssm_rollback_mode"),
        ssm_h_dtype=of("ssm_h_dtype"),
        gdn_fused_norm=of("gdn_fused_norm"),
        gdn_fused_conv=bool(variable("METRALE_GDN_FUSED_CONV")),
        mtp_quantization=of("mtp_quantization"),
        weight_quantization=of("weight_quantization"),
        lm_head_dtype=of("lm_head_dtype"),
        enable_prefix_caching=of("enable_prefix_caching"),
        speculative=of("speculative"),
        self_speculative=of("self_speculative"),
        ngram_speculative=of("ngram_speculative"),
        dflash=of("dflash"),
        dflash_gamma=gamma,
        dflash_gamma_given=gamma_given,
        dflash_draft_ladder=settings["dflash_draft_ladder"].value if "dflash_draft_ladder" in settings else (),
        prompt_lookup=of("prompt_lookup_decoding"),
        prompt_lookup_max_seqs=of("prompt_lookup_max_seqs"),
        prompt_lookup_max_drafts=of("prompt_lookup_max_drafts"),
        high_speed_swap=bool(settings["high_speed_swap"].value) if "high_speed_swap" in settings else False,
        swap_blocks_per_seq=of("high_speed_swap_cache_blocks_per_seq"),
        splitk=variable("METRALE_ATTN_DECODE_SPLITK"),
        max_batch_tokens=variable("METRALE_MAX_BATCH_TOKENS") or 0,
        ffn_min_rows=variable("METRALE_FFN_W4A16_LT_MIN_ROWS"),
        native_q2=bool(variable("METRALE_GGUF_NATIVE_Q2")),
        native_q2_mmq=bool(variable("METRALE_GGUF_NATIVE_Q2_MMQ")),
        fp8_rowwise=bool(variable("METRALE_FP8_ROWWISE")),
        glm_indexer_flat=bool(variable("METRALE_GLM_DSA_INDEXER_FLAT")),
        glm_prefix_unproven=bool(variable("METRALE_GLM53_PREFIX_CACHE_UNPROVEN")),
        kv_floor_tokens=variable("METRALE_KV_FLOOR_TOKENS"),
        carry=settings["carry"].value if "carry" in settings else None,
        native_fp8=variable("METRALE_DENSE_FP8") and not any(key.startswith(NATIVE_FP8_FALLBACKS) for key in offers),
    )
    return Resolved(config, settings, tuple(notes), tuple(_unmodelled(settings)))


def _table_default(key: str) -> Iterator[Given]:
    """The engine's default of a flag that no formula reads, by the flag table; none where the engine resolves it."""
    flag = by_key().get(key)
    if flag is not None and flag.default is not None:
        yield Given(flag.kind.parse(flag.default), "engine")


def _dispatch_cap(offers: Offers, model: ModelDefaults, ladder_disabled: bool) -> Setting:
    """The cap by `ladder: resolve_mtp_max_seqs`, whose refusal points at the key that gave it."""
    given = offers.all("mtp_max_seqs")
    try:
        cap, source = resolve_mtp_max_seqs(given[0].value if given else None, model.mtp_max_seqs, ladder_disabled)
    except ValueError as error:
        raise InputError("MP211", str(error), where=model.where.get("mtp_max_seqs"), accepted="1 to 128") from None
    weaker = [Given(model.mtp_max_seqs, "model", model.where.get("mtp_max_seqs"))] if model.mtp_max_seqs else []
    candidates = [*given, *weaker, Given(4 if ladder_disabled else 32, "engine")]
    assert candidates[0].value == cap, source
    first = candidates[0]
    where = first.where if first.source != "engine" or not ladder_disabled else "METRALE_NO_MTP_K_LADDER"
    return Setting(cap, first.source, where, tuple(candidates[1:]))


def _gamma(
    offers: Offers, settings: dict[str, Setting], rules: EngineRules, drafter_block: int | None
) -> tuple[int | None, bool]:
    """γ under DFlash and whether the flag gave it; records the setting. Engine memory plan, 3.1."""
    given = offers.all("dflash_gamma")
    drafter = [Given(min(drafter_block + 2, 15), "engine")] if drafter_block is not None else []
    candidates = [*given, *drafter] if rules.given_gamma_in_reserve else [*drafter, *given]
    if not candidates:
        if settings["dflash"].value:
            raise InputError(
                "MP222",
                "--dflash needs γ, and no drafter config could be read",
                where="--dflash",
                accepted="--dflash-gamma N, or --draft-model DIR with a config.json",
            )
        settings["dflash_gamma"] = Setting(None, "engine")
        return None, False
    first = candidates[0]
    settings["dflash_gamma"] = Setting(first.value, first.source, first.where, tuple(candidates[1:]))
    return (first.value if settings["dflash"].value else None), bool(given)


OFF_LOOKING = frozenset({"", "0", "false", "off", "no"})


def _variable_notes(offers: Offers) -> Iterator[Problem]:
    """A warning per variable that the engine drops in silence, or that is on although it looks off."""
    for key in offers:
        variable = by_name().get(key)
        given = offers.all(key)[0]
        flag = None if variable is None else variable.flag
        if isinstance(given.value, Ignored):
            yield Problem(
                code="MP216",
                message=f"{key}={given.text} is ignored by the engine; in force instead: "
                f"{_by_flag(offers, flag) or given.value.in_force}",
                where=given.where or key,
                accepted=given.value.accepted,
                severity="warning",
            )
        elif variable is not None and variable.way == "presence" and (given.text or "").lower() in OFF_LOOKING:
            yield Problem(
                code="MP217",
                message=f"{key}={given.text} switches it on: the engine looks only at whether it is set",
                where=given.where or key,
                accepted="unset it to switch it off",
                severity="warning",
            )


def _by_flag(offers: Offers, flag: str | None) -> str | None:
    """The flag that wins over a variable anyway, as it was given, or None."""
    given = offers.best(flag) if flag else None
    return None if given is None else f"--{str(flag).replace('_', '-')} {given.text or given.value}"


def _before_and_after(settings: Settings) -> Iterator[Problem]:
    """A warning per flag given before `--` that differs from the same one after it."""
    for key, setting in settings.items():
        after = next((given for given in setting.lost if given.source == "command"), None)
        if setting.source == "flag" and after is not None and after.value != setting.value:
            yield Problem(
                code="MP214",
                message=f"--{key.replace('_', '-')} is {setting.value} before -- and {after.value} after it; "
                f"the one before it is used",
                where=f"--{key.replace('_', '-')}",
                severity="warning",
            )


def _unmodelled(settings: Settings) -> Iterator[Uncounted]:
    """Settings that would change bytes which the plan does not count."""
    for key, setting in settings.items():
        row = _unmodelled_row(key)
        if row is None or setting.value is False or str(setting.value) == row.default:
            continue
        if row.switch is not None and row.switch not in settings:
            continue
        spelled = f"{key}={setting.value}" if key.startswith("METRALE_") else f"--{key.replace('_', '-')}"
        yield Uncounted(spelled, row.term)


@cache
def _unmodelled_row(key: str) -> Unmodelled | None:
    return next((row for row in UNMODELLED if _matches(row, key)), None)


def _matches(row: Unmodelled, key: str) -> bool:
    return key.startswith(row.name[:-1]) if row.name.endswith("*") else key == row.name
