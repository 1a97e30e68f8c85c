"""`diff`: both sides planned in the same run or read from saved documents, paired, and compared."""

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
from metrale_plan.report import SCHEMA
from metrale_plan.request import Request
from metrale_plan.sources.config_files import ARGS_SUFFIX, RECIPE_SUFFIXES, ConfigFile, find_configs, kind_of
from metrale_plan.sources.git import lay_out

NOT_COMPARABLE = "MP277"

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
    if request.base is not None:
        before, after = _at_base(request, request.base), dict(_found(request, request.paths, Path()))
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
    if path.suffix.lower() == ".json" and path.is_file():
        yield from _saved(path)
    elif path.is_dir() and not (path / MODEL_FILE).is_file():
        yield from _found(request, (text,), path)
    elif not path.exists() and path.suffix.lower() in (*RECIPE_SUFFIXES, ARGS_SUFFIX, ".json"):
        raise InputError("MP201", f"{text} does not exist", where=text)
    else:
        file = ConfigFile(text, kind_of(path) if path.is_file() else "model")
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


def _at_base(request: DiffRequest, ref: str) -> dict[Key, Side]:
    """The configs as a commit has them; their files are named `REF:path` wherever the plan names them."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="metrale-plan-") as temporary:
        root = Path(temporary)
        lay_out(request.folder, ref, request.paths, root)
        sides = dict(_found(request, (temporary,), root))
    return {
        key: Side(label=f"{ref}:{key[0]}", document=_renamed(side.document, f"{temporary}/", f"{ref}:"))
        for key, side in sides.items()
    }


def _renamed(value: Any, old: str, new: str) -> Any:
    """The value with a text replaced in every string."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Mapping):
        return {key: _renamed(inner, old, new) for key, inner in value.items()}
    return [_renamed(inner, old, new) for inner in value] if isinstance(value, list) else value


def _saved(path: Path) -> Iterator[tuple[Key, Side]]:
    """The plans in a saved JSON document: one, or every result of a check."""
    import json

    from metrale_plan.model.toml_source import read_text

    accepted = f"a document of schema {SCHEMA}, saved from preflight, plan or check with --format json"
    try:
        saved = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise InputError(NOT_COMPARABLE, f"{path} is not JSON", where=str(path), accepted=accepted) from None
    if not isinstance(saved, dict) or saved.get("schema") != SCHEMA:
        raise InputError(NOT_COMPARABLE, f"{path} is no saved plan", where=str(path), accepted=accepted)
    results: list[dict[str, Any]]
    if saved.get("command") in PLANNING:
        results = [{"path": str(path), "device": (saved.get("memory") or {}).get("device"), "plan": saved}]
    elif saved.get("command") == "check" and isinstance(saved.get("results"), list):
        results = [result for result in saved["results"] if isinstance(result, dict) and result.get("plan")]
    else:
        raise InputError(NOT_COMPARABLE, f"{path} holds no plan", where=str(path), accepted=accepted)
    for result in results:
        plan = result["plan"]
        if not isinstance(plan, dict) or not isinstance(plan.get("exit_code"), int):
            raise InputError(NOT_COMPARABLE, f"{path} holds a broken plan", where=str(path), accepted=accepted)
        yield (str(result["path"]), result["device"]), Side(label=str(path), document=plan)
