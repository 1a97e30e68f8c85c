"""What is known here: the bundled models and device profiles, and how a MODEL or DEVICE argument finds one."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from metrale_plan.data.devices import DEVICES, MARKETING_WORDS
from metrale_plan.device import DeviceSpec
from metrale_plan.errors import InputError
from metrale_plan.model.load import MODEL_FILE, Model, load_model
from metrale_plan.model.toml_source import FILE_UNREADABLE, parse_toml, read_text
from metrale_plan.nearest import nearest

UNKNOWN_MODEL = "MP207"
UNKNOWN_DEVICE = "MP208"


def bundled_dir() -> Path:
    """The folder of bundled models: the installed package's copy, else the checkout's `models/`."""
    package = Path(__file__).parent
    packaged = package / "_models"
    return packaged if packaged.is_dir() else package.parent / "models"


def bundled_models() -> tuple[str, ...]:
    """Names of the bundled models, sorted."""
    return _names_in(bundled_dir())


# What is bundled does not change while a process runs, so it is read once however many configs are planned.


@cache
def _names_in(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{MODEL_FILE}")))


@cache
def _bundled_text(path: Path) -> str:
    return read_text(path)


@cache
def _bundled_data(path: Path) -> dict[str, Any]:
    return parse_toml(_bundled_text(path), path)


@cache
def _load_bundled(path: Path, hardware_class: str | None, checkpoint: str | None) -> Model:
    return load_model(path, hardware_class=hardware_class, checkpoint=checkpoint)


def find_model(model: str) -> Path:
    """The MODEL.toml that an argument means: a file, a directory that holds one, or a bundled name.

    Raises:
        InputError: MP201 for a path that leads nowhere, MP207 for an unknown name, with the nearest names.
    """
    path = Path(model)
    folder, there = _is_folder(path), _exists(path)
    if model and folder and _exists(path / MODEL_FILE):
        return path / MODEL_FILE
    if there and not folder and path.suffix != ".json":
        return path
    names = bundled_models()
    if model in names:
        return bundled_dir() / model / MODEL_FILE
    if there and (not folder or _exists(path / "config.json")):
        message = f"{model} is a checkpoint's, not a model file"
        raise InputError(UNKNOWN_MODEL, message, where=model, accepted=f"--checkpoint {model}, with or without MODEL")
    if model and folder:
        raise InputError(FILE_UNREADABLE, f"{model} holds no {MODEL_FILE}", where=model, nearest=_near(model, names))
    owners = checkpoint_models()
    if model in owners:
        message = f"{model} is a checkpoint, not a model; {owners[model]} lists it"
        raise InputError(UNKNOWN_MODEL, message, accepted=owners[model], nearest=(owners[model],))
    if model.endswith(".toml") or model.startswith((".", "/", "~")):
        raise InputError(FILE_UNREADABLE, f"{model} does not exist", where=model)
    raise InputError(
        UNKNOWN_MODEL,
        f"no model is called {model}",
        accepted=f"a {MODEL_FILE}, a directory that holds one, or a bundled model's name (metrale-plan models)",
        nearest=_near(model, names) or _near(model, owners),
    )


def _is_folder(path: Path) -> bool:
    return _exists(path) and path.is_dir()


def _exists(path: Path) -> bool:
    """Whether a path leads somewhere; one that no file system takes leads nowhere."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def load(model: str, *, hardware_class: str | None = None, checkpoint: str | None = None) -> Model:
    """The model that an argument means, loaded; as `find_model` and `load_model`."""
    return load_found(find_model(model), hardware_class=hardware_class, checkpoint=checkpoint)


def load_found(path: Path, *, hardware_class: str | None = None, checkpoint: str | None = None) -> Model:
    """The model at a path that `find_model` gave, loaded; a bundled one once per process."""
    if path.is_relative_to(bundled_dir()):
        return _load_bundled(path, hardware_class, checkpoint)
    return load_model(path, hardware_class=hardware_class, checkpoint=checkpoint)


def model_for_checkpoint(checkpoint: str, *, where: str | None = None) -> str:
    """The bundled model that lists a checkpoint; InputError MP207 at `where`, with the nearest ids, where none does."""
    owner = _owner(bundled_dir(), checkpoint)
    if owner is not None:
        return owner
    known = checkpoint_models()
    raise InputError(
        UNKNOWN_MODEL,
        f"no bundled model lists the checkpoint {checkpoint}",
        where=where or checkpoint,
        accepted="a checkpoint that a bundled model lists, or MODEL or --checkpoint beside it",
        nearest=_near(checkpoint, known),
    )


@cache
def _owner(folder: Path, checkpoint: str) -> str | None:
    """The model in a folder that lists a checkpoint in a row of its own, else the one whose hf_id it is."""
    mentions = tuple(_listings(folder, checkpoint))
    rows = next((name for name, rows, _ in mentions if checkpoint in rows), None)
    return rows or next((name for name, _, hf_id in mentions if checkpoint == hf_id), None)


def checkpoint_models() -> dict[str, str]:
    """Every listed checkpoint id, and the model it leads to: a `[[checkpoint]]` row wins over another file's hf_id."""
    owners: dict[str, str] = {}
    by_hf_id: dict[str, str] = {}
    for name, rows, hf_id in _listings(bundled_dir()):
        owners |= dict.fromkeys(rows, name)
        if hf_id:
            by_hf_id[hf_id] = name
    return by_hf_id | owners


def _listings(folder: Path, containing: str = "") -> Iterator[tuple[str, tuple[str, ...], str]]:
    """(name, `[[checkpoint]]` ids, hf_id) of the bundled models whose text holds a word."""
    for name in _names_in(folder):
        path = folder / name / MODEL_FILE
        if containing in _bundled_text(path):
            data = _bundled_data(path)
            yield name, tuple(row["id"] for row in data.get("checkpoint", ())), data.get("model", {}).get("hf_id", "")


def _near(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Up to three nearest spellings whatever the case: first those that share the last part of a path."""
    known = tuple(known)
    last = _last(word)
    close = [name for name in known if _last(name) == last]
    folded = {name.casefold(): name for name in known}
    close += [folded[name] for name in nearest(word.casefold(), folded)]
    ends = {_last(name): name for name in known}
    close += [ends[name] for name in nearest(last, ends)]
    return tuple(dict.fromkeys(close))[:3]


def _last(name: str) -> str:
    return name.casefold().rstrip("/").rpartition("/")[2]


def devices() -> tuple[DeviceSpec, ...]:
    """Every bundled device profile."""
    return DEVICES


def match_device(name: str, live: DeviceSpec) -> DeviceSpec | None:
    """The profile of a live device: the one it names, else by its marketing name ("NVIDIA H100 NVL"), or None."""
    words = set(re.split(r"[^a-z0-9]+", name.casefold()))
    found = live.id or next((device for marks, device in MARKETING_WORDS if marks <= words), None)
    return next((spec for spec in DEVICES if spec.id == found), None)


def load_device(device: str) -> DeviceSpec:
    """A bundled device profile by its id; InputError MP208 with the nearest ids where there is none."""
    for spec in DEVICES:
        if spec.id == device:
            return spec
    ids = [spec.id for spec in DEVICES if spec.id]
    raise InputError(
        UNKNOWN_DEVICE,
        f"no device profile is called {device}",
        accepted=", ".join(ids),
        nearest=nearest(device.casefold(), ids),
    )
