"""How a changed value, a growth and a verdict read, in every format for people."""

from typing import Any

from metrale_plan.gate.compare import Change, Comparison, Side, percent
from metrale_plan.terms import BY_KEY
from metrale_plan.units import gib, human


def name_of(change: Change) -> str:
    """The term's label, the flag, or the document's own path."""
    section, _, rest = change.key.partition(".")
    if section == "reserve" and rest in BY_KEY:
        return BY_KEY[rest].label
    if change.kind == "setting" and not change.key.startswith("METRALE_"):
        return "--" + change.key.replace("_", "-")
    return change.key


def value(change: Change, given: Any) -> str:
    """One side's value."""
    if given is None:
        return "-"
    if change.kind == "term":
        return human(given)
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, list):
        return _list(given)
    text = str(given)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


LONGEST = 40
"""Characters of a value; what is longer says little in a table."""


def _list(given: list[Any]) -> str:
    if all(isinstance(item, list) for item in given):
        return ",".join(":".join(map(str, item)) for item in given) or "none"
    text = ",".join(map(str, given))
    return (
        text if len(text) <= 40 else f"{len(given)} values, sum {sum(given)}" if _numbers(given) else f"{text[:37]}..."
    )


def _numbers(given: list[Any]) -> bool:
    return all(isinstance(item, int) for item in given)


def growth(before: int | None, after: int | None) -> str:
    """`+1,530 MiB, +12.5 %`."""
    delta = (after or 0) - (before or 0)
    sign = "+" if delta > 0 else ""
    share = percent(before, after)
    return f"{sign}{human(delta)}" + ("" if share is None else f", {share:+g} %")


def change_growth(change: Change) -> str:
    """The growth of a term; nothing for a setting or a count."""
    return growth(change.before, change.after) if change.kind == "term" else ""


def verdict(side: Side | None) -> str:
    """A side's verdict with its total and headroom."""
    if side is None:
        return "-"
    found = side.document.get("verdict") or {}
    parts = [side.verdict]
    if side.total is not None:
        parts.append(f"needs {gib(side.total)}")
    if found.get("headroom") is not None:
        parts.append(f"headroom {gib(found['headroom'])}")
    return ", ".join(parts)


def title(comparison: Comparison) -> str:
    """The config, its device, and what happened to it."""
    on = f" on {comparison.device}" if comparison.device else ""
    return f"{renamed(comparison)}{on}: {comparison.status}"


def renamed(comparison: Comparison) -> str:
    """The config's name, and its name before where that was another."""
    return comparison.name if comparison.was is None else f"{comparison.name} (was {comparison.was})"
