"""The CUDA reading: an adapter over cupy's runtime module, which needs neither cupy itself nor numpy."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import cast

from metrale_plan.probes.base import ProbeRequest, RuntimeLike, told, without_folders
from metrale_plan.reading.raw import CudaDevice, CudaRaw, Failure, HostRaw, Raw, Sample

MODULES = ("cupy_backends.cuda.api.runtime", "cupy.cuda.runtime")
"""Where the runtime functions are, cheapest first: the second is the documented name, and imports all of cupy."""

PROPERTIES = (
    "name",
    "uuid",
    "totalGlobalMem",
    "major",
    "minor",
    "multiProcessorCount",
    "integrated",
    "computeMode",
    "pciDomainID",
    "pciBusID",
    "pciDeviceID",
    "ECCEnabled",
    "tccDriver",
    "unifiedAddressing",
    "managedMemory",
    "concurrentManagedAccess",
    "pageableMemoryAccess",
    "pageableMemoryAccessUsesHostPageTables",
)
"""What is kept of a device's properties."""

EXCLUSIVE_PROCESS, PROHIBITED = 3, 2
"""Compute modes: one process at a time, and none at all."""

Sleep = Callable[[float], None]


def runtime_module() -> tuple[str, RuntimeLike] | Failure:
    """cupy's runtime module with its name, or why there is none."""
    said: list[str] = []
    for name in MODULES:
        try:
            return name, cast(RuntimeLike, import_module(name))
        except ImportError as error:
            said.append(f"{name}: {error}")
        except Exception as error:  # a half-removed or mismatched install fails in any way it likes
            said.append(f"{name}: {type(error).__name__}: {error}")
    return Failure(call="import", text=without_folders("; ".join(dict.fromkeys(said))))


def read_cuda(
    module: str, runtime: RuntimeLike, request: ProbeRequest, host: Callable[[], HostRaw], sleep: Sleep
) -> CudaRaw:
    """What the runtime says of the GPUs asked for. Reading memory creates a context there, properties do not."""
    try:
        driver, own = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    except Exception as error:
        return CudaRaw(module=module, failure=_failure("driverGetVersion", error))
    try:
        count = runtime.getDeviceCount()
    except Exception as error:
        failure = _failure("getDeviceCount", error)
        return CudaRaw(module=module, driver_version=driver, runtime_version=own, failure=failure)
    # An ordinal beyond them is not asked about: one that C cannot hold would not even fail as CUDA does.
    ordinals = [ordinal for ordinal in range(count) if request.ordinal in (None, ordinal)]
    devices = tuple(read_device(runtime, ordinal, request, host, sleep) for ordinal in ordinals)
    return CudaRaw(module=module, driver_version=driver, runtime_version=own, device_count=count, devices=devices)


def read_device(
    runtime: RuntimeLike, ordinal: int, request: ProbeRequest, host: Callable[[], HostRaw], sleep: Sleep
) -> CudaDevice:
    """One GPU: its properties, then its memory unless its compute mode forbids a context."""
    try:
        properties = kept(runtime.getDeviceProperties(ordinal))
    except Exception as error:
        return CudaDevice(ordinal=ordinal, failures=(_failure("getDeviceProperties", error),))
    failures: list[Failure] = []
    pci: str | None = None
    try:
        pci = runtime.deviceGetPCIBusId(ordinal)
    except Exception as error:
        failures.append(_failure("deviceGetPCIBusId", error))
    samples: list[Sample] = []
    if properties.get("computeMode") == PROHIBITED:
        failures.append(Failure(call="memGetInfo", text="the compute mode prohibits every context"))
    else:
        _sample(runtime, ordinal, properties, request, host, sleep, samples, failures)
    return CudaDevice(
        ordinal=ordinal, properties=properties, pci_bus_id=pci, samples=tuple(samples), failures=tuple(failures)
    )


def _sample(
    runtime: RuntimeLike,
    ordinal: int,
    properties: Mapping[str, Raw],
    request: ProbeRequest,
    host: Callable[[], HostRaw],
    sleep: Sleep,
    samples: list[Sample],
    failures: list[Failure],
) -> None:
    # Where only one process may have a context, hold it no longer than one reading takes.
    wanted = 1 if properties.get("computeMode") == EXCLUSIVE_PROCESS else max(request.samples, 1)
    pause = request.over / (wanted - 1) if wanted > 1 else 0.0
    call = "setDevice"
    try:
        runtime.setDevice(ordinal)
        call = "memGetInfo"
        for number in range(wanted):
            if number and pause:
                sleep(pause)
            free, total = runtime.memGetInfo()
            samples.append(Sample(free=int(free), total=int(total), host=host() if properties["integrated"] else None))
    except Exception as error:
        failures.append(_failure(call, error))


def kept(properties: Mapping[str, object]) -> dict[str, Raw]:
    """The properties worth keeping, as whole numbers and text; an absent `integrated` is 0."""
    return {"integrated": 0} | dict(_kept(properties))


def _kept(properties: Mapping[str, object]) -> Iterator[tuple[str, Raw]]:
    for key in PROPERTIES:
        value = properties.get(key)
        if isinstance(value, bytes):
            yield key, value.hex() if key == "uuid" else value.decode("utf-8", "replace")
        elif isinstance(value, str | int):
            yield key, int(value) if isinstance(value, bool) else value


def _failure(call: str, error: Exception) -> Failure:
    """CUDA's errors carry a status; a cupy that is half there fails in any way it likes."""
    status = getattr(error, "status", None)
    return Failure(call=call, text=told(error), status=status if isinstance(status, int) else None)
