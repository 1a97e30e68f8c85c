"""Typer parameters that planning commands share; the serve flags among them are made from the flag table."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Optional

from metrale_plan.cli.declare import Argument, Option
from metrale_plan.config.flags import FLAGS, Flag

Model = Annotated[
    Optional[str],
    Argument(
        metavar="[MODEL]",
        help="A bundled model's name, a MODEL.toml, or a directory that holds one.",
        show_default=False,
    ),
]
Checkpoint = Annotated[
    Optional[str],
    Option(
        "--checkpoint",
        metavar="CONFIG_JSON_OR_DIR",
        help="Read the checkpoint's config; it fills what MODEL lacks, wins where they differ, and needs no MODEL.",
    ),
]
Recipe = Annotated[
    Optional[str], Option("--recipe", metavar="FILE", help="A recipe; flags given beside it replace its own.")
]
ArgsFile = Annotated[
    Optional[str],
    Option("--args-file", metavar="FILE", help="A file of serve flags, a script or a unit that runs met serve."),
]
IsolatedEnv = Annotated[bool, Option("--isolated-env", help="Leave the METRALE_* variables of this environment out.")]
Carry = Annotated[
    Optional[bool],
    Option("--carry/--no-carry", help="Whether the engine's drafter carry is configured.", show_default=False),
]
ShowSettings = Annotated[
    bool, Option("--show-settings", help="Print every setting, where it came from, and what it won over.")
]
Device = Annotated[
    Optional[str], Option("--device", metavar="ID", help="Bundled device profile; its visible memory counts as free.")
]
FreeMemory = Annotated[
    Optional[str], Option("--free-memory", metavar="SIZE", help="Free device memory, such as 101.8GiB.")
]
TotalMemory = Annotated[
    Optional[str], Option("--total-memory", metavar="SIZE", help="Total device memory, such as 121.69GiB.")
]
Probe = Annotated[
    Optional[str],
    Option("--probe", metavar="FILE", help="Read memory from what doctor --record wrote."),
]
Samples = Annotated[Optional[int], Option("--samples", metavar="N", help="Memory readings to take; the lowest counts.")]
Over = Annotated[
    Optional[str], Option("--over", metavar="DURATION", help="Time from the first reading to the last, such as 10s.")
]
UnifiedFloor = Annotated[
    Optional[str],
    Option("--unified-floor", metavar="SIZE", help="Host memory that should stay free on a GPU that shares it (8GiB)."),
]
Rules = Annotated[Optional[str], Option("--rules", metavar="DATE", help="Plan by the engine's rules as of this date.")]
FailOnWarning = Annotated[bool, Option("--fail-on-warning", help="Exit 4 when it fits with warnings.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What every planning command takes, as texts; each is explained by its option above.

    Attributes:
        flags: the serve flags that were given, by key: text, True, or a list of texts.
    """

    model: Optional[str]
    checkpoint: Optional[str]
    recipe: Optional[str]
    args_file: Optional[str]
    isolated_env: bool
    carry: Optional[bool]
    show_settings: bool
    device: Optional[str]
    total_memory: Optional[str]
    rules: Optional[str]
    fail_on_warning: bool
    flags: Mapping[str, object]


_LEADING = (("model", Model, None),)
_SHARED = (
    ("checkpoint", Checkpoint, None),
    ("recipe", Recipe, None),
    ("args_file", ArgsFile, None),
    ("isolated_env", IsolatedEnv, False),
    ("carry", Carry, None),
    ("show_settings", ShowSettings, False),
    ("device", Device, None),
    ("total_memory", TotalMemory, None),
    ("rules", Rules, None),
    ("fail_on_warning", FailOnWarning, False),
)


METAVARS = {"count": "N", "number": "X", "text": "TEXT", "ladder": "LADDER", "kv-dtype": "DTYPE", "ring": "DEPTH"}
"""What `--help` shows for a flag's value, by its kind; words to choose from are shown themselves."""


@functools.cache
def _serve_flag(flag: Flag) -> inspect.Parameter:
    spellings = [f"--{name}" for name in (flag.name, *flag.aliases)]
    more = {} if flag.presence else {"metavar": METAVARS.get(flag.kind.name) or "|".join(flag.kind.options)}
    info = Option(*spellings, help=flag.help, hidden=flag.help is None, show_default=False, **more)
    kind: Any = Optional[bool] if flag.presence else Optional[list[str]] if flag.repeatable else Optional[str]
    return _keyword(flag.key, Annotated[kind, info], None)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def planning_command(command: Callable[..., int]) -> Callable[..., int]:
    """A command whose `common` parameter collects MODEL, the shared options and every serve flag; its own stay."""
    own = inspect.signature(command)
    names = [name for name, _, _ in (*_LEADING, *_SHARED)]

    @functools.wraps(command)
    def wrapper(**values: Any) -> int:
        flags = {flag.key: values.pop(flag.key) for flag in FLAGS}
        shared = {name: values.pop(name) for name in names}
        given = {key: value for key, value in flags.items() if value is not None}
        return command(common=Common(**shared, flags=given), **values)

    kept = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in own.parameters.values()
        if parameter.name != "common"
    ]
    signature = own.replace(
        parameters=[
            *(_keyword(*row) for row in _LEADING),
            *kept,
            *(_keyword(*row) for row in _SHARED),
            *(_serve_flag(flag) for flag in FLAGS),
        ]
    )
    wrapper.__signature__ = signature  # type: ignore[attr-defined]
    wrapper.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()}
    return wrapper


def check_stage(stage: str) -> None:
    """Refuse a `--stage` that is none.

    Raises:
        InputError: MP211.
    """
    if stage not in ("reserve", "all"):
        from metrale_plan.errors import InputError
        from metrale_plan.nearest import nearest

        raise InputError(
            "MP211",
            f"--stage {stage!r} is not a stage",
            where="--stage",
            accepted="reserve, all",
            nearest=nearest(stage, ("reserve", "all")),
        )
