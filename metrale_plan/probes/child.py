"""The live reading in a child process: its CUDA context goes with it, and a driver that hangs or crashes too."""

import json
import subprocess
import sys

from metrale_plan.probes.base import ProbeRequest, without_folders
from metrale_plan.reading.raw import Failure, RawReading

CODE = """\
import json, sys
request = json.loads(sys.argv[1])
sys.path[:] = request.pop("path")
from metrale_plan.probes.child import main
main(request)
"""
"""The child finds modules where its parent does, wherever it was started."""


def read_in_child(request: ProbeRequest, timeout: float, code: str = CODE) -> RawReading:
    """`read_live` in a child; a child that hangs, dies or prints nothing readable becomes the reading's failure.

    Args:
        timeout: seconds for everything beyond the time that the samples are spread over.
    """
    from metrale_plan.errors import InputError
    from metrale_plan.probes.recording import parsed

    argument = {"ordinal": request.ordinal, "samples": request.samples, "over": request.over, "path": sys.path}
    command = [sys.executable, "-P", "-c", code, json.dumps(argument)]
    limit = timeout + request.over
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=limit
        )
    except subprocess.TimeoutExpired:
        return _failed(f"the driver did not answer within {limit:g} s")
    except OSError as error:
        return _failed(f"no child process could be started: {error.strerror}")
    if done.returncode != 0:
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        last = done.stderr.strip().rpartition("\n")[2]
        return _failed(f"the reading ended with {how}" + (f": {without_folders(last)}" if last else ""))
    try:
        raw = parsed(done.stdout, "the reading")
    except InputError as error:
        return _failed(str(error))
    from dataclasses import replace

    return replace(raw, origin="live")


def _failed(text: str) -> RawReading:
    return RawReading(failure=Failure(call="child", text=text))


def main(request: dict[str, int | float | None]) -> None:
    """The child's part: read, and print the recording."""
    from metrale_plan.probes.live import read_live
    from metrale_plan.probes.recording import dumped

    ordinal, samples, over = request["ordinal"], request["samples"], request["over"]
    asked = ProbeRequest(
        ordinal=None if ordinal is None else int(ordinal), samples=int(samples or 1), over=float(over or 0)
    )
    sys.stdout.write(dumped(read_live(asked)))
