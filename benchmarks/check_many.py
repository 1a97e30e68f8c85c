"""What `check` costs per config as their number grows, with one process and with several.

    python benchmarks/check_many.py [COUNT...]

Writes that many copies of the test recipes to a temporary folder and runs the program on them, start-up included.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
COUNTS = (1, 10, 100, 400, 1000, 3000)
RUNS = 3


def spread(folder: Path, count: int) -> None:
    """`count` recipes, each a file of its own."""
    recipes = [path.read_bytes() for path in sorted((ROOT / "tests" / "data" / "recipes").glob("*.yaml"))]
    for index in range(count):
        (folder / f"{index:05}.yaml").write_bytes(recipes[index % len(recipes)])


def seconds(folder: Path, *arguments: str) -> float:
    """The best of a few runs."""
    command = [
        sys.executable,
        "-m",
        "metrale_plan",
        "check",
        str(folder),
        "--no-config",
        "--format",
        "json",
        *arguments,
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Print a row per number of configs."""
    counts = [int(word) for word in sys.argv[1:]] or COUNTS
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    print(f"{cores} cores; best of {RUNS} runs, start-up included")
    print(f"{'configs':>8} {'as decided':>12} {'per config':>12} {'one process':>12} {'two':>12}")
    for count in counts:
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            spread(folder, count)
            decided, one, two = (seconds(folder, *jobs) for jobs in ((), ("--jobs", "1"), ("--jobs", "2")))
        print(f"{count:>8} {decided:>10.2f} s {decided / count * 1000:>9.1f} ms {one:>10.2f} s {two:>10.2f} s")


if __name__ == "__main__":
    main()
