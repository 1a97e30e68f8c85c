"""A Drawing as lines of ASCII: lanes of marked spans over one axis, squeezed or stretched to the width."""

from collections.abc import Callable, Iterator
from textwrap import wrap

from metrale_plan.render.sheet import Drawing

WIDEST_CELL = 2
"""Columns of one position at most, however wide the terminal is."""

GLUE = "\N{NO-BREAK SPACE}"
"""Between words of a title that stay on one line; printed as a space."""

LEAST = 8
"""Columns of an axis at least, however narrow it is."""


def draw(drawing: Drawing, width: int) -> list[str]:
    """The lanes, each under its label, then the axis with its ticks and the legend."""
    label = max((len(lane.label) for lane in drawing.lanes), default=0)
    room = max(width - label - 3, LEAST)
    count = drawing.last - drawing.first + 1
    columns = min(room, count * max(1, min(WIDEST_CELL, room // count)))

    def column(position: int) -> int:
        return (position - drawing.first) * columns // count

    title = wrap(drawing.title, max(width, 20), break_long_words=False)
    lines = [line.replace(GLUE, " ") for line in title]
    for lane in drawing.lanes:
        cells = [" "] * columns
        for span in lane.spans:
            start = column(span.first)
            end = max(column(span.last + 1), start + 1)
            cells[start:end] = span.mark * (end - start)
        lines.append(f"{lane.label.rjust(label)} |{''.join(cells)}".rstrip())
    lines.append(" " * label + " " + "".join(_ticks(drawing, column, columns)).rstrip())
    return lines


def _ticks(drawing: Drawing, column: Callable[[int], int], columns: int) -> Iterator[str]:
    """Numbers below the columns they name, as many as fit; the first and the last always do."""
    line = [" "] * (columns + 1 + len(f"{drawing.last:,}"))
    last = f"{drawing.last:,}"
    end_at = max(columns - len(last), 0) + 1
    taken_from = end_at - 1
    at = 0
    for position in (drawing.first, *drawing.ticks):
        text = f"{position:,}"
        start = 1 + column(position)
        if start < at or start + len(text) > taken_from or position == drawing.last:
            continue
        line[start : start + len(text)] = text
        at = start + len(text) + 1
    if end_at >= at:
        line[end_at : end_at + len(last)] = last
    yield from line
