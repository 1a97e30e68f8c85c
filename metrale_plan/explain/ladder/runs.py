"""Neighbours that are alike, told once."""

from collections.abc import Iterable, Iterator
from typing import Protocol, Self, TypeVar


class Spanning(Protocol):
    """A named tuple about numbers `first` to `last`."""

    @property
    def first(self) -> int: ...

    @property
    def last(self) -> int: ...

    def _replace(self, *, first: int = ..., last: int = ...) -> Self: ...


Span = TypeVar("Span", bound=Spanning)


def joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans in order, where neighbours that differ in nothing but their numbers become one."""
    current: Span | None = None
    for span in spans:
        if current is not None and current._replace(first=span.first, last=span.last) == span:
            current = current._replace(last=span.last)
            continue
        if current is not None:
            yield current
        current = span
    if current is not None:
        yield current
