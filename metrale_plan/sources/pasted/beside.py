"""What stands before `met serve`: variables, `env`, `sudo`, another host, a container."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from metrale_plan.sources.pasted.container import container_options
from metrale_plan.sources.pasted.program import CONTAINER_PROGRAMS
from metrale_plan.sources.pasted.words import assignments
from metrale_plan.sources.tokens import Pasted, Token

SUPERUSER_PROGRAMS = frozenset({"sudo", "doas"})
"""Programs that drop the environment unless they are told to keep it."""

_KEEPS_ALL = re.compile(r"-[A-Za-z]*E[A-Za-z]*|--preserve-env")


def beside(before: Sequence[Token], serve: Pasted) -> Pasted:
    """A serve with what stands before it: variables that are set, handed on, dropped or kept out."""
    names = [word.text.rpartition("/")[2] for word in before]
    unset = frozenset(_dropped(before)) if "env" in names else frozenset()
    container = next((at for at, name in enumerate(names) if name in CONTAINER_PROGRAMS), None)
    if container is not None:
        outside = dict(_set_among(before[:container]))
        env, passed, unread = container_options(before[container + 1 :])
        within = before[names.index("env", container) :] if "env" in names[container:] else ()
        inner = tuple(_set_among(within))
        handed = tuple((name, outside[name]) for name in sorted(passed) if name in outside)
        stopped = frozenset(outside) - passed - {name for name, _ in env}
        return replace(
            serve,
            env=(*handed, *env, *inner),
            contained=True,
            passed=frozenset(passed),
            unread=unread,
            unset=unset,
            stopped=stopped,
        )
    elsewhere = next((at for at, name in enumerate(names) if name == "ssh" or name in SUPERUSER_PROGRAMS), None)
    if elsewhere is not None:
        return _under_another(before, elsewhere, replace(serve, unset=unset))
    env = tuple(_set_among(before))
    alone = "env" in names and any(word.text in ("-", "-i", "--ignore-environment") for word in before)
    return replace(serve, env=env, contained=alone, unset=unset)


def _set_among(words: Sequence[Token]) -> Iterator[tuple[str, Token]]:
    """Every NAME=value among the words, wherever it stands."""
    for word in words:
        yield from assignments([word])


def _under_another(before: Sequence[Token], at: int, serve: Pasted) -> Pasted:
    """A serve under sudo or on another host, which gets an environment of its own unless told otherwise."""
    inside = tuple(_set_among(before[at + 1 :]))
    outside = tuple(_set_among(before[:at]))
    if before[at].text.rpartition("/")[2] in SUPERUSER_PROGRAMS:
        if any(_KEEPS_ALL.fullmatch(word.text) for word in before[at + 1 :]):
            return replace(serve, env=(*outside, *inside))
        lists = [word.text.partition("=")[2] for word in before[at:] if word.text.startswith("--preserve-env=")]
        passed = frozenset(name for names in lists for name in names.split(","))
    else:
        passed = frozenset()
    handed = tuple(pair for pair in outside if pair[0] in passed)
    stopped = frozenset(name for name, _ in outside) - passed - {name for name, _ in inside}
    return replace(serve, env=(*handed, *inside), contained=True, passed=passed, stopped=stopped)


def _dropped(words: Sequence[Token]) -> Iterator[str]:
    """Names that `env -u NAME` drops."""
    for at, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        if name in ("-u", "--unset"):
            yield value if equals else words[at + 1].text if at + 1 < len(words) else ""
        elif word.text.startswith("-u") and len(word.text) > 2:
            yield word.text[2:]
