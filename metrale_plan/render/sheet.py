"""Sheet: a screenful as values (headings, lines, grids, drawings), before anyone decides how to print it."""

from typing import Literal, NamedTuple

Style = Literal["plain", "good", "bad", "unsure", "quiet", "strong"]
Align = Literal["left", "right"]


class Text(NamedTuple):
    """A paragraph, wrapped to the width, its continuation lines indented; `apart` keeps it from the Text above."""

    text: str
    style: Style = "plain"
    indent: int = 0
    apart: bool = False


class Column(NamedTuple):
    """A column of a grid. `flexible` columns wrap first when the terminal is narrow; others never break."""

    title: str
    align: Align = "left"
    flexible: bool = False


class Row(NamedTuple):
    """Cells of one row; a `rule` above it sets it off as a total."""

    cells: tuple[str, ...]
    style: Style = "plain"
    rule: bool = False


class Grid(NamedTuple):
    """A table."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""


class Span(NamedTuple):
    """Positions `first` to `last`, filled with a one-character mark."""

    first: int
    last: int
    mark: str


class Lane(NamedTuple):
    """One line of a drawing; a later span covers an earlier one."""

    label: str
    spans: tuple[Span, ...]


class Drawing(NamedTuple):
    """Lanes of spans over an axis from `first` to `last`, squeezed where the terminal is narrow; `ticks` are named."""

    lanes: tuple[Lane, ...]
    first: int
    last: int
    ticks: tuple[int, ...] = ()
    title: str = ""


Part = Text | Grid | Drawing
Sheet = tuple[Part, ...]
"""Parts, printed with an empty line between them; consecutive Texts stay together, unless set apart."""
