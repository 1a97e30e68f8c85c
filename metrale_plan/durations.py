"""Durations from text: a number and a unit."""

import re

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
ACCEPTED = "a number and a unit: ms, s, m or h, such as 500ms or 10s"

_DURATION = re.compile(r"(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?) ?(?P<unit>[a-z]+)")


def parse_duration(text: str) -> float:
    """Seconds of a duration such as `500ms` or `1.5m`.

    Raises:
        ValueError: no number, no unit, or an unknown one.
    """
    match = _DURATION.fullmatch(text)
    if match is None or match["unit"] not in UNITS:
        raise ValueError(f"{text!r} is not a duration")
    return float(match["number"]) * UNITS[match["unit"]]
