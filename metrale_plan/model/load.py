"""Load one model: read its MODEL.toml, judge it, resolve the dimensions of one checkpoint on one hardware class."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from metrale_plan.errors import InputError, Problem
from metrale_plan.model.check import check
from metrale_plan.model.dims import ModelDims, Recurrent
from metrale_plan.model.families import resolve
from metrale_plan.model.families.facts import UNTOLD, Fact, Facts
from metrale_plan.model.keys import Table, tables_of
from metrale_plan.model.toml_source import TomlSource, read_toml

if TYPE_CHECKING:
    from metrale_plan.model.config_json import CheckpointConfig

MISSING_DIMENSIONS = "MP205"

MODEL_FILE = "MODEL.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behavior:
    """What a model file says of its serve; 0 and "" where it says nothing, as in the engine.

    Attributes:
        where: "file:line" of each key that was given.
    """

    default_num_drafts: int = 0
    mtp_max_seqs: int = 0
    default_kv_dtype: str = ""
    fp8_kv_calibration_tokens: int = 0
    where: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model as its file gives it, for one checkpoint and one hardware class.

    Attributes:
        name: the folder's name (the file's, where that is not MODEL.toml).
        path: the file.
        hf_id: the checkpoint that the file is about, or None.
        checkpoints: every checkpoint id the file lists, `hf_id` first.
        checkpoint: the listed checkpoint whose dimensions these are, or None.
        model_type: the checkpoint's model type, or "" where the file names none.
        family: of the recurrent layers ("none" for attention only), or None where the file does not tell.
        geometry: the dimensions, or None where some are missing; `dims` is the same and raises.
        behavior: defaults of the serve.
        draft_model: the DFlash drafter's checkpoint, or None.
        notes: what a reader should know and may ignore.
        incomplete: the keys that are missing for a plan, as they are to be spelled.
    """

    name: str
    path: Path
    hf_id: str | None
    checkpoints: tuple[str, ...]
    checkpoint: str | None
    model_type: str
    family: Recurrent | None
    geometry: ModelDims | None
    behavior: Behavior
    draft_model: str | None
    notes: tuple[Problem, ...]
    incomplete: tuple[str, ...]
    where: str

    @property
    def dims(self) -> ModelDims:
        """The dimensions; InputError MP205 naming every missing one."""
        if self.geometry is not None:
            return self.geometry
        count = len(self.incomplete)
        raise InputError(
            MISSING_DIMENSIONS,
            f"{self.name} lacks {count} dimension{'s' if count > 1 else ''}: {', '.join(self.incomplete)}",
            where=self.where,
            accepted="the missing keys in [model], by hand or from the checkpoint's config.json "
            "(metrale-plan import CONFIG_JSON_OR_DIR)",
        )


def load_model(
    path: str | Path,
    *,
    hardware_class: str | None = None,
    checkpoint: str | None = None,
    config: "CheckpointConfig | None" = None,
) -> Model:
    """Read, judge and resolve one MODEL.toml.

    Args:
        path: the file, or a directory that holds a MODEL.toml.
        hardware_class: class whose `[class.<id>.behavior]` replaces keys of `[behavior]`.
        checkpoint: a checkpoint id; where the file lists it, its `[[checkpoint]]` keys replace those of `[model]`.
        config: what the checkpoint itself says; it wins over the file, and a warning tells where they differ.

    Raises:
        InputError: MP201 to MP204 and MP206, at the line at fault. Missing dimensions raise only at `Model.dims`.
    """
    path = Path(path)
    if path.is_dir():
        path /= MODEL_FILE
    return resolve_model(read_toml(path), hardware_class=hardware_class, checkpoint=checkpoint, config=config)


def resolve_model(
    source: TomlSource,
    *,
    hardware_class: str | None = None,
    checkpoint: str | None = None,
    config: "CheckpointConfig | None" = None,
) -> Model:
    """The model of an already parsed file; as `load_model`."""
    notes = check(source)
    tables = list(tables_of(source.data))
    of_model = next((table for table in tables if table.name == "model"), Table("model", ("model",), {}))
    rows = [table for table in tables if table.name == "checkpoint"]
    row = next((table for table in rows if table.keys["id"] == checkpoint), None)
    own = [table for table in (row, of_model) if table is not None]

    top = source.data.get("hf_id")
    hf_id = of_model.keys.get("hf_id") or (top if isinstance(top, str) and top else None)
    model_types = [table for table in tables if table.name == "model_types"]
    own_type = _first(own, "model_type") or _first(model_types, "model_type") or ""
    facts = Facts(
        [*(config.rows if config else ()), *((source, table) for table in own)],
        model_type=(config.model_type if config else "") or own_type,
        loader=_first(own, "loader"),
        hidden=_hidden(source, model_types),
    )
    resolution = resolve(facts)
    differences: tuple[Problem, ...] = ()
    if config is not None:
        from metrale_plan.model.differences import differences_of

        alone = Facts([(source, table) for table in own], model_type=own_type, hidden=_hidden(source, model_types))
        differences = tuple(differences_of(config, alone, [row.keys["model_type"] for row in model_types]))
    drafter = next((table.keys.get("draft_model") for table in tables if table.name == "dflash"), None)
    listed = [hf_id, *(table.keys["id"] for table in rows)]
    return Model(
        name=_name(source.path),
        path=source.path,
        hf_id=hf_id,
        checkpoints=tuple(dict.fromkeys(name for name in listed if name)),
        checkpoint=checkpoint if checkpoint in listed else None,
        model_type=facts.model_type,
        family=resolution.family,
        geometry=resolution.dims,
        behavior=_behavior(source, tables, hardware_class),
        draft_model=drafter,
        notes=(*notes, *facts.notes, *differences),
        incomplete=resolution.missing,
        where=facts.where if resolution.missing else str(source.path),
    )


_DEFAULTS_UNTOLD = Problem(
    code=UNTOLD,
    message="no MODEL, so the model file's default_num_drafts, mtp_max_seqs and default_kv_dtype are not known: the "
    "engine's own defaults are in force",
    where="--checkpoint",
    severity="note",
)


def model_of_checkpoint(config: "CheckpointConfig") -> Model:
    """The model that a checkpoint alone describes: its dimensions, and no defaults but the engine's.

    Raises:
        InputError: MP203 or MP206 at the line at fault.
    """
    facts = Facts(config.rows, model_type=config.model_type)
    resolution = resolve(facts)
    return Model(
        name=config.name,
        path=Path(config.files[0]),
        hf_id=config.hf_id,
        checkpoints=(config.hf_id,) if config.hf_id else (),
        checkpoint=config.hf_id,
        model_type=config.model_type,
        family=resolution.family,
        geometry=resolution.dims,
        behavior=Behavior(),
        draft_model=None,
        notes=(*facts.notes, _DEFAULTS_UNTOLD),
        incomplete=resolution.missing,
        where=facts.where,
    )


def _name(path: Path) -> str:
    if path.name != MODEL_FILE:
        return path.stem
    return path.parent.name or path.absolute().parent.name


def _first(tables: Iterable[Table], key: str) -> str | None:
    return next((table.keys[key] for table in tables if key in table.keys), None)


def _hidden(source: TomlSource, model_types: list[Table]) -> Fact | None:
    """The hidden size that `[[model_types]]` asks for, where every row asks for the same."""
    rows = [table for table in model_types if table.keys.get("hidden_size")]
    if len({table.keys["hidden_size"] for table in rows}) != 1:
        return None
    path = rows[0].key_path("hidden_size")
    return Fact(rows[0].keys["hidden_size"], "model_types.hidden_size", source, path)


def _behavior(source: TomlSource, tables: list[Table], hardware_class: str | None) -> Behavior:
    """`[behavior]`, key by key replaced by the hardware class's own."""
    given: dict[str, Any] = {}
    where: dict[str, str] = {}
    for path in (("behavior",), ("class", hardware_class, "behavior")):
        for table in tables:
            if table.path != path:
                continue
            for key in Behavior.__dataclass_fields__.keys() & table.keys.keys() - {"where"}:
                given[key] = table.keys[key]
                where[key] = source.where(*table.key_path(key))
    return Behavior(**given, where=MappingProxyType(where))
