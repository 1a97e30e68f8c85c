"""Judge the keys of a parsed MODEL.toml: wrong shapes and values, misspellings, keys nobody knows."""

from collections.abc import Iterable, Mapping
from typing import Any

from metrale_plan.data import known_keys
from metrale_plan.data.devices import CLASSES
from metrale_plan.errors import InputError, Problem
from metrale_plan.model.keys import (
    LISTED_TABLES,
    MISSPELT,
    TABLES,
    TOP_LEVEL,
    UNKNOWN_KEY,
    WRONG_VALUE,
    Table,
    accepts,
    tables_of,
)
from metrale_plan.model.toml_source import TomlSource
from metrale_plan.nearest import misspelling_of, nearest


def check(source: TomlSource) -> tuple[Problem, ...]:
    """Notes on keys that are ignored; InputError MP203 or MP204 where a value or a spelling is wrong."""
    notes: list[Problem] = []
    _spelling(source, "", (), source.data, TOP_LEVEL)
    _shapes(source)
    tables = list(tables_of(source.data))
    for table in tables:
        _nested_spelling(source, table)
        known = known_keys.BY_TABLE[table.name] | TABLES[table.name].keys()
        notes += [_unknown(source, table, key) for key in table.keys if known.isdisjoint((key, key.split(".")[-1]))]
    for table in tables:
        _values(source, table)
    _repeated_checkpoints(source, tables)
    notes += _classes(source)
    return tuple(notes)


def _spelling(
    source: TomlSource, table: str, path: tuple[str | int, ...], given: Mapping[str, Any], read: Iterable[str]
) -> None:
    """Refuse a key at most two edits from one that is read here, unless it is a key met elsewhere."""
    read = tuple(read)
    for key in given:
        meant = None if key in read or key in known_keys.MET else misspelling_of(key, read)
        if meant is not None:
            raise InputError(
                MISSPELT,
                f"{key} is not a key of {table}: {meant} is meant"
                if table
                else f"[{key}] is no table: {_header(meant)} is meant",
                where=source.where(*path, key),
                accepted=meant,
                nearest=(meant,),
            )


def _header(name: str) -> str:
    return f"[[{name}]]" if name in LISTED_TABLES else f"[{name}]"


def _nested_spelling(source: TomlSource, table: Table) -> None:
    by_prefix: dict[str, list[str]] = {}
    for key in table.keys:
        prefix, _, last = key.rpartition(".")
        by_prefix.setdefault(prefix, []).append(last)
    for prefix, given in by_prefix.items():
        read = [key.rpartition(".")[2] for key in TABLES[table.name] if key.rpartition(".")[0] == prefix]
        if not prefix:
            read += {key.split(".")[0] for key in TABLES[table.name] if "." in key}
        path = table.key_path(prefix) if prefix else table.path
        _spelling(source, bracketed(path), path, dict.fromkeys(given), read)


def bracketed(path: tuple[str | int, ...]) -> str:
    """A table's path as its header: `[class.gb10.behavior]`, `[[checkpoint]]`."""
    name = ".".join(str(part) for part in path if isinstance(part, str))
    return f"[[{name}]]" if any(isinstance(part, int) for part in path) else f"[{name}]"


def _unknown(source: TomlSource, table: Table, key: str) -> Problem:
    homes = [f"[{name}]" for name, keys in TABLES.items() if key in keys and name != table.name]
    return Problem(
        code=UNKNOWN_KEY,
        message=f"{key} is ignored: {bracketed(table.path)} has no such key"
        + (f", {' and '.join(homes)} has" if homes else ""),
        where=source.where(*table.key_path(key)),
        nearest=nearest(key, TABLES[table.name]),
        severity="note",
    )


def _shapes(source: TomlSource) -> None:
    """Refuse a table that is written as something else: `[checkpoint]` for `[[checkpoint]]`, `model = 3`."""
    for name in TOP_LEVEL:
        value = source.data.get(name)
        if value is None:
            continue
        wanted = "[class.<id>.behavior]" if name == "class" else _header(name)
        rows = value if name in LISTED_TABLES else [value]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError(
                WRONG_VALUE, f"{name} is not written as {wanted}", where=source.where(name), accepted=wanted
            )
    for table in tables_of(source.data):
        for prefix in {key.split(".")[0] for key in TABLES[table.name] if "." in key}:
            if prefix in table.keys and prefix in ("linear_attn_config", "attention_other_setting"):
                where = source.where(*table.path, prefix)
                raise InputError(WRONG_VALUE, f"{prefix} is not a table", where=where, accepted="a table")


def _values(source: TomlSource, table: Table) -> None:
    kinds = TABLES[table.name]
    plain = all(accepts(kinds[key], value) for key, value in table.keys.items() if key in kinds)
    if plain and (table.name != "checkpoint" or "id" in table.keys):
        return
    from metrale_plan.model.schema import faults

    for fault in faults(table.name, table.keys):
        path = table.key_path(fault.key)
        raise InputError(
            WRONG_VALUE,
            f"{fault.message} in {bracketed(table.path)}",
            where=source.where(*path) if fault.item is None else source.where(*path, fault.item),
            accepted=fault.accepted,
        )


def _repeated_checkpoints(source: TomlSource, tables: Iterable[Table]) -> None:
    seen: set[str] = set()
    for table in tables:
        if table.name == "checkpoint":
            name = table.keys["id"]
            if name in seen:
                raise InputError(
                    WRONG_VALUE, f"checkpoint {name} is listed twice", where=source.where(*table.key_path("id"))
                )
            seen.add(name)


def _classes(source: TomlSource) -> list[Problem]:
    """Notes on hardware classes nobody knows and on tables of a class that are not read."""
    notes: list[Problem] = []
    for hardware, inner in source.data.get("class", {}).items():
        if not isinstance(inner, dict):
            where = source.where("class", hardware)
            raise InputError(
                WRONG_VALUE, f"class.{hardware} is not a table", where=where, accepted="[class.<id>.behavior]"
            )
        path = ("class", hardware)
        _spelling(source, bracketed(path), path, inner, ("behavior",))
        if not isinstance(inner.get("behavior", {}), dict):
            where = source.where(*path, "behavior")
            raise InputError(WRONG_VALUE, f"class.{hardware}.behavior is not a table", where=where, accepted="a table")
        messages = [f"{key} is ignored: {bracketed(path)} has no such key" for key in inner if key != "behavior"]
        if hardware not in CLASSES:
            messages.insert(0, f"no device is of class {hardware}, so {bracketed(path)} never applies")
        for message in messages:
            close = nearest(hardware, CLASSES)
            notes.append(
                Problem(code=UNKNOWN_KEY, message=message, where=source.where(*path), nearest=close, severity="note")
            )
    return notes
