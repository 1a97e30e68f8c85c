"""Saved JSON documents -> the plans in them, each proven to have the shapes that a comparison reads.

A document of an older or newer version may lack keys or have more; what it has must be what the schema says.
"""

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from metrale_plan.errors import InputError
from metrale_plan.gate.compare import SECTIONS, figures
from metrale_plan.report import SCHEMA

NOT_COMPARABLE = "MP277"

ACCEPTED = f"a document of schema {SCHEMA}, saved from preflight, plan or check with --format json"

LARGEST = 2**63
"""No size reaches it."""

MOST_BYTES = 256 * 2**20
"""A check of thousands of configs saves a plan of some ten kilobytes for each."""

Saved = tuple[str, str | None, dict[str, Any]]
"""Of one plan: its config, its device, and the document."""


def read_saved(path: Path, planning: Collection[str]) -> Iterator[Saved]:
    """The plans in a saved document: one, or every result of a check.

    Args:
        planning: commands whose document is a plan.

    Raises:
        InputError: MP201 where it cannot be read, MP277 where it is not such a document, naming the key at fault.
    """
    saved = _load(path)
    if not isinstance(saved, dict) or saved.get("schema") != SCHEMA:
        schema = saved.get("schema") if isinstance(saved, dict) else None
        of = f": its schema is {schema!r}" if isinstance(schema, str) else ""
        raise _refused(path, f"is no saved plan{of}")
    if saved.get("command") in planning:
        memory = _table(path, "memory", saved.get("memory")) or {}
        yield str(path), _text(path, "memory.device", memory.get("device")), _sound(path, "", saved)
        return
    results = saved.get("results")
    if saved.get("command") != "check" or not isinstance(results, list):
        raise _refused(path, "holds no plan")
    for index, result in enumerate(results):
        key = f"results[{index}]"
        table = _table(path, key, result) or {}
        plan = _table(path, f"{key}.plan", table.get("plan"))
        if plan:
            name = _text(path, f"{key}.path", table.get("path")) or str(path)
            yield name, _text(path, f"{key}.device", table.get("device")), _sound(path, f"{key}.plan.", plan)


def _load(path: Path) -> Any:
    import json

    from metrale_plan.model.toml_source import read_text

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(text)
        return value

    try:
        return json.loads(read_text(path, MOST_BYTES), parse_float=number, parse_constant=number)
    except (ValueError, RecursionError):
        raise _refused(path, "is not JSON") from None


def _sound(path: Path, at: str, plan: dict[str, Any]) -> dict[str, Any]:
    """The plan, with null where it lacks what a comparison asks for."""
    code = plan.get("exit_code")
    if not isinstance(code, int) or isinstance(code, bool):
        raise _broken(path, f"{at}exit_code")
    for key, setting in (_table(path, f"{at}settings", plan.get("settings")) or {}).items():
        if not isinstance(setting, dict) or "value" not in setting or isinstance(setting["value"], dict):
            raise _broken(path, f"{at}settings.{key}")
    for section in SECTIONS:
        _table(path, f"{at}{section}", plan.get(section))
    try:
        for key, size in figures(plan, "term"):
            if not isinstance(size, int) or isinstance(size, bool) or abs(size) >= LARGEST:
                raise _broken(path, f"{at}{key}")
    except RecursionError:
        raise _refused(path, "is nested too deeply") from None
    reserve = plan.get("reserve")
    if reserve and (not isinstance(reserve.get("total"), int) or not 0 <= reserve["total"] < LARGEST):
        raise _broken(path, f"{at}reserve.total")
    return {
        **plan,
        "verdict": _verdict(path, f"{at}verdict", plan.get("verdict")),
        "error": _error(path, f"{at}error", plan.get("error")),
    }


def _verdict(path: Path, at: str, value: Any) -> dict[str, Any] | None:
    verdict = _table(path, at, value)
    if verdict is None:
        return None
    checked, headroom = verdict.get("checked", []), verdict.get("headroom")
    if verdict.get("fits") not in (True, False, None):
        raise _broken(path, f"{at}.fits")
    if not isinstance(checked, list) or not all(isinstance(stage, str) for stage in checked):
        raise _broken(path, f"{at}.checked")
    if headroom is not None and (not isinstance(headroom, int) or abs(headroom) >= LARGEST):
        raise _broken(path, f"{at}.headroom")
    stage = _text(path, f"{at}.stage", verdict.get("stage"))
    return {**verdict, "fits": verdict.get("fits"), "checked": checked, "headroom": headroom, "stage": stage}


def _error(path: Path, at: str, value: Any) -> dict[str, Any] | None:
    error = _table(path, at, value)
    if error is None:
        return None
    texts = {key: _text(path, f"{at}.{key}", error.get(key)) for key in ("code", "message", "where", "accepted")}
    if not texts["code"] or texts["message"] is None:
        raise _broken(path, at)
    nearest = error.get("nearest") or []
    if not isinstance(nearest, list) or not all(isinstance(word, str) for word in nearest):
        raise _broken(path, f"{at}.nearest")
    return {**error, **texts, "nearest": nearest}


def _table(path: Path, key: str, value: Any) -> dict[str, Any] | None:
    if value is None or isinstance(value, dict):
        return value
    raise _broken(path, key)


def _text(path: Path, key: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _broken(path, key)


def _broken(path: Path, key: str) -> InputError:
    return _refused(path, f"holds a broken plan: {key} is not what the schema says")


def _refused(path: Path, what: str) -> InputError:
    return InputError(NOT_COMPARABLE, f"{path} {what}", where=str(path), accepted=ACCEPTED)
