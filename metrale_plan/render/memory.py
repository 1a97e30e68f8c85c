"""What a screen says of the memory reading: who holds the memory, and what is worth knowing of the figure."""

from collections.abc import Iterator, Sequence

from metrale_plan.device import Holder, MemoryReading
from metrale_plan.render.sheet import Text
from metrale_plan.units import human

SHOWN = 5
"""Holders named on a screen; JSON has them all."""


def holders_text(holders: Sequence[Holder]) -> Iterator[str]:
    """One line of who holds memory, where that is known."""
    if not holders:
        return
    named = [holder_text(holder) for holder in holders[:SHOWN]]
    if len(holders) > SHOWN:
        named.append(f"{len(holders) - SHOWN} more")
    yield "held by: " + "; ".join(named)


def holder_text(holder: Holder) -> str:
    """`python3 (pid 4711) 10.2 GiB`."""
    size = "an amount that is not told" if holder.bytes is None else human(holder.bytes)
    return f"{holder.name or 'a process'} (pid {holder.pid}) {size}"


def memory_texts(memory: MemoryReading | None) -> Iterator[Text]:
    """The reading's notes, a line each."""
    for note in memory.notes if memory is not None else ():
        yield Text(f"memory: {note}", "quiet", indent=2)
