"""`models` and `devices`: their parameters, and nothing else."""

from typing import Annotated, Optional

from metrale_plan.cli.declare import Argument, Option
from metrale_plan.cli.invocation import Invocation

Name = Annotated[
    Optional[str],
    Argument(help="One model: a bundled name, a MODEL.toml, or a directory that holds one.", show_default=False),
]
Class = Annotated[
    Optional[str],
    Option("--class", metavar="CLASS", help="Hardware class whose defaults to show, such as gb10 or hopper."),
]


def models(invocation: Invocation, name: Name = None, hardware_class: Class = None) -> int:
    """List the bundled models with family, layers, recurrent state and KV bytes per token; or show one."""
    from metrale_plan import catalog
    from metrale_plan.cli.output import emit_answer
    from metrale_plan.listing import model_row
    from metrale_plan.render.catalog import model_sheet, model_value, models_sheet

    known_class(hardware_class)
    names = catalog.bundled_models() if name is None else (name,)
    rows = [model_row(catalog.load(one, hardware_class=hardware_class)) for one in names]
    values = [model_value(row, whole=name is not None) for row in rows]
    notes = [] if name is None else [note for row in rows for note in row.model.notes]
    emit_answer(
        invocation, "models", values, lambda: models_sheet(rows) if name is None else model_sheet(rows[0]), notes
    )
    return 0


def devices(invocation: Invocation) -> int:
    """List the bundled device profiles: class, memory, SMs and split-K policy."""
    from metrale_plan import catalog
    from metrale_plan.cli.output import emit_answer
    from metrale_plan.render.catalog import device_value, devices_sheet

    specs = catalog.devices()
    emit_answer(invocation, "devices", [device_value(spec) for spec in specs], lambda: devices_sheet(specs))
    return 0


def known_class(hardware_class: str | None) -> None:
    """Refuse a hardware class that nobody knows."""
    from metrale_plan.data.devices import CLASSES
    from metrale_plan.errors import InputError
    from metrale_plan.nearest import nearest

    if hardware_class is not None and hardware_class not in CLASSES:
        raise InputError(
            "MP211",
            f"--class {hardware_class!r} is no hardware class",
            where="--class",
            accepted=", ".join(CLASSES),
            nearest=nearest(hardware_class, CLASSES),
        )
