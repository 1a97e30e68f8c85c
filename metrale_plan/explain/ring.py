"""Which rule decided the depth of the decode-rollback ring, what each depth costs, and what fits.

Sources: the engine's memory plan, 5.2 and 13.3.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from metrale_plan.config.given import Settings
from metrale_plan.config.serve import ServeConfig
from metrale_plan.config.variables import NATIVE_FP8_FALLBACKS
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan import MemoryPlan
from metrale_plan.plan.ring import RingPlan, fitted_after_load
from metrale_plan.reserve.decode_ring import DECODE_RING_FIT_LADDER, DEFAULT_DECODE_RING_SLOTS
from metrale_plan.ring_fit import Yardstick, after_load_yardstick, derived_copies, fit_ring, kv_floor

Outcome = Literal["decides", "not met", "outranked"]


class Rule(NamedTuple):
    """One rule, in the engine's order: the state it looks at, the depth it would give, and what became of it.

    An `outranked` rule applies, but an earlier one decided; only the first rule that applies `decides`.
    """

    rule: str
    state: str
    depth: int | None
    outcome: Outcome


class Depth(NamedTuple):
    """One depth, pinned by the flag: ring bytes, the whole reserve and arena beside it, what is left, and its uses.

    Attributes:
        need: reserve and arena with this ring.
        headroom: free minus need, signed; None without memory.
        fits: whether preflight would take it; None without memory. A reserve that starts from depth 8 whatever is
            pinned needs that much for each.
        roles: "wanted", "reserved", "allocated".
    """

    depth: int
    bytes: int
    need: int
    headroom: int | None
    fits: bool | None
    roles: tuple[str, ...]


class Condition(NamedTuple):
    """One condition of the after-load yardstick; `holds` is None where the plan cannot tell."""

    condition: str
    holds: bool | None
    state: str


class Loaded(NamedTuple):
    """What the budget holds when the ring is fitted after the load; `weights` as stated, the rest as planned."""

    budget: int
    weights: int
    derived: int
    arena: int
    fixed: int


class Fit(NamedTuple):
    """The fit: `beside` and the ring against `limit`, in bytes, and the deepest step of 8, 4, 2, 1, 0 that fits.

    Attributes:
        kind: "before_load", or "after_load", where `beside` is the floor of KV and `loaded` makes the limit.
        room: limit minus beside, signed.
        kept: why the wanted depth was kept, or None when it was made shallower.
    """

    kind: str
    beside: int
    limit: int
    room: int
    wanted: int
    result: int
    kept: str | None
    loaded: Loaded | None = None


class RingExplanation(NamedTuple):
    """The whole screen.

    Attributes:
        requested: the depth that the rules want; `start` is what the reserve starts from.
        reserved, allocated: depths after the fit.
        slot_bytes: one unit of depth: sequences x blob.
        fit: None when nothing was fitted; one after the load is a prediction, and `reserved` is as before it.
        unfitted: why there is no fit, or None.
        after_load: conditions of the after-load yardstick.
    """

    requested: int
    start: int
    reserved: int
    allocated: int
    skip_reason: str | None
    pinned: bool
    reserve_full: bool
    sequences: int
    blob: int
    slot_bytes: int
    bytes: int
    rules: tuple[Rule, ...]
    depths: tuple[Depth, ...]
    fit: Fit | None
    unfitted: str | None
    after_load: tuple[Condition, ...]


def explain_ring(
    plan: MemoryPlan,
    dims: ModelDims,
    config: ServeConfig,
    settings: Settings,
    *,
    free: int | None = None,
    weights: int | None = None,
) -> RingExplanation:
    """Everything about the ring of one serve.

    Args:
        free: free bytes that the plan was fitted to, or None.
        weights: on-disk bytes of a block-scaled FP8 checkpoint, for the fit after the load.
    """
    ring = plan.ring
    later = fitted_after_load(dims, config)
    conditions = tuple(_after_load(dims, settings, weights))
    if later and all(row.holds for row in conditions):
        fit: Fit | None = _predicted(plan, dims, config, settings, weights or 0)
    else:
        fit = None if later else _fit(plan)
    return RingExplanation(
        requested=ring.requested,
        start=ring.want,
        reserved=ring.reserved,
        allocated=ring.slots,
        skip_reason=ring.skip_reason,
        pinned=ring.pinned,
        reserve_full=config.reserve_ring_full,
        sequences=plan.slots,
        blob=dims.blob,
        slot_bytes=ring.slot_bytes,
        bytes=ring.bytes,
        rules=tuple(_rules(dims, config, settings)),
        depths=tuple(_depths(plan, config, free)),
        fit=fit,
        unfitted=None if fit else _unfitted(ring, later),
        after_load=conditions,
    )


def _rules(dims: ModelDims, config: ServeConfig, settings: Settings) -> Iterator[Rule]:
    decided = False

    def rule(name: str, state: str, depth: int | None) -> Rule:
        nonlocal decided
        outcome: Outcome = "not met"
        if depth is not None:
            outcome = "outranked" if decided else "decides"
            decided = True
        return Rule(rule=name, state=state, depth=depth, outcome=outcome)

    layers, pinned, override = dims.ssm_layers, config.ssm_decode_ring_slots, config.ring_override
    yield rule("no recurrent layers", f"{layers} recurrent layers", None if layers else 0)
    flag = settings["ssm_decode_ring_slots"]
    yield rule("--ssm-decode-ring-slots", f"{flag.value} ({flag.source})", pinned)
    variable = settings.get("METRALE_SSM_DECODE_RING")
    said = "unset" if variable is None else f"{variable.value!r}"
    if variable is not None and override not in ("0", "1"):
        said += ", which the engine ignores"
    yield rule(
        "METRALE_SSM_DECODE_RING",
        said,
        {"1": DEFAULT_DECODE_RING_SLOTS, "0": 0}.get(override or ""),
    )
    drafting = "--speculative" if config.speculative else "--dflash" if config.dflash else None
    idle = "neither is on"
    if config.self_speculative or config.ngram_speculative:
        idle += "; self- and n-gram speculation leave the ring on"
    yield rule("speculative or DFlash", f"{drafting} is on" if drafting else idle, 0 if drafting else None)
    off = config.watchdogs_disabled
    yield rule(
        "watchdogs disabled",
        "METRALE_DISABLE_WATCHDOGS switches them off" if off else "they are on",
        0 if off else None,
    )
    yield rule("otherwise", "", DEFAULT_DECODE_RING_SLOTS)


def _depths(plan: MemoryPlan, config: ServeConfig, free: int | None) -> Iterator[Depth]:
    ring = plan.ring
    others = plan.total - ring.bytes
    named = {"wanted": ring.requested, "reserved": ring.reserved, "allocated": ring.slots}
    for depth in sorted({*DECODE_RING_FIT_LADDER, *named.values()}, reverse=True):
        size = depth * ring.slot_bytes
        need = others + size
        asked = others + ring.want * ring.slot_bytes if config.reserve_ring_full else need
        yield Depth(
            depth=depth,
            bytes=size,
            need=need,
            headroom=None if free is None else free - need,
            fits=None if free is None else asked <= free,
            roles=tuple(role for role, value in named.items() if value == depth),
        )


def _fit(plan: MemoryPlan) -> Fit | None:
    ring, yardstick = plan.ring, plan.ring.yardstick
    if yardstick is None:
        return None
    return _fit_to(yardstick, ring, ring.reserved)


def _predicted(plan: MemoryPlan, dims: ModelDims, config: ServeConfig, settings: Settings, weights: int) -> Fit:
    """The fit after the load, to what the budget leaves. Engine memory plan, 13.3."""
    ring, arena = plan.ring, plan.arena_reserved.bytes
    twin = settings.get("METRALE_ATTN_PREFILL_Q_T")
    loaded = Loaded(
        budget=plan.budget,
        weights=weights,
        derived=derived_copies(
            dims,
            prefill_q_t=twin is not None and twin.value is True,
            gdn_fp8="METRALE_NO_GDN_FP8" not in settings,
        ),
        arena=arena,
        fixed=plan.total - arena - ring.bytes,
    )
    yardstick = after_load_yardstick(
        loaded.budget, loaded.weights, loaded.derived, loaded.arena, loaded.fixed, kv_floor(dims, config)
    )
    result = fit_ring(ring.want, ring.slot_bytes, ring.pinned, yardstick)
    return _fit_to(yardstick, ring, result)._replace(loaded=loaded)


def _fit_to(yardstick: Yardstick, ring: RingPlan, result: int) -> Fit:
    return Fit(
        kind=yardstick.kind,
        beside=yardstick.beside,
        limit=yardstick.limit,
        room=yardstick.limit - yardstick.beside,
        wanted=ring.want,
        result=result,
        kept=_kept(yardstick, ring, result),
    )


def _kept(yardstick: Yardstick, ring: RingPlan, result: int) -> str | None:
    if ring.want == 0:
        return "no ring is wanted"
    if ring.slot_bytes == 0:
        return "a ring of any depth takes no bytes"
    if ring.pinned:
        return "the flag pins a depth, so none is made shallower"
    if yardstick.fits(ring.want * ring.slot_bytes):
        return "it fits"
    if result == ring.want:
        return "not even depth 0 fits, so preflight refuses and names the ring that was asked for"
    return None


def _unfitted(ring: RingPlan, later: bool) -> str:
    if ring.want == 0 or ring.slot_bytes == 0:
        return "no ring is wanted" if ring.want == 0 else "a ring of any depth takes no bytes"
    if later:
        return (
            "the engine fits this ring after the load, to what the weights leave; --weights SIZE, their size on "
            "disk, predicts it"
        )
    return "no memory was stated (--device, --total-memory or --free-memory)"


def _after_load(dims: ModelDims, settings: Settings, weights: int | None) -> Iterator[Condition]:
    """The conditions under which the ring is fitted to a KV floor after the load instead."""
    yield Condition(
        condition="dense Qwen3.5 loader", holds=dims.loader == "qwen3_5", state=dims.loader or "loader not known"
    )
    switch = settings.get("METRALE_DENSE_FP8")
    on = switch is not None and switch.value is True
    said = "unset" if switch is None else "1" if on else "another text" if isinstance(switch.value, str) else "0"
    yield Condition(condition="METRALE_DENSE_FP8 is 1", holds=on, state=said)
    ranks = settings["tp_size"].value if "tp_size" in settings else 1
    yield Condition(condition="one tensor-parallel rank", holds=ranks == 1, state=str(ranks))
    levers = [key for key in settings if key.startswith(NATIVE_FP8_FALLBACKS)]
    yield Condition(
        condition="no lever back from native FP8",
        holds=not levers,
        state=", ".join(levers) or "none set",
    )
    yield Condition(
        condition="block-scaled FP8 of known size",
        holds=None if weights is None else True,
        state="the plan does not open the checkpoint" if weights is None else "stated by --weights",
    )
