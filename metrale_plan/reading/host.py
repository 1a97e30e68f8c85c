"""What a host's memory figures leave for a GPU that shares it. Pure: kernel texts in, bytes out."""

from dataclasses import dataclass

from metrale_plan.reading.raw import CgroupLevel, HostRaw

UNLIMITED = 2**60
"""Version 1 writes a number near 2^63 where version 2 writes `max`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoom:
    """Bytes of host memory; None where a figure is not there.

    Attributes:
        available: MemAvailable.
        cgroup_room: what the tightest control group leaves, or None without a limit.
        limit: that group's limit.
    """

    available: int | None
    cgroup_room: int | None = None
    limit: int | None = None

    @property
    def free(self) -> int | None:
        """MemAvailable, lowered by the control group's room."""
        if self.available is None or self.cgroup_room is None:
            return self.available
        return min(self.available, self.cgroup_room)


def host_room(host: HostRaw) -> HostRoom:
    """What the host leaves, the tightest control group counted."""
    limits = [(room, limit) for room, limit in map(group_room, host.cgroups) if room is not None]
    room, limit = min(limits, key=lambda pair: pair[0]) if limits else (None, None)
    return HostRoom(available=meminfo_bytes(host, "MemAvailable"), cgroup_room=room, limit=limit)


def group_room(level: CgroupLevel) -> tuple[int | None, int | None]:
    """(room, limit) of one control group: limit - (current - inactive file); (None, None) without a limit.

    File pages that nobody uses are given up before the limit is, so they count as room.
    """
    limit, current, inactive = (_whole(text) for text in (level.limit, level.current, level.inactive_file or "0"))
    if limit is None or limit >= UNLIMITED or current is None:
        return None, None
    return max(limit - max(current - (inactive or 0), 0), 0), limit


def meminfo_bytes(host: HostRaw, key: str) -> int | None:
    """A key of /proc/meminfo in bytes, `127600748 kB` being KiB whatever it says; None where it is absent or odd."""
    number, _, unit = host.meminfo.get(key, "").strip().partition(" ")
    value = _whole(number)
    if value is None or unit not in ("", "kB"):
        return None
    return value * 1024 if unit else value


def hugepage_bytes(host: HostRaw) -> tuple[int, int] | None:
    """(reserved, free) bytes of the huge page pool, or None without one; MemAvailable leaves the pool out."""
    total, free = (_whole(host.meminfo.get(key, "").strip()) for key in ("HugePages_Total", "HugePages_Free"))
    size = meminfo_bytes(host, "Hugepagesize")
    return (total * size, (free or 0) * size) if total and size else None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 30 else None
