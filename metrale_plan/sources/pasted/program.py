"""Which command runs met serve, and where its own words start."""

from collections.abc import Sequence

from metrale_plan.errors import InputError
from metrale_plan.sources.pasted.shell import find_commands
from metrale_plan.sources.tokens import Token

PROGRAM, COMMAND = "met", "serve"

CONTAINER_PROGRAMS = frozenset({"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc"})
"""Programs that start a serve somewhere else, with variables of its own."""


def program_start(words: Sequence[Token]) -> int | None:
    """Where the words after `met serve` start (after `serve` alone in a container's command), or None."""
    texts = [word.text for word in words]
    for at, text in enumerate(texts[:-1]):
        if text.rpartition("/")[2] == PROGRAM and texts[at + 1] == COMMAND:
            return at + 2
    if any(text.rpartition("/")[2] in CONTAINER_PROGRAMS for text in texts) and COMMAND in texts:
        return texts.index(COMMAND) + 1
    return None


def runs_serve(words: Sequence[Token]) -> bool:
    """Whether a command runs met serve, itself or in a shell text that it is given (`bash -c TEXT`)."""
    return program_start(words) is not None or inner_text(words) is not None


def inner_text(words: Sequence[Token]) -> int | None:
    """Which word is a shell text that runs met serve, or None."""
    for at, word in enumerate(words):
        if at and COMMAND in word.text and any(char.isspace() for char in word.text):
            try:
                if find_commands([Token(word.text)], lambda inner: program_start(inner) is not None):
                    return at
            except InputError:
                continue
    return None
