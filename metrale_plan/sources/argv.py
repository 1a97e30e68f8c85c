"""The words after `met serve`, or the serve flags given before `--` -> offers."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from metrale_plan.config.flags import Flag, by_key, by_recipe_key, by_spelling
from metrale_plan.config.given import Given, Source
from metrale_plan.errors import InputError
from metrale_plan.nearest import nearest
from metrale_plan.sources.tokens import Token, tokens_of

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
        "--against",
        "--weights",
        "--case",
        "--prompt-tokens",
        "--common-prefix",
        "--session",
        "--ticket",
        "--carried-tokens",
        "--carried-rows",
        "--carried-key",
        "--carried-session",
        "--stored",
        "--stored-owner",
        "--checkpoint",
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

OTHER_DASHES = ("\u2013", "\u2014", "\u2212")
"""What editors and web pages make of two hyphens."""

TRUTH_WORDS = frozenset({"true", "false", "on", "off", "yes", "no", "0", "1"})
"""Words that somebody writes after a flag that takes none."""


@dataclass(slots=True)
class ServeArgs:
    """One serve command line.

    Attributes:
        checkpoint: its positional, or None.
        checkpoint_where: "file:line" of that, or None.
        offers: `(key, value)` in the order given.
    """

    checkpoint: str | None = None
    checkpoint_where: str | None = None
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
            offers.append((key, _collected(flag, tokens_of(str(item) for item in raw), "flag")))
    return offers


def parse_serve_args(tokens: Sequence[Token], source: Source = "command") -> ServeArgs:
    """What stands after `met serve`: `CHECKPOINT --flag value --flag=value ...`.

    Raises:
        InputError: an unknown flag, a planner's own flag, a value that is missing or never right, two positionals.
    """
    result = ServeArgs()
    rest = deque(tokens)
    repeated: dict[str, list[Token]] = {}
    while rest:
        token = rest.popleft()
        if not token.text.startswith(("-", *OTHER_DASHES)) or token.text == "-":
            _take_positional(result, token)
            continue
        spelled, equals, inline = token.text.partition("=")
        flag = _lookup(Token(spelled, token.where))
        if flag.presence:
            _check_bare(spelled, inline if equals else None, token, rest)
            result.offers.append((flag.key, Given(True, source, token.where, "")))
            continue
        raw = inline if equals else _next_value(token, flag, rest)
        if flag.repeatable:
            repeated.setdefault(flag.key, []).append(Token(raw, token.where))
            continue
        result.offers.append((flag.key, read_value(flag, raw, source, where=token.where, spelled=spelled)))
    result.offers += [(key, _collected(by_key()[key], texts, source)) for key, texts in repeated.items()]
    return result


def _check_bare(spelled: str, inline: str | None, token: Token, rest: deque[Token]) -> None:
    """Refuse a value given to a bare flag, with = or as the next word."""
    value = inline
    if value is None and rest and rest[0].text.casefold() in TRUTH_WORDS:
        value = rest[0].text
    if value is not None:
        raise InputError(
            "MP212",
            f"{spelled} takes no value, got {value!r}",
            where=token.where or spelled,
            accepted=f"{spelled} alone, or the flag left out",
            nearest=(spelled,),
        )


def _collected(flag: Flag, tokens: Sequence[Token], source: Source) -> Given:
    values = tuple(read_value(flag, token.text, source, where=token.where).value for token in tokens)
    return Given(values, source, tokens[0].where, " ".join(token.text for token in tokens))


def _take_positional(result: ServeArgs, token: Token) -> None:
    if result.checkpoint is not None:
        raise InputError(
            "MP220",
            f"a serve takes one checkpoint, got {result.checkpoint!r} and {token.text!r}",
            where=token.where or token.text,
            accepted="met serve CHECKPOINT --flag value ...",
            nearest=near_flags(token.text),
        )
    result.checkpoint, result.checkpoint_where = token.text, token.where


def _lookup(spelled: Token) -> Flag:
    flag = by_spelling().get(spelled.text)
    if flag is not None:
        return flag
    if spelled.text in PLANNER_FLAGS:
        raise InputError(
            "MP213",
            f"{spelled.text} is this planner's own flag, not one of met serve",
            where=spelled.where or spelled.text,
            accepted=f"{spelled.text} before --",
        )
    raise unknown_flag(spelled.text, where=spelled.where)


def near_flags(word: str, *, also: Iterable[str] = ()) -> tuple[str, ...]:
    """Flags that resemble a word, whatever its dashes."""
    name = word.lstrip("-" + "".join(OTHER_DASHES)).replace("_", "-")
    in_recipes = by_recipe_key().get(name.replace("-", "_"))
    return (f"--{in_recipes.name}",) if in_recipes else nearest(f"--{name}", [*by_spelling(), *also])


def unknown_flag(spelled: str, *, also: Iterable[str] = (), where: str | None = None) -> InputError:
    """The error for a flag that nobody knows, with the nearest spellings."""
    return InputError(
        "MP210",
        f"unknown flag {spelled}",
        where=where or spelled,
        accepted="a flag of met serve, spelled as met serve spells it",
        nearest=near_flags(spelled, also=also),
    )


def _next_value(token: Token, flag: Flag, rest: deque[Token]) -> str:
    if not rest or rest[0].text.startswith("--"):
        raise InputError(
            "MP212", f"{token.text} needs a value", where=token.where or token.text, accepted=flag.kind.accepted
        )
    return rest.popleft().text
