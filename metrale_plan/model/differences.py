"""Where a MODEL.toml and the checkpoint it is planned with say different things: the checkpoint is what loads."""

from collections.abc import Iterator, Sequence

from metrale_plan.errors import Problem
from metrale_plan.model.config_json import CheckpointConfig
from metrale_plan.model.dims import LayerKind
from metrale_plan.model.families.facts import COUNTS, ORDERS, Fact, Facts
from metrale_plan.model.families.schedule import schedule

DIFFERS = "MP225"


def differences_of(config: CheckpointConfig, model: Facts, model_types: Sequence[str]) -> Iterator[Problem]:
    """A warning for each dimension that both give, differently, and for the model type and the layers' order.

    Args:
        model: what the MODEL.toml says without the checkpoint.
        model_types: the model types that the MODEL.toml takes.
    """
    told = Facts(config.rows, model_type=config.model_type)
    known = {model.model_type, *model_types} - {""}
    if config.model_type and known and config.model_type not in known:
        listed = ", ".join(sorted(known))
        yield _warning("model_type", config.model_type, f"the model file is for {listed}", config.where)
    own = dict(model)
    for name, fact in told:
        if name in own and name not in ORDERS | COUNTS and fact.value != own[name].value:
            yield _differing(fact, own[name])
    order = next((fact for name, fact in told if name in ORDERS | COUNTS), None)
    if order is None or own.keys().isdisjoint(ORDERS | COUNTS):
        return
    mine, its = schedule(model).layers, schedule(told).layers
    ordered = not own.keys().isdisjoint(ORDERS)  # counts alone tell no order to differ from
    if mine and its and (mine != its if ordered else sorted(mine) != sorted(its)):
        yield _warning("layers", _told(its), f"the model file tells {_told(mine)} in its order", order.where)


def _told(layers: Sequence[LayerKind]) -> str:
    return f"{layers.count('linear')} recurrent of {len(layers)}"


def _differing(fact: Fact, own: Fact) -> Problem:
    return _warning(
        fact.spelling, fact.value, f"the model file says {own.spelling} = {own.value} ({own.where})", fact.where
    )


def _warning(what: str, value: object, other: str, where: str) -> Problem:
    message = f"{what} is {value} in the checkpoint, but {other}; the checkpoint's is used"
    return Problem(code=DIFFERS, message=message, where=where, severity="warning")
