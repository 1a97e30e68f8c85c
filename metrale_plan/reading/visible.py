"""CUDA_VISIBLE_DEVICES: which GPUs it shows, in which order, and where it stops, by the rules of CUDA."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from metrale_plan.reading.raw import RawReading

_INDEX = re.compile(r"[+-]?[0-9]{1,30}")
_GPU, _MIG = "gpu-", "mig-"


@dataclass(frozen=True, slots=True)
class Visible:
    """One GPU that is shown: as written, and its index or UUID where that is known."""

    token: str
    index: int | None = None
    uuid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """What the variable does.

    Attributes:
        text: its text, or None where it is not set.
        shown: the GPUs it shows; a GPU's place is its CUDA ordinal. None where it is not set and the GPUs are unknown.
        stopped_by: the entry that shows nothing and hides everything after it.
        why: what is wrong with that entry, or why nothing is shown.
        hidden: the entries after it.
    """

    text: str | None
    shown: tuple[Visible, ...] | None
    stopped_by: str | None = None
    why: str | None = None
    hidden: tuple[str, ...] = ()

    @property
    def told(self) -> str | None:
        """In a sentence what it hides, or None when it hides nothing that was named."""
        if self.text is None or self.why is None:
            return None
        setting = f"CUDA_VISIBLE_DEVICES={self.text!r}"
        if self.stopped_by is None:
            return f"{setting} {self.why}"
        after = f", which also hides {', '.join(self.hidden)} after it" if self.hidden else ""
        return f"{setting}: {self.stopped_by!r} {self.why}{after}"


def visible_devices(
    text: str | None, gpus: Sequence[str | None] | None = None, slices: Sequence[str] = ()
) -> Visibility:
    """The GPUs that CUDA shows.

    Args:
        text: the variable, or None where it is not set.
        gpus: UUIDs (`GPU-...`, None where unknown) by index, or None where the GPUs are not known; then every entry
            that could be one is taken to be there.
        slices: UUIDs of the MIG slices (`MIG-...`).
    """
    if text is None:
        shown = None if gpus is None else tuple(Visible(str(i), i, uuid) for i, uuid in enumerate(gpus))
        return Visibility(text=None, shown=shown)
    if not text.strip():
        return Visibility(text=text, shown=(), why="hides every GPU")
    entries = [entry.strip() for entry in text.split(",")]
    found: list[Visible] = []
    for place, entry in enumerate(entries):
        one = _resolve(entry, gpus, slices)
        if isinstance(one, Visible) and _again(one, found):
            why = "is named twice, which hides every GPU"
            return Visibility(text=text, shown=(), stopped_by=entry, why=why)
        if isinstance(one, str):
            hidden = tuple(entries[place + 1 :])
            return Visibility(text=text, shown=tuple(found), stopped_by=entry, why=one, hidden=hidden)
        found.append(one)
    return Visibility(text=text, shown=tuple(found))


def _resolve(entry: str, gpus: Sequence[str | None] | None, slices: Sequence[str]) -> Visible | str:
    """The GPU of one entry, or what is wrong with it."""
    if number := _INDEX.match(entry):  # CUDA reads no further than the digits
        index = int(number.group())
        if index < 0:
            return "is no GPU's index"
        if gpus is None:
            return Visible(entry, index)
        return Visible(entry, index, gpus[index]) if index < len(gpus) else "is no GPU's index"
    folded = entry.casefold()
    if folded.startswith(_MIG):
        return _by_uuid(entry, slices, known=bool(slices))
    if folded.startswith(_GPU):
        return _by_uuid(entry, gpus or (), known=gpus is not None)
    return "is neither an index nor a UUID"


def _by_uuid(entry: str, uuids: Sequence[str | None], *, known: bool) -> Visible | str:
    """A full UUID, or the beginning of exactly one."""
    if not known:
        return Visible(entry)
    folded = entry.casefold()
    matches = [(index, uuid) for index, uuid in enumerate(uuids) if uuid and uuid.casefold().startswith(folded)]
    if len(matches) > 1:
        return "is the beginning of more than one UUID"
    if not matches:
        return "is no UUID of a GPU here"
    index, uuid = matches[0]
    return Visible(entry, None if folded.startswith(_MIG) else index, uuid)


def _again(one: Visible, found: Sequence[Visible]) -> bool:
    """Whether an index or a UUID came before; which GPU an index is, only CUDA knows, so the two are not compared."""
    return any(_key(one) == _key(other) for other in found)


def _key(one: Visible) -> int | str:
    return one.index if one.index is not None and _INDEX.match(one.token) else (one.uuid or one.token).casefold()


def visibility_of(raw: RawReading) -> Visibility:
    """What CUDA_VISIBLE_DEVICES did, with the GPUs that NVML knows.

    NVML's list tells which entries name a GPU, not which GPU an index names: the two may count differently.
    """
    whole = [gpu for gpu in raw.nvml.devices if gpu.mig != "slice"]
    slices = tuple(gpu.uuid for gpu in raw.nvml.devices if gpu.mig == "slice" and gpu.uuid)
    gpus = tuple(gpu.uuid for gpu in whole) if whole and raw.nvml.failure is None else None
    return visible_devices(raw.environment.get("CUDA_VISIBLE_DEVICES"), gpus, slices)
