"""The three recorded boots of `tests/data/boots.json` as the planner's own values."""

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, cast

from metrale_plan.config.serve import ServeConfig
from metrale_plan.device import DeviceSpec
from metrale_plan.model.dims import ModelDims, Recurrent
from metrale_plan.rules import EngineRules, rules_on

DENSE = "dense-27b-default-tier"
MOE = "moe-35b-fp8-recipe"
NEMOTRON = "nemotron-3-nano-recipe"
BOOTS = (DENSE, MOE, NEMOTRON)

_DATA = Path(__file__).parent / "data" / "boots.json"
_RENAMED = {"model_num_drafts": "num_drafts", "model_mtp_max_seqs": "mtp_max_seqs"}
_NOT_SETTINGS = frozenset({"w4a4_rows"})


@dataclass(frozen=True)
class Boot:
    """One boot's inputs; `record` is its JSON, for the figures it printed."""

    dims: ModelDims
    config: ServeConfig
    device: DeviceSpec
    rules: EngineRules
    record: dict[str, Any]


def record(name: str) -> dict[str, Any]:
    """The boot's JSON object."""
    boots = json.loads(_DATA.read_text(encoding="utf-8"))["boots"]
    return next(cast("dict[str, Any]", entry) for entry in boots if entry["name"] == name)


def dims_of(raw: dict[str, Any]) -> ModelDims:
    fields = {key: value for key, value in raw.items() if key not in ("arch", "layers")}
    recurrent: Recurrent = "mamba2" if raw.get("mamba_heads") else "gdn"
    return ModelDims(loader=raw["arch"], recurrent=recurrent, layers=tuple(raw["layers"]), **fields)


def config_of(raw: dict[str, Any]) -> ServeConfig:
    fields = {_RENAMED.get(key, key): value for key, value in raw.items() if key not in _NOT_SETTINGS}
    if fields.get("kv_high_precision_layers") == "auto":
        fields["kv_high_precision_layers"] = 2
    return ServeConfig(**fields)


def device_of(raw: dict[str, Any]) -> DeviceSpec:
    return DeviceSpec(
        id=raw["id"],
        hardware_class="gb10",
        total=raw["total_bytes"],
        sm_count=raw["sm_count"],
        splitk=raw["attn_decode_splitk"],
        ffn_min_rows=raw["ffn_w4a16_lt_min_rows"],
        unified=True,
    )


def boot(name: str) -> Boot:
    """The boot of that name, with the rules of its date."""
    raw = record(name)
    return Boot(
        dims=dims_of(raw["dims"]),
        config=config_of(raw["settings"]),
        device=device_of(raw["device"]),
        rules=rules_on(date.fromisoformat(raw["date"])),
        record=raw,
    )
