"""The live reading of one GPU through cupy's CUDA runtime module, which needs neither cupy itself nor numpy."""

from types import ModuleType
from typing import Any

from metrale_plan.device import DeviceSpec, MemoryReading
from metrale_plan.errors import CannotTell

INSTEAD = "--device ID for a bundled profile, or --free-memory SIZE with --total-memory SIZE"

NO_DRIVER_OR_TOO_OLD, NO_DEVICE, BAD_ORDINAL, FULL = 35, 100, 101, 2


def runtime_module() -> ModuleType:
    """cupy's runtime bindings.

    Raises:
        CannotTell: cupy is not installed.
    """
    try:
        from cupy_backends.cuda.api import runtime
    except ImportError:
        raise CannotTell(
            "MP301",
            "free memory cannot be read: cupy is not installed",
            accepted=f"pip install 'metrale-plan[cuda12]' (or [cuda13]), {INSTEAD}",
        ) from None
    module: ModuleType = runtime
    return module


def read_live(ordinal: int) -> tuple[DeviceSpec, MemoryReading]:
    """Device and memory of the GPU that CUDA numbers `ordinal`; free is what is left beside one bare context.

    Raises:
        CannotTell: no cupy, no driver, no device, or a failing call; the message names which.
    """
    runtime: Any = runtime_module()
    try:
        facts = runtime.getDeviceProperties(ordinal)
        runtime.setDevice(ordinal)
        samples = tuple(tuple(int(n) for n in runtime.memGetInfo()) for _ in range(3))
    except RuntimeError as error:
        raise _explained(runtime, error, ordinal) from None
    name = facts["name"].decode("utf-8", "replace")
    free, total = min(free for free, _ in samples), samples[0][1]
    unified = bool(facts.get("integrated", 0))
    spec = DeviceSpec(
        id=None,
        hardware_class=None,
        total=total,
        sm_count=int(facts["multiProcessorCount"]),
        splitk="legacy",
        unified=unified,
    )
    reading = MemoryReading(
        source="live",
        device=name,
        free=free,
        total=total,
        unified=unified,
        samples=tuple((f, t) for f, t in samples),
    )
    return spec, reading


def _explained(runtime: Any, error: RuntimeError, ordinal: int) -> CannotTell:
    status = getattr(error, "status", None)
    if status == NO_DRIVER_OR_TOO_OLD:
        driver = runtime.driverGetVersion()
        if driver == 0:
            return CannotTell("MP302", "free memory cannot be read: no NVIDIA driver is visible", accepted=INSTEAD)
        return CannotTell(
            "MP302",
            "free memory cannot be read: the driver is too old, it supports CUDA "
            f"{driver // 1000}.{driver % 1000 // 10}",
            accepted=INSTEAD,
        )
    if status == NO_DEVICE:
        return CannotTell("MP303", "free memory cannot be read: the driver shows no GPU", accepted=INSTEAD)
    if status == BAD_ORDINAL:
        return CannotTell(
            "MP303",
            f"there is no GPU with ordinal {ordinal}",
            where="--gpu-ordinal",
            accepted="an ordinal that CUDA shows",
        )
    return CannotTell("MP304", f"free memory cannot be read: {error}", accepted=INSTEAD)
