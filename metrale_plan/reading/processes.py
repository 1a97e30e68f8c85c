"""Who holds memory of the GPU: the reader's own context, and other processes."""

from metrale_plan.device import Holder
from metrale_plan.reading.identity import Identity, one_line
from metrale_plan.reading.raw import NvmlDevice, RawReading


def context_bytes(raw: RawReading, nvml: NvmlDevice | None, identity: Identity) -> int | None:
    """What the reader's own context took: its line in NVML's process list, else NVML's free before and after."""
    if nvml is None or nvml.mig == "parent":
        return None
    own = next((p.bytes for p in nvml.processes if p.pid == raw.own_pid and p.bytes is not None), None)
    if own is not None:
        return own
    if identity.integrated or nvml.free_before is None or nvml.free is None or nvml.free_before <= nvml.free:
        return None
    return nvml.free_before - nvml.free


def holders(raw: RawReading, nvml: NvmlDevice | None) -> list[Holder]:
    """Other processes with memory on this GPU, largest first; a cut GPU's list speaks of all its slices."""
    if nvml is None or nvml.mig == "parent":
        return []
    others = [Holder(p.pid, one_line(p.name) or None, p.bytes) for p in nvml.processes if p.pid != raw.own_pid]
    return sorted(others, key=lambda holder: (-(holder.bytes or 0), holder.pid))
