"""What the plan needs to know of a GPU: plain values, whoever read them."""

from dataclasses import dataclass, field
from typing import Literal

MemorySource = Literal["live", "device", "flag", "recording", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSpec:
    """One GPU as the formulas see it.

    Attributes:
        id: bundled profile's id, or None for a device that matches none.
        hardware_class: the engine's class ("gb10", "hopper", "b200", "b300"), or None.
        total: total memory in bytes that the utilization applies to.
        sm_count: streaming multiprocessors.
        splitk: the class's split-K policy for decode attention, "legacy" or "auto".
        ffn_min_rows: the class's row threshold for a BF16 FFN weight in the arena; 0 for none.
        unified: whether host and device share one memory.
    """

    id: str | None
    hardware_class: str | None
    total: int
    sm_count: int
    splitk: str
    ffn_min_rows: int = 0
    unified: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReading:
    """Free and total device memory in bytes, or None where it could not be read, and where the figures came from."""

    source: MemorySource
    device: str | None
    free: int | None
    total: int | None
    unified: bool = False
    samples: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = field(default=())
