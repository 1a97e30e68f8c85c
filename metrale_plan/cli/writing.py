"""Printing a report in several formats at once: `--format` on stdout, `--output FORMAT=FILE` anywhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.output import write_sheet
from metrale_plan.errors import InputError
from metrale_plan.nearest import nearest
from metrale_plan.render.sheet import Sheet

STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Target:
    """One text to write: its format, and a file's path or `-`."""

    format: str
    file: str


def targets(invocation: Invocation, known: Mapping[str, bool]) -> list[Target]:
    """Where to write what; a table on stdout when nothing else was asked for there.

    Args:
        known: the formats, and whether each needs a stream to itself.

    Raises:
        InputError: MP274 for a malformed or unknown `--output`, one file twice, or a stream shared with a program's
            format.
    """
    found = [Target(name, STDOUT) for name in dict.fromkeys(invocation.formats)]
    for text in invocation.outputs:
        name, equals, file = text.partition("=")
        if not equals or not file or name not in known:
            raise InputError(
                "MP274",
                f"--output {text!r} is not FORMAT=FILE"
                if not equals or not file
                else f"--output {name}: no such format",
                where="--output",
                accepted=f"FORMAT=FILE, with - for stdout; formats: {', '.join(known)}",
                nearest=nearest(name, known),
            )
        found.append(Target(name, file))
    found = list(dict.fromkeys(found))
    if all(target.file != STDOUT for target in found):
        found = [Target("table", STDOUT), *found]
    for target in found:
        beside = [other for other in found if other.file == target.file and other != target]
        if beside and (target.file != STDOUT or known[target.format]):
            place = "stdout" if target.file == STDOUT else target.file
            raise InputError(
                "MP274",
                f"{target.format} and {beside[0].format} would both be written to {place}",
                where="--output",
                accepted=f"--output {beside[0].format}=FILE for one of them",
            )
    return found


def write_all(
    invocation: Invocation, wanted: list[Target], render: Callable[[str], str], sheet: Callable[[], Sheet]
) -> None:
    """Make every text, then write the files, then stdout; so a file that cannot be written leaves stdout empty.

    Args:
        render: a format's text by its name.
        sheet: what the table on stdout is printed from.

    Raises:
        InputError: MP275 for a file that cannot be written.
    """
    on_screen = Target("table", STDOUT)
    texts = [(target, None if target == on_screen else render(target.format)) for target in wanted]
    for target, text in texts:
        if target.file != STDOUT and text is not None:
            _write_file(target.file, text)
    for target, text in texts:
        if target == on_screen:
            write_sheet(invocation, sheet())
        elif target.file == STDOUT and text is not None:
            encoding = invocation.stdout.encoding or "utf-8"
            invocation.stdout.write(text.encode(encoding, "replace").decode(encoding))


def _write_file(path: str, text: str) -> None:
    from pathlib import Path

    try:
        Path(path).write_bytes(text.encode("utf-8", "replace"))  # a file's name may hold bytes that are no text
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            "MP275", f"{path} cannot be written: {reason}", where=path, accepted="a writable path"
        ) from None
