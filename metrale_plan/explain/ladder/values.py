"""What the screen of the ladder holds, as values."""

from typing import Literal, NamedTuple

from metrale_plan.config.serve import Steps
from metrale_plan.explain.origin import Origin

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
