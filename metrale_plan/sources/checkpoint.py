"""A checkpoint on this host: a config file, a folder, or an id in the local hub cache -> what its files say."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from metrale_plan.errors import InputError, Problem
from metrale_plan.model.config_json import (
    CheckpointConfig,
    config_tables,
    dtype_of,
    model_type_of,
    quantization_of,
)
from metrale_plan.model.families.facts import Row
from metrale_plan.model.json_source import JsonSource
from metrale_plan.model.keys import Table
from metrale_plan.model.toml_source import read_text
from metrale_plan.nearest import nearest

NO_CHECKPOINT = "MP227"
BESIDE_UNREADABLE = "MP229"

CONFIG_FILES = ("config.json", "params.json")
"""The files that hold dimensions; the second is Mistral's own."""

PARAMS_TYPE = "mistral"
"""What the engine calls the model type of a checkpoint that has params.json alone, which names none."""

INDEXES = ("model.safetensors.index.json", "consolidated.safetensors.index.json")

MOST_BYTES = 128 * 2**20
"""Tokenizers of large vocabularies take some 30 MiB."""

ACCEPTED = "a config.json, a folder that holds one, or the id of a checkpoint in the local hub cache"


def read_checkpoint(argument: str, environ: Mapping[str, str]) -> CheckpointConfig:
    """What the files of a checkpoint say of its dimensions.

    Args:
        argument: a config file, a folder, or a hub id such as `Qwen/Qwen3.8-27B`, with `@REVISION` where not `main`.
        environ: says where the hub cache is.

    Raises:
        InputError: MP227 where the argument leads nowhere; MP201, MP203 or MP224 at a config that cannot be read.
    """
    path, hf_id = find_config(argument, environ)
    config = JsonSource(str(path), read_text(path))
    folder = path.parent if path.name in CONFIG_FILES else None  # a file of another name has no folder of its own
    beside = _Beside(folder)
    tokenizer = [] if folder is None else _tokenizer(beside)
    return CheckpointConfig(
        name=hf_id or (path.stem if folder is None else folder.absolute().name),
        hf_id=hf_id,
        rows=(*tokenizer, *((config, table) for table in config_tables(config))),
        model_type=model_type_of(config) or (PARAMS_TYPE if path.name == "params.json" else ""),
        where=config.where(),
        dtype=dtype_of(config),
        quantization=quantization_of(config.data, beside.data("hf_quant_config.json")),
        weight_bytes=None if folder is None else weight_bytes(folder, beside),
        sampling=beside.data("generation_config.json") is not None,
        files=(str(path), *beside.read),
        problems=tuple(beside.problems),
    )


def find_config(argument: str, environ: Mapping[str, str]) -> tuple[Path, str | None]:
    """The config file that an argument means, and the hub id it was found by, if any; InputError MP227 for none."""
    path = Path(argument)
    if _exists(path):
        return (_config_in(path) if path.is_dir() else path), None
    name, _, revision = argument.partition("@")
    caches = hub_caches(environ)
    if name and all(part and part not in (".", "..") for part in name.split("/")) and name.count("/") <= 1:
        for cache in caches:
            folder = cache / f"models--{name.replace('/', '--')}"
            if _exists(folder):
                return _config_in(_snapshot(folder, revision or None)), name
    held = [found for cache in caches for found in cached_ids(cache)]
    looked = f"in the hub cache {', '.join(map(str, caches))}" if caches else "in a hub cache, of which there is none"
    raise InputError(
        NO_CHECKPOINT,
        f"{argument} is neither a path nor {looked}",
        where=argument,
        accepted=ACCEPTED,
        nearest=nearest(name, held),
    )


def hub_caches(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The hub cache folder: HF_HUB_CACHE (once HUGGINGFACE_HUB_CACHE), else HF_HOME/hub, else the home folder's."""
    given = environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE")
    if given:
        return (_from_home(given, environ),)
    if environ.get("HF_HOME"):
        return (_from_home(environ["HF_HOME"], environ) / "hub",)
    base = environ.get("XDG_CACHE_HOME") or (f"{environ['HOME']}/.cache" if environ.get("HOME") else None)
    return (Path(base) / "huggingface" / "hub",) if base else ()


def _from_home(path: str, environ: Mapping[str, str]) -> Path:
    """A path that may start with `~/`; the hub's own library takes such, where no shell has replaced it."""
    home = environ.get("HOME")
    return Path(home, path[2:]) if home and path.startswith("~/") else Path(path)


def cached_ids(cache: Path) -> Iterator[str]:
    """Hub ids of the checkpoints in a cache folder."""
    for folder in sorted(cache.glob("models--*")) if _exists(cache) else ():
        yield folder.name.removeprefix("models--").replace("--", "/", 1)


def _snapshot(folder: Path, revision: str | None) -> Path:
    """The snapshot of a cached checkpoint: of a revision, of `main`, or the only one there is."""
    snapshots = {path.name: path for path in sorted((folder / "snapshots").glob("*"))}
    reference = folder / "refs" / (revision or "main")
    if _exists(reference) and reference.is_file():
        named = read_text(reference, 1024).strip()
        if named in snapshots:
            return snapshots[named]
    if revision is None and len(snapshots) == 1:
        return next(iter(snapshots.values()))
    if revision in snapshots:
        return snapshots[str(revision)]
    raise InputError(
        NO_CHECKPOINT,
        f"the hub cache holds no snapshot of {f'revision {revision}' if revision else 'main'}",
        where=str(folder),
        accepted=f"ID@REVISION, one of {', '.join(snapshots)}" if snapshots else "a checkpoint that was downloaded",
        nearest=nearest(revision or "", snapshots),
    )


def _config_in(folder: Path) -> Path:
    """The config of a folder, which may also be a checkpoint's folder in a hub cache."""
    for name in CONFIG_FILES:
        if _exists(folder / name):
            return folder / name
    if _exists(folder / "snapshots"):
        return _config_in(_snapshot(folder, None))
    raise InputError(
        NO_CHECKPOINT, f"{folder} holds no {' or '.join(CONFIG_FILES)}", where=str(folder), accepted=ACCEPTED
    )


def _exists(path: Path) -> bool:
    """Whether a path leads somewhere; one that no file system takes leads nowhere."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


class _Beside:
    """The files beside a config; one that cannot be read is told and left out.

    Attributes:
        read: the files that were read.
        problems: what was wrong with the others.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.read: list[str] = []
        self.problems: list[Problem] = []

    def data(self, name: str) -> dict[str, Any] | None:
        """The object of one file, or None where it is not there."""
        path = None if self._folder is None else self._folder / name
        if path is None or not _exists(path):
            return None
        try:
            data = JsonSource(str(path), read_text(path, MOST_BYTES)).data
        except InputError as error:
            message = f"{error.problem.message}; the file is left out"
            self.problems.append(
                Problem(code=BESIDE_UNREADABLE, message=message, where=error.problem.where, severity="warning")
            )
            return None
        self.read.append(str(path))
        return data


class _Whole:
    """A file that is told as a whole, without lines."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: dict[str, Any] = {}

    def where(self, *path: str | int) -> str:  # noqa: ARG002
        return self.path


def _tokenizer(beside: _Beside) -> list[Row]:
    """The tokenizer's size, as a table of one dimension; empty where no file tells it.

    tokenizer.json holds the whole vocabulary. tokenizer_config.json holds the added tokens only, so it takes the
    vocabulary of vocab.json beside it.
    """
    words: set[str] = set()
    whole = beside.data("tokenizer.json")
    if whole is not None:
        model, added = whole.get("model"), whole.get("added_tokens")
        words = _words(model.get("vocab") if isinstance(model, dict) else None) | _words(added)
    else:
        listed = beside.data("vocab.json")
        if listed is not None:
            config = beside.data("tokenizer_config.json") or {}
            decoder = config.get("added_tokens_decoder")
            words = _words(listed) | _words(list(decoder.values()) if isinstance(decoder, dict) else None)
    if not words:
        return []
    return [(_Whole(beside.read[-1]), Table("model", (), {"tokenizer_vocab": len(words)}))]


def _words(entries: object) -> set[str]:
    """The tokens of a vocabulary: keys of an object, firsts of pairs, or contents of added tokens."""
    if isinstance(entries, dict):
        return set(entries)
    found: set[str] = set()
    for entry in entries if isinstance(entries, list) else ():
        word = entry[0] if isinstance(entry, list) and entry else entry
        word = entry.get("content") if isinstance(entry, dict) else word
        if isinstance(word, str):
            found.add(word)
    return found


def weight_bytes(folder: Path, beside: _Beside) -> int | None:
    """Size of the weight files: those that the index names, else all safetensors, else all GGUF; None for none.

    Where the index names files that are not here, its own total counts. Engine memory plan, 13.3.
    """
    index = next((data for name in INDEXES if (data := beside.data(name)) is not None), None)
    if index is not None:
        mapped = index.get("weight_map")
        names: set[str] = set(filter(_plain, mapped.values())) if isinstance(mapped, dict) else set()
        if names and all(_exists(folder / name) for name in names):
            return sum((folder / name).stat().st_size for name in names)
        metadata = index.get("metadata")
        total = metadata.get("total_size") if isinstance(metadata, dict) else None
        if type(total) is int and total > 0:
            return int(total)
    for pattern in ("*.safetensors", "*.gguf"):
        files = [path for path in folder.glob(pattern) if path.is_file()]
        if files:
            return sum(path.stat().st_size for path in files)
    return None


def _plain(name: object) -> TypeGuard[str]:
    """Whether a file name stays in its folder."""
    return isinstance(name, str) and Path(name).name == name
