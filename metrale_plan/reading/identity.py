"""Which GPU a reading is of: its facts from CUDA's properties, and its line in NVML's list, by UUID or PCI id."""

import re
from dataclasses import dataclass, replace

from metrale_plan.reading.raw import CudaDevice, NvmlDevice, NvmlRaw

_PCI = re.compile(r"(?P<domain>[0-9a-f]+):(?P<bus>[0-9a-f]{2}):(?P<device>[0-9a-f]{2})\.(?P<function>[0-9a-f])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One GPU.

    Attributes:
        uuid: `GPU-8-4-4-4-12`, `MIG-...` for a slice, or None: cupy cuts it at a zero byte, and a cut one is nobody's.
        total: bytes by its properties, known without a context.
        integrated: whether it shares the host's memory; no other property tells that.
    """

    name: str
    uuid: str | None
    pci_bus_id: str | None
    compute_capability: str | None
    sm_count: int | None
    total: int | None
    integrated: bool


def identity_of(device: CudaDevice) -> Identity:
    """The GPU of a CUDA reading."""
    facts = device.properties

    def number(key: str) -> int | None:
        value = facts.get(key)
        return value if isinstance(value, int) else None

    major, minor = number("major"), number("minor")
    return Identity(
        name=one_line(str(facts.get("name", ""))) or f"GPU {device.ordinal}",
        uuid=whole_uuid(str(facts.get("uuid", ""))),
        pci_bus_id=plain_pci(device.pci_bus_id),
        compute_capability=None if major is None or minor is None else f"{major}.{minor}",
        sm_count=number("multiProcessorCount"),
        total=number("totalGlobalMem"),
        integrated=number("integrated") == 1,
    )


def whole_uuid(digits: str) -> str | None:
    """`GPU-...` of 16 bytes in hex, or None for any other length."""
    if not re.fullmatch(r"[0-9a-f]{32}", digits):
        return None
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "GPU-" + "-".join(parts)


def plain_pci(text: str | None) -> str | None:
    """A PCI id with a domain of four digits: NVML writes eight. None for what is no PCI id."""
    match = _PCI.fullmatch((text or "").strip().lower())
    if match is None:
        return None
    return f"{int(match['domain'], 16):04x}:{match['bus']}:{match['device']}.{match['function']}"


def joined(identity: Identity, nvml: NvmlRaw) -> tuple[Identity, NvmlDevice | None]:
    """A GPU with NVML's entry for it: the one with its UUID, a slice's included, else the whole GPU at its PCI id.

    A slice that NVML does not list is known by its name; the whole GPU's entry is then its parent.
    """
    entry = _entry(identity, nvml)
    part = "MIG" in identity.name.split()
    if entry is not None and part and entry.mig is None:
        entry = replace(entry, mig="parent")
    if identity.uuid is None or not (part or (entry is not None and entry.mig == "slice")):
        return identity, entry
    own = entry is not None and entry.mig == "parent" and _digits(entry.uuid or "") == _digits(identity.uuid)
    return (identity if own else replace(identity, uuid=f"MIG-{_digits(identity.uuid)}")), entry


def _entry(identity: Identity, nvml: NvmlRaw) -> NvmlDevice | None:
    if identity.uuid is not None:
        own = _digits(identity.uuid)
        for device in nvml.devices:
            if device.uuid is not None and _digits(device.uuid) == own:
                return device
    if identity.pci_bus_id is None:
        return None
    whole = (device for device in nvml.devices if device.mig != "slice")
    return next((device for device in whole if plain_pci(device.pci_bus_id) == identity.pci_bus_id), None)


def one_line(text: str | None) -> str:
    """A name as one line: it may come from a file, and it is printed in the middle of messages."""
    return " ".join((text or "").split())


def _digits(uuid: str) -> str:
    return uuid.partition("-")[2].casefold()
