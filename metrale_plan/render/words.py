"""Small phrases that several screens share."""

from collections.abc import Iterable, Iterator
from typing import Any

from metrale_plan.explain.origin import Lost, Origin
from metrale_plan.ladder import ladder_text
from metrale_plan.render.drawing import GLUE
from metrale_plan.units import human

SOURCES = {
    "flag": "flag",
    "command": "command line after --",
    "recipe": "recipe",
    "env": "variable",
    "model": "model file",
    "engine": "engine default",
}


def shown(value: Any) -> str:
    """A setting's value: ladders as the flag spells them, booleans as on and off."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ladder_text(value)
    return str(value)


def legend(marks: Iterable[tuple[str, str]]) -> str:
    """What each mark of a drawing means; a mark is never parted from its meaning at a line's end."""
    return "; ".join(f"{mark}{GLUE}{meaning}" for mark, meaning in marks)


def by_whom(origin: Origin | Lost) -> str:
    """`flag`, `variable METRALE_...`, `model file models/x/MODEL.toml:12`."""
    source = SOURCES[origin.source]
    return f"{source} {origin.where}" if origin.where and origin.source != "engine" else source


def origin_text(name: str, origin: Origin) -> str:
    """`dispatch cap 32 (engine default); lost: 128 (model file ...), the flag wins`."""
    lost = "; ".join(f"{shown(item.value)} ({by_whom(item)}): {item.why}" for item in _without_defaults(origin.lost))
    return f"{name} {shown(origin.value)} ({by_whom(origin)})" + (f". Lost: {lost}" if lost else "")


def _without_defaults(lost: Iterable[Lost]) -> Iterator[Lost]:
    return (item for item in lost if item.source != "engine")


def span(first: int, last: int) -> str:
    """`9-16`, or `9` for one."""
    return str(first) if first == last else f"{first}-{last}"


def spans(numbers: Iterable[int]) -> str:
    """`9-12, 14`: neighbouring numbers together."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return ", ".join(span(first, last) for first, last in found)


def size(value: int | None) -> str:
    """Bytes in the unit a person would pick, or a dash where they are unknown."""
    return "-" if value is None else human(value)


def number(value: int | None) -> str:
    """A count, or a dash."""
    return "-" if value is None else f"{value:,}"


def signed(value: int) -> str:
    """A difference of bytes with its sign."""
    return "none" if value == 0 else f"{'+' if value > 0 else '-'}{human(abs(value))}"
