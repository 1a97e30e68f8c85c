"""The formats of a gate's report, by name; each is one module, imported when asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from metrale_plan.gate.summary import GateReport

Renderer = Callable[[GateReport], str]


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        module: below this package; its `render` makes the text.
        alone: for programs, so nothing else may share its stream.
    """

    module: str
    alone: bool = False


FORMATS: dict[str, Format] = {
    "table": Format("table"),
    "concise": Format("concise"),
    "json": Format("json_document", alone=True),
    "jsonl": Format("jsonl", alone=True),
    "github": Format("github"),
    "gitlab": Format("gitlab", alone=True),
    "sarif": Format("sarif", alone=True),
    "junit": Format("junit", alone=True),
    "markdown": Format("markdown"),
}


def renderer(name: str) -> Renderer:
    """The function that makes a format's text."""
    render: Renderer = import_module(f"{__name__}.{FORMATS[name].module}").render
    return render
