"""Printing a report: the answer on stdout, warnings and errors on stderr, one JSON document under `--format json`."""

import os
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO, cast

from metrale_plan.cli.invocation import Invocation
from metrale_plan.errors import Problem
from metrale_plan.printable import printable, shortened
from metrale_plan.report import Report

if TYPE_CHECKING:
    from metrale_plan.render.sheet import Sheet

PIPED_WIDTH = 100
"""Width of text that goes to no terminal, unless COLUMNS says otherwise."""


def emit(
    invocation: Invocation,
    report: Report,
    sheet: "Callable[[Report], Sheet] | None" = None,
    *,
    extra: Mapping[str, Any] | None = None,
    show_settings: bool = False,
) -> None:
    """Print one planning command's report on its screen, or with `show_settings` where its settings come from.

    The screen of `preflight` and `plan` is the one left out, and imported only where it is printed.
    `extra` keys are added to its JSON document.
    """
    if invocation.json:
        from metrale_plan.render.json import document

        write_json(invocation, document(report, won_over=show_settings) | dict(extra or {}))
        return
    parts = _screen(report, sheet, show_settings)
    if parts:
        write_sheet(invocation, parts)
        invocation.stdout.flush()  # so that the notes follow the answer where both go to one terminal
    write_problems(invocation.stderr, [*report.warnings, *([report.error] if report.error is not None else [])])


def _screen(report: Report, sheet: "Callable[[Report], Sheet] | None", show_settings: bool) -> "Sheet":
    if show_settings:
        from metrale_plan.render.settings import settings_sheet

        return settings_sheet(report)
    if sheet is not None:
        return sheet(report)
    from metrale_plan.render.plan import plan_sheet

    return plan_sheet(report)


def emit_answer(
    invocation: Invocation, command: str, answer: Any, sheet: "Callable[[], Sheet]", warnings: Iterable[Problem] = ()
) -> None:
    """Print the answer of a command that plans nothing: under JSON, one key named as the command."""
    warnings = list(warnings)
    if invocation.json:
        from metrale_plan.render.json import envelope

        write_json(invocation, envelope(command, 0, warnings, None) | {command: answer})
        return
    write_sheet(invocation, sheet())
    invocation.stdout.flush()
    write_problems(invocation.stderr, warnings)


def write_json(invocation: Invocation, document: dict[str, Any]) -> None:
    """One JSON document on stdout."""
    from metrale_plan.render.json_text import json_text

    invocation.stdout.write(json_text(document, indent=2) + "\n")


def write_sheet(invocation: Invocation, sheet: "Sheet") -> None:
    """A screen on stdout: through rich on a terminal, as plain text anywhere else."""
    out, environ = invocation.stdout, invocation.environ
    dumb = environ.get("TERM") == "dumb"
    color = wants_color(invocation)
    if color or (out.isatty() and not dumb):
        from metrale_plan.render.terminal import print_sheet

        print_sheet(sheet, cast("TextIO", Respelled(out)), width=stated_width(invocation), color=color)
        return
    from metrale_plan.render.plain import plain

    out.write(encodable(plain(sheet, stated_width(invocation) or _width_of(out) or PIPED_WIDTH), out))


def write_problems(err: TextIO, problems: Iterable[Problem]) -> None:
    """`severity[code] where: message`, then what is accepted and the nearest spellings, one problem a block."""
    width = _width_of(err) if err.isatty() else None
    for problem in problems:
        where = f"{problem.where}: " if problem.where and problem.where not in problem.message else ""
        lines = [f"{problem.severity}[{problem.code}]: {shortened(where + problem.message)}"]
        if problem.accepted:
            lines.append(f"  accepted: {problem.accepted}")
        if problem.nearest:
            lines.append(f"  did you mean: {', '.join(problem.nearest)}")
        lines = [printable(line) for line in lines]
        if width is not None:
            lines = [part for line in lines for part in _wrapped(line, width)]
        err.write(encodable("\n".join(lines) + "\n", err))


class Respelled:
    """A stream that respells what it cannot encode; in all else the stream itself."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str) -> int:
        """As the stream's own."""
        return self._out.write(encodable(text, self._out))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


IN_ASCII = {"γ": "gamma", "×": "x", "…": "...", "\N{EM DASH}": "--", "≥": ">=", "≤": "<="}
"""How our own signs are spelled where the output cannot take them."""


def encodable(text: str, out: TextIO) -> str:
    """The text with every character that `out` cannot encode respelled, or a question mark."""
    encoding = out.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for sign, spelled in IN_ASCII.items():
            text = text.replace(sign, spelled)
    return text.encode(encoding, "replace").decode(encoding)


def _wrapped(line: str, width: int) -> list[str]:
    """A line at a terminal's width, broken between words; piped lines stay whole, for those who search them."""
    return textwrap.wrap(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def wants_color(invocation: Invocation) -> bool:
    """Colour on stdout: as `--color` says, else on a terminal that is neither dumb nor under NO_COLOR."""
    if invocation.color != "auto":
        return invocation.color == "always"
    environ = invocation.environ
    return invocation.stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def stated_width(invocation: Invocation) -> int | None:
    """COLUMNS, when it is a sensible count."""
    text = invocation.environ.get("COLUMNS", "")
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text[:6]) < 10_000 else None


def _width_of(out: TextIO) -> int | None:
    try:
        return os.get_terminal_size(out.fileno()).columns or None
    except (OSError, ValueError):
        return None
