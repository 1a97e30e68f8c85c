"""Markdown's small parts: text that stays text inside a table."""

_SPECIAL = str.maketrans(
    {char: f"\\{char}" for char in "\\`*_[]|~#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}
)


def cell(text: str) -> str:
    """Any text as one cell that shows exactly it."""
    return " ".join(text.split()).translate(_SPECIAL)


def row(*cells: str) -> str:
    """A row of a table, of cells that are already escaped."""
    return "| " + " | ".join(cells) + " |"
