"""A serve's own words: after `met serve`, or where nothing names it."""

from collections.abc import Iterable, Sequence

from metrale_plan.errors import InputError
from metrale_plan.nearest import misspelling_of
from metrale_plan.sources.pasted.program import COMMAND, CONTAINER_PROGRAMS, PROGRAM
from metrale_plan.sources.pasted.words import ACCEPTED, UNREADABLE, assignments
from metrale_plan.sources.tokens import Pasted, Token


def bare(words: Sequence[Token]) -> Pasted:
    """Words without `met serve` in them: perhaps `serve` alone, perhaps only flags."""
    env = tuple(assignments(words))
    rest = list(words[len(env) :])
    names = [word.text.rpartition("/")[2] for word in rest[:2]]
    if names and names[0] in CONTAINER_PROGRAMS:
        raise InputError(
            UNREADABLE, f"no met serve in this {names[0]} command", where=rest[0].where or names[0], accepted=ACCEPTED
        )
    if names[:1] == [PROGRAM]:
        if len(names) > 1 and misspelling_of(names[1], (COMMAND,)):
            raise InputError(
                UNREADABLE,
                f"met {names[1]} is not met serve",
                where=rest[1].where or names[1],
                accepted=ACCEPTED,
                nearest=(COMMAND,),
            )
        rest = rest[1:]
    if rest and rest[0].text == COMMAND:
        rest = rest[1:]
    serve, files = without_files(rest)
    return Pasted(serve=serve, files=files, env=env)


def without_files(words: Iterable[Token]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """The words, and the `@FILE` words among them."""
    kept: list[Token] = []
    files: list[Token] = []
    for word in words:
        (files if len(word.text) > 1 and word.text.startswith("@") else kept).append(word)
    return tuple(kept), tuple(files)
