"""One command, or a shell text of several, which may hold one another (`bash -c TEXT`) -> the serve."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from metrale_plan.errors import InputError
from metrale_plan.sources.pasted.bare import bare, without_files
from metrale_plan.sources.pasted.beside import beside
from metrale_plan.sources.pasted.program import inner_text, program_start, runs_serve
from metrale_plan.sources.pasted.shell import Value, find_commands
from metrale_plan.sources.pasted.words import UNREADABLE, assignments, split_words
from metrale_plan.sources.tokens import Pasted, Token


def command_of(words: Sequence[Token], known: Mapping[str, Value] | None = None) -> Pasted:
    """One command's words: what stands before `met serve` gives variables, what stands after it flags."""
    start = program_start(words)
    if start is not None:
        serve, files = without_files(words[start:])
        return beside(words[: start - 1], Pasted(serve=serve, files=files))
    at = inner_text(words)
    if at is None:
        return bare(words)
    outer = beside(words[:at], Pasted())
    variables: dict[str, Value] = {} if outer.contained else dict(known or {})
    variables |= {name: token.text for name, token in outer.env}
    arguments = [word.text for word in words[at + 2 :]]
    variables |= {"@": tuple(arguments)} | {str(number): text for number, text in enumerate(arguments, 1)}
    inner = script([Token(line, words[at].where) for line in words[at].text.split("\n")], variables)
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


def script(lines: Sequence[Token], known: Mapping[str, Value] | None = None) -> Pasted:
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
    pasted = command_of(serve.words, dict(known or {}) | {name: token.text for name, token in serve.exported})
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
        words += split_words(Token(stripped[:-1], line.where) if goes_on else line)
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
    pasted = command_of(tuple(rest)) if rest else Pasted()
    return replace(pasted, env=(*env, *pasted.env))
