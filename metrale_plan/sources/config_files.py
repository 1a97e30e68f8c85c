"""Files, folders and patterns -> the serve configs they lead to, each once, in the order given."""

import re
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

_RECIPE_KEY = re.compile(r"^(?:recipe_version|runtime|defaults)\s*:", re.MULTILINE)


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
    seen: set[Path] = set()
    for named in paths:
        for found in _expand(named):
            place = Path(found.path).absolute() if found.missing else Path(found.path).resolve()
            if place not in seen:
                seen.add(place)
                yield found


def _expand(named: str) -> Iterator[ConfigFile]:
    path = Path(named)
    try:
        folder, there = path.is_dir(), path.exists()
    except (OSError, ValueError):
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
        entries = sorted(folder.iterdir())
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError("MP201", f"{folder} cannot be read: {reason}", where=str(folder)) from None
    files = [entry for entry in entries if not entry.is_dir()]
    for entry in files:
        if looks_like_one(entry):
            yield _found(entry)
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith(".") and _entered(entry.name):
            yield from _in_folder(entry)


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
    if kind == "recipe":
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return ConfigFile(str(path), kind)
        if not _RECIPE_KEY.search(text):
            return ConfigFile(str(path), kind, "a YAML file without a recipe's keys")
    return ConfigFile(str(path), kind)
