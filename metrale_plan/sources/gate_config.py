"""The gate's config: `metrale-plan.toml`, or `[tool.metrale-plan]` of a pyproject.toml; the nearest one wins."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrale_plan.errors import InputError
from metrale_plan.gate.policy import ALL_WARNINGS, DeviceMap, GateConfig, Ignore, Policy
from metrale_plan.gate.threshold import ACCEPTED as THRESHOLD_ACCEPTED
from metrale_plan.gate.threshold import Threshold, parse_threshold
from metrale_plan.model.toml_source import TomlSource, parse_toml, read_toml
from metrale_plan.nearest import nearest

if TYPE_CHECKING:
    from pydantic import ValidationError

    from metrale_plan.sources.gate_schema import GateFile, IgnoreEntry

OWN_FILE = "metrale-plan.toml"
PROJECT_FILE = "pyproject.toml"
TABLE = ("tool", "metrale-plan")

UNKNOWN_KEY = "MP270"
WRONG_VALUE = "MP271"

Key = tuple[str | int, ...]


def nearest_config(folder: Path, known: dict[Path, Path | None]) -> Path | None:
    """The gate config of a folder: its own, else its parent's, up to the repository's root (or the file system's).

    Args:
        folder: absolute.
        known: answers of this run, to which this one and its parents' are added.
    """
    if folder not in known:
        known[folder] = _look_for_config(folder, known)
    return known[folder]


def _look_for_config(folder: Path, known: dict[Path, Path | None]) -> Path | None:
    own, project = folder / OWN_FILE, folder / PROJECT_FILE
    if os.path.isfile(own):  # noqa: PTH113 - which never raises, where a folder may not be looked into
        return own
    if os.path.isfile(project) and _has_table(project):  # noqa: PTH113
        return project
    if os.path.exists(folder / ".git") or folder == folder.parent:  # noqa: PTH110
        return None
    return nearest_config(folder.parent, known)


def _has_table(project: Path) -> bool:
    """Whether a pyproject.toml has our table; one that cannot be read or parsed counts where it may, so that reading
    it says what is wrong with it, and no policy is passed over."""
    try:
        raw = project.read_bytes()
        if TABLE[1].encode() not in raw:
            return False
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return True
    try:
        return _table(parse_toml(text, project)) is not None
    except InputError:
        return f"[{'.'.join(TABLE)}" in text


def _table(data: dict[str, Any]) -> Any:
    tool = data.get("tool")
    return tool.get(TABLE[1]) if isinstance(tool, dict) else None


def read_config(path: Path) -> GateConfig:
    """The config in a file.

    Raises:
        InputError: MP201 or MP202 where it cannot be read, MP270 for an unknown key, MP271 for a value that is not
            accepted; each at its line.
    """
    source = read_toml(path)
    prefix: Key = ()
    data: Any = source.data
    if path.name == PROJECT_FILE:
        prefix, data = TABLE, _table(source.data)
        if data is None:
            raise InputError(
                UNKNOWN_KEY, f"{path} has no table [tool.metrale-plan]", where=f"{path}:1", accepted="that table"
            )
    return _Reader(source, prefix).config(data)


class _Reader:
    """Turns the parsed file into a GateConfig; knows where each key stands."""

    def __init__(self, source: TomlSource, prefix: Key) -> None:
        self.source = source
        self.prefix = prefix

    def config(self, data: Any) -> GateConfig:
        from pydantic import ValidationError

        from metrale_plan.sources.gate_schema import GateFile

        try:
            file = GateFile.model_validate(data)
        except ValidationError as error:
            raise self._invalid(error) from None
        self._devices(file.devices, ("devices",))
        for index, entry in enumerate(file.configs):
            self._devices(entry.devices, ("configs", index, "devices"))
        return GateConfig(
            file=str(self.source.path),
            folder=str(self.source.path.absolute().parent),
            rules=self._rules(file),
            devices=tuple(file.devices),
            maps=tuple(DeviceMap(paths=tuple(e.paths), devices=tuple(e.devices)) for e in file.configs),
            exclude=tuple(file.exclude),
            policy=self._policy(file),
        )

    def where(self, *key: str | int) -> str:
        """`file:line` of a key."""
        return self.source.where(*self.prefix, *key)

    def refuse(self, message: str, key: Key, accepted: str, near: Iterable[str] = ()) -> InputError:
        """The error for a value that is not accepted."""
        return InputError(WRONG_VALUE, message, where=self.where(*key), accepted=accepted, nearest=tuple(near))

    def _rules(self, file: "GateFile") -> str | None:
        from datetime import date

        from metrale_plan.rules import EARLIEST, LATEST

        if file.rules is None:
            return None
        accepted = f"a date from {EARLIEST} to {LATEST}"
        try:
            day = date.fromisoformat(file.rules) if len(file.rules) == 10 else None
        except ValueError:
            day = None
        if day is None or not EARLIEST <= day <= LATEST:
            raise self.refuse(f"rules {file.rules!r} is not {accepted}", ("rules",), accepted)
        return file.rules

    def _devices(self, ids: list[str], key: Key) -> None:
        from metrale_plan.data.devices import DEVICES

        known = [spec.id for spec in DEVICES if spec.id]
        for index, device in enumerate(ids):
            if device not in known:
                raise self.refuse(
                    f"no device profile is called {device}", (*key, index), ", ".join(known), nearest(device, known)
                )

    def _policy(self, file: "GateFile") -> Policy:
        table = file.policy
        return Policy(
            least_headroom=None if table.least_headroom is None else self._threshold(table.least_headroom),
            utilization_ceiling=dict(self._ceilings(table.utilization_ceiling)),
            warnings_as_errors=frozenset(self._warning_codes(table.warnings_as_errors)),
            ignored=tuple(self._ignore(index, entry) for index, entry in enumerate(table.ignore)),
            forbidden_variables=tuple(self._variables(table.forbidden_variables)),
            required_flags=tuple(self._flags(table.required_flags)),
        )

    def _threshold(self, text: str) -> Threshold:
        try:
            return parse_threshold(text)
        except ValueError as error:
            key = ("policy", "least_headroom")
            raise self.refuse(f"least_headroom: {error}", key, THRESHOLD_ACCEPTED) from None

    def _ceilings(self, given: dict[str, float]) -> Iterator[tuple[str, float]]:
        from metrale_plan.data.devices import CLASSES

        for name, ceiling in given.items():
            key = ("policy", "utilization_ceiling", name)
            if name not in CLASSES:
                raise self.refuse(f"{name} is no hardware class", key, ", ".join(CLASSES), nearest(name, CLASSES))
            if not 0 < ceiling <= 1:
                raise self.refuse(f"utilization_ceiling.{name} is {ceiling:g}", key, "a number above 0 and at most 1")
            yield name, ceiling

    def _warning_codes(self, codes: list[str]) -> Iterator[str]:
        for index, code in enumerate(codes):
            if code != ALL_WARNINGS:
                self._code(code, ("policy", "warnings_as_errors", index), ("warning", "cannot tell"))
            yield code

    def _ignore(self, index: int, entry: "IgnoreEntry") -> Ignore:
        key: Key = ("policy", "ignore", index)
        self._code(entry.code, (*key, "code"), ("warning", "policy"))
        if not entry.reason.strip():
            accepted = "why it may be ignored, in a few words"
            raise self.refuse("policy.ignore.reason is blank", (*key, "reason"), accepted)
        return Ignore(
            code=entry.code,
            reason=entry.reason,
            expires=entry.expires,
            paths=tuple(entry.paths),
            where=self.where(*key, "code"),
        )

    def _code(self, code: str, key: Key, kinds: tuple[str, ...]) -> None:
        """Refuse a code that is not one, or of which this key cannot be about."""
        from metrale_plan.codes import BY_CODE
        from metrale_plan.gate.judge import POLICY_CODES

        known = [c for c, e in BY_CODE.items() if e.kind in kinds or ("policy" in kinds and c in POLICY_CODES)]
        if code in known:
            return
        named = BY_CODE.get(code)
        what = f"{code!r} is no code" if named is None else f"{code} is no warning, but of the kind {named.kind!r}"
        accepted = f"a code of a warning{' or of policy' if 'policy' in kinds else ''}: {', '.join(sorted(known))}"
        raise self.refuse(what, key, accepted, () if code in BY_CODE else nearest(code, known))

    def _variables(self, names: list[str]) -> Iterator[str]:
        for index, name in enumerate(names):
            if not name.startswith("METRALE_") or "*" in name[:-1]:
                message = f"{name!r} is neither a METRALE_* variable nor a prefix of some"
                key = ("policy", "forbidden_variables", index)
                raise self.refuse(message, key, "a METRALE_* name, or a prefix ending in *")
            yield name

    def _flags(self, names: list[str]) -> Iterator[str]:
        from metrale_plan.config.flags import by_key

        for index, name in enumerate(names):
            flag = name.removeprefix("--").replace("-", "_")
            if flag not in by_key():
                key = ("policy", "required_flags", index)
                near = nearest(flag, by_key())
                raise self.refuse(f"{name!r} is no serve flag", key, "a flag of met serve", near)
            yield flag

    def _invalid(self, error: "ValidationError") -> InputError:
        """The first thing pydantic found wrong, at its line and in our words."""
        from metrale_plan.sources.gate_schema import GateFile

        first = error.errors()[0]
        key = tuple(first["loc"])
        name = ".".join(str(part) for part in key if isinstance(part, str)) or OWN_FILE
        fields = _fields_at(GateFile, key[:-1])
        if first["type"] == "extra_forbidden":
            last = str(key[-1])
            return InputError(
                UNKNOWN_KEY,
                f"{name} is no key of the gate's config",
                where=self.where(*key),
                accepted=", ".join(fields),
                nearest=nearest(last, fields),
            )
        described = _description(GateFile, key)
        if first["type"] == "missing":
            return self.refuse(f"{name} is missing", key, f"{key[-1]} = {described}")
        shown = f" {first['input']!r}" if isinstance(first["input"], (str, int, float, bool)) else ""
        return self.refuse(f"{name}{shown} is not accepted", key, described)


def _walk_fields(model: Any, key: Key) -> Iterator[Any]:
    """The pydantic fields along a key, as far as they are models of ours."""
    from pydantic import BaseModel

    for part in key:
        if isinstance(part, int) or model is None:
            continue
        field = model.model_fields.get(part)
        if field is None:
            return
        yield field
        kinds = [field.annotation, *getattr(field.annotation, "__args__", ())]
        model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _fields_at(model: Any, key: Key) -> list[str]:
    """Names of the keys that the table at `key` may have."""
    from pydantic import BaseModel

    for field in _walk_fields(model, key):
        kinds = [field.annotation, *getattr(field.annotation, "__args__", ())]
        model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), model)
    return list(model.model_fields)


def _description(model: Any, key: Key) -> str:
    """What the innermost known field of a key accepts."""
    found = "a table of the gate's config"
    for field in _walk_fields(model, key):
        found = field.description or found
    return found
