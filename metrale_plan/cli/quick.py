"""The quick way into a command: a line of exactly spelled options is read without typer, which costs more to import
than most commands take.

It takes less than typer does, never more, and gives a command the same values (a test holds the two together).
Anything else (help, abbreviations, a missing value, an unknown flag) is left to typer, whose messages are final.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from metrale_plan.cli.declare import Argument, Option


class Parameter(NamedTuple):
    """One declared parameter: its key, what it holds, and how it is declared."""

    key: str
    kind: str
    declared: Option | Argument
    default: Any


def parameters(command: Callable[..., int]) -> list[Parameter]:
    """The declared parameters of a command; `kind` is "text", "count", "switch" or "list"."""
    found: list[Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        declared = next(
            (m for m in getattr(parameter.annotation, "__metadata__", ()) if isinstance(m, _DECLARED)), None
        )
        if declared is not None:
            found.append(Parameter(name, _kind(parameter.annotation.__origin__), declared, parameter.default))
    return found


_DECLARED = (Option, Argument)


def _kind(origin: Any) -> str:
    words = str(origin)
    return "list" if "list" in words else "switch" if "bool" in words else "count" if "int" in words else "text"


def quick(command: Callable[..., int], tokens: Sequence[str]) -> dict[str, Any] | None:
    """Values of the command's parameters, or None when typer should read the line."""
    known = parameters(command)
    places: dict[str, tuple[Parameter, bool]] = {}
    for parameter in known:
        if isinstance(parameter.declared, Option):
            for spelling in parameter.declared.spellings:
                on, _, off = spelling.partition("/")
                places[on] = (parameter, True)
                if off:
                    places[off] = (parameter, False)
    positionals = [parameter for parameter in known if isinstance(parameter.declared, Argument)]
    given: dict[str, Any] = {}
    words: list[str] = []
    queue = list(tokens)
    while queue:
        token = queue.pop(0)
        if not token.startswith("-"):
            words.append(token)
            continue
        name, equals, inline = token.partition("=")
        if name not in places:
            return None
        parameter, state = places[name]
        if parameter.kind == "switch":
            if equals:
                return None
            given[parameter.key] = state
            continue
        if not equals and (not queue or queue[0].startswith("-")):
            return None
        value = inline if equals else queue.pop(0)
        if not _take(parameter, value, given):
            return None
    return _with_words(known, positionals, words, given)


def _take(parameter: Parameter, value: str, given: dict[str, Any]) -> bool:
    """Record one option's value; False when it is not a plain one."""
    if parameter.kind == "list":
        given.setdefault(parameter.key, []).append(value)
    elif parameter.kind == "text":
        given[parameter.key] = value
    else:
        least = parameter.declared.extra.get("min", 0)
        if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) >= least):
            return False
        given[parameter.key] = int(value)
    return True


def _with_words(
    known: Sequence[Parameter], positionals: Sequence[Parameter], words: list[str], given: dict[str, Any]
) -> dict[str, Any] | None:
    """The values with the positionals filled in; None when they do not fit plainly, or one is missing."""
    for parameter in positionals:
        if parameter.kind == "list":
            if words:
                given[parameter.key] = words
            words = []
        elif words:
            given[parameter.key] = words.pop(0)
    if words:
        return None
    values = {parameter.key: given.get(parameter.key, parameter.default) for parameter in known}
    return None if inspect.Parameter.empty in values.values() else values
