"""A serve as people keep it -> its words and variables: shell lines, `docker run`, a unit file, a compose file, flags.

One reader for a command line pasted after `--` and for the text of a file. Nothing is run and no other file is opened.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from metrale_plan.errors import InputError
from metrale_plan.nearest import misspelling_of
from metrale_plan.sources.tokens import Pasted, Token, tokens_of

UNREADABLE = "MP239"

PROGRAM, COMMAND = "met", "serve"
CONTAINER_PROGRAMS = frozenset({"docker", "podman", "nerdctl"})
ACCEPTED = "[NAME=value ...] met serve CHECKPOINT --flag value ..., docker run ..., ExecStart=..., command: [...]"

MAX_CHARACTERS = 64 * 1024
"""Scripts and units are a few kilobytes; anything larger is some other file."""

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_EXPANSION = re.compile(r"\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}]*))?\})")
_UNIT_LINE = re.compile(r"\s*(\[(Unit|Service|Install)\]|(ExecStart|Environment)\s*=)")
_COMPOSE_LINE = re.compile(r"\s*((services|command|entrypoint|environment|image|name|version)\s*:|\[|- )")
_REDIRECTION = re.compile(r"(\d*|&)>{1,2}.*|\d*<.*")
_OPERATORS = frozenset({"&&", "||", ";", "|", "&", "|&"})


def read_words(words: Sequence[str]) -> Pasted:
    """What was pasted after `--`, as the shell split it, or as one quoted text.

    Raises:
        InputError: MP239 where no serve can be made out; MP230 and MP231 for a compose list that is not YAML.
    """
    words = [word for word in words if word.strip("\\\r\n \t") and word != "$"]
    if not words:
        return Pasted()
    if len(words) == 1 and any(char.isspace() for char in words[0].strip()):
        return read_text(words[0], None)
    if words[0].startswith("ExecStart="):
        return _unit(_numbered(" ".join(_quoted(word) for word in words), None))
    if words[0].rstrip().endswith(":") or words[0].startswith("["):
        return _compose(" ".join(word for word in words if word != "-"), None)
    return _command(tokens_of(words))


def read_file(path: str) -> Pasted:
    """The text of `--args-file` or `@FILE`: flags, a script, a file of variables, a unit, or a compose file.

    Raises:
        InputError: MP201 where it cannot be read, else as `read_words`.
    """
    from metrale_plan.model.toml_source import read_text as text_of

    pasted = read_text(text_of(Path(path)), path)
    for token in pasted.files:
        raise InputError(
            UNREADABLE,
            f"{token.text} names a file of flags inside another",
            where=token.where,
            accepted="its flags written out here",
        )
    return pasted


def read_text(text: str, path: str | None) -> Pasted:
    """A serve from text; `path` is the file it is in, or None for this program's own command line."""
    if len(text) > MAX_CHARACTERS:
        message = f"larger than {MAX_CHARACTERS // 1024} KiB, so no serve"
        raise InputError(UNREADABLE, message, where=path, accepted="a file of a few kilobytes")
    lines = list(_numbered(text, path))
    first = next((line.text for line in lines if line.text.strip() and not line.text.lstrip().startswith("#")), "")
    if any(_UNIT_LINE.match(line.text) for line in lines):
        return _unit(lines)
    if _COMPOSE_LINE.match(first):
        return _compose(text, path)
    return _script(lines)


def _numbered(text: str, path: str | None) -> Iterator[Token]:
    """Lines with their places; a carriage return at their end is no part of them."""
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        yield Token(line, None if path is None else f"{path}:{number}")


def _quoted(word: str) -> str:
    from shlex import quote

    name, equals, value = word.partition("=")
    return f"{name}={quote(value)}" if equals and name == "ExecStart" else quote(word)


def _split(line: Token, *, comments: bool = True) -> list[Token]:
    """A line's words, as a shell splits them.

    Raises:
        InputError: MP239 for a quote that nothing closes.
    """
    import shlex

    try:
        return [Token(word, line.where) for word in shlex.split(line.text, comments=comments)]
    except ValueError:
        raise InputError(
            UNREADABLE, "a quote that the line does not close", where=line.where, accepted="quotes in pairs"
        ) from None


# Shell


def _script(lines: Iterable[Token]) -> Pasted:
    """A shell script or pasted lines, a file of flags, or a file of variables."""
    commands = list(_logical(lines))
    serves = [words for words in commands if program_start(words) is not None]
    if not serves:
        return _flags_only(commands)
    if len(serves) > 1:
        raise InputError(
            UNREADABLE,
            "more than one met serve, so it is not clear which to plan",
            where=serves[1][0].where,
            accepted="one serve at a time",
        )
    shell: dict[str, str] = {}
    exported: list[tuple[str, Token]] = []
    for words in commands:
        if words is serves[0]:
            break
        at = 1 if words[0].text == "export" else 0
        pairs = list(assignments(words[at:]))
        if at or len(pairs) == len(words):
            shell |= {name: token.text for name, token in pairs}
            exported += pairs if at else []
    pasted = _command(tuple(_expanded(serves[0], shell)))
    own = [] if pasted.contained else exported
    kept = [pair for pair in exported if pair[0] in pasted.passed] if pasted.contained else own
    return replace(pasted, env=(*kept, *pasted.env))


def _logical(lines: Iterable[Token]) -> Iterator[list[Token]]:
    """Commands: lines that end in a backslash go on in the next."""
    words: list[Token] = []
    for line in lines:
        stripped = line.text.rstrip()
        goes_on = stripped.endswith("\\") and not stripped.lstrip().startswith("#")
        words += _split(Token(stripped[:-1], line.where) if goes_on else line)
        if words and not goes_on:
            yield words
            words = []
    if words:
        yield words


def _flags_only(commands: Sequence[Sequence[Token]]) -> Pasted:
    env: list[tuple[str, Token]] = []
    rest: list[Token] = []
    for words in commands:
        at = 1 if words[0].text == "export" else 0
        pairs = list(assignments(words[at:]))
        env += pairs
        rest += words[at + len(pairs) :]
    pasted = _command(tuple(rest)) if rest else Pasted()
    return replace(pasted, env=(*env, *pasted.env))


def assignments(words: Iterable[Token]) -> Iterator[tuple[str, Token]]:
    """The NAME=value words at the front, as names and values."""
    for word in words:
        match = _ASSIGNMENT.fullmatch(word.text)
        if match is None:
            return
        yield match[1], Token(match[2], word.where)


def _expanded(words: Iterable[Token], known: dict[str, str]) -> Iterator[Token]:
    """Words with the variables that the text itself sets.

    Raises:
        InputError: MP239 for a variable that it does not set and gives no default.
    """
    for word in words:
        yield Token(_EXPANSION.sub(partial(_value, known, word), word.text), word.where)


def _value(known: dict[str, str], word: Token, match: re.Match[str]) -> str:
    name = match[1] or match[2]
    if name is None:
        return "$"
    value = known.get(name, match[3])
    if value is None:
        raise InputError(
            UNREADABLE,
            f"{match[0]} stands for a value that is not known here",
            where=word.where or word.text,
            accepted="the value written out",
        )
    return value


# One command


def program_start(words: Sequence[Token]) -> int | None:
    """Where the words after `met serve` start (after `serve` alone in a container's command), or None."""
    texts = [word.text for word in words]
    for at, text in enumerate(texts[:-1]):
        if text.rpartition("/")[2] == PROGRAM and texts[at + 1] == COMMAND:
            return at + 2
    if any(text.rpartition("/")[2] in CONTAINER_PROGRAMS for text in texts) and COMMAND in texts:
        return texts.index(COMMAND) + 1
    return None


def _command(words: Sequence[Token]) -> Pasted:
    """One command's words: what stands before `met serve` gives variables, what stands after it flags."""
    start = program_start(words)
    if start is None:
        return _bare(words)
    before, after = words[:start], tuple(_until_operator(words[start:]))
    serve, files = _without_files(after)
    names = [word.text.rpartition("/")[2] for word in before]
    container = next((at for at, name in enumerate(names) if name in CONTAINER_PROGRAMS), None)
    if container is None:
        env = tuple(pair for word in before for pair in assignments([word]))
        alone = "env" in names and any(word.text in ("-i", "--ignore-environment") for word in before)
        return Pasted(serve=serve, files=files, env=env, contained=alone)
    outside = dict(assignments(before))
    env, passed, unread = _container_options(before[container + 1 :])
    handed = tuple((name, outside[name]) for name in sorted(passed) if name in outside)
    return Pasted(
        serve=serve, files=files, env=(*handed, *env), contained=True, passed=frozenset(passed), unread=unread
    )


def _bare(words: Sequence[Token]) -> Pasted:
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
    serve, files = _without_files(_until_operator(rest))
    return Pasted(serve=serve, files=files, env=env)


def _until_operator(words: Iterable[Token]) -> Iterator[Token]:
    """A shell's own words (&&, a pipe, a redirection) end the command."""
    for word in words:
        if word.text in _OPERATORS or _REDIRECTION.fullmatch(word.text):
            return
        if word.text.endswith(";"):
            yield Token(word.text[:-1], word.where)
            return
        yield word


def _without_files(words: Iterable[Token]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """The words, and the `@FILE` words among them."""
    kept: list[Token] = []
    files: list[Token] = []
    for word in words:
        (files if len(word.text) > 1 and word.text.startswith("@") else kept).append(word)
    return tuple(kept), tuple(files)


def _container_options(words: Sequence[Token]) -> tuple[tuple[tuple[str, Token], ...], set[str], tuple[Token, ...]]:
    """`-e NAME=value`, `-e NAME` and `--env-file` of a `docker run`."""
    env: list[tuple[str, Token]] = []
    passed: set[str] = set()
    unread: list[Token] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, equals, inline = word.text.partition("=")
        if name in ("-e", "--env", "--env-file"):
            value = Token(inline, word.where) if equals else queue.pop(0) if queue else Token("", word.where)
        elif word.text.startswith("-e") and not word.text.startswith("--") and len(word.text) > 2:
            name, value = "-e", Token(word.text[2:], word.where)
        else:
            continue
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


# systemd


def _unit(lines: Iterable[Token]) -> Pasted:
    """A unit file, or lines of one: ExecStart= and Environment=."""
    env: list[tuple[str, Token]] = []
    unread: list[Token] = []
    commands: list[list[Token]] = []
    for line in _unit_lines(lines):
        key, _, value = line[0].text.partition("=")
        if key.strip() not in ("Environment", "EnvironmentFile", "ExecStart"):
            continue
        words = [Token(value, line[0].where), *line[1:]]
        split = [word for part in words for word in _split(part, comments=False)]
        if key.strip() == "Environment":
            env += assignments(split)
        elif key.strip() == "EnvironmentFile":
            unread += split
        elif key.strip() == "ExecStart" and split:
            commands.append([Token(split[0].text.lstrip("@-:+!|"), split[0].where), *split[1:]])
    serves = [words for words in commands if program_start(words) is not None]
    if len(serves) != 1:
        where = commands[0][0].where if commands else None
        found = "more than one met serve" if serves else "no met serve"
        raise InputError(UNREADABLE, f"{found} in ExecStart=", where=where or "ExecStart=", accepted=ACCEPTED)
    pasted = _command(tuple(_expanded(serves[0], {name: token.text for name, token in env})))
    outer = () if pasted.contained else env
    return replace(pasted, env=(*outer, *pasted.env), contained=True, unread=(*unread, *pasted.unread))


def _unit_lines(lines: Iterable[Token]) -> Iterator[list[Token]]:
    """Assignments of a unit, each as its lines; a backslash at the end goes on in the next."""
    parts: list[Token] = []
    for line in lines:
        text = line.text.strip()
        if text.startswith(("#", ";")) or (not parts and "=" not in text):
            continue
        goes_on = text.endswith("\\")
        parts.append(Token(text[:-1] if goes_on else text, line.where))
        if not goes_on:
            yield parts
            parts = []
    if parts:
        yield parts


# Compose


def _compose(text: str, path: str | None) -> Pasted:
    """A compose file, one service of it, or its `command:` alone."""
    from metrale_plan.sources.compose import read_compose

    words, env, passed, unread = read_compose(text, path)
    known = {name: token.text for name, token in env}
    expanded = tuple(_expanded(words, known))
    pasted = _command(expanded)
    return replace(
        pasted,
        env=(*env, *pasted.env),
        contained=True,
        passed=pasted.passed | passed,
        unread=(*unread, *pasted.unread),
    )
