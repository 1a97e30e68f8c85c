"""Raw readings: what each source said, as plain values that a file can hold and a pure rule can judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FORMAT = "metrale-plan-probe/1"
"""Version of the shape of a recording."""

Origin = Literal["live", "recording"]
Raw = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A call that gave nothing.

    Attributes:
        call: the function, module or file.
        status: CUDA's or NVML's number, or None where the failure has none.
        text: what it said.
    """

    call: str
    text: str
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupLevel:
    """Memory figures of one control group, as its files spell them; None for a file that is not there.

    Attributes:
        limit: `memory.max` or `memory.limit_in_bytes`: bytes, or "max".
        current: `memory.current` or `memory.usage_in_bytes`.
        inactive_file: that key of `memory.stat` (version 1: with the groups below it).
    """

    version: int
    limit: str
    current: str
    inactive_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRaw:
    """Host memory: /proc/meminfo's values by key, as spelled there, and the control groups, innermost first."""

    meminfo: Mapping[str, str] = field(default_factory=dict)
    cgroups: tuple[CgroupLevel, ...] = ()
    wsl: bool = False
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One reading of CUDA's free and total bytes, and on an integrated GPU the host's figures right beside it."""

    free: int
    total: int
    host: HostRaw | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaDevice:
    """One GPU by CUDA's numbering.

    Attributes:
        properties: what the runtime says of it: names as text, `uuid` in hex, the rest whole numbers.
        samples: memory readings; empty when none was asked for or none succeeded.
    """

    ordinal: int
    properties: Mapping[str, Raw] = field(default_factory=dict)
    pci_bus_id: str | None = None
    samples: tuple[Sample, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaRaw:
    """What cupy's runtime module said.

    Attributes:
        module: the module that answered, or None when none could be imported.
        driver_version, runtime_version: CUDA's, as 1000 x major + 10 x minor; 0 for no driver.
        failure: what kept every device from being read.
    """

    module: str | None = None
    driver_version: int | None = None
    runtime_version: int | None = None
    device_count: int | None = None
    devices: tuple[CudaDevice, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlProcess:
    """A process that holds device memory; `bytes` is None where NVML does not say how much."""

    pid: int
    name: str | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlDevice:
    """One GPU, or one MIG slice of it, by NVML's numbering, which is not CUDA's.

    Attributes:
        index: NVML's own; a slice has its GPU's.
        mig: "slice" for a MIG slice, "parent" for a GPU that is cut into slices, else None.
        free_before: free bytes before this program had a context there; the other figures are from afterwards.
    """

    index: int
    uuid: str | None = None
    pci_bus_id: str | None = None
    name: str | None = None
    mig: Literal["slice", "parent"] | None = None
    total: int | None = None
    used: int | None = None
    free: int | None = None
    free_before: int | None = None
    processes: tuple[NvmlProcess, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlRaw:
    """What NVML said; `failure` is what kept it from saying anything."""

    driver_version: str | None = None
    devices: tuple[NvmlDevice, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReading:
    """Everything one reading found, before any rule is applied to it.

    Attributes:
        origin: "recording" for one that comes out of a file, whatever the file says.
        read_at: UTC, ISO 8601.
        metrale_plan, python, system: versions of the reader, its interpreter and platform; nothing that names a host.
        own_pid: the process that read, so that its own context is not taken for somebody else's.
        environment: the CUDA_* variables that number and hide devices.
        packages: installed distributions that provide cupy, "name version".
        failure: what kept the reading as a whole from ending, in a child process.
    """

    format: str = FORMAT
    origin: Origin = "live"
    read_at: str | None = None
    metrale_plan: str | None = None
    python: str | None = None
    system: str | None = None
    own_pid: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    cuda: CudaRaw = field(default_factory=CudaRaw)
    nvml: NvmlRaw = field(default_factory=NvmlRaw)
    host: HostRaw = field(default_factory=HostRaw)
    failure: Failure | None = None
