"""Token: one word of a command line, and the place it was read from."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Token(NamedTuple):
    """One word.

    Attributes:
        text: the word, without the quotes it stood in.
        where: "file:line", or None for a word of this program's own command line.
        unknown: what it holds that only a running shell, service or container could tell, or None.
    """

    text: str
    where: str | None = None
    unknown: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pasted:
    """A serve as somebody keeps it: its flags, its variables, and how far this environment reaches it.

    Attributes:
        serve: the words after `met serve`.
        env: variables that it sets, in order, each with the word's place.
        files: `@FILE` words among the flags, in order.
        contained: whether this environment's variables do not reach it (a container, a service).
        passed: names that reach it all the same (`docker run -e NAME`).
        unset: names that it drops.
        stopped: names that are set in front of it and do not reach it.
        unread: files of variables that it names and that are not read.
    """

    serve: tuple[Token, ...] = ()
    env: tuple[tuple[str, Token], ...] = ()
    files: tuple[Token, ...] = ()
    contained: bool = False
    passed: frozenset[str] = frozenset()
    unset: frozenset[str] = frozenset()
    stopped: frozenset[str] = frozenset()
    unread: tuple[Token, ...] = ()


def tokens_of(words: Iterable[str]) -> tuple[Token, ...]:
    """Words of this program's own command line."""
    return tuple(Token(word) for word in words)
