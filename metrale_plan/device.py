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


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds device memory; `bytes` is None where the driver does not say how much."""

    pid: int
    name: str | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """What one source said, in a sentence, and whether it gave what it was asked for."""

    source: str
    answered: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingDetail:
    """What a live or recorded reading knows beyond free and total. Sizes are bytes; None is not known.

    Attributes:
        ordinal: CUDA's number for the GPU, as `--gpu-ordinal` takes it.
        compute_capability: "major.minor".
        driver_free: the lowest free figure of the driver itself.
        host_available: the lowest MemAvailable, read only where host and device share one memory.
        cgroup_room: what the tightest control group leaves.
        context_bytes: what creating the reader's own CUDA context took; it is already out of `driver_free`.
        holders: other processes with memory there, largest first.
        sources: every source asked, with its answer.
        read_at: UTC, ISO 8601.
    """

    ordinal: int
    uuid: str | None = None
    pci_bus_id: str | None = None
    compute_capability: str | None = None
    sm_count: int | None = None
    driver_free: int | None = None
    host_available: int | None = None
    cgroup_room: int | None = None
    context_bytes: int | None = None
    holders: tuple[Holder, ...] = ()
    sources: tuple[SourceAnswer, ...] = ()
    read_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReading:
    """Free and total device memory in bytes, or None where it could not be read, and where the figures came from.

    Attributes:
        free: before the floor is thought of.
        samples: (free, total) of each sample, by the same rule as `free`, which is their lowest.
        floor: bytes that should stay free where host and device share one memory, or None where that does not apply.
    """

    source: MemorySource
    device: str | None
    free: int | None
    total: int | None
    unified: bool = False
    samples: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = field(default=())
    floor: int | None = None
    detail: ReadingDetail | None = None
