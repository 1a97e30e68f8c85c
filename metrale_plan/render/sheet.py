"""Sheet: a screenful as values (headings, lines, grids, drawings), before anyone decides how to print it."""

from dataclasses import dataclass
from typing import Literal

Style = Literal["plain", "good", "bad", "unsure", "quiet", "strong"]
Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, wrapped to the width, its continuation lines indented; `apart` keeps it from the Text above."""

    text: str
    style: Style = "plain"
    indent: int = 0
    apart: bool = False


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


@dataclass(frozen=True, slots=True)
class Span:
    """Positions `first` to `last`, filled with a one-character mark."""

    first: int
    last: int
    mark: str


@dataclass(frozen=True, slots=True)
class Lane:
    """One line of a drawing; a later span covers an earlier one."""

    label: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Lanes of spans over an axis from `first` to `last`, squeezed where the terminal is narrow; `ticks` are named."""

    lanes: tuple[Lane, ...]
    first: int
    last: int
    ticks: tuple[int, ...] = ()
    title: str = ""


Part = Text | Grid | Drawing
Sheet = tuple[Part, ...]
"""Parts, printed with an empty line between them; consecutive Texts stay together, unless set apart."""
