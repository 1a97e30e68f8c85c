"""A serve as people keep it -> its words and variables: shell lines, `docker run`, a unit file, a compose file, flags.

One reader for a command line pasted after `--` and for the text of a file. Nothing is run and no other file is opened.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from metrale_plan.config.variables import PREFIX
from metrale_plan.errors import InputError
from metrale_plan.sources.pasted.command import command_of, script
from metrale_plan.sources.pasted.systemd import read_unit
from metrale_plan.sources.pasted.words import UNREADABLE, numbered
from metrale_plan.sources.tokens import Pasted, Token, tokens_of

MAX_CHARACTERS = 64 * 1024
"""Scripts and units are a few kilobytes; anything larger is some other file."""

_UNIT_LINE = re.compile(r"\s*(\[(Unit|Service|Install)\]|(ExecStart|Environment)\s*=)")
_COMPOSE_START = re.compile(r"\s*((services|command|entrypoint|environment|image|name|version)\s*:|\[|- )")
_COMPOSE_LINE = re.compile(r"(services|command|entrypoint)\s*:(\s|$)")
_PASTED_END = re.compile(r"\\|\s*\\?[\r\n]\s*")
"""What a line's end leaves among words that were pasted."""


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
        return _settled(read_unit(numbered(" ".join(_quoted(word) for word in words), None)))
    if words[0].rstrip().endswith(":") or words[0].startswith("["):
        from metrale_plan.sources.pasted.compose import read_compose

        return _settled(read_compose(" ".join(word for word in words if word != "-"), None))
    return _settled(command_of(tokens_of(words)))


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
    lines = list(numbered(text, path))
    first = next((line.text for line in lines if line.text.strip() and not line.text.lstrip().startswith("#")), "")
    if any(_UNIT_LINE.match(line.text) for line in lines):
        return _settled(read_unit(lines))
    if _COMPOSE_START.match(first) or any(_COMPOSE_LINE.match(line.text) for line in lines):
        from metrale_plan.sources.pasted.compose import read_compose

        return _settled(read_compose(text, path))
    return _settled(script(lines))


def _quoted(word: str) -> str:
    from shlex import quote

    name, equals, value = word.partition("=")
    return f"{name}={quote(value)}" if equals and name == "ExecStart" else quote(word)


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
