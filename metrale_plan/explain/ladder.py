"""Why each width gets its drafts and each slot its capacity, and what the verify pools cost for it.

Sources: the engine's memory plan, 3.2 and 4 (`speculative/ladder`, `ssm_reserve`).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Literal, NamedTuple

from metrale_plan.config.given import Settings
from metrale_plan.config.serve import ServeConfig, Steps
from metrale_plan.device import DeviceSpec
from metrale_plan.explain.origin import Lost, Origin, origin_of
from metrale_plan.integers import less
from metrale_plan.ladder import MAX_MTP_MAX_SEQS, ladder_drafts_from_steps, mtp_ladder_drafts
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan.verify import VerifyPlan, plan_pool, plan_verify, verify_slots
from metrale_plan.pool import PoolPlan
from metrale_plan.reserve import verify_slot_drafts
from metrale_plan.rules import EngineRules

RUNG_FIRST, RUNG_LAST, RUNG_DRAFTS = 9, 16, 2
"""Widths that the adaptive rung lifts, and to how many drafts."""

OWN_WIDTH = "drafts of its own width"
"""Why a slot has its capacity, where no wider width asks for more."""

Reach = Literal["runs", "above the batch", "above the cap"]


class Step(NamedTuple):
    """One step of the ladder: `drafts` as written for widths up to `width`, `in_force` after the clamp.

    `first` is the narrowest width it covers, or None where an earlier step covers all of them; the last step covers
    every wider batch too.
    """

    width: int
    drafts: int
    in_force: int
    first: int | None


class WidthRun(NamedTuple):
    """Neighbouring widths that are alike, `first` to `last` active sequences.

    Attributes:
        static: drafts by the ladder.
        lifted: drafts after the adaptive rung, before any clamp.
        capacity: least capacity of the slots that so many sequences hold, or None where the pools do not reach.
        drafts: what a step runs with: 0 above the dispatch cap.
        reach: whether such a batch occurs and speculates.
    """

    first: int
    last: int
    static: int
    lifted: int
    capacity: int | None
    drafts: int
    reach: Reach


class SlotGroup(NamedTuple):
    """Neighbouring verify slots that are alike, or the dummy. Bytes are of the whole group, over all layers.

    Attributes:
        first, last: slot numbers from 0; the dummy is the last of all.
        capacity: drafts a sequence on such a slot may verify; None for the dummy.
        why: where the capacity comes from.
        from_width: the width that asks for it, when it is a wider one than the slot's own.
        h_steps, conv_steps: intermediates that one such slot holds.
        slot_bytes: one such slot; None without a model, as are all bytes.
    """

    first: int
    last: int
    dummy: bool
    capacity: int | None
    why: str
    from_width: int | None
    h_steps: int
    conv_steps: int
    h_bytes: int | None = None
    conv_bytes: int | None = None
    checkpoint_bytes: int | None = None
    slot_bytes: int | None = None
    bytes: int | None = None


class Rung(NamedTuple):
    """The adaptive rung: widths it lifts to two drafts, and those of them that slot capacity clamps back.

    Attributes:
        active: whether there is one.
        why: what makes it so.
        widths: the widths it looks at.
        lifted, clamped: widths within the dispatch cap.
        idle: why one that is active lifts nothing, or None.
    """

    active: bool
    why: str
    widths: tuple[int, int]
    drafts: int
    lifted: tuple[int, ...]
    clamped: tuple[int, ...]
    idle: str | None


class Pools(NamedTuple):
    """Bytes of the recurrent pool: live state, and the verify side by kind, dummies included."""

    live: int
    h_intermediates: int
    conv_intermediates: int
    checkpoints: int
    verify: int
    total: int
    dummy: int


class Side(NamedTuple):
    """One ladder under one set of settings.

    Attributes:
        label: how it is named beside another.
        slots: verify slots, without the dummy.
        runs: widths 1 to the wider of cap and batch.
    """

    label: str
    ladder: Steps
    disabled: bool
    pinned: bool
    full_width: bool
    steps: tuple[Step, ...]
    runs: tuple[WidthRun, ...]
    slots: int
    slots_with_dummy: int
    groups: tuple[SlotGroup, ...]
    rung: Rung
    pools: Pools | None


class WidthPair(NamedTuple):
    """Widths over which both sides are alike: static drafts, capacity and drafts of each."""

    first: int
    last: int
    static: tuple[int, int]
    capacity: tuple[int | None, int | None]
    drafts: tuple[int, int]


class SlotPair(NamedTuple):
    """Slots over which both sides are alike: capacity, h steps and one slot's bytes of each, None if it has none."""

    first: int
    last: int
    capacity: tuple[int | None, int | None]
    h_steps: tuple[int | None, int | None]
    slot_bytes: tuple[int | None, int | None]


class TermPair(NamedTuple):
    """A reserve term on both sides, in bytes; `difference` is the other side minus this one."""

    term: str
    here: int
    there: int
    difference: int


class Against(NamedTuple):
    """Another ladder beside the one in force.

    Attributes:
        terms: reserve terms that differ, and `total`, last; empty without a model.
    """

    side: Side
    widths: tuple[WidthPair, ...]
    slots: tuple[SlotPair, ...]
    terms: tuple[TermPair, ...]


class LadderExplanation(NamedTuple):
    """The whole screen.

    Attributes:
        proposer: what drafts under these settings, or None.
        assumed: the pools are those of `--speculative`, which these settings do not have.
        pools_refused: why there are no pools even under `--speculative`, or None.
        num_drafts: the most drafts of a step (γ under DFlash), and where that came from.
        source: the ladder's origin.
        malformed: the variable's text that the engine could not read, or None.
        switched_off_by: what takes the ladder out of use, or None.
        dflash_ladder: origin of DFlash's own ladder, or None where it drafts without one.
        cap: the dispatch cap's origin; `cap_limits` are the least and most that a serve accepts.
        batch: most sequences decoded together; `batch_auto` under `--max-batch-size auto`.
        full_width_total, saved: bytes of the pool at full width, and what the ladder saves against that; None
            without a model.
    """

    proposer: str | None
    assumed: bool
    pools_refused: str | None
    num_drafts: Origin
    source: Origin
    malformed: str | None
    switched_off_by: str | None
    dflash_ladder: Origin | None
    cap: Origin
    cap_limits: tuple[int, int]
    batch: int
    batch_auto: bool
    copy_tier_slots: int | None
    copy_tier_drafts: int | None
    side: Side
    full_width_total: int | None
    saved: int | None
    against: Against | None


PROPOSERS = ("speculative", "self_speculative", "ngram_speculative", "dflash")


def explain_ladder(
    config: ServeConfig,
    settings: Settings,
    rules: EngineRules,
    *,
    dims: ModelDims | None = None,
    device: DeviceSpec | None = None,
    against: Steps | Literal["full-width"] | None = None,
) -> LadderExplanation:
    """Everything about the ladder of one serve.

    Args:
        dims, device: the model and the device to price on; None leaves the bytes out.
        against: another ladder's steps, or "full-width", to put beside it.
    """
    proposer = next((name for name in PROPOSERS if getattr(config, name)), None)
    refused = None
    if proposer is None and dims is not None and dims.recurrent == "mamba2":
        refused = "the engine does not draft for Mamba-2 models"
    planned = config if proposer else replace(config, speculative=True)
    priced = None if refused else dims
    side = _side("in force", planned, rules, priced)
    variable = settings.get("METRALE_MTP_K_LADDER")
    malformed = variable.value if variable is not None and isinstance(variable.value, str) else None
    tier = _verify(planned).tier
    full = None if priced is None else _pool_total(replace(planned, full_width_pools=True), rules, priced)
    drafts, own = "dflash_gamma" if config.dflash else "num_drafts", config.dflash_draft_ladder
    return LadderExplanation(
        proposer=proposer,
        assumed=proposer is None,
        pools_refused=refused,
        num_drafts=origin_of(settings[drafts]),
        source=_ladder_origin(settings, malformed),
        malformed=malformed,
        switched_off_by="METRALE_NO_MTP_K_LADDER" if config.ladder_disabled else None,
        dflash_ladder=origin_of(settings["dflash_draft_ladder"]) if config.dflash and own else None,
        cap=origin_of(settings["mtp_max_seqs"]),
        cap_limits=(1, MAX_MTP_MAX_SEQS),
        batch=config.ceiling,
        batch_auto=config.max_batch_size is None,
        copy_tier_slots=tier.slots if tier else None,
        copy_tier_drafts=tier.drafts if tier else None,
        side=side,
        full_width_total=full,
        saved=None if full is None or side.pools is None else full - side.pools.total,
        against=None if against is None else _against(side, planned, rules, priced, device, against),
    )


def ladder_text(steps: Steps) -> str:
    """A ladder as the flag spells it."""
    return ",".join(f"{width}:{drafts}" for width, drafts in steps)


def _ladder_origin(settings: Settings, malformed: str | None) -> Origin:
    dropped: tuple[Lost, ...] = ()
    if malformed is not None:
        why = "one malformed step voids the whole text"
        if settings["mtp_k_ladder"].source == "engine":
            why += "; it still pins the ladder, so there is no adaptive rung"
        dropped = (Lost(value=malformed, source="env", where="METRALE_MTP_K_LADDER", why=why),)
    return origin_of(settings["mtp_k_ladder"], *dropped)


def static_drafts(config: ServeConfig, width: int) -> int:
    """Drafts by the ladder at `width`; under DFlash γ, or what its own ladder says."""
    if config.dflash:
        ladder = config.dflash_draft_ladder
        return ladder_drafts_from_steps(ladder, width, less(config.drafts, 1)) if ladder else config.drafts
    return mtp_ladder_drafts(width, config.num_drafts, config.ladder, config.ladder_disabled)


def _side(label: str, config: ServeConfig, rules: EngineRules, dims: ModelDims | None) -> Side:
    verify = _verify(config)
    pool = None if dims is None else plan_pool(dims, config, config.ceiling, verify, rules)
    counted = verify.counts if pool is None or pool.counts.verify is None else pool.counts.verify
    groups = tuple(_groups(config, verify, counted.h_steps, dims))
    rung, runs = _widths(config)
    return Side(
        label=label,
        ladder=config.ladder,
        disabled=config.ladder_disabled,
        pinned=config.ladder_pinned,
        full_width=config.full_width_pools,
        steps=tuple(_steps(config)),
        runs=runs,
        slots=verify.slots,
        slots_with_dummy=len(counted.h_steps),
        groups=groups,
        rung=rung,
        pools=None if pool is None else _pools(pool, groups),
    )


def _pool_total(config: ServeConfig, rules: EngineRules, dims: ModelDims) -> int:
    return plan_pool(dims, config, config.ceiling, _verify(config), rules).total


def _verify(config: ServeConfig) -> VerifyPlan:
    verify = plan_verify(config, config.ceiling)
    assert verify is not None
    return verify


def _steps(config: ServeConfig) -> Iterator[Step]:
    covered = 0
    for width, drafts in config.ladder:
        in_force = ladder_drafts_from_steps(((width, drafts),), width, config.num_drafts)
        yield Step(width=width, drafts=drafts, in_force=in_force, first=covered + 1 if width > covered else None)
        covered = max(covered, width)


# Widths


def _rung_reason(config: ServeConfig) -> tuple[bool, str]:
    if config.dflash:
        return False, "DFlash does not draft by this ladder"
    if config.static_rung:
        return False, "METRALE_MTP_STATIC_RUNG is present"
    if config.ladder_pinned:
        return False, "an explicit ladder, by flag or variable, is kept static"
    return True, "no ladder was given and METRALE_MTP_STATIC_RUNG is absent"


def _idle(config: ServeConfig) -> str:
    if config.mtp_max_seqs < RUNG_FIRST:
        return f"the dispatch cap is {config.mtp_max_seqs}"
    if config.num_drafts < RUNG_DRAFTS:
        return f"the most drafts of a step is {config.num_drafts}"
    return "each of those widths has as many drafts without it"


def _widths(config: ServeConfig) -> tuple[Rung, tuple[WidthRun, ...]]:
    active, why = _rung_reason(config)
    cap, batch = config.mtp_max_seqs, config.ceiling
    widest = max(cap, batch)
    covered = verify_slots(config, widest)
    # Survivors are compacted onto the first slots: a batch of n holds slots 0 to n - 1, and the least roomy one rules.
    least = list(accumulate((capacity for capacity, _, _ in capacities(config, covered)), min))
    runs: list[WidthRun] = []
    lifted_widths: list[int] = []
    clamped_widths: list[int] = []
    for width in range(1, widest + 1):
        static = static_drafts(config, width)
        lifted = static
        if active and RUNG_FIRST <= width <= RUNG_LAST:
            lifted = max(static, min(RUNG_DRAFTS, config.num_drafts))
        capacity = least[width - 1] if width <= covered else None
        runs_with = 0 if width > cap or capacity is None else min(lifted, capacity)
        if lifted > static and width <= cap:
            lifted_widths.append(width)
            if runs_with < lifted:
                clamped_widths.append(width)
        reach: Reach = "above the cap" if width > cap else "above the batch" if width > batch else "runs"
        run = WidthRun(
            first=width,
            last=width,
            static=static,
            lifted=lifted,
            capacity=capacity,
            drafts=runs_with,
            reach=reach,
        )
        if runs and runs[-1]._replace(first=width, last=width) == run:
            runs[-1] = runs[-1]._replace(last=width)
        else:
            runs.append(run)
    rung = Rung(
        active=active,
        why=why,
        widths=(RUNG_FIRST, RUNG_LAST),
        drafts=RUNG_DRAFTS,
        lifted=tuple(lifted_widths),
        clamped=tuple(clamped_widths),
        idle=_idle(config) if active and not lifted_widths else None,
    )
    return rung, tuple(runs)


# Slots


def capacities(config: ServeConfig, count: int) -> tuple[tuple[int, str, int | None], ...]:
    """Of slots 0 to `count` - 1: draft capacity before any copy tier, why, and the wider width that asks for it.

    Source: engine memory plan, 3.2.
    """
    if config.dflash:
        return ((config.drafts, "γ, on every slot", None),) * count
    if config.full_width_pools:
        return ((config.num_drafts, "full-width pools", None),) * count
    if config.num_drafts == 0:
        return ((0, "no drafts at all", None),) * count
    cap = config.mtp_max_seqs
    at = [0, *(static_drafts(config, width) for width in range(1, max(cap, count) + 1))]

    def of(slot: int) -> tuple[int, str, int | None]:
        capacity = verify_slot_drafts(slot, cap, config.num_drafts, at.__getitem__)
        asking = next(width for width in range(slot + 1, len(at)) if at[width] >= capacity)
        return (capacity, OWN_WIDTH, None) if asking == slot + 1 else (capacity, f"drafts of width {asking}", asking)

    return tuple(of(slot) for slot in range(count))


def _groups(
    config: ServeConfig, verify: VerifyPlan, h_steps: tuple[int, ...], dims: ModelDims | None
) -> Iterator[SlotGroup]:
    """Verify slots that are alike, together; `h_steps` are those of the pool, the dummy last where it is counted."""
    known = capacities(config, verify.slots)
    current: SlotGroup | None = None
    for slot, steps in enumerate(h_steps):
        dummy = slot >= verify.slots
        capacity, why, from_width = (None, "the dummy", None) if dummy else known[slot]
        if capacity is not None and steps > capacity:
            why = f"{why}; {steps} by the copy tier"
        group = SlotGroup(
            first=slot,
            last=slot,
            dummy=dummy,
            capacity=capacity,
            why=why,
            from_width=from_width,
            h_steps=steps,
            conv_steps=verify.counts.conv_steps,
        )
        if current is not None and current._replace(first=slot, last=slot) == group:
            current = current._replace(last=slot)
            continue
        if current is not None:
            yield _priced(current, config, dims)
        current = group
    if current is not None:
        yield _priced(current, config, dims)


def _priced(group: SlotGroup, config: ServeConfig, dims: ModelDims | None) -> SlotGroup:
    if dims is None:
        return group
    layers, conv = dims.ssm_layers, dims.conv_unit
    h = dims.h_unit // 2 if config.f16_pool else dims.h_unit
    count = group.last - group.first + 1
    h_bytes, conv_bytes = layers * group.h_steps * h, layers * group.conv_steps * conv
    checkpoint = layers * (h + conv)
    slot = h_bytes + conv_bytes + checkpoint
    return group._replace(
        h_bytes=count * h_bytes,
        conv_bytes=count * conv_bytes,
        checkpoint_bytes=count * checkpoint,
        slot_bytes=slot,
        bytes=count * slot,
    )


def _pools(pool: PoolPlan, groups: tuple[SlotGroup, ...]) -> Pools:
    return Pools(
        live=pool.live,
        h_intermediates=pool.h_intermediates,
        conv_intermediates=pool.conv_intermediates,
        checkpoints=pool.checkpoints,
        verify=pool.total - pool.live,
        total=pool.total,
        dummy=sum(group.bytes or 0 for group in groups if group.dummy),
    )


# Two ladders


def _against(
    here: Side,
    config: ServeConfig,
    rules: EngineRules,
    dims: ModelDims | None,
    device: DeviceSpec | None,
    other: Steps | Literal["full-width"],
) -> Against:
    if other == "full-width":
        changed, label = replace(config, full_width_pools=True), "full-width pools"
    else:
        changed = replace(config, ladder=other, ladder_pinned=True, ladder_disabled=False)
        label = ladder_text(other)
    there = _side(label, changed, rules, dims)
    terms: tuple[TermPair, ...] = ()
    if dims is not None and device is not None:
        terms = tuple(_terms(config, changed, rules, dims, device))
    return Against(
        side=there, widths=tuple(_width_pairs(here, there)), slots=tuple(_slot_pairs(here, there)), terms=terms
    )


def _terms(
    here: ServeConfig, there: ServeConfig, rules: EngineRules, dims: ModelDims, device: DeviceSpec
) -> Iterator[TermPair]:
    from metrale_plan.plan import make_plan

    ours, theirs = make_plan(dims, here, rules, device), make_plan(dims, there, rules, device)
    for line in ours.lines:
        other = theirs.bytes_of(line.term)
        if other != line.bytes:
            yield TermPair(term=line.term, here=line.bytes, there=other, difference=other - line.bytes)
    yield TermPair(term="total", here=ours.total, there=theirs.total, difference=theirs.total - ours.total)


def _at(runs: tuple[WidthRun, ...], width: int) -> WidthRun:
    return next(run for run in runs if run.first <= width <= run.last)


def _width_pairs(here: Side, there: Side) -> Iterator[WidthPair]:
    last = here.runs[-1].last
    starts = sorted({run.first for side in (here, there) for run in side.runs})
    current: WidthPair | None = None
    for start, end in zip(starts, [*(start - 1 for start in starts[1:]), last], strict=True):
        ours, theirs = _at(here.runs, start), _at(there.runs, start)
        pair = WidthPair(
            first=start,
            last=end,
            static=(ours.static, theirs.static),
            capacity=(ours.capacity, theirs.capacity),
            drafts=(ours.drafts, theirs.drafts),
        )
        if current is not None and current._replace(first=start, last=end) == pair:
            current = current._replace(last=end)
            continue
        if current is not None:
            yield current
        current = pair
    if current is not None:
        yield current


def _slot_pairs(here: Side, there: Side) -> Iterator[SlotPair]:
    def of(side: Side, slot: int) -> SlotGroup | None:
        return next((g for g in side.groups if not g.dummy and g.first <= slot <= g.last), None)

    current: SlotPair | None = None
    for slot in range(max(here.slots, there.slots)):
        ours, theirs = of(here, slot), of(there, slot)
        pair = SlotPair(
            first=slot,
            last=slot,
            capacity=(ours.capacity if ours else None, theirs.capacity if theirs else None),
            h_steps=(ours.h_steps if ours else None, theirs.h_steps if theirs else None),
            slot_bytes=(ours.slot_bytes if ours else None, theirs.slot_bytes if theirs else None),
        )
        if current is not None and current._replace(first=slot, last=slot) == pair:
            current = current._replace(last=slot)
            continue
        if current is not None:
            yield current
        current = pair
    if current is not None:
        yield current
