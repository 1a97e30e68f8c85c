"""A recipe file -> offers with their `file:line`, read as the engine reads it; or the reason why it is not ours."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from metrale_plan.config.flags import NEWER_KEYS, Flag, by_recipe_key, near_recipe_keys
from metrale_plan.config.given import Given
from metrale_plan.errors import InputError, Problem
from metrale_plan.nearest import misspelling_of, nearest
from metrale_plan.sources.argv import read_value
from metrale_plan.sources.environment import given_variables
from metrale_plan.sources.yaml_tree import DUPLICATE_KEY, NOT_YAML, Node, compose
from metrale_plan.text import parse_count

RUNTIME = "metrale"
VERSION = "2"

KEYS = (
    "recipe_version",
    "model",
    "runtime",
    "container",
    "min_nodes",
    "max_nodes",
    "metadata",
    "defaults",
    "env",
)
"""A recipe's own keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One recipe of this engine.

    Attributes:
        path: the file, as it was named.
        model: the checkpoint that it serves.
        model_where: `file:line` of that.
        offers: `(key, value)` of `defaults`, then of the METRALE_* variables in `env`, each with its `file:line`.
        notes: what there is to say without refusing it.
    """

    path: str
    model: str
    model_where: str
    offers: tuple[tuple[str, Given], ...]
    notes: tuple[Problem, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Skipped:
    """A recipe of another runtime, and why it is not ours."""

    path: str
    reason: str


def read_recipe(path: str | Path) -> Recipe | Skipped:
    """The recipe in a file.

    Raises:
        InputError: the file cannot be read (MP201) or is not a recipe that the engine would take, as `parse_recipe`.
    """
    from metrale_plan.model.toml_source import read_text

    return parse_recipe(read_text(Path(path)), str(path))


def parse_recipe(text: str, path: str) -> Recipe | Skipped:
    """The recipe in a YAML text.

    Raises:
        InputError: MP230 not YAML, MP231 a key twice, MP232 an unknown key, MP233 a value of the wrong shape, MP211 a
            value that its flag never takes, MP236 a key missing or a format that is not known.
    """
    root = compose(text, path)
    if root is None or root.kind != "mapping":
        raise InputError(
            NOT_YAML,
            f"{path} is not a recipe: it holds no mapping",
            where=path if root is None else root.where,
            accepted="recipe_version, model, runtime, container, defaults, env",
        )
    skipped = _skipped(root, path)
    if skipped is not None:
        return skipped
    top = dict(root.items())
    _check_top(top)
    model = _word("model", top["model"])
    notes: list[Problem] = []
    env = _env(top.get("env"))
    offers = (*_defaults(top.get("defaults"), notes), *_variables(env))
    _check_launch(top)
    return Recipe(path=path, model=model, model_where=top["model"].where, offers=offers, notes=tuple(notes))


def _skipped(root: Node, path: str) -> Skipped | None:
    """Why a mapping is another program's recipe, before anything else in it is judged."""
    values = {key: value for key, value in _loose_items(root) if key in ("runtime", "recipe_version")}
    version = values.get("recipe_version")
    runtime = values.get("runtime")
    if runtime is None:
        if version is not None and version.kind in ("text", "number") and version.text == "1":
            return Skipped(path, "a format 1 recipe, which names no runtime: not a serve of this engine")
        return None
    name = _word("runtime", runtime)
    if name == RUNTIME:
        return None
    if misspelling_of(name.casefold(), (RUNTIME,)) or name.casefold() == RUNTIME:
        raise InputError(
            "MP233", f"runtime: {name!r} is not {RUNTIME}", where=runtime.where, accepted=RUNTIME, nearest=(RUNTIME,)
        )
    return Skipped(path, f"its runtime is {name}, not {RUNTIME}: not a serve of this engine")


def _loose_items(root: Node) -> Iterator[tuple[str, Node]]:
    """Keys and values of a mapping that may be another program's, so nothing in it is refused."""
    for key, value in root.raw.value:
        if isinstance(key.value, str):
            yield key.value, Node(value, root.path, key.start_mark.line + 1)


def _check_top(top: dict[str, Node]) -> None:
    for key, node in top.items():
        if key in KEYS:
            continue
        inner = by_recipe_key().get(key)
        if inner is not None:
            near: tuple[str, ...] = (f"defaults: {key}",)
            message = f"{key} is a serve flag, so it belongs under defaults"
        else:
            near = nearest(key, KEYS)
            message = f"{key} is no key of a recipe"
        raise InputError("MP232", message, where=node.where, accepted=", ".join(KEYS), nearest=near)
    for key in ("recipe_version", "runtime", "model"):
        if key not in top:
            first = next(iter(top.values()), None)
            raise InputError(
                "MP236",
                f"{key} is missing",
                where=None if first is None else f"{first.path}:1",
                accepted=f"{key}: at the top of the recipe",
            )
    version = top["recipe_version"]
    if version.kind not in ("text", "number") or version.text != VERSION:
        raise InputError(
            "MP236",
            f"recipe_version is {_shape(version)}, which is no format that is known here",
            where=version.where,
            accepted=f'recipe_version: "{VERSION}"',
            nearest=(VERSION,),
        )


def _defaults(node: Node | None, notes: list[Problem]) -> tuple[tuple[str, Given], ...]:
    """Offers of `defaults`; notes get the keys of other engine versions and the first `false`."""
    offers: list[tuple[str, Given]] = []
    spelled: dict[str, tuple[str, int]] = {}
    off: list[tuple[str, Node]] = []
    for key, value in _mapping("defaults", node):
        flag = by_recipe_key().get(key)
        if flag is None:
            if key not in NEWER_KEYS:
                raise _unknown_default(key, value)
            notes.append(_newer(key, value))
            continue
        if flag.key in spelled:
            before, line = spelled[flag.key]
            raise InputError(
                DUPLICATE_KEY,
                f"{key} sets what {before} at line {line} sets",
                where=value.where,
                accepted=f"{flag.key} once, in one spelling",
            )
        spelled[flag.key] = (key, value.line)
        if flag.presence:
            given = _presence(key, value)
            if not given.value:
                off.append((key, value))
        else:
            given = _given(flag, key, value)
        offers.append((flag.key, given))
    if off:
        notes.append(_off_note(off))
    return tuple(offers)


def _unknown_default(key: str, value: Node) -> InputError:
    if key.startswith("METRALE_"):
        return InputError(
            "MP232",
            f"{key} is a variable, so it belongs under env",
            where=value.where,
            accepted="serve flags under defaults, variables under env",
            nearest=(f"env: {key}",),
        )
    return InputError(
        "MP232",
        f"{key} is no serve flag",
        where=value.where,
        accepted="a flag of met serve, with underscores",
        nearest=near_recipe_keys(key),
    )


def _newer(key: str, value: Node) -> Problem:
    return Problem(
        code="MP234",
        message=f"{key} is {NEWER_KEYS[key]}; the plan goes on without it",
        where=value.where,
        severity="note",
    )


def _off_note(off: list[tuple[str, Node]]) -> Problem:
    key, first = off[0]
    others = f" and {len(off) - 1} more" if len(off) > 1 else ""
    return Problem(
        code="MP235",
        message=f"{key}: false{others} leaves the flag out; readers older than 2026-10-05 refuse false on a bare flag",
        where=first.where,
        severity="note",
    )


def _presence(key: str, value: Node) -> Given:
    """A bare flag's value: `true` gives it, `false` leaves it out."""
    if value.kind != "bool":
        raise InputError(
            "MP233",
            f"{key} is {_shape(value)}, where a bare flag takes true or false, unquoted",
            where=value.where,
            accepted="true for the bare flag, false to leave it out",
            nearest=_near_bool(value.text) if value.kind in ("text", "number") else (),
        )
    return Given(value.text == "true", "recipe", value.where, value.text)


def _near_bool(word: str) -> tuple[str, ...]:
    folded = word.casefold()
    if folded in ("on", "yes", "y", "1"):
        return ("true",)
    if folded in ("off", "no", "n", "0"):
        return ("false",)
    return nearest(folded, ("true", "false"))


def _given(flag: Flag, key: str, value: Node) -> Given:
    if flag.repeatable and value.kind == "list":
        texts = [_word(key, element) for element in value.elements()]
        values = tuple(read_value(flag, text, "recipe", where=value.where, spelled=key).value for text in texts)
        return Given(values, "recipe", value.where, " ".join(texts))
    if value.kind == "bool":
        raise InputError(
            "MP233",
            f"{key}: {value.text} where a value is needed",
            where=value.where,
            accepted=flag.kind.accepted,
            nearest=nearest("on" if value.text == "true" else "off", flag.kind.options),
        )
    given = read_value(flag, _word(key, value), "recipe", where=value.where, spelled=key)
    return Given((given.value,), "recipe", value.where, given.text) if flag.repeatable else given


def _env(node: Node | None) -> list[tuple[str, Node]]:
    env: list[tuple[str, Node]] = []
    for name, value in _mapping("env", node):
        if not name or "=" in name or any(char.isspace() for char in name):
            raise InputError("MP233", f"{name!r} is no variable's name", where=value.where, accepted="NAME: value")
        if value.kind in ("list", "mapping", "null"):
            raise InputError(
                "MP233",
                f"{name} is {_shape(value)}, where a variable's text is needed",
                where=value.where,
                accepted='text, such as "1"',
            )
        env.append((name, value))
    return env


def _variables(env: list[tuple[str, Node]]) -> Iterator[tuple[str, Given]]:
    for name, value in env:
        yield from given_variables({name: str(value.raw.value)}, "recipe", where=value.where)


def _mapping(key: str, node: Node | None) -> Iterator[tuple[str, Node]]:
    """Items of an optional mapping; one left empty has none."""
    if node is None or node.kind == "null":
        return iter(())
    if node.kind != "mapping":
        message = f"{key} is {_shape(node)}, not a mapping"
        raise InputError("MP233", message, where=node.where, accepted=f"{key}: with keys below it")
    return node.items()


def _word(key: str, node: Node) -> str:
    """A scalar's text."""
    if node.kind in ("list", "mapping", "null"):
        raise InputError(
            "MP233",
            f"{key} is {_shape(node)}, where a value is needed",
            where=node.where,
            accepted="a value, or the key left out",
        )
    return node.text


def _shape(node: Node) -> str:
    named = {"list": "a list", "mapping": "a mapping", "null": "empty"}
    return named[node.kind] if node.kind in named else repr(node.text)


def _check_launch(top: dict[str, Node]) -> None:
    """The keys that say where a serve starts: they size nothing, but the engine refuses wrong ones."""
    if "container" in top:
        _word("container", top["container"])
    _nodes(top, "max_nodes", least=_nodes(top, "min_nodes") or 1)


def _nodes(top: dict[str, Node], key: str, *, least: int = 1) -> int | None:
    node = top.get(key)
    if node is None:
        return None
    text = _word(key, node)
    count = parse_count(text) if node.kind == "number" else None
    if count is None or not least <= count < 2**31:
        accepted = f"a whole number, {least} or more"
        raise InputError("MP233", f"{key}: {text!r} is not {accepted}", where=node.where, accepted=accepted)
    return count
