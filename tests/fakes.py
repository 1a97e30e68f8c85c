"""Stand-ins for the modules behind the door: a CUDA runtime and NVML, each with nothing but what is called."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


class FakeCudaError(RuntimeError):
    """As cupy's: a RuntimeError with a status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


DISCRETE: Mapping[str, object] = {
    "name": b"NVIDIA H100 80GB HBM3",
    "uuid": bytes(range(1, 17)),
    "totalGlobalMem": 84_929_740_800,
    "major": 9,
    "minor": 0,
    "multiProcessorCount": 132,
    "integrated": 0,
    "computeMode": 0,
    "luid": b"private",
    "maxGridSize": (1, 2, 3),
}


@dataclass
class FakeRuntime:
    """A machine of GPUs by ordinal: their properties, what memGetInfo says in turn, and what fails by call."""

    devices: list[Mapping[str, object]] = field(default_factory=lambda: [DISCRETE])
    memory: list[tuple[int, int]] = field(default_factory=lambda: [(70 * 2**30, 84_929_740_800)])
    failing: dict[str, FakeCudaError] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name in self.failing:
            raise self.failing[name]

    def driverGetVersion(self) -> int:
        self._called("driverGetVersion")
        return 12090

    def runtimeGetVersion(self) -> int:
        self._called("runtimeGetVersion")
        return 12090

    def getDeviceCount(self) -> int:
        self._called("getDeviceCount")
        return len(self.devices)

    def getDeviceProperties(self, device: int) -> Mapping[str, object]:
        self._called("getDeviceProperties")
        if not 0 <= device < len(self.devices):
            raise FakeCudaError(101, "cudaErrorInvalidDevice: invalid device ordinal")
        return self.devices[device]

    def deviceGetPCIBusId(self, device: int) -> str:
        self._called("deviceGetPCIBusId")
        return f"0000:{device + 1:02x}:00.0"

    def setDevice(self, device: int) -> None:
        self._called(f"setDevice {device}")
        if "setDevice" in self.failing:
            raise self.failing["setDevice"]

    def memGetInfo(self) -> tuple[int, int]:
        self._called("memGetInfo")
        taken = self.calls.count("memGetInfo") - 1
        if "memGetInfo after one" in self.failing and taken:
            raise self.failing["memGetInfo after one"]
        return self.memory[min(taken, len(self.memory) - 1)]


class FakeNvmlError(Exception):
    """As nvidia-ml-py's: an exception with a value."""

    def __init__(self, value: int, text: str) -> None:
        super().__init__(text)
        self.value = value


def refusing(value: int, text: str) -> Callable[..., Any]:
    """An NVML function that always fails."""

    def call(*_: object) -> Any:
        raise FakeNvmlError(value, text)

    return call


def process(pid: int, size: int | None) -> SimpleNamespace:
    """A row of NVML's process list."""
    return SimpleNamespace(pid=pid, usedGpuMemory=size)


def fake_nvml(**replaced: Callable[..., Any]) -> SimpleNamespace:
    """NVML with one whole GPU, each function replaceable by name."""
    functions: dict[str, Callable[..., Any]] = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: "575.57.08",
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: f"gpu{index}",
        "nvmlDeviceGetUUID": lambda _: "GPU-01020304-0506-0708-090a-0b0c0d0e0f10",
        "nvmlDeviceGetName": lambda _: b"NVIDIA H100 80GB HBM3",
        "nvmlDeviceGetPciInfo": lambda _: SimpleNamespace(busId=b"00000000:01:00.0"),
        "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(total=100, used=40, free=60),
        "nvmlDeviceGetMigMode": lambda _: (0, 0),
        "nvmlDeviceGetMaxMigDeviceCount": lambda _: 0,
        "nvmlDeviceGetMigDeviceHandleByIndex": refusing(6, "Not Found"),
        "nvmlDeviceGetComputeRunningProcesses": lambda _: [process(5, 30), process(6, None)],
        "nvmlDeviceGetGraphicsRunningProcesses": lambda _: [process(5, 10), process(7, 2**64 - 1)],
        "nvmlSystemGetProcessName": lambda pid: f"/home/alice/bin/serve-{pid} --key secret",
    }
    return SimpleNamespace(NVMLError=FakeNvmlError, **{**functions, **replaced})
