"""Files, folders and patterns -> the serve configs they lead to, each once, in the order given."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from metrale_plan.errors import InputError
from metrale_plan.model.load import MODEL_FILE
from metrale_plan.sources.gate_config import OWN_FILE, PROJECT_FILE

ConfigKind = Literal["model", "recipe", "args"]

RECIPE_SUFFIXES = (".yaml", ".yml")
ARGS_SUFFIX = ".args"

NOT_FOUND = "MP273"

PASSED_OVER = frozenset({"node_modules", "__pycache__", "build", "dist", "venv", "site-packages"})
"""Folders that a walk does not enter, besides hidden ones."""

_TOP_KEY = re.compile(r"^[\"']?(recipe_version|runtime|defaults|container|model)[\"']?\s*:", re.MULTILINE)
_MANY = re.compile(r"recipe_version|runtime")
"""Words without which no YAML is a recipe, however it is laid out."""
_NEXT_DOCUMENT = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_SAYS_SOMETHING = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file to check.

    Attributes:
        path: as it was named, or as the folder or pattern that led to it was.
        kind: how it is read.
        skip: why it is not a serve config at all, or None.
        missing: nothing is there.
    """

    path: str
    kind: ConfigKind
    skip: str | None = None
    missing: bool = False


def find_configs(paths: Iterable[str]) -> Iterator[ConfigFile]:
    """Every config that the paths lead to; a file that several lead to comes once, where it was met first.

    A named file is always read. In folders and patterns, only what looks like a serve config is: MODEL.toml,
    *.yaml and *.yml that have a recipe's keys, and *.args.

    Raises:
        InputError: MP273 for a pattern that matches nothing.
    """
    seen: set[str] = set()
    for named in paths:
        for found in _expand(named):
            place = os.path.abspath(found.path)  # noqa: PTH100 - a link is a config of its own: its folder has its devices
            if place not in seen:
                seen.add(place)
                yield found


def _expand(named: str) -> Iterator[ConfigFile]:
    if not named:
        raise InputError(NOT_FOUND, "an empty path leads nowhere", accepted="a file, a folder or a quoted pattern")
    path = Path(named)
    try:
        folder, there = path.is_dir(), path.exists()
    except OSError:  # reading it says why
        folder, there = False, True
    except ValueError:
        folder = there = False
    if folder:
        yield from _in_folder(path)
    elif there:
        yield _named(path, named)
    elif any(char in named for char in "*?["):
        yield from _in_pattern(named)
    else:
        yield ConfigFile(named, kind_of(path), missing=True)


def kind_of(path: Path) -> ConfigKind:
    """How a file is read, by its name."""
    if path.suffix.lower() in RECIPE_SUFFIXES:
        return "recipe"
    return "model" if path.suffix.lower() == ".toml" else "args"


def _named(path: Path, named: str) -> ConfigFile:
    skip = "a config of the gate, not of a serve" if path.name in (OWN_FILE, PROJECT_FILE) else None
    return ConfigFile(named, kind_of(path), skip)


def _in_folder(folder: Path) -> Iterator[ConfigFile]:
    """What a folder holds, sorted, its own files before those of its folders."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError("MP201", f"{folder} cannot be read: {reason}", where=str(folder)) from None
    folders = [entry.name for entry in entries if _is_folder(entry)]
    inside = frozenset(folders)
    for entry in entries:
        if entry.name not in inside and looks_like_one(Path(entry.name)):
            yield _found(folder / entry.name)
    for entry in entries:
        if entry.name in inside and not entry.is_symlink() and not entry.name.startswith(".") and _entered(entry.name):
            yield from _in_folder(folder / entry.name)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _entered(name: str) -> bool:
    return name not in PASSED_OVER


def _in_pattern(pattern: str) -> Iterator[ConfigFile]:
    import glob

    matched = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
    if not matched:
        raise InputError(
            NOT_FOUND, f"{pattern} matches nothing", where=pattern, accepted="a pattern that some file matches"
        )
    for name in matched:
        path = Path(name)
        if path.is_dir():
            yield from _in_folder(path)
        elif looks_like_one(path):
            yield _found(path)


def looks_like_one(path: Path) -> bool:
    """Whether a file that was not named itself may be a serve config, by its name."""
    return path.name == MODEL_FILE or path.suffix.lower() in (*RECIPE_SUFFIXES, ARGS_SUFFIX)


def _found(path: Path) -> ConfigFile:
    """A file that a folder or pattern led to; a YAML file without a recipe's keys is some other YAML."""
    kind = kind_of(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return ConfigFile(str(path), kind, "a pipe, socket or device, not a file")
        text = path.read_text(encoding="utf-8-sig") if kind == "recipe" else ""
    except (OSError, UnicodeDecodeError):  # reading it says what is wrong with it
        return ConfigFile(str(path), kind)
    other = kind == "recipe" and not looks_like_a_recipe(text)
    return ConfigFile(str(path), kind, "a YAML file without a recipe's keys" if other else None)


def looks_like_a_recipe(text: str) -> bool:
    """Whether a YAML text is meant as a recipe, broken ones included, and not as some other program's file.

    A workflow and a hydra config have `defaults` too, and a compose file has `runtime` further in, so a recipe is what
    names its version, or its runtime and something that it runs, at the top. Of several documents the first one tells:
    a manifest may hold a recipe as a text.
    """
    keys = frozenset(_TOP_KEY.findall(text))
    if _are_a_recipes(keys):
        return True
    if not keys and _MANY.search(text) is None:
        return False
    from metrale_plan.sources.yaml_tree import compose

    try:
        root = compose(_first_document(text), "")
        top = [] if root is None or root.kind != "mapping" else [key.value for key, _value in root.raw.value]
    except InputError:  # broken; what it was meant as is all there is to go by
        return bool(keys) or "recipe_version" in text
    return _are_a_recipes(frozenset(key for key in top if isinstance(key, str)))


def _first_document(text: str) -> str:
    return next((part for part in _NEXT_DOCUMENT.split(text) if _SAYS_SOMETHING.search(part)), text)


def _are_a_recipes(keys: frozenset[str]) -> bool:
    return (
        "recipe_version" in keys
        or ("runtime" in keys and not keys.isdisjoint(("model", "container", "defaults")))
        or {"container", "defaults"} <= keys
    )
