"""The plainest YAML, read line by line: keys with a scalar, at most one level of keys below one. Or nothing at all.

Nearly every recipe is of this shape, and a general YAML reader takes most of the time that a plan takes. Whatever is
not exactly this shape is left to the general reader, so the two cannot disagree.
"""

import re
from dataclasses import dataclass

_CORE = "tag:yaml.org,2002:"

_PAIR = re.compile(
    r"(?P<indent> *)(?P<key>[A-Za-z_][A-Za-z0-9_]*):"
    r"(?: +(?:(?P<plain>[A-Za-z0-9_/][A-Za-z0-9_./:,+-]*)|\"(?P<double>[ !#-\[\]-~]*)\"|'(?P<single>[ -&(-~]*)'|"
    r"(?P<empty>\{\})))?"
    r" *(?: #.*)?"
)
"""`key:`, and after it a word, a quoted text without escapes, `{}` or nothing; then perhaps a comment."""

_IDLE = re.compile(r" *(?:#.*)?")
_INT = re.compile(r"[0-9]+")
_FLOAT = re.compile(r"[0-9]+\.[0-9]+")
_LISTED = re.compile(r"[0-9]+:[0-9]+(?:,[0-9]+:[0-9]+)*|[0-9]+(?:\.[0-9]+){2,}")
"""Texts that begin with a digit and are no number: ladders, addresses and versions."""

_BOOL = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_NULL = frozenset({"null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a node begins; `line` counts from 0, as the general reader's marks do."""

    line: int


@dataclass(slots=True)
class PlainNode:
    """A node with what is asked of the general reader's: a tag, a value and where it begins.

    Attributes:
        value: text of a scalar, pairs of nodes of a mapping.
    """

    tag: str
    value: "str | list[tuple[PlainNode, PlainNode]]"
    start_mark: Mark


def compose_lines(text: str) -> PlainNode | None:
    """The mapping that a text holds, or None where it is not of the plainest shape."""
    if not text.isascii():
        return None
    top: list[tuple[PlainNode, PlainNode]] = []
    pairs, indent = top, 0
    opened: list[tuple[PlainNode, PlainNode]] | None = None  # a key that waits for the keys below it
    for number, line in enumerate(text.split("\n")):
        if _IDLE.fullmatch(line):
            continue
        match = _PAIR.fullmatch(line)
        if match is None:
            return None
        width = len(match["indent"])
        if opened is not None:
            if width == 0:
                return None  # a key without anything
            pairs, indent, opened = opened, width, None
        elif width == 0:
            pairs, indent = top, 0
        if width != indent:
            return None
        mark = Mark(number)
        value = _value(match, mark)
        if value is None:
            return None
        pairs.append((PlainNode(_CORE + "str", match["key"], mark), value))
        if match["key"] in _BOOL or match["key"] in _NULL:
            return None
        if isinstance(value.value, list) and match["empty"] is None:
            if pairs is not top:
                return None
            opened = value.value
    return PlainNode(_CORE + "map", top, top[0][0].start_mark) if top and opened is None else None


def _value(match: re.Match[str], mark: Mark) -> PlainNode | None:
    plain = match["plain"]
    if plain is not None:
        tag = _tag(plain)
        return None if tag is None or plain.endswith(":") else PlainNode(_CORE + tag, plain, mark)
    quoted = match["double"] if match["double"] is not None else match["single"]
    if quoted is not None:
        return PlainNode(_CORE + "str", quoted, mark)
    return PlainNode(_CORE + "map", [], mark)


def _tag(word: str) -> str | None:
    """What an unquoted word is under YAML 1.2's core schema, or None where that takes a closer look."""
    if not word[0].isdigit():
        return "bool" if word in _BOOL else "null" if word in _NULL else "str"
    if _INT.fullmatch(word):
        return "int"
    if _FLOAT.fullmatch(word):
        return "float"
    return "str" if _LISTED.fullmatch(word) else None
