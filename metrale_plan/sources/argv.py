"""A `met serve` command line, as pasted after `--`, or the serve flags given before it -> offers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from metrale_plan.config.flags import Flag, by_key, by_spelling
from metrale_plan.config.given import Given, Source
from metrale_plan.errors import InputError
from metrale_plan.nearest import nearest

PLANNER_FLAGS = frozenset(
    {
        "--device",
        "--free-memory",
        "--total-memory",
        "--probe",
        "--samples",
        "--over",
        "--unified-floor",
        "--rules",
        "--stage",
        "--format",
        "--fail-on-warning",
        "--color",
        "--traceback",
        "--model",
        "--recipe",
        "--args-file",
        "--isolated-env",
        "--show-settings",
        "--carry",
        "--no-carry",
        "--force",
        "--wait",
    }
)
"""Flags of this planner that `met serve` does not have."""


@dataclass(slots=True)
class ServeArgs:
    """One serve command line.

    Attributes:
        checkpoint: its positional, or None.
        offers: `(key, value)` in the order given.
    """

    checkpoint: str | None = None
    offers: list[tuple[str, Given]] = field(default_factory=list)


def read_value(flag: Flag, raw: str, source: Source, *, where: str | None = None, spelled: str | None = None) -> Given:
    """The typed value of a flag's text.

    Raises:
        InputError: the text is never right for this flag.
    """
    shown = spelled or f"--{flag.name}"
    try:
        value = flag.kind.parse(raw)
    except ValueError as error:
        raise InputError(
            "MP211",
            f"{shown} {raw!r}: {error}",
            where=where or shown,
            accepted=flag.kind.accepted,
            nearest=nearest(raw, flag.kind.options),
        ) from None
    return Given(value, source, where, raw)


def given_flags(values: Mapping[str, object]) -> list[tuple[str, Given]]:
    """Offers of the flags before `--`, as typer collected them: key to text, True, a list of texts, or None."""
    offers: list[tuple[str, Given]] = []
    for key, raw in values.items():
        flag = by_key()[key]
        if raw is True:
            offers.append((key, Given(True, "flag", None, "")))
        elif isinstance(raw, str):
            offers.append((key, read_value(flag, raw, "flag")))
        elif isinstance(raw, (list, tuple)) and raw:
            offers.append((key, _collected(flag, [str(item) for item in raw], "flag")))
    return offers


def parse_serve_args(tokens: Sequence[str], source: Source = "command") -> ServeArgs:
    """A serve command line without its environment: `[met] [serve] CHECKPOINT --flag value --flag=value ...`.

    Raises:
        InputError: an unknown flag, a planner's own flag, a value that is missing or never right, two positionals.
    """
    result = ServeArgs()
    rest = list(_without_program(tokens))
    repeated: dict[str, list[str]] = {}
    while rest:
        token = rest.pop(0)
        if not token.startswith("-") or token == "-":
            _take_positional(result, token)
            continue
        spelled, equals, inline = token.partition("=")
        flag = _lookup(spelled)
        if flag.presence:
            if equals:
                raise InputError("MP212", f"{spelled} takes no value, got {inline!r}", where=spelled, accepted=spelled)
            result.offers.append((flag.key, Given(True, source, None, "")))
            continue
        raw = inline if equals else _next_value(spelled, flag, rest)
        if flag.repeatable:
            repeated.setdefault(flag.key, []).append(raw)
            continue
        result.offers.append((flag.key, read_value(flag, raw, source, spelled=spelled)))
    result.offers += [(key, _collected(by_key()[key], texts, source)) for key, texts in repeated.items()]
    return result


def _collected(flag: Flag, texts: Iterable[str], source: Source) -> Given:
    values = tuple(read_value(flag, raw, source).value for raw in texts)
    return Given(values, source, None, " ".join(texts))


def _without_program(tokens: Sequence[str]) -> Sequence[str]:
    """Drop a leading `met` and `serve`."""
    rest = tokens
    if rest and rest[0].rsplit("/", 1)[-1] == "met":
        rest = rest[1:]
    if rest and rest[0] == "serve":
        rest = rest[1:]
    return rest


def _take_positional(result: ServeArgs, token: str) -> None:
    if result.checkpoint is not None:
        raise InputError(
            "MP220",
            f"a serve takes one checkpoint, got {result.checkpoint!r} and {token!r}",
            where=token,
            accepted="met serve CHECKPOINT --flag value ...",
        )
    result.checkpoint = token


def _lookup(spelled: str) -> Flag:
    flag = by_spelling().get(spelled)
    if flag is not None:
        return flag
    if spelled in PLANNER_FLAGS:
        raise InputError(
            "MP213",
            f"{spelled} is this planner's own flag, not one of met serve",
            where=spelled,
            accepted=f"{spelled} before --",
        )
    raise unknown_flag(spelled)


def unknown_flag(spelled: str, *, also: Iterable[str] = ()) -> InputError:
    """The error for a flag that nobody knows, with the nearest spellings."""
    return InputError(
        "MP210",
        f"unknown flag {spelled}",
        where=spelled,
        accepted="a flag of met serve, spelled as met serve spells it",
        nearest=nearest(spelled, [*by_spelling(), *also]),
    )


def _next_value(spelled: str, flag: Flag, rest: list[str]) -> str:
    if not rest or rest[0] in by_spelling():
        raise InputError("MP212", f"{spelled} needs a value", where=spelled, accepted=flag.kind.accepted)
    return rest.pop(0)
