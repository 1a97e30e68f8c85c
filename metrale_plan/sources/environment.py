"""METRALE_* variables -> offers, read once and each the way the engine reads it."""

from collections.abc import Mapping

from metrale_plan.config.given import Given, Source
from metrale_plan.config.variables import PREFIX, Ignored, by_name, meant_by, misspelt
from metrale_plan.errors import InputError


def given_variables(
    environ: Mapping[str, str], source: Source = "env", *, where: str | None = None
) -> list[tuple[str, Given]]:
    """Offers of every METRALE_* variable that is set; one the plan does not read keeps its text.

    A known one whose prefix is misspelt is offered as ignored, since the engine never looks at it.

    Raises:
        InputError: MP238 for a name that misspells a known one.
    """
    known = by_name()
    offers: list[tuple[str, Given]] = []
    for name in sorted(environ):
        if not name.startswith(PREFIX):
            meant = meant_by(name)
            if meant is not None:
                ignored = Ignored(f"{meant}={environ[name]}", f"nothing, since it is not spelled {meant}")
                offers.append((name, Given(ignored, source, where or name, environ[name])))
            continue
        near = misspelt(name)
        if near is not None:
            raise InputError(
                "MP238",
                f"{name} is not a variable that the engine is known to declare",
                where=where or name,
                accepted="a variable as the engine spells it, or the variable unset",
                nearest=(near,),
            )
        raw = environ[name]
        variable = known.get(name)
        value = raw if variable is None else variable.read(raw)
        offers.append((name, Given(value, source, where or name, raw)))
    return offers
