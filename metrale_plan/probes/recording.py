"""Raw readings in a file: what `doctor --record` writes and `--probe` replays, checked key by key on the way in."""

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from metrale_plan.errors import InputError
from metrale_plan.nearest import nearest
from metrale_plan.reading.raw import FORMAT, RawReading

NOT_A_RECORDING, CANNOT_WRITE, UNREADABLE = "MP309", "MP321", "MP201"

LARGEST = 2**64
"""Beyond every figure that a driver can give."""

WORDS = {int: "a whole number", str: "text", bool: "true or false", float: "a number"}


def dumped(raw: RawReading) -> str:
    """The recording as JSON text."""
    return json.dumps(asdict(raw), indent=1, ensure_ascii=True, default=dict) + "\n"


def save(raw: RawReading, path: str) -> None:
    """Write a recording to a file that is not there yet.

    Raises:
        InputError: MP321, the file is there already or cannot be written.
    """
    try:
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(dumped(raw))
    except FileExistsError:
        raise InputError(CANNOT_WRITE, f"{path} is there already", where=path, accepted="a new file's name") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise InputError(CANNOT_WRITE, f"{path} cannot be written: {said}", where=path) from None


def load(path: str) -> RawReading:
    """The recording of a file; its origin says so whatever the file claims.

    Raises:
        InputError: MP201 for a file that cannot be read, MP309 for one that is no recording, naming the key.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(UNREADABLE, f"{path} is not UTF-8", where=path) from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise InputError(UNREADABLE, f"{path} cannot be read: {said}", where=path) from None
    return parsed(text, path)


def parsed(text: str, where: str) -> RawReading:
    """The recording in a text; errors as `load`, naming `where`."""
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        place = f"{where}:{line}" if line else where
        raise InputError(NOT_A_RECORDING, f"{where} is not readable JSON: {error}", where=place) from None
    form = data.get("format") if isinstance(data, dict) else None
    if form != FORMAT:
        raise InputError(
            NOT_A_RECORDING,
            f"{where} is no recording of a memory reading"
            + (f": its format is {_shown(form)}" if form is not None else ": it has no format key"),
            where=where,
            accepted=f"what doctor --record writes, format {FORMAT}",
        )
    raw: RawReading = _value(RawReading, data, "", where)
    return replace(raw, origin="recording")


def _value(kind: Any, value: Any, key: str, where: str) -> Any:
    """`value` as the type `kind`, checked; kinds are those that the raw records use."""
    shape = get_origin(kind)
    if is_dataclass(kind):
        return _record(kind, value, key, where)
    if shape in (types.UnionType, Union):
        choices = get_args(kind)
        if value is None and type(None) in choices:
            return None
        kinds = [choice for choice in choices if choice is not type(None)]
        if len(kinds) == 1:
            return _value(kinds[0], value, key, where)
        if type(value) in kinds and not (type(value) is int and abs(value) > LARGEST):
            return value
        raise _wrong(key, where, value, " or ".join(WORDS[choice] for choice in kinds))
    if shape is Literal:
        if value in get_args(kind):
            return value
        raise _wrong(key, where, value, ", ".join(map(repr, get_args(kind))))
    if shape is tuple:
        if not isinstance(value, list):
            raise _wrong(key, where, value, "a list")
        return tuple(_value(get_args(kind)[0], item, f"{key}[{i}]", where) for i, item in enumerate(value))
    if shape is Mapping:
        if not isinstance(value, dict):
            raise _wrong(key, where, value, "an object")
        return {name: _value(get_args(kind)[1], item, f"{key}.{name}", where) for name, item in value.items()}
    if type(value) is not kind or (kind is int and abs(value) > LARGEST):
        raise _wrong(key, where, value, WORDS[kind])
    return value


def _record(kind: Any, value: Any, key: str, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(key, where, value, "an object")
    known = {field.name: field for field in fields(kind)}
    for name in value:
        if name not in known:
            place = f"{key}.{name}".lstrip(".")
            message = f"{where}: a recording has no key {place if place.isprintable() else repr(place)}"
            raise InputError(NOT_A_RECORDING, message, where=where, nearest=nearest(name, known))
    hints = get_type_hints(kind)
    missing = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in value]
    if missing:
        names = ", ".join(f"{key}.{name}".lstrip(".") for name in missing)
        raise InputError(NOT_A_RECORDING, f"{where}: {names} is missing", where=where)
    return kind(**{name: _value(hints[name], item, f"{key}.{name}".lstrip("."), where) for name, item in value.items()})


def _wrong(key: str, where: str, value: Any, accepted: str) -> InputError:
    message = f"{where}: {key or 'the document'} is {_shown(value)}"
    return InputError(NOT_A_RECORDING, message, where=where, accepted=accepted)


def _shown(value: Any) -> str:
    """A value as it stands in a message, which is no place for a whole document."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are there once; two values for one figure would contradict each other unseen."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice in one object")
    return found
