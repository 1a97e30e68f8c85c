"""What a reading says beside its figures: of the free figure, and of the GPU and the machine whatever is free."""

from collections.abc import Iterator

from metrale_plan.device import ReadingDetail
from metrale_plan.reading.free import least
from metrale_plan.reading.host import HostRoom
from metrale_plan.reading.identity import Identity
from metrale_plan.reading.raw import CudaDevice, NvmlDevice, RawReading
from metrale_plan.reading.visible import Visibility
from metrale_plan.units import gib, human


def notes_on_free(
    device: CudaDevice, identity: Identity, rooms: list[HostRoom], detail: ReadingDetail
) -> Iterator[str]:
    """How the free figure came about, and what it leaves out."""
    if detail.driver_free is not None and detail.host_available is not None:
        yield _shared_note(detail)
    if detail.cgroup_room is not None:
        limit = least(room.limit for room in rooms if room.cgroup_room == detail.cgroup_room)
        yield f"a control group's limit of {gib(limit or 0)} leaves {gib(detail.cgroup_room)} of host memory"
    if device.samples:
        yield _context_note(detail)
    if not identity.integrated and device.properties.get("pageableMemoryAccessUsesHostPageTables") == 1:
        yield "page cache may sit in this GPU's memory, so the free figure is the least that is free"


def _shared_note(detail: ReadingDetail) -> str:
    """Both figures of an integrated GPU, and which of them counts."""
    driver, host, room = detail.driver_free or 0, detail.host_available or 0, detail.cgroup_room
    lowered = host if room is None else min(host, room)
    which = "MemAvailable" if lowered >= driver else "CUDA's figure"
    lower = ", lowered by the control group" if which == "MemAvailable" and lowered < host else ""
    return (
        f"host and GPU share one memory: CUDA says {gib(driver)} free, the host's MemAvailable {gib(host)}; "
        f"{which} counts{lower}"
    )


def _context_note(detail: ReadingDetail) -> str:
    if detail.context_bytes is not None:
        return f"reading took a CUDA context of {human(detail.context_bytes)}, which CUDA's free figure leaves out"
    return "CUDA's free figure is what is left beside one bare CUDA context; how much that takes was not measured"


def notes_on_device(
    raw: RawReading, device: CudaDevice, nvml: NvmlDevice | None, visibility: Visibility
) -> Iterator[str]:
    """What holds whatever is free: WSL, MIG slices, and how the GPUs are numbered."""
    if raw.host.wsl:
        yield "this is WSL: the figures are what Windows lets it see"
    if nvml is not None and nvml.mig == "parent":
        yield "the GPU is cut into MIG slices: the figures are of this slice, and NVML's of the whole are left aside"
    if nvml is not None and nvml.mig is None and nvml.index != device.ordinal:
        yield f"CUDA's ordinal {device.ordinal} is the GPU that NVML numbers {nvml.index}"
    if visibility.text is not None:
        yield visibility.told or f"CUDA_VISIBLE_DEVICES is {visibility.text!r}; ordinals count within it"
