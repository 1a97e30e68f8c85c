"""The variables that a `docker run` sets inside and hands on."""

import re
from collections.abc import Sequence

from metrale_plan.sources.pasted.words import assignments
from metrale_plan.sources.tokens import Token

_DOCKER_VARIABLE = re.compile(r"-[ditPq]*e(.*)", re.DOTALL)


def container_options(words: Sequence[Token]) -> tuple[tuple[tuple[str, Token], ...], set[str], tuple[Token, ...]]:
    """`-e NAME=value`, `-e NAME` and `--env-file` of a `docker run`."""
    env: list[tuple[str, Token]] = []
    passed: set[str] = set()
    unread: list[Token] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, equals, inline = word.text.partition("=")
        if name in ("-e", "--env", "--env-file"):
            given = inline
        elif short := _DOCKER_VARIABLE.fullmatch(word.text):
            name, equals, given = "-e", short[1], short[1]
        else:
            continue
        value = word._replace(text=given) if equals or not queue else queue.pop(0)
        if name == "--env-file":
            unread.append(value)
        else:
            _take_variable(value, env, passed)
    return tuple(env), passed, tuple(unread)


def _take_variable(word: Token, env: list[tuple[str, Token]], passed: set[str]) -> None:
    """NAME=value sets a variable inside, NAME alone hands this environment's on."""
    pairs = list(assignments([word]))
    env += pairs
    if not pairs and word.text:
        passed.add(word.text)
