"""Which tests this machine can run: those over real cupy, a real GPU and git are left out by count, never quietly."""

import shutil
from importlib.util import find_spec

import pytest
from hypothesis import settings

settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")

NEEDED = {"cupy": "cupy_backends", "nvidia-ml-py": "pynvml"}
left_out = pytest.StashKey[dict[str, tuple[int, str]]]()
live_gpu = pytest.StashKey[str]()


def lacking() -> str | None:
    """What the tests over real cupy lack here."""
    missing = [name for name, module in NEEDED.items() if find_spec(module) is None]
    missing += [] if shutil.which("cc") else ["a C compiler"]
    return ", ".join(missing) or None


def no_gpu(lacks: str | None) -> str | None:
    """Why no GPU can be read here."""
    if lacks is not None:
        return f"lacking {lacks}"
    from metrale_plan.probes.base import ProbeRequest
    from metrale_plan.probes.live import read_in_child
    from metrale_plan.reading import judge_reading

    failure = judge_reading(read_in_child(ProbeRequest(samples=1)), 0).failure
    return None if failure is None else failure.problem.message


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take out what cannot run, and remember how much and why."""
    lacks = lacking()
    reasons = {
        "cupy": None if lacks is None else f"lacking {lacks}",
        "git": None if shutil.which("git") else "lacking git",
    }
    if any(item.get_closest_marker("gpu") for item in items):
        reasons["gpu"] = no_gpu(lacks)
        config.stash[live_gpu] = f"not read: {reasons['gpu']}" if reasons["gpu"] else "read"
    config.stash[left_out] = {}
    for marker, reason in reasons.items():
        if reason is None:
            continue
        out = [item for item in items if item.get_closest_marker(marker)]
        items[:] = [item for item in items if not item.get_closest_marker(marker)]
        if out:
            config.hook.pytest_deselected(items=out)
            config.stash[left_out][marker] = (len(out), reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out, and whether a live GPU was read."""
    for marker, (count, reason) in config.stash.get(left_out, {}).items():
        terminalreporter.write_line(f"not run: {count} marked {marker}, {reason}")
    if live_gpu in config.stash:
        terminalreporter.write_line(f"live GPU: {config.stash[live_gpu]}")
