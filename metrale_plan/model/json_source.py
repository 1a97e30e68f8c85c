"""A JSON file as data and line numbers: what a checkpoint's config.json holds, and where."""

import json
import math
import re
from typing import Any

from metrale_plan.errors import InputError
from metrale_plan.model.toml_source import KeyPath

NOT_A_CONFIG = "MP224"

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:\n]|[^\s"{}\[\],:]+')


class JsonSource:
    """One parsed file.

    Attributes:
        path: the file, as it is to be named in messages.
        data: its object.
    """

    __slots__ = ("_lines", "_text", "data", "path")

    def __init__(self, path: str, text: str) -> None:
        """Parse a text; InputError MP224 with `file:line` where it is not one JSON object."""
        self.path = path
        self._text = text
        self._lines: dict[KeyPath, int] | None = None
        self.data: dict[str, Any] = _parsed(path, text)

    def where(self, *path: str | int) -> str:
        """`file:line` of a key; of its nearest known parent where the path itself is not in the file."""
        if self._lines is None:
            self._lines = key_lines(self._text)
        while path and path not in self._lines:
            path = path[:-1]
        return f"{self.path}:{self._lines.get(path, 1)}"


def _parsed(path: str, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except json.JSONDecodeError as error:
        raise InputError(NOT_A_CONFIG, f"not JSON: {error.msg}", where=f"{path}:{error.lineno}") from None
    except (ValueError, RecursionError):
        # A number of thousands of digits, or thousands of nested arrays: legal JSON that no reader takes.
        raise InputError(NOT_A_CONFIG, "not JSON: a number or a nesting beyond any limit", where=path) from None
    if not isinstance(data, dict):
        raise InputError(NOT_A_CONFIG, "not a JSON object", where=f"{path}:1", accepted="a checkpoint's config.json")
    return data


def _finite(text: str) -> float | None:
    """A float, or None for what JSON has no number for: some configs hold Infinity, and a key without it is absent."""
    value = float(text)
    return value if math.isfinite(value) else None


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line of every key and list item of a JSON text; of a key given twice, the last, which is the one read."""
    lines: dict[KeyPath, int] = {}
    line = 1
    path: list[str | int] = []
    wants_key: list[bool] = []  # for each open bracket: whether a key comes next; False throughout a list
    for token in _TOKEN.findall(text):
        if token == "\n":
            line += 1
            continue
        in_list = bool(wants_key) and isinstance(path[-1], int)
        if wants_key and wants_key[-1] and token.startswith('"'):
            path[-1] = json.loads(token)
            lines[tuple(path)] = line
            wants_key[-1] = False
        elif token == ",":
            if in_list:
                path[-1] = int(path[-1]) + 1
            elif wants_key:
                wants_key[-1] = True
        elif token in "}]":
            wants_key.pop()
            path.pop()
        elif token != ":":
            if in_list:
                lines[tuple(path)] = line
            if token in "{[":
                wants_key.append(token == "{")
                path.append("" if token == "{" else 0)
    return lines
