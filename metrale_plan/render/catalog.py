"""The screens and JSON values of `models` and `devices`."""

from collections.abc import Sequence
from typing import Any

from metrale_plan.device import DeviceSpec
from metrale_plan.listing import ModelRow, layer_counts
from metrale_plan.model.dims import ModelDims
from metrale_plan.render.sheet import Column, Grid, Row, Sheet, Text
from metrale_plan.units import gib, human, mib

INCOMPLETE = "incomplete"

LAYER_NAMES = {
    "linear": "recurrent",
    "full": "full attention",
    "sliding": "sliding-window attention",
    "sparse": "sparse attention",
    "moe": "stand-alone feed-forward",
}


def models_sheet(rows: Sequence[ModelRow]) -> Sheet:
    """All models, one a line."""
    columns = (
        Column("model", flexible=True),
        Column("family"),
        Column("layers", "right"),
        Column("rec", "right"),
        Column("state/seq", "right"),
        Column("KV/token", "right"),
    )
    grid = Grid(columns, tuple(_model_line(row) for row in rows))
    legend = "rec: recurrent layers among them. KV/token: K and V at the model's own KV dtype."
    lacking = sum(row.model.geometry is None for row in rows)
    if lacking:
        legend += f" {lacking} are incomplete: no plan; `metrale-plan models NAME` names what is missing."
    return (grid, Text(legend, "quiet"))


def _model_line(row: ModelRow) -> Row:
    model, dims = row.model, row.model.geometry
    family = model.family or "?"
    if dims is None or row.kv_bytes_per_token is None:
        return Row((model.name, family, "?", "?", INCOMPLETE, f"? {row.kv_dtype}"), "unsure")
    state = human(dims.blob) if dims.blob else "-"
    per_token = f"{human(row.kv_bytes_per_token)} {row.kv_dtype}"
    return Row((model.name, family, str(len(dims.layers)), str(dims.ssm_layers), state, per_token))


def model_sheet(row: ModelRow) -> Sheet:
    """One model: what it is, its layers and state, and the checkpoints that lead to it."""
    model, dims = row.model, row.model.geometry
    facts = [
        ("model type", model.model_type or "?"),
        ("family", model.family or "not known"),
        ("file", str(model.path)),
    ]
    facts += [] if dims is None else _geometry(dims, row)
    behavior = model.behavior
    facts += [
        ("default drafts", str(behavior.default_num_drafts or "the engine's 1")),
        ("dispatch cap", str(behavior.mtp_max_seqs or "the engine's 32")),
        ("DFlash drafter", model.draft_model or "none"),
    ]
    grid = Grid((Column("what"), Column("value", flexible=True)), tuple(Row(fact) for fact in facts))
    parts: list[Text | Grid] = [Text(model.name, "strong"), grid]
    if dims is None:
        parts.append(Text(f"{INCOMPLETE}: lacks {', '.join(model.incomplete)}", "unsure", indent=2))
    parts.append(Grid((Column("checkpoints", flexible=True),), tuple(Row((name,)) for name in model.checkpoints)))
    return tuple(parts)


def _geometry(dims: ModelDims, row: ModelRow) -> list[tuple[str, str]]:
    layers = ", ".join(f"{count} {LAYER_NAMES[kind]}" for kind, count in layer_counts(dims).items())
    facts = [("layers", f"{len(dims.layers)}: {layers}"), ("hidden size", str(dims.hidden))]
    if dims.ssm_layers:
        facts += [
            ("h state, one layer", f"{human(dims.h_unit)} (FP32)"),
            ("conv window, one layer", f"{human(dims.conv_unit)} (FP32)"),
            ("state a sequence", f"{mib(dims.blob)} ({dims.ssm_layers} layers)"),
        ]
    latent = f", one latent head of {dims.mla}" if dims.mla else ""
    facts += [
        ("query / KV heads", f"{dims.q_heads} / {dims.kv_heads}, each {dims.head_dim} wide{latent}"),
        ("KV a token", f"{row.kv_bytes_per_token:,} B at {row.kv_dtype}"),
        ("draft head", "yes" if dims.has_mtp else "no"),
    ]
    if dims.experts:
        facts.append(("experts", f"{dims.experts}, {dims.top_k} a token, each {dims.moe_inter} wide"))
    return facts


def model_value(row: ModelRow, *, whole: bool) -> dict[str, Any]:
    """One entry of the `models` key; `whole` adds every dimension."""
    model, dims = row.model, row.model.geometry
    value: dict[str, Any] = {
        "name": model.name,
        "hf_id": model.hf_id,
        "model_type": model.model_type or None,
        "loader": None if dims is None else dims.loader,
        "family": model.family,
        "complete": dims is not None,
        "missing": list(model.incomplete),
        "layers": None if dims is None else len(dims.layers),
        "ssm_layers": None if dims is None else dims.ssm_layers,
        "attention_layers": None if dims is None else dims.attention_layers,
        "h_state_bytes": None if dims is None else dims.h_unit,
        "conv_state_bytes": None if dims is None else dims.conv_unit,
        "blob_bytes": None if dims is None else dims.blob,
        "kv_dtype": row.kv_dtype,
        "kv_bytes_per_token": row.kv_bytes_per_token,
        "checkpoints": list(model.checkpoints),
    }
    if whole:
        behavior = model.behavior
        value |= {
            "path": str(model.path),
            "draft_model": model.draft_model,
            "behavior": {
                "default_num_drafts": behavior.default_num_drafts,
                "mtp_max_seqs": behavior.mtp_max_seqs,
                "default_kv_dtype": behavior.default_kv_dtype,
                "fp8_kv_calibration_tokens": behavior.fp8_kv_calibration_tokens,
            },
            "dims": None if dims is None else dims_value(dims),
        }
    return value


def dims_value(dims: ModelDims) -> dict[str, Any]:
    """Every dimension by its name; tuples as lists."""
    return {name: _listed(getattr(dims, name)) for name in ModelDims.__dataclass_fields__}


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def devices_sheet(devices: Sequence[DeviceSpec]) -> Sheet:
    """All device profiles, one a line."""
    columns = (
        Column("device"),
        Column("class"),
        Column("memory", "right"),
        Column("SMs", "right"),
        Column("split-K"),
        Column("unified"),
    )
    rows = (
        (spec.id or "", spec.hardware_class or "", gib(spec.total), str(spec.sm_count), spec.splitk, _yes(spec.unified))
        for spec in devices
    )
    return (Grid(columns, tuple(Row(cells) for cells in rows)),)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def device_value(spec: DeviceSpec) -> dict[str, Any]:
    """One entry of the `devices` key."""
    return {
        "id": spec.id,
        "hardware_class": spec.hardware_class,
        "total": spec.total,
        "sm_count": spec.sm_count,
        "splitk": spec.splitk,
        "unified": spec.unified,
    }
