"""Typer parameters that planning commands share; the serve flags among them are made from the flag table."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Optional

import typer

from metrale_plan.config.flags import FLAGS, Flag

Model = Annotated[
    Optional[str],
    typer.Argument(help="A bundled model's name, a MODEL.toml, or a directory that holds one.", show_default=False),
]
Device = Annotated[
    Optional[str], typer.Option("--device", help="Bundled device profile; its visible memory counts as free.")
]
FreeMemory = Annotated[Optional[str], typer.Option("--free-memory", help="Free device memory, such as 101.8GiB.")]
TotalMemory = Annotated[Optional[str], typer.Option("--total-memory", help="Total device memory, such as 121.69GiB.")]
Rules = Annotated[Optional[str], typer.Option("--rules", help="Plan by the engine's rules as of this date.")]
FailOnWarning = Annotated[bool, typer.Option("--fail-on-warning", help="Exit 4 when it fits with warnings.")]


def _parameter(flag: Flag) -> inspect.Parameter:
    spellings = [f"--{name}" for name in (flag.name, *flag.aliases)]
    info = typer.Option(*spellings, help=flag.help, hidden=flag.help is None, show_default=False)
    kind: Any = Optional[bool] if flag.presence else Optional[list[str]] if flag.repeatable else Optional[str]
    return inspect.Parameter(flag.key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, info])


def with_serve_flags(command: Callable[..., int]) -> Callable[..., int]:
    """A command whose `flags` parameter collects every serve flag that was given, by key."""
    own = inspect.signature(command)
    added = [_parameter(flag) for flag in FLAGS]

    @functools.wraps(command)
    def wrapper(**values: Any) -> int:
        flags = {flag.key: values.pop(flag.key) for flag in FLAGS}
        return command(flags={key: value for key, value in flags.items() if value is not None}, **values)

    kept = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in own.parameters.values()
        if parameter.name != "flags"
    ]
    signature = own.replace(parameters=[*kept, *added])
    wrapper.__signature__ = signature  # type: ignore[attr-defined]
    wrapper.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()}
    return wrapper
