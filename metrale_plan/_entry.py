"""Where the program starts: argv is split at the first `--`, output options are read, errors become exit codes."""

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    from metrale_plan.cli.invocation import Invocation

BUG_EXIT = 5
INTERRUPTED_EXIT = 130

FORMATS = ("table", "json")
COLORS = ("auto", "always", "never")

WITHOUT_SERVE = ("doctor", "models", "devices", "schema", "import", "explain")
"""Commands that plan nothing, so that a serve after `--` would be passed over."""

WRITERS = ("check", "diff")
"""Commands with formats of their own, several at once, that `--output FORMAT=FILE` can send to files."""


def main() -> None:
    """Console script."""
    from metrale_plan.cli.streams import Outlasting

    stdout, stderr = Outlasting(sys.stdout), Outlasting(sys.stderr)
    code = run(sys.argv[1:], os.environ, cast("TextIO", stdout), cast("TextIO", stderr))
    if stdout.broken and sys.stdout is not None:
        # The reader went away; keep the interpreter from complaining about it at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(argv: Sequence[str], environ: Mapping[str, str], stdout: TextIO, stderr: TextIO) -> int:
    """One run of the program; returns its exit code. Reads the environment only from `environ`."""
    split = argv.index("--") if "--" in argv else len(argv)
    before, after = list(argv[:split]), tuple(argv[split + 1 :])
    options, rest = take_output_options(before)
    command = next((token for token in rest if not token.startswith("-")), "metrale-plan")
    as_json = options.asks_json(command)

    from metrale_plan.cli.invocation import Invocation
    from metrale_plan.errors import InputError, PlanError

    invocation = Invocation(
        after=after,
        environ=environ,
        json=as_json,
        color=options.color or "auto",
        stdout=stdout,
        stderr=stderr,
        formats=tuple(options.formats),
        outputs=tuple(options.outputs),
    )
    try:
        _check_output_options(options, command)
        if after and command in WITHOUT_SERVE:
            raise InputError("MP220", f"{command} takes nothing after --", where="--", accepted="nothing there")
        if rest == ["--version"]:
            from metrale_plan import __version__

            stdout.write(f"metrale-plan {__version__}\n")
            return 0
        if not rest:
            if as_json:
                raise InputError("MP220", "no command named", accepted="see metrale-plan --help")
            _dispatch(["--help"], command, invocation)
            return InputError.exit_code
        code = _dispatch(rest, command, invocation)
        stdout.flush()
        return code
    except PlanError as error:
        return _fail(invocation, command, error)
    except KeyboardInterrupt:
        return INTERRUPTED_EXIT
    except Exception as error:
        if options.traceback:
            raise
        name = type(error).__name__
        bug = InputError(
            "MP200", f"a bug in metrale-plan: {name}: {error}; please report it, with --traceback's output"
        )
        bug.exit_code = BUG_EXIT
        return _fail(invocation, command, bug)


@dataclass(slots=True)
class OutputOptions:
    """How to print, as typed: `--format` and `--output` as often as they were given."""

    formats: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    color: str | None = None
    traceback: bool = False

    def asks_json(self, command: str) -> bool:
        """Whether stdout must be one JSON document; the last format counts, except where all of them are written."""
        if command in WRITERS:
            return "json" in self.formats or "json=-" in self.outputs
        return [name for name in self.formats if name][-1:] == ["json"]


def take_output_options(tokens: Sequence[str]) -> tuple[OutputOptions, list[str]]:
    """`--format`, `--output`, `--color` and `--traceback` out of the tokens before `--`, wherever they stand.

    They are taken before typer sees the line, so that a usage error can be told as JSON too.
    """
    found = OutputOptions()
    rest: list[str] = []
    queue = list(tokens)
    while queue:
        token = queue.pop(0)
        name, equals, inline = token.partition("=")
        if name in ("--format", "--output", "--color"):
            # None of their values begins with --, so a forgotten one never takes the next flag, --format json say.
            forgotten = not queue or queue[0].startswith("--")
            value = inline if equals else "" if forgotten else queue.pop(0)
            if name == "--color":
                found.color = value
            else:
                (found.formats if name == "--format" else found.outputs).append(value)
        elif token == "--traceback":
            found.traceback = True
        else:
            rest.append(token)
    return found, rest


def formats_of(command: str) -> tuple[str, ...]:
    """The formats that a command can print."""
    if command == "check":
        from metrale_plan.render.gate import FORMATS as GATE_FORMATS

        return tuple(GATE_FORMATS)
    if command == "diff":
        from metrale_plan.render.comparison import FORMATS as COMPARISON_FORMATS

        return tuple(COMPARISON_FORMATS)
    return FORMATS


def _check_output_options(options: OutputOptions, command: str) -> None:
    from metrale_plan.errors import InputError
    from metrale_plan.nearest import nearest

    if options.outputs and command not in WRITERS:
        raise InputError(
            "MP210", "--output is a flag of check and diff", where="--output", accepted="--format, or a redirection"
        )
    asked = [("format", text, formats_of(command)) for text in options.formats]
    asked += [("color", options.color, COLORS)] if options.color is not None else []
    for name, value, allowed in asked:
        if value not in allowed:
            raise InputError(
                "MP211",
                f"--{name} {value!r} is not known",
                where=f"--{name}",
                accepted=", ".join(allowed),
                nearest=nearest(value, allowed),
            )


def _dispatch(tokens: list[str], command: str, invocation: "Invocation") -> int:
    """Run a command: the quick way where its line is plain, else through typer, whose usage errors become ours."""
    from metrale_plan.cli.app import COMMANDS, build_app, load

    if tokens and tokens[0] in COMMANDS:
        from metrale_plan.cli.quick import quick

        body = load(tokens[0])
        values = quick(body, tokens[1:])
        if values is not None:
            return body(invocation=invocation, **values)
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):  # typer prints nothing but help
            result = build_app(command)(tokens, standalone_mode=False, obj=invocation, prog_name="metrale-plan")
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):
            raise _usage_error(error) from None
        raise
    _help(printed.getvalue(), command, invocation)
    return result if isinstance(result, int) else 0


def _help(text: str, command: str, invocation: "Invocation") -> None:
    """What typer printed, where the command's own answer would go."""
    if not text:
        return
    if not invocation.json:
        invocation.stdout.write(text)
        return
    from metrale_plan.cli.output import write_json
    from metrale_plan.render.json import envelope

    write_json(invocation, envelope(command, 0, [], None) | {"help": text})


def _usage_error(error: Exception) -> Exception:
    """A typer usage error as ours: the flag or command it is about, and the nearest spellings."""
    from metrale_plan.config.flags import by_spelling
    from metrale_plan.errors import InputError
    from metrale_plan.nearest import nearest
    from metrale_plan.sources.argv import unknown_flag

    option = getattr(error, "option_name", None)
    kind = type(error).__name__
    if kind == "NoSuchOption" and option in by_spelling():
        return InputError(
            "MP210",
            f"{option} is a flag of met serve, and this command takes those after -- only",
            where=str(option),
            accepted=f"-- met serve CHECKPOINT {option} ...",
        )
    if kind == "NoSuchOption" and option:
        return unknown_flag(str(option), also=getattr(error, "possibilities", None) or ())
    message = error.format_message()  # type: ignore[attr-defined]
    if kind == "BadOptionUsage" and option:
        flag = by_spelling().get(str(option))
        accepted = flag.kind.accepted if flag else None
        return InputError("MP212", message, where=str(option), accepted=accepted)
    if message.startswith("No such command"):
        from metrale_plan.cli.app import COMMANDS

        known = sorted(COMMANDS)
        word = message.split("'")[1] if "'" in message else message
        return InputError(
            "MP220",
            f"no such command: {word}",
            where=word,
            accepted=", ".join(known),
            nearest=nearest(word, known),
        )
    return InputError("MP220", message)


def _fail(invocation: object, command: str, error: Exception) -> int:
    from metrale_plan.cli.invocation import Invocation
    from metrale_plan.cli.output import write_json, write_problems
    from metrale_plan.errors import PlanError

    assert isinstance(invocation, Invocation) and isinstance(error, PlanError)
    if invocation.json and not getattr(invocation.stdout, "broken", False):
        from metrale_plan.render.json import failure

        write_json(invocation, failure(command, error.exit_code, error.problem))
    else:
        write_problems(invocation.stderr, [error.problem])
    return error.exit_code
