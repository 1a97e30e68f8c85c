"""The numbers one file gives for one checkpoint, under our names, whatever their spelling."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from metrale_plan.errors import InputError, Problem
from metrale_plan.model.keys import WRONG_VALUE, Table
from metrale_plan.model.spellings import DIMS
from metrale_plan.model.toml_source import TomlSource

LAYERS_DO_NOT_ADD_UP = "MP206"
LIST_TOO_LONG = "MP223"

SEPARATE_STACKS = frozenset(
    f"{stack}_{what}" for stack in ("decoder", "encoder") for what in ("layers", "attention_heads", "ffn_dim")
)
"""Spellings of one dimension that may differ: an encoder-decoder model's dimensions here are those of its decoder."""


NAMES = {spelling: name for name, dim in DIMS.items() for spelling in dim.spellings}
RANK = {spelling: rank for dim in DIMS.values() for rank, spelling in enumerate(dim.spellings)}

ORDERS = frozenset(
    {"pattern", "layer_types", "full_interval", "override_pattern", "attn_types", "kda_indexes", "full_indexes"}
)
COUNTS = frozenset({"linear_count", "mamba_count", "kda_count", "full_count", "sparse_count", "sliding_count"})


class Fact(NamedTuple):
    """One value as the file gives it."""

    value: Any
    spelling: str
    where: str


class Facts:
    """Dimensions by our names; the table asked first wins, and two spellings in one table may not disagree.

    Attributes:
        model_type: the checkpoint's model type, or "" where the file names none.
        loader: the engine's weight loader where the file names one.
        where: `file:line` of the table the dimensions come from.
        notes: what was noticed on the way.
    """

    def __init__(
        self, source: TomlSource, tables: Iterable[Table], *, model_type: str, loader: str | None, hidden: Fact | None
    ) -> None:
        self.model_type = model_type
        self.loader = loader
        self.where = source.where("model")
        self.notes: list[Problem] = []
        self._facts: dict[str, Fact] = {}
        for table in tables:
            ordered = not ORDERS.isdisjoint(self._facts)  # an order told for one checkpoint replaces the model's
            for name, fact in self._of(source, table).items():
                if not (ordered and name in ORDERS | COUNTS):
                    self._facts.setdefault(name, fact)
        if hidden is not None:
            self._facts.setdefault("hidden", hidden)

    @staticmethod
    def _of(source: TomlSource, table: Table) -> dict[str, Fact]:
        found: dict[str, Fact] = {}
        # params.json says `dim` for the hidden size and `hidden_dim` for the feed-forward width.
        params_json = "dim" in table.keys and "hidden_dim" in table.keys
        for key, value in table.keys.items():
            name = NAMES.get("intermediate_size" if params_json and key == "hidden_dim" else key)
            if name is None:
                continue
            fact = Fact(value, key, source.where(*table.key_path(key)))
            first = found.get(name)
            if first is None or RANK[key] < RANK[first.spelling]:
                found[name] = fact
            if first is not None and first.value != value and not {first.spelling, key} <= SEPARATE_STACKS:
                raise InputError(
                    WRONG_VALUE,
                    f"{first.spelling} = {first.value} and {key} = {value} are one dimension",
                    where=fact.where,
                    accepted=f"one of the two, or {key} = {first.value}",
                )
        return found

    def fact(self, name: str) -> Fact | None:
        """One dimension with its spelling and line, or None."""
        return self._facts.get(name)

    def get(self, name: str) -> Any:
        """One dimension's value, or None."""
        fact = self._facts.get(name)
        return None if fact is None else fact.value

    def count(self, name: str) -> int:
        """A whole number; 0 where the file does not give it."""
        value = self.get(name)
        return value if isinstance(value, int) else 0

    def flag(self, name: str, default: bool = False) -> bool:
        """A switch; the default where the file does not give it."""
        value = self.get(name)
        return value if isinstance(value, bool) else default

    def gives(self, names: Iterable[str]) -> bool:
        """Whether any of these dimensions is above 0."""
        return any(self.count(name) > 0 for name in names)

    def contradiction(self, message: str, *names: str) -> InputError:
        """MP206 at the first of the named dimensions that the file gives."""
        where = next((fact.where for name in names if (fact := self.fact(name))), self.where)
        return InputError(LAYERS_DO_NOT_ADD_UP, message, where=where)
