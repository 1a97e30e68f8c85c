"""ServeFlags: the serve flags of one config as a typed pydantic model, made from the flag table.

Each field's validator is the flag's own kind, so the model takes exactly the texts that the command line takes; its
JSON Schema says what the values are once read. For programs that hold serve flags as data, and for `schema serve`.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    create_model,
)

from metrale_plan.config.flags import FLAGS, Flag

TYPES: dict[str, Any] = {
    "count": StrictInt,
    "number": StrictFloat,
    "text": StrictStr,
    "presence": StrictBool,
    "ladder": tuple[tuple[StrictInt, StrictInt], ...],
    "ring": StrictInt | Literal["auto"],
    "kv-dtype": StrictStr,
}


class ServeConfigModel(BaseModel):
    """Frozen, and refuses keys that are no serve flag."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _value_type(flag: Flag) -> Any:
    kind = flag.kind
    if kind.name == "choice":
        return Literal[kind.options]
    if kind.name == "count-or-word":
        return StrictInt | Literal[kind.options]
    return TYPES[kind.name]


def _reader(flag: Flag) -> Callable[[Any], Any]:
    """Texts go through the flag's kind; values that are typed already stay, for pydantic to judge."""

    def read(given: Any) -> Any:
        if flag.repeatable and isinstance(given, (list, tuple)):
            return tuple(flag.kind.parse(item) for item in given)
        return flag.kind.parse(given) if isinstance(given, str) else given

    return read


def _field(flag: Flag) -> tuple[Any, Any]:
    kept: Any = tuple[StrictStr, ...] if flag.repeatable else _value_type(flag)
    read = Annotated[kept | None, BeforeValidator(_reader(flag))]
    return read, Field(default=None, description=flag.help or flag.kind.accepted)


def serve_flags_model() -> type[ServeConfigModel]:
    """The model with one optional field a flag, by its recipe key; None is a flag that was not given."""
    fields: dict[str, Any] = {flag.key: _field(flag) for flag in FLAGS}
    return create_model("ServeFlags", __base__=ServeConfigModel, **fields)


def validate_serve_flags(given: Mapping[str, object]) -> ServeConfigModel:
    """Serve flags by key, as texts or as typed values, as one typed config.

    Raises:
        pydantic.ValidationError: a key that is no flag, or a value that its flag can never take.
    """
    return serve_flags_model().model_validate(dict(given))
