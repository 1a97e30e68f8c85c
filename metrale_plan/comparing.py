"""`diff`: both sides planned in the same run or read from saved documents, paired, and compared."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metrale_plan import catalog
from metrale_plan.assemble import assemble, read_rules
from metrale_plan.checking import OTHER_RUNTIME, no_live
from metrale_plan.errors import InputError
from metrale_plan.gate.compare import Comparison, Side, compare
from metrale_plan.gate.threshold import Threshold
from metrale_plan.memory import DEFAULT_PROFILE, MemoryRequest
from metrale_plan.model.load import MODEL_FILE
from metrale_plan.render.json import PLANNING, document
from metrale_plan.request import Request
from metrale_plan.sources.config_files import ARGS_SUFFIX, RECIPE_SUFFIXES, ConfigFile, find_configs, kind_of
from metrale_plan.sources.git import commit_of, lay_out, renamed_since
from metrale_plan.sources.saved_plan import read_saved

Key = tuple[str, str | None]
"""A config's name, and the device its plan is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRequest:
    """What a user typed after `diff`, as text.

    Attributes:
        paths: A and B, or with `base` the paths to compare with a commit.
        base: a git commit, or None.
        devices: device ids; empty for the default profile.
        limit: growth that is allowed.
        after: the tokens after `--`, which hold for both sides.
        environ: METRALE_* variables that hold for both sides; empty unless asked for.
        folder: the working folder, absolute.
    """

    paths: tuple[str, ...]
    base: str | None = None
    devices: tuple[str, ...] = ()
    free: str | None = None
    total: str | None = None
    rules: str | None = None
    limit: Threshold | None = None
    after: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    folder: str


def run_diff(request: DiffRequest) -> tuple[Comparison, ...]:
    """Every comparison, in the order of the configs.

    Raises:
        InputError: a side that is no config and no saved plan, an unknown device or commit.
    """
    for device in request.devices:
        catalog.load_device(device)
    read_rules(request.rules)
    was: dict[str, str] = {}
    if request.base is not None:
        commit = commit_of(request.folder, request.base)
        after = dict(_found(request, request.paths, Path()))
        before, was = _following(_at_base(request, request.base, commit), after, request.folder, commit)
    else:
        first, second = request.paths
        before, after = dict(_side(request, first)), dict(_side(request, second))
        before, after = _paired_alone(before, after)
    if not before and not after:
        raise InputError("MP272", "nothing was compared: no config was found", accepted="a config on either side")
    return tuple(
        compare(
            name,
            device,
            before.get((name, device)),
            after.get((name, device)),
            was=was.get(name),
            limit=request.limit,
            forgiving=request.base is not None,
        )
        for name, device in dict.fromkeys((*before, *after))
    )


def _paired_alone(before: dict[Key, Side], after: dict[Key, Side]) -> tuple[dict[Key, Side], dict[Key, Side]]:
    """One config on either side is the same one, whatever each is called; otherwise names pair them."""
    if len({name for name, _ in before}) == len({name for name, _ in after}) == 1:
        named = next(name for name, _ in after)
        alone = len(before) == len(after) == 1
        device = next(device for _, device in after)
        before = {(named, device if alone else own): side for (_, own), side in before.items()}
    return before, after


def _side(request: DiffRequest, text: str) -> Iterator[tuple[Key, Side]]:
    """What A or B means: a saved document, a config, a folder of them, or a bundled model."""
    path = Path(text)
    try:
        mode = path.stat().st_mode if text else 0
    except (FileNotFoundError, NotADirectoryError, ValueError):
        mode = 0
    except OSError as error:
        raise InputError("MP201", f"{text} cannot be read: {error.strerror or error}", where=text) from None
    suffix = path.suffix.lower()
    if suffix == ".json" and stat.S_ISREG(mode):
        for name, device, plan in read_saved(path, PLANNING):
            yield (name, device), Side(label=text, document=plan)
    elif stat.S_ISDIR(mode) and not (path / MODEL_FILE).is_file():
        yield from _found(request, (text,), path)
    elif not mode and suffix in (*RECIPE_SUFFIXES, ARGS_SUFFIX, ".json"):
        raise InputError("MP201", f"{text} does not exist", where=text)
    else:
        file = ConfigFile(text, kind_of(path) if stat.S_ISREG(mode) else "model")
        yield from _planned(request, file, text, text)


def _found(request: DiffRequest, paths: tuple[str, ...], base: Path) -> Iterator[tuple[Key, Side]]:
    """The configs below some paths, named from `base`; what looks like one and is not is left out."""
    for file in find_configs(paths):
        if file.skip is None and not file.missing:
            path = Path(file.path)
            name = path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()
            yield from (
                (key, side)
                for key, side in _planned(request, file, name, file.path)
                if (side.document["error"] or {}).get("code") != OTHER_RUNTIME
            )


def _planned(request: DiffRequest, file: ConfigFile, name: str, label: str) -> Iterator[tuple[Key, Side]]:
    for device in request.devices or (DEFAULT_PROFILE,):
        report = assemble(
            Request(
                command="preflight",
                model=file.path if file.kind == "model" else None,
                recipe=file.path if file.kind == "recipe" else None,
                args_file=file.path if file.kind == "args" else None,
                after=request.after,
                environ=request.environ,
                memory=MemoryRequest(device=device, free=request.free, total=request.total),
                rules=request.rules,
                compare=True,
            ),
            no_live,
        )
        yield (name, device), Side(label=label, document=document(report))


def _at_base(request: DiffRequest, ref: str, commit: str) -> dict[Key, Side]:
    """The configs as a commit has them; their files are named `REF:path` wherever the plan names them."""
    from glob import escape, glob
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="metrale-plan-") as temporary:
        root = Path(temporary)
        lay_out(request.folder, commit, request.paths, root)
        paths = [
            path
            for path in request.paths
            if (root / path).exists() or glob(os.path.join(escape(temporary), path), recursive=True)  # noqa: PTH118, PTH207
        ]
        sides = dict(_found(request, tuple(f"{temporary}/{path}" for path in paths), root))
    return {
        key: Side(label=f"{ref}:{key[0]}", document=_renamed(side.document, f"{temporary}/", f"{ref}:"))
        for key, side in sides.items()
    }


def _following(
    before: dict[Key, Side], after: dict[Key, Side], folder: str, commit: str
) -> tuple[dict[Key, Side], dict[str, str]]:
    """`before` under the names of now, and the names before of those that were renamed since."""
    old, new = {name for name, _ in before}, {name for name, _ in after}
    if not old - new or not new - old:
        return before, {}
    was = {now: then for now, then in renamed_since(folder, commit).items() if now in new - old and then in old - new}
    names = {then: now for now, then in was.items()}
    return {(names.get(name, name), device): side for (name, device), side in before.items()}, was


def _renamed(value: Any, old: str, new: str) -> Any:
    """The value with a text replaced in every string."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Mapping):
        return {key: _renamed(inner, old, new) for key, inner in value.items()}
    return [_renamed(inner, old, new) for inner in value] if isinstance(value, list) else value
