"""Everything that one request was given, read from each of its places: flags, a pasted serve, files, environment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from metrale_plan.config.given import Given, Offers, Source
from metrale_plan.config.variables import PREFIX
from metrale_plan.errors import InputError, Problem
from metrale_plan.sources.argv import given_flags, parse_serve_args
from metrale_plan.sources.environment import given_variables
from metrale_plan.sources.tokens import Pasted, Token

if TYPE_CHECKING:
    from metrale_plan.request import Request
    from metrale_plan.sources.recipe import Recipe


class Gathered(NamedTuple):
    """What flags, files and environment say between them.

    Attributes:
        offers: every value given, with who gave it.
        checkpoint: the checkpoint to serve: the positional after `--`, else that of a file of flags, else the
            recipe's; None without any.
        checkpoint_where: where it was named.
        notes: what the readers had to say.
    """

    offers: Offers
    checkpoint: str | None
    checkpoint_where: str | None
    notes: tuple[Problem, ...]


def gather(request: "Request") -> Gathered:
    """All of it, the strongest offer of each setting first.

    Raises:
        InputError: a file, key, flag, value or variable that is never right.
    """
    offers = Offers()
    notes: list[Problem] = []
    named: list[tuple[str, str | None]] = []

    pasted = _pasted(request.after)
    files = [*([Token(request.args_file)] if request.args_file is not None else []), *pasted.files]
    kept = [_from_file(token) for token in files]
    for key, given in given_variables(_ambient(request, [pasted, *kept], notes)):
        offers.add(key, given)
    if request.recipe is not None:
        recipe = _recipe(request.recipe)
        notes += recipe.notes
        named.append((recipe.model, recipe.model_where))
        for key, given in recipe.offers:
            offers.add(key, given)
    for serve, source in (*((one, "recipe") for one in kept), (pasted, "command")):
        named += _take(offers, serve, source)  # type: ignore[arg-type]
        notes += _unread(serve)
    for key, given in given_flags(request.flags):
        offers.add(key, given)
    if request.carry is not None:
        offers.add("carry", Given(request.carry, "flag"))

    notes = [*_used(offers), *notes, *_other_names(named)]
    checkpoint, where = named[-1] if named else (None, None)
    return Gathered(offers=offers, checkpoint=checkpoint, checkpoint_where=where, notes=tuple(notes))


def _pasted(words: tuple[str, ...]) -> Pasted:
    if not words:
        return Pasted()
    from metrale_plan.sources.pasted import read_words

    return read_words(words)


def _from_file(token: Token) -> Pasted:
    from metrale_plan.sources.pasted import read_file

    return read_file(token.text.removeprefix("@"))


def _take(offers: Offers, serve: Pasted, source: Source) -> Iterator[tuple[str, str | None]]:
    """Add what one serve sets; yields the checkpoint that it names."""
    for name, token in serve.env:
        for key, given in given_variables({name: token.text}, source, where=token.where):
            offers.add(key, given)
    args = parse_serve_args(serve.serve, source)
    for key, given in args.offers:
        offers.add(key, given)
    if args.checkpoint is not None:
        yield args.checkpoint, args.checkpoint_where


def _recipe(path: str) -> "Recipe":
    from metrale_plan.sources.recipe import Skipped, read_recipe

    recipe = read_recipe(path)
    if isinstance(recipe, Skipped):
        raise InputError("MP237", recipe.reason, where=path, accepted="a recipe whose runtime is metrale")
    return recipe


def _ambient(request: "Request", serves: Sequence[Pasted], notes: list[Problem]) -> Mapping[str, str]:
    """The variables of this environment that reach the serve; a container or a service gets those handed on."""
    if request.isolated_env:
        return {}
    there = {name: text for name, text in request.environ.items() if name.startswith(PREFIX)}
    closed = [serve for serve in serves if serve.contained]
    dropped = frozenset[str]().union(*(serve.unset for serve in serves))
    reaching = {n: t for n, t in there.items() if n not in dropped and all(n in serve.passed for serve in closed)}
    left = [name for name in there if name not in reaching]
    if left:
        notes.append(
            Problem(
                code="MP241",
                message=f"{_list(left)} of this environment {'does' if len(left) == 1 else 'do'} not reach the serve, "
                "which gets an environment of its own",
                severity="note",
            )
        )
    return reaching


def _used(offers: Offers) -> Iterator[Problem]:
    """A note of this environment's variables that nothing stronger replaces."""
    used = [key for key in offers if key.startswith(PREFIX) and offers.all(key)[0].source == "env"]
    if used:
        yield Problem(
            code="MP240",
            message=f"{_list(used)} of this environment {'is' if len(used) == 1 else 'are'} used; "
            "--isolated-env leaves such variables out",
            severity="note",
        )


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _unread(serve: Pasted) -> Iterator[Problem]:
    stopped = [name for name in serve.stopped if name.startswith(PREFIX)]
    if stopped:
        yield Problem(
            code="MP241",
            message=f"{_list(stopped)} in front of the serve {'does' if len(stopped) == 1 else 'do'} not reach it: "
            "nothing exports it or hands it on",
            severity="note",
        )
    for token in serve.unread:
        yield Problem(
            code="MP242",
            message=f"the variables in {token.text} are not read; give them as METRALE_X=value in front of the serve",
            where=token.where,
            severity="note",
        )


def _other_names(named: list[tuple[str, str | None]]) -> Iterator[Problem]:
    """A warning where two places name different checkpoints."""
    if not named:
        return
    last, _ = named[-1]
    for checkpoint, where in named[:-1]:
        if checkpoint != last:
            yield Problem(
                code="MP243",
                message=f"the checkpoint {checkpoint} is replaced by {last}",
                where=where or checkpoint,
                severity="warning",
            )
