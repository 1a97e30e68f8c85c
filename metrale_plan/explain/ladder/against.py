"""Another ladder beside the one in force: where widths, slots and reserve terms differ."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from metrale_plan.config.serve import ServeConfig, Steps
from metrale_plan.device import DeviceSpec
from metrale_plan.explain.ladder.runs import joined
from metrale_plan.explain.ladder.side import side_of
from metrale_plan.explain.ladder.values import Against, Side, SlotGroup, SlotPair, TermPair, WidthPair, WidthRun
from metrale_plan.ladder import ladder_text
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan import make_plan
from metrale_plan.rules import EngineRules


def set_against(
    here: Side,
    config: ServeConfig,
    rules: EngineRules,
    dims: ModelDims | None,
    device: DeviceSpec | None,
    other: Steps | Literal["full-width"],
) -> Against:
    """`other` under the same settings beside `here`; terms differ only where model and device are known."""
    if other == "full-width":
        changed, label = replace(config, full_width_pools=True), "full-width pools"
    else:
        changed = replace(config, ladder=other, ladder_pinned=True, ladder_disabled=False)
        label = ladder_text(other)
    there = side_of(label, changed, rules, dims)
    terms: tuple[TermPair, ...] = ()
    if dims is not None and device is not None:
        terms = tuple(_terms(config, changed, rules, dims, device))
    return Against(
        side=there,
        widths=tuple(joined(_width_pairs(here, there))),
        slots=tuple(joined(_slot_pairs(here, there))),
        terms=terms,
    )


def _terms(
    here: ServeConfig, there: ServeConfig, rules: EngineRules, dims: ModelDims, device: DeviceSpec
) -> Iterator[TermPair]:
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
    for start, end in zip(starts, [*(start - 1 for start in starts[1:]), last], strict=True):
        ours, theirs = _at(here.runs, start), _at(there.runs, start)
        yield WidthPair(
            first=start,
            last=end,
            static=(ours.static, theirs.static),
            capacity=(ours.capacity, theirs.capacity),
            drafts=(ours.drafts, theirs.drafts),
        )


def _slot_pairs(here: Side, there: Side) -> Iterator[SlotPair]:
    def of(side: Side, slot: int) -> SlotGroup | None:
        return next((g for g in side.groups if not g.dummy and g.first <= slot <= g.last), None)

    for slot in range(max(here.slots, there.slots)):
        ours, theirs = of(here, slot), of(there, slot)
        yield SlotPair(
            first=slot,
            last=slot,
            capacity=(ours.capacity if ours else None, theirs.capacity if theirs else None),
            h_steps=(ours.h_steps if ours else None, theirs.h_steps if theirs else None),
            slot_bytes=(ours.slot_bytes if ours else None, theirs.slot_bytes if theirs else None),
        )
