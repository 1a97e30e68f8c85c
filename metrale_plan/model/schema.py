"""What a MODEL.toml may say, as strict pydantic models: true is no number, "64" is no number, 64.0 is no number.

Built from the kinds of `keys`, one model per table; loaded only to explain a value that `keys.accepts` would not take.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from metrale_plan.model.keys import KV_NAMES, MOST_LAYERS, TABLES, WHOLE


class Fault(NamedTuple):
    """One value that its key cannot take.

    Attributes:
        key: the key, dotted where it is nested.
        item: position in the list that is the value, or None.
        message: what is wrong with it.
        accepted: what the key takes.
    """

    key: str
    item: int | None
    message: str
    accepted: str


def _known_dtype(value: str) -> str:
    if value and value not in KV_NAMES:
        raise PydanticCustomError("kv_dtype", "is no KV dtype")
    return value


Text = Annotated[StrictStr, Field(min_length=1)]
Count = Annotated[StrictInt, Field(ge=WHOLE["count"][0], le=WHOLE["count"][1])]
Counts = Annotated[list[Count], Field(min_length=1, max_length=MOST_LAYERS)]

TYPES: dict[str, Any] = {
    **{kind: Annotated[StrictInt, Field(ge=low, le=high)] for kind, (low, high) in WHOLE.items()},
    "flag": StrictBool,
    "text": Text,
    "dtype": Annotated[StrictStr, AfterValidator(_known_dtype)],
    "words": Annotated[list[Text], Field(min_length=1, max_length=MOST_LAYERS)],
    "counts": Counts,
    "count_each": Count | Counts,
}

ACCEPTED: dict[str, str] = {
    **{kind: f"a whole number from {low} to {high}" for kind, (low, high) in WHOLE.items()},
    "flag": "true or false",
    "text": "a text that is not empty",
    "dtype": "a KV dtype: " + ", ".join(sorted(KV_NAMES)) + '; or "" for the engine\'s own',
    "words": "a list of texts, one a layer",
    "counts": "a list of whole numbers of at least 0",
    "count_each": "a whole number of at least 0, or a list of them, one a layer",
}


class Strict(BaseModel):
    """Values are taken as they are written; keys that are not read are left to `keys`."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


def table_model(name: str) -> type[Strict]:
    """The pydantic model of one table of `keys.TABLES`; every key is optional there but a checkpoint's `id`."""
    fields: dict[str, Any] = {}
    for number, (key, kind) in enumerate(TABLES[name].items()):
        required = name == "checkpoint" and key == "id"
        kept = TYPES[kind] if required else TYPES[kind] | None
        fields[f"field_{number}"] = (kept, Field(... if required else None, alias=key))
    return create_model(name, __base__=Strict, **fields)


def faults(name: str, keys: Mapping[str, Any]) -> list[Fault]:
    """Every value of one table that its key cannot take, in the order pydantic finds them; one per key."""
    try:
        table_model(name).model_validate(dict(keys))
    except ValidationError as error:
        found: dict[str, Fault] = {}
        for detail in error.errors(include_url=False):
            key = str(detail["loc"][0])
            whole = not isinstance(keys.get(key), list) or not any(isinstance(part, int) for part in detail["loc"][1:])
            if key not in found or (not whole and found[key].item is None):
                found[key] = _fault(name, key, detail, keys.get(key))
        return list(found.values())
    return []


def _fault(name: str, key: str, detail: ErrorDetails, value: object) -> Fault:
    """One pydantic error in this package's words."""
    kind = TABLES[name][key]
    if detail["type"] == "missing":
        return Fault(key, None, f"{key} is missing", ACCEPTED[kind])
    items = [part for part in detail["loc"][1:] if isinstance(part, int)] if isinstance(value, list) else []
    if items:
        return Fault(key, items[0], f"{key}[{items[0]}] is {_told(value, items[0])}", ACCEPTED[kind])
    return Fault(key, None, f"{key} is {_told(value)}", ACCEPTED[kind])


def _told(value: object, item: int | None = None) -> str:
    """A value in a few words, with its type where that is the trouble."""
    if item is not None and isinstance(value, list):
        value = value[item]
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a number of more than 20 digits"
    if isinstance(value, float):
        return f"{value!r}, which is no whole number"
    if isinstance(value, str):
        return "an empty text" if not value else f'the text "{value[:40]}{"…" if len(value) > 40 else ""}"'
    if isinstance(value, list):
        return "an empty list" if not value else f"a list of {len(value)}"
    return "a table" if isinstance(value, dict) else "a date or time"
