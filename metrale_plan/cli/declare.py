"""Declaring a command's parameters as plain data, so that neither reading nor running a command needs typer.

`app` turns the declarations into typer's for help and for every line that `quick` does not take.
"""

from typing import Any


class Option:
    """A `--flag`: its spellings and what `--help` says of it; use it in `Annotated[type, Option(...)]`."""

    __slots__ = ("extra", "spellings")

    def __init__(self, *spellings: str, **extra: Any) -> None:
        self.spellings = spellings
        self.extra = extra


class Argument:
    """A positional; use it in `Annotated[type, Argument(...)]`."""

    __slots__ = ("extra",)

    def __init__(self, **extra: Any) -> None:
        self.extra = extra
