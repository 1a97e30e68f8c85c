"""NVML, where nvidia-ml-py is installed: who holds the memory, and its own figures. It never fails a reading.

NVML counts GPUs by PCI id and CUDA does not, so a device here is joined to CUDA's by UUID or PCI id only.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from metrale_plan.probes.base import told
from metrale_plan.reading.raw import Failure, NvmlDevice, NvmlProcess, NvmlRaw

NOT_TOLD = 2**64 - 1
"""What NVML writes where the system does not tell it a process's memory."""


USER_FOLDERS = ("home", "users")
"""What lies right in these is a user."""


class Nvml:
    """An open NVML session over the module given; every call that fails becomes a Failure."""

    def __init__(self, module: Any) -> None:
        self._module = module

    @classmethod
    def opened(cls) -> "Nvml | Failure":
        """A session, or why there is none: nvidia-ml-py absent, or a driver library that does not answer."""
        try:
            module = import_module("pynvml")
        except ImportError:
            return Failure(call="import", text="nvidia-ml-py is not installed")
        except Exception as error:  # another package of that name, or a half-removed one
            return _failure("import", error)
        return cls.over(module)

    @classmethod
    def over(cls, module: Any) -> "Nvml | Failure":
        """A session over `module`, or why it does not start."""
        try:
            module.nvmlInit()
        except Exception as error:
            return _failure("nvmlInit", error)
        return cls(module)

    def close(self) -> None:
        """End the session."""
        with suppress(Exception):
            self._module.nvmlShutdown()

    def free_now(self) -> dict[int, int]:
        """Free bytes by NVML index, where it tells."""
        found: dict[int, int] = {}
        for index in range(self._count([])):
            memory = self._ask("nvmlDeviceGetMemoryInfo", [], self._handle(index, []))
            if memory is not None:
                found[index] = int(memory.free)
        return found

    def read(self, before: dict[int, int]) -> NvmlRaw:
        """Every GPU and MIG slice, `before` being what `free_now` said before this process had a context."""
        problems: list[Failure] = []
        version = self._ask("nvmlSystemGetDriverVersion", problems)
        devices: list[NvmlDevice] = []
        for index in range(self._count(problems)):
            handle = self._handle(index, problems)
            if handle is None:
                continue
            mode = self._ask("nvmlDeviceGetMigMode", [], handle)
            cut = bool(mode and mode[0])
            devices.append(self._device(index, handle, before.get(index), "parent" if cut else None))
            if cut:
                devices += self._slices(index, handle)
        return NvmlRaw(
            driver_version=None if version is None else _text(version),
            devices=tuple(devices),
            failure=problems[0] if problems else None,
        )

    def _device(self, index: int, handle: Any, before: int | None, mig: Any) -> NvmlDevice:
        failures: list[Failure] = []
        uuid = self._ask("nvmlDeviceGetUUID", failures, handle)
        pci = None if mig == "slice" else self._ask("nvmlDeviceGetPciInfo", failures, handle)
        name = self._ask("nvmlDeviceGetName", failures, handle)
        memory = self._ask("nvmlDeviceGetMemoryInfo", failures, handle)
        return NvmlDevice(
            index=index,
            uuid=None if uuid is None else _text(uuid),
            pci_bus_id=None if pci is None else _text(pci.busId),
            name=None if name is None else _text(name),
            mig=mig,
            total=None if memory is None else int(memory.total),
            used=None if memory is None else int(memory.used),
            free=None if memory is None else int(memory.free),
            free_before=before,
            processes=tuple(self._processes(handle, failures)),
            failures=tuple(failures),
        )

    def _slices(self, index: int, handle: Any) -> Iterator[NvmlDevice]:
        for number in range(self._ask("nvmlDeviceGetMaxMigDeviceCount", [], handle) or 0):
            part = self._ask("nvmlDeviceGetMigDeviceHandleByIndex", [], handle, number)
            if part is not None:
                yield self._device(index, part, None, "slice")

    def _processes(self, handle: Any, failures: list[Failure]) -> Iterator[NvmlProcess]:
        held: dict[int, int | None] = {}
        for call in ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses"):
            for entry in self._ask(call, failures, handle) or ():
                pid, size = int(entry.pid), entry.usedGpuMemory
                known = held.setdefault(pid, None)
                if size is not None and size < NOT_TOLD:
                    held[pid] = max(int(size), known or 0)
        for pid, size in held.items():
            yield NvmlProcess(pid=pid, name=self._process_name(pid), bytes=size)

    def _process_name(self, pid: int) -> str | None:
        """The program's file name alone: its folders and arguments can name a user."""
        said = self._ask("nvmlSystemGetProcessName", [], pid)
        words = "" if said is None else _text(said).strip().partition(" ")[0]
        path: PurePosixPath | PureWindowsPath = PureWindowsPath(words) if "\\" in words else PurePosixPath(words)
        # A folder with a space in its name ends the word early: /home/alice smith/bin/serve must not give alice.
        return None if path.parent.name.casefold() in USER_FOLDERS else path.name or None

    def _count(self, failures: list[Failure]) -> int:
        return int(self._ask("nvmlDeviceGetCount", failures) or 0)

    def _handle(self, index: int, failures: list[Failure]) -> Any:
        return self._ask("nvmlDeviceGetHandleByIndex", failures, index)

    def _ask(self, call: str, failures: list[Failure], *arguments: Any) -> Any:
        function: Callable[..., Any] | None = getattr(self._module, call, None)
        if function is None:
            failures.append(Failure(call=call, text="this nvidia-ml-py lacks it"))
            return None
        if None in arguments:
            return None
        try:
            return function(*arguments)
        except Exception as error:  # NVMLError, and what the module itself trips over: a name that is no UTF-8, say
            failures.append(_failure(call, error))
            return None


def _failure(call: str, error: Exception) -> Failure:
    value = getattr(error, "value", None)
    return Failure(call=call, text=told(error), status=value if isinstance(value, int) else None)


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
