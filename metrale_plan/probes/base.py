"""What is asked of the machine, and the module it is asked through."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class RuntimeLike(Protocol):
    """The functions of cupy's CUDA runtime module that a memory reading calls, and no others.

    Each raises RuntimeError with an integer `status` when CUDA refuses.
    """

    def driverGetVersion(self) -> int: ...
    def runtimeGetVersion(self) -> int: ...
    def getDeviceCount(self) -> int: ...
    def getDeviceProperties(self, device: int) -> Mapping[str, object]: ...
    def deviceGetPCIBusId(self, device: int) -> str: ...
    def setDevice(self, device: int) -> None: ...
    def memGetInfo(self) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequest:
    """What to read.

    Attributes:
        ordinal: the GPU as CUDA numbers it, or None for every one.
        samples: memory readings per GPU, at least 1.
        over: seconds from the first to the last of them.
    """

    ordinal: int | None = 0
    samples: int = 3
    over: float = 0.0


_FOLDERS = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?(?:[/\\][^/\\\s:'\"()]+)+[/\\]")


def without_folders(text: str) -> str:
    """A message with its paths cut to file names: folders can name a user, and a reading is attached to reports."""
    # Where a path with spaces or quotes in it ends cannot be seen in a message, so the known ones go by their names.
    homes = {os.environ.get(name, "") for name in ("HOME", "USERPROFILE")}
    for folder in sorted({sys.prefix, sys.base_prefix, *homes, *sys.path}, key=len, reverse=True):
        if len(folder) > 1:
            text = text.replace(folder.rstrip("/\\") + os.sep, os.sep)
    for home in homes:
        if len(home) > 1:
            text = re.sub(re.escape(home) + r"(?![\w.-])", "~", text)
    return _FOLDERS.sub("", text)


def told(error: Exception) -> str:
    """What a failing call said: CUDA's and NVML's errors name themselves, anything else needs its kind."""
    if isinstance(getattr(error, "status", getattr(error, "value", None)), int):
        return str(error)
    kind = "" if isinstance(error, RuntimeError) else f"{type(error).__name__}: "
    return without_folders(f"{kind}{error}")
