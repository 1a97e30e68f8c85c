"""How a setting's text becomes a value: one `Kind` per shape of value, shared by flags, recipes and variables.

A kind is the pydantic validator of its field as well, so the two cannot disagree.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from metrale_plan import text as engine_text
from metrale_plan.kv import KV_DTYPES, parse_kv_dtype
from metrale_plan.ladder import parse_mtp_k_ladder
from metrale_plan.reserve.decode_ring import parse_decode_ring_slots

COUNT_LIMIT = 2**63
"""Counts of flags stay below this."""


class Kind(NamedTuple):
    """A shape of value.

    Attributes:
        name: short name, as `schema flags` shows it.
        accepted: what the text may be, for messages.
        parse: text to value; raises ValueError when the text is never right.
        options: legal spellings where they are a closed list.
    """

    name: str
    accepted: str
    parse: Callable[[str], Any]
    options: tuple[str, ...] = ()


def count(low: int = 0, high: int = COUNT_LIMIT - 1) -> Kind:
    """A whole number from `low` to `high`, in the engine's number syntax (digits, optional leading +)."""
    span = f"{low} to {high}" if high < COUNT_LIMIT - 1 else f"{low} or more"

    def parse(raw: str) -> int:
        value = engine_text.parse_count(raw)
        if value is None or not low <= value <= high:
            raise ValueError(f"not a whole number, {span}")
        return value

    return Kind("count", f"a whole number, {span}", parse)


def choice(*options: str) -> Kind:
    """One of a closed list of words, exactly as spelled."""

    def parse(raw: str) -> str:
        if raw not in options:
            raise ValueError(f"not one of {', '.join(options)}")
        return raw

    return Kind("choice", "one of " + ", ".join(options), parse, options)


def count_or(*words: str, low: int = 0, high: int = COUNT_LIMIT - 1) -> Kind:
    """A count, or one of the words (kept as the word)."""
    number = count(low, high)
    accepted = f"{', '.join(words)}, or {number.accepted}"

    def parse(raw: str) -> int | str:
        if raw in words:
            return raw
        try:
            return int(number.parse(raw))
        except ValueError:
            raise ValueError(f"not {accepted}") from None

    return Kind("count-or-word", accepted, parse, words)


def number(low: float = -math.inf, high: float = math.inf, *, open_low: bool = False, accepted: str = "") -> Kind:
    """A finite decimal number in the engine's syntax (no spaces, no underscores), between the bounds."""
    accepted = accepted or "a number"

    def parse(raw: str) -> float:
        if not raw or any(c not in "0123456789+-.eE" for c in raw):
            raise ValueError(f"not {accepted}")
        try:
            value = float(raw)
        except ValueError:
            raise ValueError(f"not {accepted}") from None
        if not math.isfinite(value) or value > high or value < low or (open_low and value == low):
            raise ValueError(f"not {accepted}")
        return value

    return Kind("number", accepted, parse)


def _text(raw: str) -> str:
    if not raw:
        raise ValueError("an empty value")
    return raw


def _presence(raw: str) -> bool:
    raise ValueError(f"takes no value, got {raw!r}")


def _ladder(raw: str) -> tuple[tuple[int, int], ...]:
    return tuple((width, drafts) for width, drafts in parse_mtp_k_ladder(raw))


def _ring(raw: str) -> int | str:
    depth = parse_decode_ring_slots(raw)
    return "auto" if depth is None else depth


TEXT = Kind("text", "text", _text)
PRESENCE = Kind("presence", "the bare flag, without a value", _presence)
LADDER = Kind("ladder", "width:drafts steps separated by commas, such as 4:3,8:2,16:1, each at least 1", _ladder)
RING = Kind("ring", "auto, or a whole number, 0 to 8", _ring, ("auto",))
KV_DTYPE = Kind("kv-dtype", "one of " + ", ".join(KV_DTYPES), parse_kv_dtype, tuple(KV_DTYPES))
UTILIZATION = number(0.0, 1.0, open_low=True, accepted="a number above 0 and at most 1")
BATCH = count_or("auto", low=1, high=128)
KV_EDGE = count_or("auto", "max", "all")
PORT = count(0, 65535)
