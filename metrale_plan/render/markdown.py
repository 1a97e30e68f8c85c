"""Markdown's small parts: text that stays text inside a table."""

from metrale_plan.printable import printable

_HTML = {ord(char): entity for char, entity in {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}.items()}
_SPECIAL = {ord(char): f"\\{char}" for char in "\\`*_[]|~#$"} | _HTML


def cell(text: str) -> str:
    """Any text as one cell that shows exactly it."""
    return printable(" ".join(text.split())).translate(_SPECIAL)


def raw(text: str) -> str:
    """Any text inside an HTML element, where markdown escapes nothing."""
    return printable(" ".join(text.split())).translate(_HTML)


def row(*cells: str) -> str:
    """A row of a table, of cells that are already escaped."""
    return "| " + " | ".join(cells) + " |"
