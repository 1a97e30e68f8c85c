"""The numbers one file gives for one checkpoint, under our names, whatever their spelling."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from metrale_plan.errors import InputError, Problem
from metrale_plan.model.keys import WRONG_VALUE, Table
from metrale_plan.model.spellings import DIMS

LAYERS_DO_NOT_ADD_UP = "MP206"
LIST_TOO_LONG = "MP223"
UNTOLD = "MP226"

SEPARATE_STACKS = frozenset(
    f"{stack}_{what}" for stack in ("decoder", "encoder") for what in ("layers", "attention_heads", "ffn_dim")
)
"""Spellings of one dimension that may differ: an encoder-decoder model's dimensions here are those of its decoder."""

OF_THE_WHOLE = frozenset({"num_hidden_layers", "num_attention_heads", "intermediate_size"})
"""What configs of such models say beside them; of two stacks that differ it is the encoder's, so the decoder's wins."""

NAMES = {spelling: name for name, dim in DIMS.items() for spelling in dim.spellings}
RANK = {
    spelling: -1 if spelling in SEPARATE_STACKS and spelling.startswith("decoder") else rank
    for dim in DIMS.values()
    for rank, spelling in enumerate(dim.spellings)
}

ORDERS = frozenset(
    {"pattern", "layer_types", "full_interval", "override_pattern", "attn_types", "kda_indexes", "full_indexes"}
)
LISTS = ORDERS - {"pattern", "full_interval"}
"""Orders that name each layer, so they fit one number of layers only."""
COUNTS = frozenset({"linear_count", "mamba_count", "kda_count", "full_count", "sparse_count", "sliding_count"})


class Located(Protocol):
    """A parsed file that knows its lines."""

    @property
    def data(self) -> Mapping[str, Any]: ...

    def where(self, *path: str | int) -> str:
        """`file:line` of a key."""


Row = tuple[Located, Table]
"""One table, and the file it stands in."""


class Fact(NamedTuple):
    """One value as a file gives it."""

    value: Any
    spelling: str
    source: Located
    path: tuple[str | int, ...]

    @property
    def where(self) -> str:
        """`file:line`; finding the line takes longer than the rest, so only messages ask."""
        return self.source.where(*self.path)


class Facts:
    """Dimensions by our names; the table asked first wins, and two spellings in one table may not disagree.

    Attributes:
        model_type: the checkpoint's model type, or "" where the file names none.
        loader: the engine's weight loader where the file names one.
        notes: what was noticed on the way.
    """

    def __init__(
        self, rows: Sequence[Row], *, model_type: str, loader: str | None = None, hidden: Fact | None = None
    ) -> None:
        self.model_type = model_type
        self.loader = loader
        self.notes: list[Problem] = []
        self._facts: dict[str, Fact] = {}
        self._home = rows[-1]
        for source, table in rows:
            facts = self._of(source, table)
            settled = self._settled(facts)
            for name, fact in facts.items():
                if name not in settled:
                    self._facts.setdefault(name, fact)
        if hidden is not None:
            self._facts.setdefault("hidden", hidden)

    def _settled(self, weaker: Mapping[str, Fact]) -> frozenset[str]:
        """What a later table may no longer say of the layers, since an earlier one told their order or number."""
        if not ORDERS.isdisjoint(self._facts):
            return ORDERS | COUNTS
        count, other = self._facts.get("layer_count"), weaker.get("layer_count")
        return COUNTS | LISTS if count and other and count.value != other.value else frozenset()

    @staticmethod
    def _of(source: Located, table: Table) -> dict[str, Fact]:
        found: dict[str, Fact] = {}
        # params.json says `dim` for the hidden size and `hidden_dim` for the feed-forward width.
        params_json = "dim" in table.keys and "hidden_dim" in table.keys
        for key, value in table.keys.items():
            name = NAMES.get("intermediate_size" if params_json and key == "hidden_dim" else key)
            if name is None:
                continue
            fact = Fact(value, key, source, table.key_path(key))
            first = found.get(name)
            if first is None or RANK[key] < RANK[first.spelling]:
                found[name] = fact
            if first is not None and first.value != value and not _of_two_stacks(first.spelling, key):
                raise InputError(
                    WRONG_VALUE,
                    f"{first.spelling} = {first.value} and {key} = {value} are one dimension",
                    where=fact.where,
                    accepted=f"one of the two, or {key} = {first.value}",
                )
        return found

    @property
    def where(self) -> str:
        """`file:line` of the table that the dimensions come from at last."""
        source, table = self._home
        return source.where(*table.path)

    def __iter__(self) -> Iterator[tuple[str, Fact]]:
        """Every dimension that is given, by our name."""
        return iter(self._facts.items())

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


def _of_two_stacks(one: str, other: str) -> bool:
    """Whether two spellings may differ: those of an encoder and a decoder, and the whole's beside one of them."""
    both = {one, other}
    return both <= SEPARATE_STACKS | OF_THE_WHOLE and not both.isdisjoint(SEPARATE_STACKS)
