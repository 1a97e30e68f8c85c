"""YAML 1.2 as nodes with line numbers: composed by ruamel.yaml, or line by line where a file is plain.

Nothing is ever constructed, so no tag can make anything.
Aliases stay references and are followed only where a reader asks, so an alias bomb expands nowhere.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from metrale_plan.errors import InputError
from metrale_plan.sources.yaml_lines import compose_lines

NOT_YAML = "MP230"
DUPLICATE_KEY = "MP231"

MAX_CHARACTERS = 64 * 1024
"""Recipes and compose files are a few kilobytes; anything larger is some other file."""

MOST_MARKS = 4000
"""Keys, elements, brackets, anchors and tags; a recipe that lists every flag has some hundred and fifty."""

_MARKS = re.compile(r"[\[\]{},?:&*!]|- ")

MOST_OPEN_BRACKETS = 64
"""A few levels are meant; the time to read nested brackets grows with the square of their number."""

NodeKind = Literal["text", "bool", "number", "null", "list", "mapping"]

_CORE = "tag:yaml.org,2002:"
_COLLECTIONS: dict[str, NodeKind] = {_CORE + "seq": "list", _CORE + "map": "mapping"}
_TEXTS = frozenset({_CORE + "str", _CORE + "timestamp", _CORE + "value", _CORE + "merge"})
_BASED = re.compile(r"0o[0-7]{1,22}|0x[0-9a-fA-F]{1,16}")
"""Numbers that Python has to spell out; longer ones fit no count and stay text."""

_HUGE_ESCAPE = re.compile(r"\\U(?!000|0010)[0-9A-Fa-f]{8}")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@lru_cache(4096)
def _scalar_kind(tag: str, value: str) -> NodeKind | None:
    """What a scalar is, or None under a tag outside the core schema; recipes repeat the same few hundred."""
    if tag == _CORE + "bool":
        return "bool" if value.lower() in ("true", "false") else "text"  # a %YAML 1.1 line changes nothing
    if tag == _CORE + "null":
        return "null"
    if tag in (_CORE + "int", _CORE + "float"):
        return "number" if _NUMBER.fullmatch(value) or _BASED.fullmatch(value) else "text"
    return "text" if tag in _TEXTS else None


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a file.

    Attributes:
        raw: ruamel's node.
        path: the file, for messages.
        line: 1-based line; of the key where the value has one, since an alias stands elsewhere.
    """

    raw: Any
    path: str
    line: int

    @property
    def where(self) -> str:
        """`file:line`."""
        return f"{self.path}:{self.line}"

    @property
    def kind(self) -> NodeKind:
        """What the value is under YAML 1.2's core schema: `on`, `off`, `auto` and dates are text.

        Raises:
            InputError: MP230 for a tag outside the core schema.
        """
        tag, value = str(self.raw.tag), self.raw.value
        kind = _COLLECTIONS.get(tag) or (_scalar_kind(tag, value) if isinstance(value, str) else None)
        if kind is not None:
            return kind
        shown = tag.replace(_CORE, "!!")
        raise InputError(NOT_YAML, f"the tag {shown} has no place here", where=self.where, accepted="a plain value")

    @property
    def text(self) -> str:
        """A scalar as it is spelled; `0x` and `0o` numbers in decimal, booleans as `true` and `false`."""
        value = self.raw.value
        if not isinstance(value, str):
            raise AssertionError(f"the text of a {self.kind}")  # spelling out a list would expand its aliases
        kind = self.kind
        if kind == "bool":
            return value.lower()
        return str(int(value, 0)) if kind == "number" and _BASED.fullmatch(value) else value

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """Keys and values of a mapping, in order; each value's line is its key's.

        Raises:
            InputError: MP230 for a key that is not text or a merge key, MP231 for one that is there twice.
        """
        return self._items(merges=False)

    def merged(self) -> dict[str, "Node"]:
        """Keys and values of a mapping with those behind its merge keys, as readers of compose files take them.

        Its own keys win. Each mapping counts once, however many aliases lead to it.

        Raises:
            InputError: as `items`, and MP230 for a merge key that leads to no mapping.
        """
        found: dict[str, Node] = {}
        seen: set[int] = set()
        queue = [self]
        while queue:
            node = queue.pop(0)
            if id(node.raw) in seen:
                continue
            seen.add(id(node.raw))
            if node.kind == "list":
                queue = [*node.elements(), *queue]
                continue
            if node.kind != "mapping":
                raise InputError(
                    NOT_YAML, "a merge key (<<) without a mapping", where=node.where, accepted="<<: *alias"
                )
            behind: list[Node] = []
            for key, value in node._items(merges=True):
                if key == "<<":
                    behind.append(value)
                else:
                    found.setdefault(key, value)
            queue = [*behind, *queue]
        return found

    def _items(self, *, merges: bool) -> Iterator[tuple[str, "Node"]]:
        seen: dict[str, int] = {}
        for raw_key, raw_value in self.raw.value:
            line = raw_key.start_mark.line + 1
            key = Node(raw_key, self.path, line)
            if key.kind in ("list", "mapping", "null"):
                raise InputError(NOT_YAML, "a key has to be text", where=key.where, accepted="key: value")
            text = key.text
            if text == "<<" and not merges:
                raise InputError(
                    NOT_YAML,
                    "merge keys (<<) are no part of YAML 1.2, so a reader may take this one for a key of that name",
                    where=key.where,
                    accepted="the keys written out, or an alias for the whole mapping",
                )
            if text in seen:
                raise InputError(
                    DUPLICATE_KEY,
                    f"{text} is there twice, first at line {seen[text]}",
                    where=key.where,
                    accepted="each key once",
                )
            seen[text] = line
            yield text, Node(raw_value, self.path, line)

    def elements(self) -> Iterator["Node"]:
        """Elements of a list, in order; each line is its own."""
        for raw in self.raw.value:
            yield Node(raw, self.path, raw.start_mark.line + 1)


def compose(text: str, path: str) -> Node | None:
    """The one document of a YAML text, or None where it holds nothing.

    Args:
        path: the file's name for messages.

    Raises:
        InputError: MP230 where it is not YAML, holds several documents, or is too large or too deep to be meant.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"{path} is larger than {MAX_CHARACTERS // 1024} KiB, so it is no recipe"
        raise InputError(NOT_YAML, message, where=path, accepted="a file of a few kilobytes")
    plain = compose_lines(text)
    if plain is not None:
        return Node(plain, path, plain.start_mark.line + 1)
    return _compose_any(text, path)


def _compose_any(text: str, path: str) -> Node | None:
    from warnings import catch_warnings, simplefilter

    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if _open_brackets(text) > MOST_OPEN_BRACKETS:
        raise InputError(NOT_YAML, "nested too deeply", where=path, accepted="a few levels")
    if sum(1 for _ in _MARKS.finditer(text)) > MOST_MARKS:
        message = f"{path} has more keys and elements than a recipe or a compose file"
        raise InputError(NOT_YAML, message, where=path, accepted="a few hundred of them")
    try:
        with catch_warnings():
            simplefilter("ignore")  # of an anchor that is used again, which YAML 1.2 allows
            root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        what = str(error.problem or error.context)
        message = "a tab, where YAML takes spaces only" if "'\\t'" in what else f"not YAML: {what}"
        raise InputError(NOT_YAML, message, where=f"{path}:{line}", accepted="one YAML 1.2 document") from None
    except YAMLError as error:
        position = getattr(error, "position", 0)
        line = text.count("\n", 0, position if isinstance(position, int) else 0) + 1
        raise InputError(
            NOT_YAML, f"not YAML: {getattr(error, 'reason', error)}", where=f"{path}:{line}", accepted="UTF-8 text"
        ) from None
    except (ValueError, OverflowError):
        found = _HUGE_ESCAPE.search(text)
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        message = "not YAML: an escape that is no character"
        raise InputError(NOT_YAML, message, where=f"{path}:{line}", accepted="\\U00000000 to \\U0010FFFF") from None
    except RecursionError:
        raise InputError(NOT_YAML, "nested too deeply", where=path, accepted="a few levels") from None
    return None if root is None else Node(root, path, root.start_mark.line + 1)


def _open_brackets(text: str) -> int:
    """Most brackets open at once, those in quotes counted too."""
    most = depth = 0
    for char in text:
        if char in "[{":
            depth += 1
            most = max(most, depth)
        elif char in "]}" and depth:
            depth -= 1
    return most
