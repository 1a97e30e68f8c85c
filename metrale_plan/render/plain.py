"""A Sheet as plain text of a given width: what a pipe, a dumb terminal or a log gets."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from metrale_plan.render.sheet import Grid, Row, Sheet, Text

GAP = 2
LEAST_FLEXIBLE = 16
"""A flexible column narrower than this is not worth printing beside the others."""


def plain(sheet: Sheet, width: int) -> str:
    """The sheet, each line at most `width` columns where its words allow, ending in a newline."""
    blocks: list[list[str]] = []
    previous: Text | Grid | None = None
    for part in sheet:
        lines = list(_text(part, width) if isinstance(part, Text) else _grid(part, width))
        if isinstance(part, Text) and isinstance(previous, Text):
            blocks[-1] += lines
        else:
            blocks.append(lines)
        previous = part
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _text(part: Text, width: int) -> list[str]:
    return wrap(
        part.text,
        max(width, 20),
        subsequent_indent=" " * part.indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def _grid(grid: Grid, width: int) -> Iterator[str]:
    columns = grid.columns
    fixed = [max(len(c.title), *(len(row.cells[i]) for row in grid.rows), 0) for i, c in enumerate(columns)]
    flexible = [i for i, column in enumerate(columns) if column.flexible]
    if flexible:
        at = flexible[0]
        rest = sum(size for i, size in enumerate(fixed) if i != at) + GAP * (len(columns) - 1)
        fixed[at] = min(fixed[at], max(width - rest, 0))
        if fixed[at] < max(LEAST_FLEXIBLE, _longest_word(grid, at)):
            yield from _stacked(grid, width, at)
            return
    if grid.title:
        yield grid.title
    yield _line([c.title for c in columns], fixed, grid)
    for row in grid.rows:
        if row.rule:
            yield "-" * min(width, sum(fixed) + GAP * (len(fixed) - 1))
        yield from _row(row, fixed, grid)


def _longest_word(grid: Grid, at: int) -> int:
    return max((len(word) for row in grid.rows for word in row.cells[at].split()), default=0)


def _row(row: Row, sizes: Sequence[int], grid: Grid) -> Iterator[str]:
    wrapped = [
        wrap(cell, max(size, 1), break_long_words=False, break_on_hyphens=False) or [""] if column.flexible else [cell]
        for cell, size, column in zip(row.cells, sizes, grid.columns, strict=True)
    ]
    for i in range(max(len(lines) for lines in wrapped)):
        yield _line([lines[i] if i < len(lines) else "" for lines in wrapped], sizes, grid)


def _line(cells: Sequence[str], sizes: Sequence[int], grid: Grid) -> str:
    padded = [
        cell.rjust(size) if column.align == "right" else cell.ljust(size)
        for cell, size, column in zip(cells, sizes, grid.columns, strict=True)
    ]
    return (" " * GAP).join(padded).rstrip()


def _stacked(grid: Grid, width: int, flexible: int) -> Iterator[str]:
    """A narrow terminal: the flexible cell goes on lines of its own below the others."""
    others = [i for i in range(len(grid.columns)) if i != flexible]
    narrow = Grid(
        tuple(grid.columns[i] for i in others),
        tuple(Row(tuple(row.cells[i] for i in others), row.style, row.rule) for row in grid.rows),
        grid.title,
    )
    lines = iter(_grid(narrow, width))
    if grid.title:
        yield next(lines)
    yield next(lines)
    for row in grid.rows:
        if row.rule:
            yield next(lines)
        yield next(lines)
        if row.cells[flexible]:
            yield from wrap(
                row.cells[flexible],
                max(width, 20),
                initial_indent="    ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )
