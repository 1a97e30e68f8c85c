"""Where a setting's value came from, and what lost to it."""

from typing import Any, NamedTuple

from metrale_plan.config.given import Given, Setting, Source


class Lost(NamedTuple):
    """An offer that is not in force, and why."""

    value: Any
    source: Source
    where: str | None
    why: str


class Origin(NamedTuple):
    """One setting: its value in force, who gave it, and the offers that lost, strongest first."""

    value: Any
    source: Source
    where: str | None
    lost: tuple[Lost, ...] = ()


WINNER = {
    "flag": "the flag wins",
    "command": "the flag after -- wins",
    "recipe": "the recipe wins",
    "env": "the variable wins",
    "model": "the model file wins",
    "engine": "not in force",
}


def origin_of(setting: Setting, *also: Lost) -> Origin:
    """A resolved setting's origin; `also` are offers that resolving dropped before they could lose."""
    lost = tuple(_lost(given, WINNER[setting.source]) for given in setting.lost)
    return Origin(value=setting.value, source=setting.source, where=setting.where, lost=(*also, *lost))


def _lost(given: Given, why: str) -> Lost:
    return Lost(value=given.value, source=given.source, where=given.where, why=why)
