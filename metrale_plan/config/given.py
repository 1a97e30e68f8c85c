"""What was said about each setting, by whom, before anything is decided."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Source = Literal["flag", "command", "recipe", "env", "model", "engine"]

STRENGTH: tuple[Source, ...] = ("flag", "command", "recipe", "env", "model", "engine")
"""Strongest first: a flag beats the same one after `--`, which beats the recipe's, and so on down."""


@dataclass(frozen=True, slots=True)
class Given:
    """One value that somebody gave a setting.

    Attributes:
        value: typed value.
        source: who gave it.
        where: "file:line", the variable's name, or None.
        text: as it was spelled, for messages.
    """

    value: Any
    source: Source
    where: str | None = None
    text: str | None = None


@dataclass(slots=True)
class Offers:
    """Everything given, setting by setting; the strongest offer of a key comes first."""

    by_key: dict[str, list[Given]] = field(default_factory=dict)

    def add(self, key: str, given: Given) -> None:
        """Record an offer; among equals the later one wins, as a later flag replaces an earlier."""
        offers = self.by_key.setdefault(key, [])
        rank = STRENGTH.index(given.source)
        at = next((i for i, other in enumerate(offers) if STRENGTH.index(other.source) >= rank), len(offers))
        offers.insert(at, given)

    def best(self, key: str) -> Given | None:
        """The offer in force, or None."""
        offers = self.by_key.get(key)
        return offers[0] if offers else None

    def all(self, key: str) -> list[Given]:
        """Every offer of a key, strongest first."""
        return self.by_key.get(key, [])

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_key)


@dataclass(frozen=True, slots=True)
class Setting:
    """One resolved setting: its value, where it came from, and the offers that lost to it."""

    value: Any
    source: Source
    where: str | None = None
    lost: tuple[Given, ...] = ()


Settings = Mapping[str, Setting]
