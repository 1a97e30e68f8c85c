"""A serve as people keep it -> its words and variables: shell lines, `docker run`, a unit file, a compose file, flags.

One reader for a command line pasted after `--` and for the text of a file. Nothing is run and no other file is opened.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from metrale_plan.config.variables import PREFIX
from metrale_plan.errors import InputError
from metrale_plan.nearest import misspelling_of
from metrale_plan.sources.shell import Value, find_commands
from metrale_plan.sources.tokens import Pasted, Token, tokens_of

UNREADABLE = "MP239"

PROGRAM, COMMAND = "met", "serve"
CONTAINER_PROGRAMS = frozenset({"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc"})
"""Programs that start a serve somewhere else, with variables of its own."""

UNIT_KEYS = ("Environment", "UnsetEnvironment", "EnvironmentFile", "ExecStart")
"""What is read of a unit file."""

SUPERUSER_PROGRAMS = frozenset({"sudo", "doas"})
"""Programs that drop the environment unless they are told to keep it."""

ACCEPTED = "[NAME=value ...] met serve CHECKPOINT --flag value ..., docker run ..., ExecStart=..., command: [...]"

MAX_CHARACTERS = 64 * 1024
"""Scripts and units are a few kilobytes; anything larger is some other file."""

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_EXPANSION = re.compile(r"\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}]*))?\})")
_UNIT_LINE = re.compile(r"\s*(\[(Unit|Service|Install)\]|(ExecStart|Environment)\s*=)")
_COMPOSE_START = re.compile(r"\s*((services|command|entrypoint|environment|image|name|version)\s*:|\[|- )")
_COMPOSE_LINE = re.compile(r"(services|command|entrypoint)\s*:(\s|$)")
_PASTED_END = re.compile(r"\\|\s*\\?[\r\n]\s*")
"""What a line's end leaves among words that were pasted."""

_DOCKER_VARIABLE = re.compile(r"-[ditPq]*e(.*)", re.DOTALL)
_KEEPS_ALL = re.compile(r"-[A-Za-z]*E[A-Za-z]*|--preserve-env")
_SPECIFIER = re.compile(r"%(.)")


def read_words(words: Sequence[str]) -> Pasted:
    """What was pasted after `--`, as the shell split it, or as one quoted text.

    Raises:
        InputError: MP239 where no serve can be made out; MP230 and MP231 for a compose list that is not YAML.
    """
    words = [word for word in words if not _PASTED_END.fullmatch(word)]
    words = words[1:] if words[:1] == ["$"] else words
    if not any(word.strip() for word in words):
        return Pasted()
    if len(words) == 1 and any(char.isspace() for char in words[0].strip()):
        return read_text(words[0], None)
    if words[0].startswith("ExecStart="):
        return _settled(_unit(_numbered(" ".join(_quoted(word) for word in words), None)))
    if words[0].rstrip().endswith(":") or words[0].startswith("["):
        return _settled(_compose(" ".join(word for word in words if word != "-"), None))
    return _settled(_command(tokens_of(words)))


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
        return _settled(_unit(lines))
    if _COMPOSE_START.match(first) or any(_COMPOSE_LINE.match(line.text) for line in lines):
        return _settled(_compose(text, path))
    return _settled(_script(lines))


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


def _script(lines: Sequence[Token], known: Mapping[str, Value] | None = None) -> Pasted:
    """A shell script or pasted lines, a file of flags, or a file of variables."""
    found = find_commands(lines, lambda words: runs_serve(words) or words[0].text.startswith("-"), known)
    serves = [command for command in found if runs_serve(command.words)]
    if not serves:
        return _flags_only(list(_logical(lines)))
    if len(serves) > 1:
        raise InputError(
            UNREADABLE,
            "more than one met serve, so it is not clear which to plan",
            where=serves[1].words[0].where,
            accepted="one serve at a time",
        )
    for command in found:
        if command is not serves[0]:
            raise InputError(
                UNREADABLE,
                f"{command.words[0].text} begins a command of its own: the line before it does not go on",
                where=command.words[0].where or command.words[0].text,
                accepted="a backslash at the end of every line but the last, and no comment or empty line between",
            )
    serve = serves[0]
    pasted = _command(serve.words, dict(known or {}) | {name: token.text for name, token in serve.exported})
    before = dict(pasted.env)
    exported = [pair for pair in serve.exported if not pasted.contained or pair[0] in pasted.passed]
    stopped = {name for name, _ in serve.exported if pasted.contained and name not in pasted.passed} | serve.kept
    stopped -= set(before)
    return replace(
        pasted,
        env=(*(pair for pair in exported if pair[0] not in pasted.unset), *pasted.env),
        unset=pasted.unset | serve.unset,
        stopped=pasted.stopped | stopped,
        unread=(*serve.sourced, *pasted.unread),
    )


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
        if words[0].text.endswith(":"):
            raise InputError(
                UNREADABLE,
                f"{words[0].text} looks like YAML, and no flags or command line",
                where=words[0].where or words[0].text,
                accepted="--recipe FILE for a recipe; here flags, a script, a unit, or a compose file with services:",
            )
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
        yield match[1], Token(match[2], word.where, word.unknown)


def _expanded(words: Iterable[Token], known: Mapping[str, str]) -> Iterator[Token]:
    """Words with the variables that the text itself sets; one that it does not set stays, marked as not known."""
    for word in words:
        unknown: list[str] = []

        def value(match: re.Match[str], unknown: list[str] = unknown) -> str:
            name = match[1] or match[2]
            if name is None:
                return "$"
            found: str | None = known.get(name, match[3])
            if found is None:
                unknown.append(match[0])
            return match[0] if found is None else found

        text = _EXPANSION.sub(value, word.text)
        yield Token(text, word.where, unknown[0] if unknown else word.unknown)


def _settled(pasted: Pasted) -> Pasted:
    """The serve itself, when every word of it is known.

    Raises:
        InputError: MP239 for one whose value only the running shell, service or container could tell.
    """
    variables = [Token(token.text, token.where, token.unknown) for name, token in pasted.env if name.startswith(PREFIX)]
    for word in (*pasted.serve, *pasted.files, *variables):
        if word.unknown is not None:
            raise InputError(
                UNREADABLE,
                f"{word.unknown} stands for a value that is not known here",
                where=word.where or word.unknown,
                accepted="the value written out",
            )
    return pasted


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


def runs_serve(words: Sequence[Token]) -> bool:
    """Whether a command runs met serve, itself or in a shell text that it is given (`bash -c TEXT`)."""
    return program_start(words) is not None or _inner(words) is not None


def _inner(words: Sequence[Token]) -> int | None:
    """Which word is a shell text that runs met serve, or None."""
    for at, word in enumerate(words):
        if at and COMMAND in word.text and any(char.isspace() for char in word.text):
            try:
                if find_commands([Token(word.text)], lambda inner: program_start(inner) is not None):
                    return at
            except InputError:
                continue
    return None


def _command(words: Sequence[Token], known: Mapping[str, Value] | None = None) -> Pasted:
    """One command's words: what stands before `met serve` gives variables, what stands after it flags."""
    start = program_start(words)
    if start is not None:
        serve, files = _without_files(words[start:])
        return _beside(words[: start - 1], Pasted(serve=serve, files=files))
    at = _inner(words)
    if at is None:
        return _bare(words)
    outer = _beside(words[:at], Pasted())
    variables: dict[str, Value] = {} if outer.contained else dict(known or {})
    variables |= {name: token.text for name, token in outer.env}
    arguments = [word.text for word in words[at + 2 :]]
    variables |= {"@": tuple(arguments)} | {str(number): text for number, text in enumerate(arguments, 1)}
    inner = _script([Token(line, words[at].where) for line in words[at].text.split("\n")], variables)
    return replace(
        outer,
        serve=inner.serve,
        files=inner.files,
        env=(*outer.env, *inner.env),
        contained=outer.contained or inner.contained,
        passed=outer.passed | inner.passed,
        unset=outer.unset | inner.unset,
        stopped=outer.stopped | inner.stopped,
        unread=(*outer.unread, *inner.unread),
    )


def _beside(before: Sequence[Token], serve: Pasted) -> Pasted:
    """A serve with what stands before it: variables that are set, handed on, dropped or kept out."""
    names = [word.text.rpartition("/")[2] for word in before]
    unset = frozenset(_dropped(before)) if "env" in names else frozenset()
    container = next((at for at, name in enumerate(names) if name in CONTAINER_PROGRAMS), None)
    if container is not None:
        outside = dict(assignments(_from_first_assignment(before[:container])))
        env, passed, unread = _container_options(before[container + 1 :])
        within = before[names.index("env", container) :] if "env" in names[container:] else ()
        inner = tuple(pair for word in within for pair in assignments([word]))
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
    env = tuple(pair for word in before for pair in assignments([word]))
    alone = "env" in names and any(word.text in ("-", "-i", "--ignore-environment") for word in before)
    return replace(serve, env=env, contained=alone, unset=unset)


def _from_first_assignment(words: Sequence[Token]) -> list[Token]:
    return [word for word in words if _ASSIGNMENT.fullmatch(word.text)]


def _under_another(before: Sequence[Token], at: int, serve: Pasted) -> Pasted:
    """A serve under sudo or on another host, which gets an environment of its own unless told otherwise."""
    inside = tuple(pair for word in before[at + 1 :] for pair in assignments([word]))
    outside = tuple(assignments(_from_first_assignment(before[:at])))
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
    serve, files = _without_files(rest)
    return Pasted(serve=serve, files=files, env=env)


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
            given = inline
        elif short := _DOCKER_VARIABLE.fullmatch(word.text):
            name, equals, given = "-e", short[1], short[1]
        else:
            continue
        value = word._replace(text=given) if equals or not queue else queue.pop(0)
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
    """A unit file, or lines of one: ExecStart=, Environment= and what goes with them; an empty value starts anew."""
    env: dict[str, Token] = {}
    unread: list[Token] = []
    commands: list[list[Token]] = []
    for line in _unit_lines(lines):
        key, _, value = line[0].text.partition("=")
        key = key.strip()
        if key not in UNIT_KEYS:
            continue
        words = [Token(value, line[0].where), *line[1:]]
        split = [_unspecified(word) for part in words for word in _split(part, comments=False)]
        if key == "Environment":
            env = env | dict(assignments(split)) if split else {}
        elif key == "UnsetEnvironment":
            env = {name: token for name, token in env.items() if name not in {word.text for word in split}}
        elif key == "EnvironmentFile":
            unread = [*unread, *(word._replace(text=word.text.removeprefix("-")) for word in split)] if split else []
        elif key == "ExecStart":
            commands = [*commands, [_without_prefix(split[0]), *split[1:]]] if split else []
    serves = [words for words in commands if runs_serve(words)]
    if len(serves) != 1:
        where = commands[0][0].where if commands else None
        found = "more than one met serve" if serves else "no met serve"
        raise InputError(UNREADABLE, f"{found} in ExecStart=", where=where or "ExecStart=", accepted=ACCEPTED)
    known = {name: token.text for name, token in env.items()}
    pasted = _command(tuple(_unit_words(serves[0], known)), dict(known))
    handed = {name: token for name, token in env.items() if not pasted.contained or name in pasted.passed}
    stopped = frozenset(env) - frozenset(handed) if pasted.contained else frozenset()
    return replace(
        pasted,
        env=(*((name, token) for name, token in handed.items() if name not in pasted.unset), *pasted.env),
        contained=True,
        passed=frozenset(),
        stopped=pasted.stopped | stopped,
        unread=(*unread, *pasted.unread),
    )


def _without_prefix(program: Token) -> Token:
    """A program without the characters in front that tell systemd how to run it."""
    return program._replace(text=program.text.lstrip("@-:+!|"))


def _unit_words(words: Iterable[Token], known: Mapping[str, str]) -> Iterator[Token]:
    """A command's words as a service gets them: `$NAME` alone is split, and a `;` alone ends the command."""
    for word in words:
        if word.text == ";":
            return
        name = word.text[1:] if word.text.startswith("$") else ""
        if name.isidentifier() and name in known:
            yield from (Token(part, word.where) for part in known[name].split())
        else:
            yield from _expanded([word], known)


def _unspecified(word: Token) -> Token:
    """A word with %% as %; what another specifier stands for is not known."""
    unknown = next((match[0] for match in _SPECIFIER.finditer(word.text) if match[1] != "%"), None)
    return Token(word.text.replace("%%", "%"), word.where, unknown)


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

    found = read_compose(text, path, runs_serve)
    # A ${NAME} is filled in from where compose is run, not from the service's own environment.
    env = {name: next(_expanded([token], {})) for name, token in found.env}
    pasted = _command(tuple(_expanded(found.words, {})), {name: token.text for name, token in env.items()})
    return replace(
        pasted,
        env=(*((name, token) for name, token in env.items() if name not in pasted.unset), *pasted.env),
        contained=True,
        passed=pasted.passed | found.passed,
        unread=(*found.unread, *pasted.unread),
    )
