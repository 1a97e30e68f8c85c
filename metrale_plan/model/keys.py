"""Which keys each table of a MODEL.toml may hold, which values they take, and what a stranger's key is.

Valid files are accepted here by a few comparisons; `schema` explains the others.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from metrale_plan.kv import KV_DTYPE_SHORT, KV_DTYPES
from metrale_plan.model.spellings import DIMS

WRONG_VALUE = "MP203"
MISSPELT = "MP204"
UNKNOWN_KEY = "MP209"

LARGEST = 2**31 - 1
MOST_LAYERS = 4096
MOST_SEQUENCES = 128

WHOLE: dict[str, tuple[int, int]] = {
    "size": (1, LARGEST),
    "count": (0, LARGEST),
    "layers": (1, MOST_LAYERS),
    "layer_share": (0, MOST_LAYERS),
    "sequences": (0, MOST_SEQUENCES),
}
"""Kinds that are whole numbers, with their ranges. The others are `flag`, `text` (not empty), `dtype` (a KV dtype or
empty), `words` (a list of texts), `counts` (a list of counts) and `count_each` (a count, or such a list)."""

KV_NAMES = frozenset((*KV_DTYPES, *KV_DTYPE_SHORT))

Kinds = Mapping[str, str]

MODEL_KEYS: dict[str, str] = {
    "hf_id": "text",
    "model_type": "text",
    "loader": "text",
    **{spelling: dim.kind for dim in DIMS.values() for spelling in dim.spellings},
}

TABLES: dict[str, Kinds] = {
    "model": MODEL_KEYS,
    "behavior": {
        "default_num_drafts": "count",
        "mtp_max_seqs": "sequences",
        "default_kv_dtype": "dtype",
        "fp8_kv_calibration_tokens": "count",
    },
    "model_types": {"model_type": "text", "hidden_size": "count"},
    "dflash": {"draft_model": "text"},
    "checkpoint": {"id": "text", **MODEL_KEYS},
}
"""Keys read in each table. `[class.<id>.behavior]` holds the keys of `[behavior]`."""

LISTED_TABLES = frozenset({"model_types", "checkpoint"})
TOP_LEVEL = ("model", "behavior", "model_types", "dflash", "checkpoint", "class")


class Table(NamedTuple):
    """One table of a file that is read: which of `TABLES` it is, its path, and its keys (nested ones dotted)."""

    name: str
    path: tuple[str | int, ...]
    keys: Mapping[str, Any]

    def key_path(self, key: str) -> tuple[str | int, ...]:
        """The path of one key, for its line."""
        return (*self.path, *key.split("."))


def flatten(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a table with those of the nested tables that are read dotted: `linear_attn_config.kda_layers`."""
    nested = {key.split(".")[0] for key in TABLES[name] if "." in key}
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if key in nested and isinstance(value, dict):
            flat |= {f"{key}.{inner}": deep for inner, deep in value.items()}
        else:
            flat[key] = value
    return flat


def tables_of(data: Mapping[str, Any]) -> Iterator[Table]:
    """The tables of a file that are read, in the order of `TOP_LEVEL`; those of a wrong shape are `stray`'s."""
    for name in TOP_LEVEL:
        value = data.get(name)
        if name == "class" and isinstance(value, dict):
            for hardware, inner in value.items():
                behavior = inner.get("behavior") if isinstance(inner, dict) else None
                if isinstance(behavior, dict):
                    yield Table("behavior", (name, hardware, "behavior"), flatten("behavior", behavior))
        elif name in LISTED_TABLES and isinstance(value, list):
            for index, row in enumerate(value):
                if isinstance(row, dict):
                    yield Table(name, (name, index), flatten(name, row))
        elif name in TABLES and isinstance(value, dict):
            yield Table(name, (name,), flatten(name, value))


def accepts(kind: str, value: object) -> bool:
    """Whether a value is plainly of a kind; never true where `schema` refuses."""
    limits = WHOLE.get(kind)
    if limits is not None:
        return type(value) is int and limits[0] <= value <= limits[1]
    if kind == "flag":
        return type(value) is bool
    if kind == "text":
        return type(value) is str and value != ""
    if kind == "dtype":
        return type(value) is str and (value == "" or value in KV_NAMES)
    if kind == "count_each" and not isinstance(value, list):
        return accepts("count", value)
    if not isinstance(value, list) or not 0 < len(value) <= MOST_LAYERS:
        return False
    return all(accepts("text" if kind == "words" else "count", item) for item in value)
