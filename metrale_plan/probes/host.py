"""Host memory as the kernel's files tell it: /proc/meminfo, the control groups of either version, WSL."""

from collections.abc import Iterator
from pathlib import Path

from metrale_plan.reading.raw import CgroupLevel, Failure, HostRaw

MEMINFO_KEYS = frozenset(
    {
        "MemTotal",
        "MemFree",
        "MemAvailable",
        "Cached",
        "SwapTotal",
        "SwapFree",
        "HugePages_Total",
        "HugePages_Free",
        "Hugepagesize",
        "NvMapMemUsed",
    }
)
"""Keys worth keeping; the others say nothing about room for a GPU."""

V1_FILES = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
V2_FILES = ("memory.max", "memory.current", "inactive_file")


def read_host(root: Path = Path("/")) -> HostRaw:
    """Host memory of the machine below `root`; a file that cannot be read becomes a failure, not an error."""
    failures: list[Failure] = []
    meminfo = _lines(root / "proc/meminfo", failures)
    values = {key: value.strip() for key, _, value in (line.partition(":") for line in meminfo) if key in MEMINFO_KEYS}
    release = "".join(_lines(root / "proc/sys/kernel/osrelease", []))
    return HostRaw(
        meminfo=values,
        cgroups=tuple(_cgroups(root, failures)),
        wsl="microsoft" in release.lower(),
        failures=tuple(failures),
    )


def _cgroups(root: Path, failures: list[Failure]) -> Iterator[CgroupLevel]:
    """The levels that hold this process, innermost first; a container may see only its own, as the root."""
    for line in _lines(root / "proc/self/cgroup", failures):
        hierarchy, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "memory" in controllers.split(","):
            yield from _levels(root / "sys/fs/cgroup/memory", path, 1, V1_FILES, failures)
        elif hierarchy == "0" and not controllers:
            mount = root / "sys/fs/cgroup"
            unified = mount / "unified"
            yield from _levels(unified if unified.is_dir() else mount, path, 2, V2_FILES, failures)


def _levels(
    mount: Path, path: str, version: int, files: tuple[str, str, str], failures: list[Failure]
) -> Iterator[CgroupLevel]:
    limit_file, current_file, stat_key = files
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for depth in range(len(parts), -1, -1):
        folder = mount.joinpath(*parts[:depth])
        limit = _lines(folder / limit_file, [])
        current = _lines(folder / current_file, failures if limit else [])
        if not limit or not current:
            continue
        stat = dict(line.partition(" ")[::2] for line in _lines(folder / "memory.stat", []))
        yield CgroupLevel(
            version=version, limit=limit[0].strip(), current=current[0].strip(), inactive_file=stat.get(stat_key)
        )


def _lines(path: Path, failures: list[Failure]) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        failures.append(Failure(call=path.name, text=error.strerror or type(error).__name__))
        return []
