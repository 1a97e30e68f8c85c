"""A systemd unit, or lines of one -> the serve it starts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from metrale_plan.errors import InputError
from metrale_plan.sources.pasted.command import command_of
from metrale_plan.sources.pasted.program import runs_serve
from metrale_plan.sources.pasted.words import ACCEPTED, UNREADABLE, assignments, expanded, split_words
from metrale_plan.sources.tokens import Pasted, Token

UNIT_KEYS = ("Environment", "UnsetEnvironment", "EnvironmentFile", "ExecStart")
"""What is read of a unit file."""

_SPECIFIER = re.compile(r"%(.)")


def read_unit(lines: Iterable[Token]) -> Pasted:
    """A unit file, or lines of one: ExecStart=, Environment= and what goes with them; an empty value starts anew."""
    env: dict[str, Token] = {}
    unread: list[Token] = []
    commands: list[list[Token]] = []
    for line in _unit_lines(lines):
        key, _, value = line[0].text.partition("=")
        key = key.strip()
        if key not in UNIT_KEYS:
            continue
        words = [Token(value, line[0].where), *line[1:]]
        split = [_unspecified(word) for part in words for word in split_words(part, comments=False)]
        if key == "Environment":
            env = env | dict(assignments(split)) if split else {}
        elif key == "UnsetEnvironment":
            env = {name: token for name, token in env.items() if name not in {word.text for word in split}}
        elif key == "EnvironmentFile":
            unread = [*unread, *(word._replace(text=word.text.removeprefix("-")) for word in split)] if split else []
        elif key == "ExecStart":
            commands = [*commands, [_without_prefix(split[0]), *split[1:]]] if split else []
    serves = [words for words in commands if runs_serve(words)]
    if len(serves) != 1:
        where = commands[0][0].where if commands else None
        found = "more than one met serve" if serves else "no met serve"
        raise InputError(UNREADABLE, f"{found} in ExecStart=", where=where or "ExecStart=", accepted=ACCEPTED)
    known = {name: token.text for name, token in env.items()}
    pasted = command_of(tuple(_unit_words(serves[0], known)), dict(known))
    handed = {name: token for name, token in env.items() if not pasted.contained or name in pasted.passed}
    stopped = frozenset(env) - frozenset(handed) if pasted.contained else frozenset()
    return replace(
        pasted,
        env=(*((name, token) for name, token in handed.items() if name not in pasted.unset), *pasted.env),
        contained=True,
        passed=frozenset(),
        stopped=pasted.stopped | stopped,
        unread=(*unread, *pasted.unread),
    )


def _without_prefix(program: Token) -> Token:
    """A program without the characters in front that tell systemd how to run it."""
    return program._replace(text=program.text.lstrip("@-:+!|"))


def _unit_words(words: Iterable[Token], known: Mapping[str, str]) -> Iterator[Token]:
    """A command's words as a service gets them: `$NAME` alone is split, and a `;` alone ends the command."""
    for word in words:
        if word.text == ";":
            return
        name = word.text[1:] if word.text.startswith("$") else ""
        if name.isidentifier() and name in known:
            yield from (Token(part, word.where) for part in known[name].split())
        else:
            yield from expanded([word], known)


def _unspecified(word: Token) -> Token:
    """A word with %% as %; what another specifier stands for is not known."""
    unknown = next((match[0] for match in _SPECIFIER.finditer(word.text) if match[1] != "%"), None)
    return Token(word.text.replace("%%", "%"), word.where, unknown)


def _unit_lines(lines: Iterable[Token]) -> Iterator[list[Token]]:
    """Assignments of a unit, each as its lines; a backslash at the end goes on in the next."""
    parts: list[Token] = []
    for line in lines:
        text = line.text.strip()
        if text.startswith(("#", ";")) or (not parts and "=" not in text):
            continue
        goes_on = text.endswith("\\")
        parts.append(Token(text[:-1] if goes_on else text, line.where))
        if not goes_on:
            yield parts
            parts = []
    if parts:
        yield parts
