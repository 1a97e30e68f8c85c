"""Words of a pasted text: lines with their places, split, assignments at the front, variables filled in."""

import re
from collections.abc import Iterable, Iterator, Mapping

from metrale_plan.errors import InputError
from metrale_plan.sources.tokens import Token

UNREADABLE = "MP239"

ACCEPTED = "[NAME=value ...] met serve CHECKPOINT --flag value ..., docker run ..., ExecStart=..., command: [...]"

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_EXPANSION = re.compile(r"\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}]*))?\})")


def numbered(text: str, path: str | None) -> Iterator[Token]:
    """Lines with their places; a carriage return at their end is no part of them."""
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        yield Token(line, None if path is None else f"{path}:{number}")


def split_words(line: Token, *, comments: bool = True) -> list[Token]:
    """A line's words, as a shell splits them.

    Raises:
        InputError: MP239 for a quote that nothing closes.
    """
    import shlex

    try:
        return [Token(word, line.where) for word in shlex.split(line.text, comments=comments)]
    except ValueError:
        raise InputError(
            UNREADABLE, "a quote that the line does not close", where=line.where, accepted="quotes in pairs"
        ) from None


def assignments(words: Iterable[Token]) -> Iterator[tuple[str, Token]]:
    """The NAME=value words at the front, as names and values."""
    for word in words:
        match = _ASSIGNMENT.fullmatch(word.text)
        if match is None:
            return
        yield match[1], Token(match[2], word.where, word.unknown)


def expanded(words: Iterable[Token], known: Mapping[str, str]) -> Iterator[Token]:
    """Words with the variables that the text itself sets; one that it does not set stays, marked as not known."""
    for word in words:
        unknown: list[str] = []

        def value(match: re.Match[str], unknown: list[str] = unknown) -> str:
            name = match[1] or match[2]
            if name is None:
                return "$"
            found: str | None = known.get(name, match[3])
            if found is None:
                unknown.append(match[0])
            return match[0] if found is None else found

        text = _EXPANSION.sub(value, word.text)
        yield Token(text, word.where, unknown[0] if unknown else word.unknown)
