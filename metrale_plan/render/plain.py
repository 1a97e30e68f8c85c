"""A Sheet as plain text of a given width: what a pipe, a dumb terminal or a log gets."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from metrale_plan.printable import printable
from metrale_plan.render.drawing import draw
from metrale_plan.render.sheet import Drawing, Grid, Part, Row, Sheet, Text

GAP = 2
LEAST_FLEXIBLE = 16
"""A flexible column narrower than this is not worth printing beside the others."""


def plain(sheet: Sheet, width: int) -> str:
    """The sheet, each line at most `width` columns where its words allow, ending in a newline."""
    blocks: list[list[str]] = []
    previous: Part | None = None
    for part in sheet:
        lines = list(_lines(part, width))
        if together(previous, part):
            blocks[-1] += lines
        else:
            blocks.append(lines)
        previous = part
    return printable("\n\n".join("\n".join(block) for block in blocks), lines=True) + "\n"


def together(previous: Part | None, part: Part) -> bool:
    """Whether no empty line comes between two parts."""
    return isinstance(part, Text) and not part.apart and isinstance(previous, Text)


def _lines(part: Part, width: int) -> Iterable[str]:
    if isinstance(part, Text):
        return _text(part, width)
    return draw(part, width) if isinstance(part, Drawing) else _grid(part, width)


def _text(part: Text, width: int) -> list[str]:
    return wrap(
        part.text,
        max(width, 20),
        subsequent_indent=" " * part.indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def fits(grid: Grid, width: int) -> bool:
    """Whether the columns stand side by side in the width, flexible ones as narrow as is worth printing."""
    widest = [max(len(c.title), *(len(row.cells[i]) for row in grid.rows), 0) for i, c in enumerate(grid.columns)]
    least = [least_of(grid, i) if c.flexible else widest[i] for i, c in enumerate(grid.columns)]
    return sum(least) + GAP * (len(least) - 1) <= width


def least_of(grid: Grid, at: int) -> int:
    """Columns that a flexible column needs: its longest word, and some room unless its text is shorter."""
    texts = [grid.columns[at].title, *(row.cells[at] for row in grid.rows)]
    longest = max(len(word) for text in texts for word in (text.split() or [""]))
    return max(longest, min(LEAST_FLEXIBLE, max(len(text) for text in texts)))


def grid_lines(grid: Grid, width: int) -> list[str]:
    """A grid's lines."""
    return list(_grid(grid, width))


def _grid(grid: Grid, width: int) -> Iterator[str]:
    columns = grid.columns
    fixed = [max(len(c.title), *(len(row.cells[i]) for row in grid.rows), 0) for i, c in enumerate(columns)]
    flexible = [i for i, column in enumerate(columns) if column.flexible]
    if flexible:
        at = flexible[0]
        rest = sum(size for i, size in enumerate(fixed) if i != at) + GAP * (len(columns) - 1)
        natural = fixed[at]
        fixed[at] = min(natural, max(width - rest, 0))
        if fixed[at] < least_of(grid, at):
            yield from _records(grid, width) if rest - GAP > width else _stacked(grid, width, at)
            return
    if sum(fixed) + GAP * (len(columns) - 1) > width:
        yield from _records(grid, width)
        return
    if grid.title:
        yield grid.title
    yield _line([c.title for c in columns], fixed, grid)
    for row in grid.rows:
        if row.rule:
            yield "-" * min(width, sum(fixed) + GAP * (len(fixed) - 1))
        yield from _row(row, fixed, grid)


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


def _records(grid: Grid, width: int) -> Iterator[str]:
    """Narrower than the columns: each row as its first cell and, below it, the others by name."""
    if grid.title:
        yield grid.title
    for row in grid.rows:
        first, *others = row.cells
        named = [
            f"{column.title} {cell}".strip() for column, cell in zip(grid.columns[1:], others, strict=True) if cell
        ]
        yield from _paragraph(f"{grid.columns[0].title} {first}".strip() + ":", width, indent="")
        yield from _paragraph(", ".join(named), width, indent="    ")


def _paragraph(text: str, width: int, *, indent: str) -> list[str]:
    return wrap(
        text,
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=indent or "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


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
            yield from _paragraph(row.cells[flexible], width, indent="    ")
