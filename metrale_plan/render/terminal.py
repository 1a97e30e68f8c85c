"""A Sheet on a terminal, through rich: colour, and rich's own handling of wide characters."""

from typing import TextIO

from metrale_plan.printable import printable
from metrale_plan.render.drawing import draw
from metrale_plan.render.plain import fits, grid_lines, together
from metrale_plan.render.sheet import Drawing, Grid, Part, Sheet, Text

RICH = {"plain": "", "good": "bold green", "bad": "bold red", "unsure": "yellow", "quiet": "dim", "strong": "bold"}


LINES = 25


def print_sheet(sheet: Sheet, out: TextIO, *, width: int | None, color: bool) -> None:
    """Print it; without `width`, as wide as the terminal is."""
    from rich.console import Console
    from rich.text import Text as RichText

    console = Console(
        file=out,
        width=width,
        height=LINES if width else None,  # without a height too, rich takes a dumb terminal to be 80 wide
        color_system="standard" if color else None,  # asked for, whatever TERM says
        force_terminal=color or None,
        highlight=False,
    )
    previous: Part | None = None
    for part in sheet:
        if previous is not None and not together(previous, part):
            console.print()
        if isinstance(part, Text):
            console.print(RichText(printable(part.text, lines=True), style=RICH[part.style]))
        elif isinstance(part, Drawing):
            console.print(
                RichText(printable("\n".join(draw(part, console.width)), lines=True), no_wrap=True, overflow="crop")
            )
        elif not fits(part, console.width - len(part.columns) - 1):
            # Rich's tables take a column more per gap and at each end; where that is too wide, it is plain lines.
            console.print(RichText(printable("\n".join(grid_lines(part, console.width)), lines=True), no_wrap=True))
        else:
            console.print(_table(part))
        previous = part


def _table(grid: Grid) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text as RichText

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=printable(grid.title) or None, title_justify="left")
    for column in grid.columns:
        table.add_column(column.title, justify=column.align, no_wrap=not column.flexible, overflow="fold")
    for row in grid.rows:
        if row.rule:
            table.add_section()
        table.add_row(*(RichText(printable(cell)) for cell in row.cells), style=RICH[row.style])
    return table
