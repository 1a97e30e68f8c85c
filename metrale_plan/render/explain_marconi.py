"""The screen of `explain-marconi`: slots asked for and kept, the prefix cache, what a slot holds, the threshold."""

from metrale_plan.explain.marconi import MarconiExplanation
from metrale_plan.render.sheet import Column, Grid, Part, Row, Sheet, Text
from metrale_plan.render.words import origin_text
from metrale_plan.units import human

NOTHING_RESTORED = (
    "Under these settings nothing is restored, whatever its length: that takes slots and an active cache."
)


def marconi_sheet(explained: MarconiExplanation, subject: str) -> Sheet:
    """The whole screen; `subject` names model, device and rules."""
    parts: list[Part] = [Text(_headline(explained), "strong"), Text(subject, "quiet")]
    parts.append(Text(origin_text("asked for: --ssm-cache-slots", explained.requested), indent=2))
    parts.append(Text(_kept(explained), indent=2))
    parts.append(_cache(explained))
    parts.append(_slot(explained))
    if explained.f16_pool:
        parts.append(Text("The pool holds h state at half precision; snapshots stay FP32.", indent=2))
    if not explained.hidden_row_counted:
        parts.append(Text("These rules' reserve leaves out the hidden row that the allocation has.", "unsure"))
    parts += _threshold(explained)
    return tuple(parts)


def _headline(explained: MarconiExplanation) -> str:
    kept, asked = explained.kept, explained.requested.value
    if kept == asked:
        return f"SNAPSHOTS {kept} of {asked} slots kept, {human(explained.bytes)}"
    return f"SNAPSHOTS none of {asked} slots kept, {human(explained.dropped_bytes)} not reserved"


def _kept(explained: MarconiExplanation) -> str:
    if explained.skip_reason:
        return f"dropped: {explained.skip_reason}"
    if explained.requested.value == 0:
        return "kept: none were asked for"
    if explained.active:
        return "kept: the prefix cache is real"
    return "kept: METRALE_SSM_MARCONI_FULL is present, though no prefix cache could restore them"


def _cache(explained: MarconiExplanation) -> Grid:
    whole = "yes" if explained.whole_state else "no"
    asked = "yes" if explained.enabled.value else "no"
    active = "yes" if explained.active else "no"
    rows = (
        Row(("asked for", asked, origin_text("--enable-prefix-caching", explained.enabled))),
        Row(("safe for this model", whole, explained.whole_state_why)),
        Row(("active", active, "both of them" if explained.active else "needs both"), "strong", rule=True),
    )
    return Grid((Column("prefix cache"), Column(""), Column("why", flexible=True)), rows)


def _slot(explained: MarconiExplanation) -> Grid:
    each = f"{explained.layers} layers x ({human(explained.h_bytes)} h + {human(explained.conv_bytes)} conv), FP32"
    rows = [Row(("state", human(explained.state_bytes), each))]
    if explained.hidden_row_counted:
        rows.append(Row(("last hidden row", human(explained.hidden_row_bytes), "BF16")))
    rows.append(Row(("one slot", human(explained.slot_bytes), ""), rule=True))
    total = f"{explained.kept} slots"
    rows.append(Row(("all slots", human(explained.bytes), total), "strong"))
    if explained.allocated_bytes != explained.bytes:
        why = "with the hidden row" if explained.layers else "no recurrent layers, so no snapshots"
        rows.append(Row(("allocated", human(explained.allocated_bytes), why)))
    return Grid((Column("one snapshot"), Column("size", "right"), Column("how", flexible=True)), tuple(rows))


def _threshold(explained: MarconiExplanation) -> list[Part]:
    floor = "" if explained.floor else "; 0 is no floor: every match is restored"
    name = "restore threshold in matched tokens: --marconi-min-tokens"
    rows = tuple(
        Row(
            (
                str(row.matched),
                f"{row.effect_percent:+.1f} %",
                "restored" if row.restored else "not restored",
            ),
            "good" if row.effect_percent > 0 else "bad",
        )
        for row in explained.measured
    )
    return [
        Text(f"{origin_text(name, explained.threshold)}{floor}", indent=2),
        Grid(
            (Column("matched tokens", "right"), Column("measured effect", "right"), Column("under this threshold")),
            rows,
        ),
        Text("Effect: warm against caching off, one sequence at a time.", "quiet"),
        *([] if explained.active and explained.kept else [Text(NOTHING_RESTORED, "unsure")]),
    ]
