"""What a command costs to start, as a ratio to `python -c pass` in the same run.

`python benchmarks/startup.py [SCRIPT]` runs each command in turn with the bare interpreter, so that a change of the
machine's speed touches both, and prints CPU time (user + system) and wall time: median, and the ratio of medians.
SCRIPT is the console script to measure; left out, the one beside this interpreter. Measure an installed wheel: an
editable install whose bytecode is not kept is compiled anew on every start.
"""

import os
import statistics
import sys
import time
from pathlib import Path

RUNS = 15
COMMANDS = {
    "--version": ["--version"],
    "explain-ladder": ["explain-ladder"],
    "explain-ladder of a model": ["explain-ladder", "qwen3.8-27b"],
    "plan, JSON": ["plan", "qwen3.8-27b", "--speculative", "--format", "json"],
    "preflight": ["preflight", "qwen3.8-27b", "--speculative", "--device", "gb10"],
    "preflight of a pasted line": [
        "preflight", "--device", "gb10", "--", "met", "serve", "unsloth/Qwen3.8-27B-NVFP4", "--speculative",
    ],
    "preflight --help": ["preflight", "--help"],
}  # fmt: skip


def once(argv: list[str]) -> tuple[float, float]:
    """CPU and wall seconds of one whole process."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    started = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, environ, file_actions=quiet)
    usage = os.wait4(pid, 0)[2]
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started


def main() -> None:
    """Print one row a command."""
    script = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).parent / "metrale-plan")
    cases = {"python -c pass": [sys.executable, "-c", "pass"]}
    cases |= {name: [script, *argv] for name, argv in COMMANDS.items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for argv in cases.values():
        once(argv)
    for _ in range(RUNS):
        for name, argv in cases.items():
            times[name].append(once(argv))
    bare = [statistics.median(column) for column in zip(*times["python -c pass"], strict=True)]
    print(f"{'command':30}{'CPU ms':>9}{'x pass':>8}{'wall ms':>9}{'x pass':>8}")
    for name, rows in times.items():
        cpu, wall = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name:30}{cpu * 1e3:9.0f}{cpu / bare[0]:8.1f}{wall * 1e3:9.0f}{wall / bare[1]:8.1f}")


if __name__ == "__main__":
    main()
