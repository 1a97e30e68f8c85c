"""Sheet: a screenful as values (headings, lines, grids), before anyone decides how to print it."""

from dataclasses import dataclass
from typing import Literal

Style = Literal["plain", "good", "bad", "unsure", "quiet", "strong"]
Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, wrapped to the width; continuation lines are indented by `indent`."""

    text: str
    style: Style = "plain"
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a grid. `flexible` columns wrap first when the terminal is narrow; others never break."""

    title: str
    align: Align = "left"
    flexible: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of one row; a `rule` above it sets it off as a total."""

    cells: tuple[str, ...]
    style: Style = "plain"
    rule: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""


Part = Text | Grid
Sheet = tuple[Part, ...]
"""Parts, printed with an empty line between them; consecutive Texts stay together."""
