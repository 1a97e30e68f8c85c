"""A size or a percentage, as policy and `--fail-over` state one: exact, never through a float."""

import re
from dataclasses import dataclass

from metrale_plan.integers import ceil_div
from metrale_plan.units import human, parse_size

_PERCENT = re.compile(r"(?P<whole>[0-9]{1,6})(?:\.(?P<fraction>[0-9]{1,9}))? ?%")

ACCEPTED = "a size with its unit such as 4GiB, or a percentage such as 5%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Bytes, or a share of something.

    Attributes:
        bytes: the size, or None for a share.
        parts, whole: the share as a fraction, `parts / whole`.
        text: as it was spelled.
    """

    text: str
    bytes: int | None = None
    parts: int = 0
    whole: int = 1

    def of(self, base: int) -> int:
        """Bytes of the threshold where the share is of `base`, rounded up to a byte."""
        return ceil_div(base * self.parts, self.whole) if self.bytes is None else self.bytes

    def exceeded_by(self, size: int, base: int) -> bool:
        """Whether a size is more than the threshold, to a fraction of a byte, where the share is of `base`."""
        return size * self.whole > base * self.parts if self.bytes is None else size > self.bytes

    def shown(self, base: int) -> str:
        """As a person reads it: the size, or the share and what it comes to."""
        return f"{self.text} ({human(self.of(base))})" if self.bytes is None else human(self.bytes)


def parse_threshold(text: str) -> Threshold:
    """A threshold from its text.

    Raises:
        ValueError: neither a size with a unit nor a percentage.
    """
    match = _PERCENT.fullmatch(text)
    if match is None:
        return Threshold(text=text, bytes=parse_size(text))
    fraction = match["fraction"] or ""
    parts, whole = int(match["whole"] + fraction), 100 * 10 ** len(fraction)
    return Threshold(text=text, parts=parts, whole=whole)
