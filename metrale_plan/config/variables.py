"""Every METRALE_* variable that the plan reads, once: how the engine reads it, and what is in force when it cannot.

Three ways exist. *Presence*: set to anything, also 0 or nothing, is on. *Value*: only the words named count.
*Count*: digits. A text that the engine would drop in silence gives `Ignored`, which becomes a warning.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from metrale_plan import text as engine_text
from metrale_plan.arena import parse_splitk
from metrale_plan.config.kinds import number
from metrale_plan.ladder import parse_ladder
from metrale_plan.nearest import misspelling_of
from metrale_plan.reserve.decode_ring import watchdogs_disabled_from_value


class Ignored(NamedTuple):
    """A variable's text that the engine does not take, and what is in force instead."""

    accepted: str
    in_force: str


class Variable(NamedTuple):
    """One variable.

    Attributes:
        name: with its METRALE_ prefix.
        way: "presence", "value" or "count", as the engine reads it.
        field: the ServeConfig field or flag key it bears on, or a stage after the reserve.
        read: text to typed value, or Ignored.
        default: its typed value when unset, for comparing.
        flag: the flag that sets the same thing and wins over it, by key.
    """

    name: str
    way: str
    field: str
    read: Callable[[str], Any]
    default: Any = None
    flag: str | None = None


def presence(name: str, field: str) -> Variable:
    """On when present, whatever its text."""
    return Variable(name, "presence", field, lambda _text: True, default=False)


def switch(name: str, field: str, *words: str, default: bool = False, others: str | None = None) -> Variable:
    """Takes the opposite of `default` for exactly one of `words`; another non-empty text is ignored."""

    def read(raw: str) -> bool | Ignored:
        if raw in words:
            return not default
        if raw in ("", "0" if not default else "1"):
            return default
        return Ignored(f"{' or '.join(words)} to switch it {'off' if default else 'on'}", others or "it does nothing")

    return Variable(name, "value", field, read, default=default)


def counted(name: str, field: str, in_force: str, *, default: Any = None, trim: bool = False) -> Variable:
    """A count in the engine's number syntax; anything else is ignored."""

    def read(raw: str) -> int | Ignored:
        value = engine_text.parse_count(engine_text.trim(raw) if trim else raw)
        return Ignored("a whole number", in_force) if value is None else value

    return Variable(name, "count", field, read, default=default)


def _ladder(raw: str) -> tuple[tuple[int, int], ...] | Ignored:
    steps = parse_ladder(raw)
    if steps is None:
        return Ignored("width:drafts steps separated by commas", "the default ladder 4:3,8:3,16:1,32:1, kept static")
    return tuple((width, drafts) for width, drafts in steps)


def _ring(raw: str) -> str | Ignored:
    return raw if raw in ("0", "1") else Ignored("0 or 1", "the ring's other rules")


def _watchdogs(raw: str) -> bool | Ignored:
    if watchdogs_disabled_from_value(raw):
        return True
    if engine_text.trim(raw).lower() in ("", "0", "false"):
        return False
    return Ignored("1 or true", "the watchdogs stay on")


def _splitk(raw: str) -> str | Ignored:
    return Ignored("legacy, auto, off, or a count", "the class's policy") if parse_splitk(raw) is None else raw


def _ep_protocol(raw: str) -> bool:
    return raw == "v2"


def _marconi_min(raw: str) -> int | Ignored:
    value = engine_text.parse_count(raw)
    return Ignored("a whole number", "the default of 256 tokens") if value is None else value


def _h_fp16(raw: str) -> str:
    return "f16" if raw in ("1", "true") else "f32"


def _gib(raw: str) -> float | Ignored:
    try:
        return float(number(0.0).parse(raw))
    except ValueError:
        return Ignored("a number of GiB", "nothing is held for others")


LOADED, KV = "the load", "KV sizing"
"""Stages after the reserve, whose variables are read but move nothing before them."""

VARIABLES: tuple[Variable, ...] = (
    presence("METRALE_NO_MTP_K_LADDER", "ladder_disabled"),
    Variable("METRALE_MTP_K_LADDER", "value", "ladder", _ladder, flag="mtp_k_ladder"),
    presence("METRALE_MTP_STATIC_RUNG", "static_rung"),
    presence("METRALE_MTP_POOL_FULL_WIDTH", "full_width_pools"),
    Variable("METRALE_EP_PROTOCOL", "value", "full_width_pools", _ep_protocol, default=False),
    presence("METRALE_SSM_MARCONI_FULL", "marconi_reserve_full"),
    Variable("METRALE_MARCONI_MIN_TOKENS", "count", "marconi_min_tokens", _marconi_min, flag="marconi_min_tokens"),
    Variable("METRALE_SSM_DECODE_RING", "value", "ring_override", _ring),
    Variable("METRALE_DISABLE_WATCHDOGS", "value", "watchdogs_disabled", _watchdogs, default=False),
    presence("METRALE_SSM_RESERVE_RING_FULL", "reserve_ring_full"),
    Variable("METRALE_SSM_H_FP16", "value", "ssm_h_dtype", _h_fp16, default="f32", flag="ssm_h_dtype"),
    switch("METRALE_GDN_FUSED_CONV", "gdn_fused_conv", "1"),
    counted("METRALE_KV_FLOOR_TOKENS", "kv_floor_tokens", "the default floor of 4096 tokens", default=4096, trim=True),
    counted("METRALE_MAX_BATCH_TOKENS", "max_batch_tokens", "the computed width"),
    switch("METRALE_DENSE_FP8", "native_fp8", "1"),
    presence("METRALE_DENSE_FP8_KEEP_NVFP4", "native_fp8"),
    presence("METRALE_ATTN_W4A4", "native_fp8"),
    Variable("METRALE_ATTN_DECODE_SPLITK", "value", "splitk", _splitk),
    counted("METRALE_FFN_W4A16_LT_MIN_ROWS", "ffn_min_rows", "the class's threshold"),
    switch("METRALE_GGUF_NATIVE_Q2", "native_q2", "1"),
    switch("METRALE_GGUF_NATIVE_Q2_MMQ", "native_q2_mmq", "1"),
    switch("METRALE_FP8_ROWWISE", "fp8_rowwise", "1"),
    switch("METRALE_GLM_DSA_INDEXER_FLAT", "glm_indexer_flat", "1"),
    presence("METRALE_GLM53_PREFIX_CACHE_UNPROVEN", "glm_prefix_unproven"),
    switch("METRALE_ATTN_PREFILL_Q_T", LOADED, "1"),
    presence("METRALE_NO_GDN_FP8", LOADED),
    switch("METRALE_NO_LMHEAD_TGEMM", LOADED, "1"),
    switch("METRALE_DFLASH_DRAFTER_FP8", LOADED, "0", default=True),
    switch("METRALE_RECV_BUFFER_TIGHT", LOADED, "1"),
    presence("METRALE_KV_POOL_UNCLAMPED", KV),
    Variable("METRALE_KV_EXTERNAL_RESERVE_GB", "value", KV, _gib),
    switch("METRALE_KV_OVERCOMMIT", KV, "0", "false", default=True),
    counted("METRALE_PROPOSE_META_STRIDE", KV, "the stride by the sequence length"),
)


@cache
def by_name() -> dict[str, Variable]:
    """Variables by name."""
    return {variable.name: variable for variable in VARIABLES}


PREFIX = "METRALE_"

NATIVE_FP8_FALLBACKS = ("METRALE_DENSE_FP8_KEEP_NVFP4", "METRALE_ATTN_W4A4", "METRALE_CUTLASS_NVFP4_")
"""Names, the last one a prefix, whose presence takes the dense loader off its native FP8 route."""


class Unmodelled(NamedTuple):
    """A flag key or variable (a trailing * matches a prefix) whose bytes the plan does not count.

    Attributes:
        name: flag key or variable name.
        switch: a flag key that must be on for it to matter, or None.
        default: the text that changes nothing.
        term: the one reserve term that it moves, so that it matters only where that is reserved, or None for any.
    """

    name: str
    switch: str | None = None
    default: str | None = None
    term: str | None = None


UNMODELLED: tuple[Unmodelled, ...] = (
    Unmodelled("tp_size", default="1"),
    Unmodelled("ep_size", default="1"),
    Unmodelled("world_size", default="1"),
    Unmodelled("lora_adapter"),
    Unmodelled("max_lora_rank", switch="lora_adapter", default="64"),
    Unmodelled("max_loras", switch="lora_adapter", default="8"),
    Unmodelled("high_speed_swap"),
    Unmodelled("forward", default="legacy"),
    Unmodelled("METRALE_NO_GDN_CARRY", term="carry_stash"),
    Unmodelled("METRALE_DS41_MAX_SEQ", default="8192"),
    Unmodelled("METRALE_DS41_MAX_TOKENS", default="2048"),
    Unmodelled("METRALE_DS41_READER_THREADS", default="16"),
    Unmodelled("METRALE_DS41_STAGING_SLOTS", default="16"),
    Unmodelled("METRALE_DS41_*"),
)
"""What holds up a verdict on the reserve and the arena when set to other than its default; the first match counts."""


@cache
def known_names() -> frozenset[str]:
    """Every variable that is known by name, read by a formula or not."""
    from metrale_plan.data.known_variables import OTHER_VARIABLES

    unmodelled = (row.name for row in UNMODELLED if row.name.startswith(PREFIX) and not row.name.endswith("*"))
    return frozenset((*by_name(), *unmodelled, *OTHER_VARIABLES))


def misspelt(name: str) -> str | None:
    """The known variable that a METRALE_* name misspells, or None.

    The engine declares more names than are known here, so only one or two edits count, and a name that differs in its
    digits alone is another variable.
    """
    if name in known_names():
        return None
    near = misspelling_of(name, known_names())
    return None if near is None or _without_digits(near) == _without_digits(name) else near


def meant_by(name: str) -> str | None:
    """The known variable that a name without the METRALE_ prefix misspells in its prefix or its case, or None."""
    prefix, underscore, rest = name.upper().partition("_")
    if not underscore or not (prefix + "_" == PREFIX or misspelling_of(prefix + "_", (PREFIX,))):
        return None
    meant = PREFIX + rest
    return meant if meant in known_names() else misspelling_of(meant, known_names())


def _without_digits(name: str) -> str:
    return "".join(char for char in name if not char.isdigit())
