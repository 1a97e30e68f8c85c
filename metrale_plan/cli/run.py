"""`run`: preflight a serve, then become it."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Optional

from metrale_plan.cli.declare import Option
from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.options import (
    Carry,
    Common,
    Device,
    FailOnWarning,
    FreeMemory,
    Model,
    Over,
    Probe,
    Rules,
    Samples,
    TotalMemory,
    UnifiedFloor,
)
from metrale_plan.cli.planning import Stage, request

if TYPE_CHECKING:
    from metrale_plan.report import Report

Force = Annotated[bool, Option("--force", help="Start the serve even when it does not fit or cannot be told.")]
Wait = Annotated[
    Optional[str],
    Option(
        "--wait",
        metavar="DURATION",
        help="Wait up to this long, such as 90s, for memory that another process still holds.",
    ),
]

FORCED = (1, 3, 4)
"""Exit codes that `--force` goes over: no, cannot tell, and warnings; never bad input."""

BETWEEN_READINGS = 1.0
"""Seconds between two readings while waiting; a reading itself takes about one more."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to become: the words of a command, and the variables set in front of it."""

    words: tuple[str, ...]
    env: Mapping[str, str]


def run(
    invocation: Invocation,
    model: Model = None,
    force: Force = False,
    wait: Wait = None,
    device: Device = None,
    free_memory: FreeMemory = None,
    total_memory: TotalMemory = None,
    stage: Stage = "all",
    probe: Probe = None,
    samples: Samples = None,
    over: Over = None,
    unified_floor: UnifiedFloor = None,
    carry: Carry = None,
    rules: Rules = None,
    fail_on_warning: FailOnWarning = False,
) -> int:
    """Preflight the serve after `--`, and start it in this process's place when it fits.

    Otherwise the refusal is printed and its exit code returned, as `preflight` does.
    """
    from metrale_plan.assemble import assemble
    from metrale_plan.memory import MemoryRequest, live_reader

    launch = launch_of(invocation.after, invocation.environ)
    seconds = 0.0 if wait is None else _seconds(wait)
    common = Common(
        model=model,
        checkpoint=None,
        recipe=None,
        args_file=None,
        isolated_env=False,
        carry=carry,
        show_settings=False,
        device=device,
        total_memory=total_memory,
        rules=rules,
        fail_on_warning=fail_on_warning,
        flags={},
    )
    memory = MemoryRequest(free=free_memory, probe=probe, samples=samples, over=over, floor=unified_floor)
    asked = request(invocation, "run", common, memory=memory, stage=stage, compare=True)
    reader = live_reader(asked.memory, in_child=True)
    report = wait_until_it_fits(lambda: assemble(asked, reader), seconds, progress=_progress(invocation))
    go = report.exit_code == 0 or (force and report.exit_code in FORCED)
    _tell(invocation, report, launch, go)
    return _become(launch, invocation) if go else report.exit_code


def launch_of(words: Sequence[str], environ: Mapping[str, str]) -> Launch:
    """What the words after `--` start, with files of flags written out.

    Raises:
        InputError: MP244, nothing there, not a command, or a program that is not found.
    """
    from shutil import which

    from metrale_plan.errors import InputError
    from metrale_plan.sources.argv import parse_serve_args
    from metrale_plan.sources.pasted import read_file
    from metrale_plan.sources.pasted.program import program_start, runs_serve
    from metrale_plan.sources.pasted.words import assignments
    from metrale_plan.sources.tokens import Token, tokens_of

    tokens = tokens_of(words)
    env = {name: token.text for name, token in assignments(tokens)}
    command = tokens[len(env) :]
    accepted = "metrale-plan run -- [NAME=value ...] met serve CHECKPOINT --flag value ..."
    if not runs_serve(command):
        raise InputError("MP244", "no met serve after --, so there is nothing to run", where="--", accepted=accepted)
    if which(command[0].text, path=environ.get("PATH")) is None:
        name = command[0].text
        raise InputError("MP244", f"{name} is not a program that is found here", where=name, accepted="one on PATH")
    written: list[Token] = []
    for token in command:
        if token.text.startswith("@") and len(token.text) > 1:
            kept = read_file(token.text[1:])
            env = {**{name: value.text for name, value in kept.env}, **env}
            written += kept.serve
        else:
            written.append(token)
    start = program_start(written)
    if start is not None:
        parse_serve_args(written[start:])  # a file that names a checkpoint of its own would make a second one
    return Launch(tuple(token.text for token in written), env)


def wait_until_it_fits(
    assess: "Callable[[], Report]",
    seconds: float,
    *,
    progress: "Callable[[Report | None, float], None]",
    clock: Callable[[], float] | None = None,
    sleep: Callable[[float], None] | None = None,
) -> "Report":
    """The last report: the first that is not short of memory, or the one at the end of the time.

    It does not wait where waiting cannot help: memory that was stated or recorded, or a need above the device's total.

    Args:
        assess: makes one report, reading memory anew.
        progress: told of each report that is short, with the seconds left, and of None at the end.
    """
    import time

    clock, sleep = clock or time.monotonic, sleep or time.sleep
    end = clock() + seconds
    waited = False
    while True:
        report = assess()
        left = end - clock()
        if left <= 0 or not _may_come(report):
            if waited:
                progress(None, 0)
            return report
        progress(report, left)
        waited = True
        sleep(min(BETWEEN_READINGS, left))


def _may_come(report: "Report") -> bool:
    """Whether only memory that may still be released is missing."""
    verdict, memory = report.verdict, report.memory
    if verdict is None or verdict.fits is not False or verdict.need is None or memory is None:
        return False
    return memory.source == "live" and memory.total is not None and verdict.need <= memory.total


def _seconds(text: str) -> float:
    from metrale_plan.durations import ACCEPTED, parse_duration
    from metrale_plan.errors import InputError

    try:
        return parse_duration(text)
    except ValueError as error:
        raise InputError("MP211", f"--wait {error}", where="--wait", accepted=ACCEPTED) from None


def _progress(invocation: Invocation) -> "Callable[[Report | None, float], None]":
    """One line on a terminal, written over itself; nothing anywhere else."""
    err = invocation.stderr

    def tell(report: "Report | None", left: float) -> None:
        from metrale_plan.units import gib

        if not err.isatty() or invocation.json:
            return
        if report is None or report.verdict is None:
            err.write("\r\x1b[K")
        else:
            need, free = report.verdict.need or 0, report.verdict.free or 0
            err.write(f"\r\x1b[Kwaiting for memory: {gib(free)} free, {gib(need)} needed, {left:.0f} s left")
        err.flush()

    return tell


def _tell(invocation: Invocation, report: "Report", launch: Launch, go: bool) -> None:
    """What was found: on stdout when nothing is started, on stderr when stdout will be the serve's."""
    from metrale_plan.cli.output import emit, write_json, write_problems

    problems = [*report.warnings, *([report.error] if report.error is not None else [])]
    if invocation.json:
        from metrale_plan.render.json import document, envelope

        body = {"started": go, "command": list(launch.words), "env": dict(launch.env), "plan": document(report)}
        write_json(invocation, envelope("run", report.exit_code, report.warnings, report.error) | {"run": body})
    elif go:
        from metrale_plan.render.plain import plain
        from metrale_plan.render.plan import plan_sheet

        headline = plan_sheet(report)[:1]
        invocation.stderr.write(plain(headline, 1000) if headline else "")
        write_problems(invocation.stderr, problems)
    else:
        emit(invocation, report)


def _become(launch: Launch, invocation: Invocation) -> int:
    """Replace this process; returns an exit code, or raises, only where the system refuses to start it.

    Raises:
        InputError: MP244.
    """
    from metrale_plan.cli.output import write_problems
    from metrale_plan.errors import InputError

    invocation.stdout.flush()
    invocation.stderr.flush()
    try:
        os.execvpe(launch.words[0], launch.words, {**invocation.environ, **launch.env})
    except OSError as error:
        name = launch.words[0]
        failed = InputError("MP244", f"{name} cannot be started: {error.strerror}", where=name)
        if not invocation.json:
            raise failed from None
        write_problems(invocation.stderr, [failed.problem])  # stdout has its document already
        return failed.exit_code
