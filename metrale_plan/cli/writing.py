"""Printing a report in several formats at once: `--format` on stdout, `--output FORMAT=FILE` anywhere."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.output import write_sheet
from metrale_plan.errors import InputError
from metrale_plan.nearest import nearest
from metrale_plan.render.sheet import Sheet

STDOUT = "-"
STDOUTS = frozenset({STDOUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
"""Names of one stream; opening it a second time would write over what it holds already."""


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
        found.append(Target(name, STDOUT if file in STDOUTS else file))
    found = list(dict.fromkeys(found))
    if all(target.file != STDOUT for target in found):
        found = [Target("table", STDOUT), *found]
    for target in found:
        beside = [other for other in found if _same_place(other.file, target.file) and other != target]
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
    """Make every text, then write the files, then stdout.

    No file is written before all are open, so that one that cannot be leaves the others and stdout as they were.

    Args:
        render: a format's text by its name.
        sheet: what the table on stdout is printed from.

    Raises:
        InputError: MP275 for a file that cannot be written.
    """
    on_screen = Target("table", STDOUT)
    texts = [(target, None if target == on_screen else render(target.format)) for target in wanted]
    _write_files({target.file: text for target, text in texts if target.file != STDOUT and text is not None})
    for target, text in texts:
        if target == on_screen:
            write_sheet(invocation, sheet())
        elif target.file == STDOUT and text is not None:
            encoding = invocation.stdout.encoding or "utf-8"
            invocation.stdout.write(text.encode(encoding, "replace").decode(encoding))


def _same_place(one: str, other: str) -> bool:
    return one == other or (STDOUT not in (one, other) and Path(one).resolve() == Path(other).resolve())


def _write_files(texts: Mapping[str, str]) -> None:
    """Write all of the files; where one cannot be opened, none."""
    created: list[Path] = []
    name = ""
    try:
        with ExitStack() as stack:
            files: dict[str, BinaryIO] = {}
            for name in texts:
                path = Path(name)
                new = not path.is_symlink() and not path.exists()
                files[name] = stack.enter_context(path.open("ab"))
                if new:
                    created.append(path)
            for name, file in files.items():
                if Path(name).is_file():
                    file.truncate(0)
                file.write(texts[name].encode("utf-8", "replace"))  # a file's name may hold bytes that are no text
                file.flush()
    except (OSError, ValueError) as error:
        for path in created:
            path.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            "MP275", f"{name} cannot be written: {reason}", where=name, accepted="a writable path"
        ) from None
