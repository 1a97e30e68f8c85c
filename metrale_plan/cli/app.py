"""The typer application: each command by name, its help, and where its body lives."""

import typer

from metrale_plan.cli import planning


def build_app() -> typer.Typer:
    """The application with every command."""
    app = typer.Typer(
        name="metrale-plan",
        help="Plan what the Metrale engine (met serve) will allocate, and check it against the GPU before it loads.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    app.command()(planning.preflight)
    app.command()(planning.plan)
    return app
