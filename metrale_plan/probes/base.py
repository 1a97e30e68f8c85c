"""What is asked of the machine, and the module it is asked through."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class RuntimeLike(Protocol):
    """The functions of cupy's CUDA runtime module that a memory reading calls, and no others.

    Each raises RuntimeError with an integer `status` when CUDA refuses.
    """

    def driverGetVersion(self) -> int: ...  # noqa: N802
    def runtimeGetVersion(self) -> int: ...  # noqa: N802
    def getDeviceCount(self) -> int: ...  # noqa: N802
    def getDeviceProperties(self, device: int) -> Mapping[str, object]: ...  # noqa: N802
    def deviceGetPCIBusId(self, device: int) -> str: ...  # noqa: N802
    def setDevice(self, device: int) -> None: ...  # noqa: N802
    def memGetInfo(self) -> tuple[int, int]: ...  # noqa: N802


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
