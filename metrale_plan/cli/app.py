"""Every command by name, one line of help, and where its body lives; and the typer application made of them.

Only the command that was asked for is imported and given its parameters; building every command's would cost more
than most commands take. typer itself is imported for help, and for lines that `quick` leaves to it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

if TYPE_CHECKING:
    import typer

COMMANDS: dict[str, tuple[str, str]] = {
    "preflight": ("planning:preflight", "Plan a serve and compare it with the GPU's free memory."),
    "doctor": ("doctor:doctor", "Show what this machine reports, and why a memory reading was chosen or refused."),
    "plan": ("planning:plan", "Print what the engine will reserve, term by term."),
    "run": ("run:run", "Preflight a serve, and start it when it fits."),
    "import": ("checkpoint:import_", "Make a MODEL.toml from a checkpoint's config."),
    "models": ("catalog:models", "List the bundled models, or show one."),
    "devices": ("catalog:devices", "List the bundled device profiles."),
    "schema": ("schema:schema", "Print the flag table, or the JSON Schema of a plan."),
    "check": ("check:check", "Gate many serve configs at once, for CI."),
    "diff": ("diff:diff", "Compare two plans, term by term."),
    "explain-ladder": ("explain:explain_ladder", "Why each width gets its drafts and each verify slot its capacity."),
    "explain-ring": ("explain:explain_ring", "Which rule decided the decode-rollback ring's depth, and what fits."),
    "explain-marconi": ("explain:explain_marconi", "Why snapshot slots are kept or dropped, and when one is restored."),
    "explain-carry": ("explain:explain_carry", "Whether the drafter carry is armed, and how warm turns would end."),
    "explain": ("explain:explain", "Print a warning, refusal or error code in full."),
}
"""Name -> (module:function below `metrale_plan.cli`, the line in the list of commands)."""


def load(name: str) -> Callable[..., int]:
    """The body of a command, imported now."""
    module, _, function = COMMANDS[name][0].partition(":")
    body: Callable[..., int] = getattr(import_module(f"metrale_plan.cli.{module}"), function)
    return body


def build_app(wanted: str | None) -> "typer.Typer":
    """The application with every command named and `wanted` complete."""
    import typer

    app = typer.Typer(
        name="metrale-plan",
        help="Plan what the Metrale engine (met serve) will allocate, and check it against the GPU before it loads.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    app.callback()(_several)
    for name, (_, line) in COMMANDS.items():
        body = for_typer(load(name)) if name == wanted else _placeholder
        app.command(name, short_help=line)(body)
    return app


def for_typer(body: Callable[..., int]) -> Callable[..., int]:
    """The command with typer's own declarations in place of ours; its invocation is the context's object."""
    import inspect

    import typer

    def command(**values: Any) -> int:
        return body(invocation=values.pop("ctx").obj, **values)

    own = inspect.signature(body).parameters.values()
    ctx = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    converted = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=_typer_annotation(parameter.annotation))
        for parameter in own
        if parameter.name != "invocation"
    ]
    signature = inspect.Signature([ctx, *converted])
    command.__doc__ = body.__doc__
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()}
    return command


def _typer_annotation(annotation: Any) -> Any:
    import typer

    from metrale_plan.cli.declare import Option

    (declared,) = annotation.__metadata__
    if isinstance(declared, Option):
        return Annotated[annotation.__origin__, typer.Option(*declared.spellings, **declared.extra)]
    return Annotated[annotation.__origin__, typer.Argument(**declared.extra)]


def _several() -> None:
    """Keeps typer from turning a lone command into the whole program."""


def _placeholder() -> int:
    raise AssertionError("a command that was not asked for was run")
