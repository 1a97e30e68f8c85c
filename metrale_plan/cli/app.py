"""The typer application: each command by name, one line of help, and where its body lives.

Only the command that was asked for is imported and given its parameters; building every command's would cost more
than most commands take.
"""

from collections.abc import Callable
from importlib import import_module

import typer

COMMANDS: dict[str, tuple[str, str]] = {
    "preflight": ("planning:preflight", "Plan a serve and compare it with the GPU's free memory."),
    "doctor": ("doctor:doctor", "Show what this machine reports, and why a memory reading was chosen or refused."),
    "plan": ("planning:plan", "Print what the engine will reserve, term by term."),
    "run": ("run:run", "Preflight a serve, and start it when it fits."),
    "import": ("checkpoint:import_", "Make a MODEL.toml from a checkpoint's config."),
    "models": ("catalog:models", "List the bundled models, or show one."),
    "devices": ("catalog:devices", "List the bundled device profiles."),
    "check": ("check:check", "Gate many serve configs at once, for CI."),
    "diff": ("diff:diff", "Compare two plans, term by term."),
    "explain-ladder": ("explain:explain_ladder", "Why each width gets its drafts and each verify slot its capacity."),
    "explain-ring": ("explain:explain_ring", "Which rule decided the decode-rollback ring's depth, and what fits."),
    "explain-marconi": ("explain:explain_marconi", "Why snapshot slots are kept or dropped, and when one is restored."),
    "explain-carry": ("explain:explain_carry", "Whether the drafter carry is armed, and how warm turns would end."),
    "explain": ("explain:explain", "Print a warning, refusal or error code in full."),
}
"""Name -> (module:function below `metrale_plan.cli`, the line in the list of commands)."""


def build_app(wanted: str | None) -> typer.Typer:
    """The application with every command named and `wanted` complete."""
    app = typer.Typer(
        name="metrale-plan",
        help="Plan what the Metrale engine (met serve) will allocate, and check it against the GPU before it loads.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    app.callback()(_several)
    for name, (place, line) in COMMANDS.items():
        body = _load(place) if name == wanted else _placeholder
        app.command(name, short_help=line)(body)
    return app


def _several() -> None:
    """Keeps typer from turning a lone command into the whole program."""


def _placeholder() -> int:
    raise AssertionError("a command that was not asked for was run")


def _load(place: str) -> Callable[..., int]:
    module, _, function = place.partition(":")
    loaded: Callable[..., int] = getattr(import_module(f"metrale_plan.cli.{module}"), function)
    return loaded
