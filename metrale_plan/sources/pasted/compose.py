"""A compose file's `command:`, `entrypoint:` and `environment:` -> the serve, with its lines."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from metrale_plan.errors import InputError
from metrale_plan.sources.pasted.command import command_of
from metrale_plan.sources.pasted.program import runs_serve
from metrale_plan.sources.pasted.words import UNREADABLE, expanded
from metrale_plan.sources.tokens import Pasted, Token
from metrale_plan.sources.yaml_tree import NOT_YAML, Node, compose

ACCEPTED = "command: [met, serve, CHECKPOINT, --flag, value, ...]"


class Found(NamedTuple):
    """The serve of a compose file.

    Attributes:
        words: of its command.
        env: variables that it sets.
        passed: names that it hands on.
        unread: files and services that it takes variables from.
    """

    words: tuple[Token, ...]
    env: tuple[tuple[str, Token], ...] = ()
    passed: frozenset[str] = frozenset()
    unread: tuple[Token, ...] = ()


def read_compose(text: str, path: str | None) -> Pasted:
    """A compose file, one service of it, or its `command:` alone.

    Raises:
        InputError: MP230 or MP231 where it is not YAML, MP239 where it holds no serve, or several.
    """
    found = _found(text, path)
    # A ${NAME} is filled in from where compose is run, not from the service's own environment.
    env = {name: next(expanded([token], {})) for name, token in found.env}
    pasted = command_of(tuple(expanded(found.words, {})), {name: token.text for name, token in env.items()})
    return replace(
        pasted,
        env=(*((name, token) for name, token in env.items() if name not in pasted.unset), *pasted.env),
        contained=True,
        passed=pasted.passed | found.passed,
        unread=(*found.unread, *pasted.unread),
    )


def _found(text: str, path: str | None) -> Found:
    """The serve in a compose file, in one service of it, or in a bare list of words."""
    root = compose(text, path or "command:")
    if root is None:
        raise InputError(UNREADABLE, "nothing to read", where=path, accepted=ACCEPTED)
    if root.kind == "list":
        return Found(tuple(_words(root, path)))
    if root.kind != "mapping":
        raise InputError(UNREADABLE, "neither a list of words nor a service", where=path, accepted=ACCEPTED)
    top = root.merged()
    if "services" not in top:
        return _service(top, path, root)
    services = {name: node.merged() for name, node in _mapping(top["services"]) if node.kind == "mapping"}
    serves = {name: service for name, service in services.items() if _serves(service, path)}
    if len(serves) != 1:
        found = f"more than one service runs met serve: {', '.join(serves)}" if serves else "no service runs met serve"
        raise InputError(UNREADABLE, found, where=top["services"].where, accepted=ACCEPTED)
    return _service(next(iter(serves.values())), path, root)


def _serves(service: dict[str, Node], path: str | None) -> bool:
    """Whether a service runs met serve, or `serve` alone through its image's entrypoint."""
    words = tuple(_command(service, path))
    return bool(words) and (words[0].text == "serve" or runs_serve(words))


def _service(service: dict[str, Node], path: str | None, root: Node) -> Found:
    words = tuple(_command(service, path))
    if not words:
        raise InputError(UNREADABLE, "no command: in this service", where=path and root.where, accepted=ACCEPTED)
    env: list[tuple[str, Token]] = []
    passed: set[str] = set()
    for name, value in _environment(service.get("environment"), path):
        if value is None:
            passed.add(name)
        else:
            env.append((name, value))
    return Found(words, tuple(env), frozenset(passed), tuple(_unread(service, path)))


def _unread(service: dict[str, Node], path: str | None) -> Iterator[Token]:
    """Files of `env_file:`, in either form, and what `extends:` names."""
    for key, inner in (("env_file", "path"), ("extends", "service")):
        node = service.get(key)
        for element in () if node is None else node.elements() if node.kind == "list" else (node,):
            fields = element.merged() if element.kind == "mapping" else {}
            named = fields.get(inner) if fields else element
            if named is not None and named.kind not in ("list", "mapping"):
                yield Token(named.text, path and named.where)


def _command(service: dict[str, Node], path: str | None) -> Iterator[Token]:
    for key in ("entrypoint", "command"):
        if key in service:
            yield from _words(service[key], path)


def _words(node: Node, path: str | None) -> Iterator[Token]:
    """Words of a list, or of one text as a shell splits it."""
    if node.kind == "list":
        for element in node.elements():
            if element.kind in ("list", "mapping"):
                raise InputError(NOT_YAML, f"a word is a {element.kind}", where=element.where, accepted=ACCEPTED)
            yield Token(str(element.raw.value), path and element.where)
    elif node.kind == "mapping":
        raise InputError(NOT_YAML, "a mapping, where words are needed", where=node.where, accepted=ACCEPTED)
    elif node.kind != "null":
        import shlex

        try:
            words = shlex.split(node.text)
        except ValueError:
            message = "a quote that the text does not close"
            raise InputError(UNREADABLE, message, where=path and node.where, accepted="quotes in pairs") from None
        yield from (Token(word, path and node.where) for word in words)


def _environment(node: Node | None, path: str | None) -> Iterator[tuple[str, Token | None]]:
    """NAME and value; None for a name that hands this environment's value on."""
    if node is None or node.kind == "null":
        return
    if node.kind == "list":
        for word in _words(node, path):
            name, equals, value = word.text.partition("=")
            yield name, Token(value, word.where) if equals else None
        return
    for name, text in _mapping(node):
        if text.kind in ("list", "mapping"):
            raise InputError(NOT_YAML, f"{name} is a {text.kind}", where=text.where, accepted="text")
        yield name, None if text.kind == "null" else Token(str(text.raw.value), path and text.where)


def _mapping(node: Node) -> Iterable[tuple[str, Node]]:
    if node.kind != "mapping":
        raise InputError(NOT_YAML, "not a mapping", where=node.where, accepted="keys with values")
    return node.merged().items()
