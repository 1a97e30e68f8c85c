"""`schema`: its parameter, and what it prints."""

from typing import Annotated, Optional

from metrale_plan.cli.declare import Argument
from metrale_plan.cli.invocation import Invocation

What = Annotated[
    Optional[str],
    Argument(
        help="`flags`: every flag of met serve. `serve`: JSON Schema of serve flags as data. `plan`: JSON Schema of a "
        "planning document.",
        show_default=False,
    ),
]

WHATS = ("flags", "serve", "plan")


def schema(invocation: Invocation, what: What = None) -> int:
    """Print the flag table with its version, or the JSON Schema of serve flags or of a planning document.

    Under `--format json` the table is under `flags` and the JSON Schema under `document`, since `schema` is the key
    that names the version of every document.
    """
    from metrale_plan.cli.output import write_json, write_sheet
    from metrale_plan.errors import InputError
    from metrale_plan.nearest import nearest
    from metrale_plan.render.json import envelope
    from metrale_plan.render.schema import flags_sheet, flags_value, plan_schema

    if what not in WHATS:
        raise InputError(
            "MP220",
            "schema of what?" if what is None else f"there is no schema {what!r}",
            where=what,
            accepted=", ".join(WHATS),
            nearest=() if what is None else nearest(what, WHATS),
        )
    head = envelope("schema", 0, [], None)
    if what == "flags":
        if invocation.json:
            write_json(invocation, head | {"flags": flags_value()})
        else:
            write_sheet(invocation, flags_sheet())
        return 0
    if what == "serve":
        from metrale_plan.config.schema import serve_flags_model

        document = serve_flags_model().model_json_schema()
    else:
        document = plan_schema()
    write_json(invocation, head | {"document": document} if invocation.json else document)
    return 0
