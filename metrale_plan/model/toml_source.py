"""A TOML file as text, data and line numbers: tomli says what a file holds, `Locator` says where."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from metrale_plan.errors import InputError

FILE_UNREADABLE = "MP201"
NOT_TOML = "MP202"

MAX_BYTES = 4 * 2**20
"""A model file is a few kilobytes; anything near this size is some other file."""

KeyPath = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?")


class TomlSource:
    """One parsed file.

    Attributes:
        path: the file, as the user or the catalog named it.
        text: its content, without a byte order mark.
        data: what tomli made of it.
    """

    __slots__ = ("_locator", "data", "path", "text")

    def __init__(self, path: Path, text: str, data: dict[str, Any]) -> None:
        self.path = path
        self.text = text
        self.data = data
        self._locator: Locator | None = None

    def where(self, *path: str | int) -> str:
        """`file:line` of a table or key; of its nearest known parent where the path itself is not in the file."""
        if self._locator is None:
            self._locator = Locator(self.text)
        return f"{self.path}:{self._locator.line(*path)}"


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; InputError MP201 where there is none.

    Args:
        most: bytes of the largest file that is read.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except FileNotFoundError:
        raise InputError(FILE_UNREADABLE, f"{path} does not exist", where=str(path)) from None
    except IsADirectoryError:
        raise InputError(FILE_UNREADABLE, f"{path} is a directory, not a file", where=str(path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(FILE_UNREADABLE, f"{path} cannot be read: {reason}", where=str(path)) from None
    if len(raw) > most:
        message = f"{path} is larger than {most // 2**20} MiB, so it is no such file"
        raise InputError(FILE_UNREADABLE, message, where=str(path))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = "is UTF-16, not UTF-8" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "is not UTF-8"
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            FILE_UNREADABLE,
            f"{path} {what}",
            where=f"{path}:{line}",
            accepted="UTF-8, with or without a byte order mark",
        ) from None
    if not text.strip():
        raise InputError(FILE_UNREADABLE, f"{path} is empty", where=str(path))
    return text


def read_toml(path: str | Path) -> TomlSource:
    """Read and parse one TOML file; InputError MP201 or MP202 with `file:line` where that fails."""
    path = Path(path)
    text = read_text(path)
    return TomlSource(path, text, parse_toml(text, path))


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The tables of a TOML text; InputError MP202 with `file:line` where it is not TOML."""
    import tomli

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        again = Locator(text).repeated
        if again is not None and again[1] <= error.lineno:
            first, second, name = again
            message = f"{name} is given twice, first on line {first}"
            raise InputError(NOT_TOML, message, where=f"{path}:{second}") from None
        raise InputError(NOT_TOML, f"not TOML: {error.msg}", where=f"{path}:{error.lineno}") from None
    except (ValueError, RecursionError):
        # A number of thousands of digits, or thousands of nested arrays: legal TOML that no reader takes.
        raise InputError(NOT_TOML, "not TOML: a number or a nesting beyond any limit", where=str(path)) from None


class Locator:
    """Lines of every table and key of a TOML text, for texts tomli accepts; a best effort for others.

    Attributes:
        lines: first line of each path; elements of arrays count from 0.
        repeated: (first line, second line, dotted name) of the first key or table given twice, or None.
    """

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.repeated: tuple[int, int, str] | None = None
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._line = 1
        self._seen: dict[KeyPath, int] = {}
        self._arrays: dict[KeyPath, int] = {}
        with suppress(IndexError, RecursionError):  # malformed from there on: what was met so far stands
            self._walk()

    def line(self, *path: str | int) -> int:
        """Line of a path, or of its nearest parent in the file; 1 where there is none."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return 1

    # statements

    def _walk(self) -> None:
        table: KeyPath = ()
        while True:
            self._skip_blank()
            if self._at >= len(self._text):
                return
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> KeyPath:
        line = self._line
        array = self._text.startswith("[[", self._at)
        self._at += 2 if array else 1
        path = self._into_arrays(self._key())
        self._at = self._text.index("\n", self._at) if "\n" in self._text[self._at :] else len(self._text)
        if array:
            self._mention(path, line)
            index = self._arrays.get(path, -1) + 1
            self._arrays[path] = index
            path = (*path, index)
        else:
            self._once(path, line)
        self._mention(path, line)
        return path

    def _into_arrays(self, key: tuple[str, ...]) -> KeyPath:
        """The path a header means: a name of an array of tables, before the last part, means its latest element."""
        path: KeyPath = ()
        for position, part in enumerate(key):
            path = (*path, part)
            if position < len(key) - 1 and path in self._arrays:
                path = (*path, self._arrays[path])
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self._line
        path: KeyPath = (*table, *self._key())
        self._skip_space()
        if self._text[self._at] != "=":
            raise IndexError
        self._at += 1
        self._once(path, line)
        self._mention(path, line)
        self._value(path)

    def _mention(self, path: KeyPath, line: int) -> None:
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _once(self, path: KeyPath, line: int) -> None:
        first = self._seen.setdefault(path, line)
        if first != line and self.repeated is None:
            self.repeated = (first, line, ".".join(map(str, path)))

    # tokens

    def _skip_space(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in " \t":
            self._at += 1

    def _skip_blank(self) -> None:
        """White space, line ends and comments."""
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == "\n":
                self._line += 1
            elif char == "#":
                while self._at < len(text) and text[self._at] != "\n":
                    self._at += 1
                continue
            elif char not in " \t":
                return
            self._at += 1

    def _key(self) -> tuple[str, ...]:
        parts: list[str] = []
        while True:
            self._skip_space()
            if self._text[self._at] in "\"'":
                parts.append(self._quoted_key())
            else:
                match = _BARE_KEY.match(self._text, self._at)
                if match is None:
                    raise IndexError
                parts.append(match.group())
                self._at = match.end()
            self._skip_space()
            if self._text[self._at] != ".":
                return tuple(parts)
            self._at += 1

    def _quoted_key(self) -> str:
        start = self._at
        self._string()
        raw = self._text[start : self._at]
        if raw[0] == "'" or "\\" not in raw:
            return raw[1:-1]
        import tomli

        try:
            return str(tomli.loads(f"key = {raw}")["key"])
        except ValueError:
            raise IndexError from None

    def _string(self) -> None:
        text, quote = self._text, self._text[self._at]
        if text.startswith(quote * 3, self._at):
            self._at += 3
            while not text.startswith(quote * 3, self._at):
                if text[self._at] == "\\" and quote == '"':
                    self._at += 1
                if text[self._at] == "\n":
                    self._line += 1
                self._at += 1
            self._at += 3
            while self._at < len(text) and text[self._at] == quote:  # up to two quotes may end the string itself
                self._at += 1
            return
        self._at += 1
        while text[self._at] != quote:
            if text[self._at] == "\n":
                raise IndexError
            self._at += 2 if text[self._at] == "\\" and quote == '"' else 1
        self._at += 1

    def _value(self, path: KeyPath) -> None:
        self._skip_space()
        char = self._text[self._at]
        if char in "\"'":
            self._string()
        elif char == "[":
            self._at += 1
            index = 0
            while True:
                self._skip_blank()
                if self._text[self._at] == "]":
                    break
                self._mention((*path, index), self._line)
                self._value((*path, index))
                index += 1
                self._skip_blank()
                if self._text[self._at] == ",":
                    self._at += 1
            self._at += 1
        elif char == "{":
            self._at += 1
            while True:
                self._skip_blank()
                if self._text[self._at] == "}":
                    break
                self._pair(path)
                self._skip_blank()
                if self._text[self._at] == ",":
                    self._at += 1
            self._at += 1
        else:
            match = _SCALAR.match(self._text, self._at)
            if match is None:
                raise IndexError
            self._at = match.end()
