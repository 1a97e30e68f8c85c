"""The screen and the JSON of `doctor`."""

from typing import Any

from metrale_plan.doctor import Diagnosis
from metrale_plan.memory import MemoryAnswer
from metrale_plan.reading.host import host_room, meminfo_bytes
from metrale_plan.reading.raw import Failure, RawReading
from metrale_plan.reading.status import version
from metrale_plan.render.json import problem_document, reading_document
from metrale_plan.render.memory import holders_text
from metrale_plan.render.sheet import Column, Grid, Row, Sheet, Text
from metrale_plan.units import gib, human


def doctor_sheet(found: Diagnosis) -> Sheet:
    """The whole screen: what is installed, then each GPU."""
    known = sum(answer.failure is None for _, answer in found.gpus)
    if found.error is None:
        head = Text(f"MEMORY CAN BE READ: {known} of {_count(len(found.gpus), 'GPU')}", "good")
    else:
        head = Text(f"NO MEMORY FIGURE: {found.error.message}", "unsure")
    rows = tuple(Row(cells) for cells in _machine(found.raw))
    parts: list[Text | Grid] = [head, Grid((Column("what"), Column("here", flexible=True)), rows)]
    for ordinal, answer in found.gpus:
        parts.append(_gpu(ordinal, answer))
    return tuple(parts)


def _machine(raw: RawReading) -> list[tuple[str, str]]:
    cuda, nvml = raw.cuda, raw.nvml
    where = "a recording" if raw.origin == "recording" else "this machine"
    tool = ", ".join(
        part
        for part in (
            f"metrale-plan {raw.metrale_plan}" if raw.metrale_plan else "",
            f"Python {raw.python}" if raw.python else "",
            raw.system or "",
        )
        if part
    )
    rows = [("read from", where + (f", {raw.read_at}" if raw.read_at else ""))]
    if tool:
        rows.append(("reader", tool))
    rows += [("driver", _driver(raw)), ("CUDA runtime", _version(cuda.runtime_version) or "not loaded")]
    rows.append(("cupy", _cupy(raw)))
    rows.append(("NVML", _failed(nvml.failure) if nvml.failure else _nvml_devices(raw)))
    rows += [(name, repr(value)) for name, value in raw.environment.items()]
    room = host_room(raw.host)
    if room.available is not None:
        group = "" if room.cgroup_room is None else f"; a control group leaves {gib(room.cgroup_room)}"
        total = meminfo_bytes(raw.host, "MemTotal")
        of = "" if total is None else f" of {gib(total)}"
        rows.append(("host memory", f"{gib(room.available)} available{of}{group}"))
    if raw.host.wsl:
        rows.append(("WSL", "yes"))
    return rows


def _nvml_devices(raw: RawReading) -> str:
    slices = sum(device.mig == "slice" for device in raw.nvml.devices)
    gpus = _count(len(raw.nvml.devices) - slices, "GPU")
    return f"{gpus} and {_count(slices, 'MIG slice')}" if slices else gpus


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _driver(raw: RawReading) -> str:
    named = f", {raw.nvml.driver_version}" if raw.nvml.driver_version else ""
    if raw.cuda.driver_version is None:
        return f"not asked{named}"
    return "none visible" if raw.cuda.driver_version == 0 else f"CUDA {version(raw.cuda.driver_version)}{named}"


def _cupy(raw: RawReading) -> str:
    names = " and ".join(raw.packages) or "not installed"
    if len(raw.packages) > 1:
        names += " (they overwrite each other's files)"
    if raw.cuda.module is not None:
        return f"{names}, through {raw.cuda.module}"
    return f"{names}: {_failed(raw.cuda.failure)}" if raw.packages and raw.cuda.failure else names


def _version(number: int | None) -> str | None:
    return f"CUDA {version(number)}" if number else None


def _failed(failure: Failure) -> str:
    return failure.text if failure.status is None else f"{failure.text} (status {failure.status})"


def _gpu(ordinal: int, answer: MemoryAnswer) -> Grid:
    reading, detail, spec = answer.reading, answer.reading.detail, answer.device
    rows: list[tuple[str, str]] = []
    if spec is not None and detail is not None:
        rows.append(("class", spec.id or "matches no bundled device"))
        rows.append(("PCI id, UUID", f"{detail.pci_bus_id or 'unknown'}, {detail.uuid or 'unknown'}"))
        kind = "shares the host's memory" if reading.unified else "memory of its own"
        rows.append(("chip", f"compute {detail.compute_capability}, {detail.sm_count} SMs, {kind}"))
    rows += [(f"{source.source} said", source.said) for source in (detail.sources if detail is not None else ())]
    rows.append(("chosen", _chosen(answer)) if answer.failure is None else ("refused", answer.failure.problem.message))
    if len(reading.samples) > 1:
        frees = [free for free, _ in reading.samples]
        rows.append(("samples", f"{len(frees)}, from {human(min(frees))} to {human(max(frees))} free"))
    if reading.floor is not None:
        rows.append(("floor", f"{gib(reading.floor)} should stay free for the host; the figure includes them"))
    rows += [("note", note) for note in reading.notes]
    rows += [("", line) for line in holders_text(detail.holders if detail is not None else ())]
    title = f"GPU {ordinal}: {reading.device}" if reading.device else f"GPU {ordinal}"
    return Grid((Column("what"), Column("said", flexible=True)), tuple(Row(cells) for cells in rows), title)


def _chosen(answer: MemoryAnswer) -> str:
    reading = answer.reading
    told = f"{gib(reading.free or 0)} free of {gib(reading.total or 0)}"
    return f"{told}, the lowest of {len(reading.samples)} samples" if len(reading.samples) > 1 else told


def doctor_document(found: Diagnosis) -> dict[str, Any]:
    """The value of the `doctor` key."""
    raw, room = found.raw, host_room(found.raw.host)
    return {
        "source": raw.origin,
        "read_at": raw.read_at,
        "metrale_plan": raw.metrale_plan,
        "python": raw.python,
        "system": raw.system,
        "driver": {"cuda": raw.cuda.driver_version, "version": raw.nvml.driver_version},
        "runtime": raw.cuda.runtime_version,
        "cupy": {
            "distributions": list(raw.packages),
            "module": raw.cuda.module,
            "failure": None if raw.cuda.failure is None else _failed(raw.cuda.failure),
        },
        "nvml": {
            "devices": len(raw.nvml.devices),
            "failure": None if raw.nvml.failure is None else _failed(raw.nvml.failure),
        },
        "environment": dict(raw.environment),
        "host": {
            "total": meminfo_bytes(raw.host, "MemTotal"),
            "available": room.available,
            "cgroup_room": room.cgroup_room,
            "wsl": raw.host.wsl,
        },
        "gpus": [_gpu_document(ordinal, answer) for ordinal, answer in found.gpus],
    }


def _gpu_document(ordinal: int, answer: MemoryAnswer) -> dict[str, Any]:
    failure = answer.failure
    return {
        "ordinal": ordinal,
        "class": None if answer.device is None else answer.device.id,
        "chosen": failure is None,
        "memory": reading_document(answer.reading),
        "refused": None if failure is None else problem_document(failure.problem),
    }
