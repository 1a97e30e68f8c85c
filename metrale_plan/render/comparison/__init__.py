"""The formats of `diff`, by name; each is one module, imported when asked for."""

from collections.abc import Callable
from importlib import import_module

from metrale_plan.gate.diff_report import DiffReport

FORMATS: dict[str, bool] = {"table": False, "json": True, "markdown": False}
"""Name -> whether nothing else may share its stream."""

MODULES = {"table": "table", "json": "json_document", "markdown": "markdown"}


def renderer(name: str) -> Callable[[DiffReport], str]:
    """The function that makes a format's text."""
    render: Callable[[DiffReport], str] = import_module(f"{__name__}.{MODULES[name]}").render
    return render
