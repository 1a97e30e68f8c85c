"""A checkpoint's config.json (or params.json) as tables of dimensions, in the spellings that MODEL.toml shares."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metrale_plan.errors import InputError, Problem
from metrale_plan.model.families.facts import NAMES, ORDERS, Located, Row
from metrale_plan.model.keys import MODEL_KEYS, WRONG_VALUE, Table, accepts, flatten
from metrale_plan.model.spellings import DIMS

LANGUAGE_PARTS = ("text_config", "language_config", "llm_config")
"""Where a config of several parts (text, vision, audio) keeps those of the language model; the first one given."""

NOT_DIMENSIONS = frozenset({"hf_id", "model_type", "loader"})

DTYPE_KEYS = ("dtype", "torch_dtype")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointConfig:
    """What the files of one checkpoint say.

    Attributes:
        name: the checkpoint as it was named: a hub id, else the folder's or file's name.
        hf_id: its hub id, or None where it was named by a path.
        rows: tables of dimensions with the file each is from; the one asked first wins.
        model_type: the config's own, or "".
        where: `file:line` of the dimensions.
        dtype: data type of the weights that are not quantized, or None where no key says.
        quantization: what the config, else the quantization file, says of it; empty where neither does.
        weight_bytes: size of the weight files, or None where there are none.
        sampling: whether there is a generation_config.json.
        files: the files that were read, config first.
        problems: what was wrong with the files beside it.
    """

    name: str
    hf_id: str | None
    rows: tuple[Row, ...]
    model_type: str
    where: str
    dtype: str | None
    quantization: Mapping[str, Any] = field(default_factory=dict)
    weight_bytes: int | None = None
    sampling: bool = False
    files: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


def config_tables(source: Located) -> list[Table]:
    """The tables of a config that may hold dimensions, the language model's part before the whole.

    Keys that are null are left out. A value that its key cannot take is refused.

    Raises:
        InputError: MP203 at the line at fault.
    """
    found = [Table("model", path, _dimensions(part)) for part, path in _parts(source.data)]
    for table in found:
        _check(source, table)
        _check_blocks(source, table)
    return found


def _dimensions(part: Mapping[str, Any]) -> dict[str, Any]:
    flat = flatten("model", {key: _without_nulls(value) for key, value in part.items() if value is not None})
    given = {key: value for key, value in flat.items() if key in MODEL_KEYS and key not in NOT_DIMENSIONS}
    if given.keys() & set(DIMS["top_k"].spellings) - {"top_k"} or not given.keys() & set(DIMS["experts"].spellings):
        given.pop("top_k", None)  # a setting of the sampler there
    if part.get("use_sliding_window") is False:
        given.pop("sliding_window", None)
    return given | _of_blocks(part.get("block_configs"))


def _without_nulls(value: Any) -> Any:
    return {key: inner for key, inner in value.items() if inner is not None} if isinstance(value, dict) else value


def _of_blocks(blocks: object) -> dict[str, Any]:
    """`block_configs`, one object a block, as the lists that other configs give: kinds, expert widths and counts."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) and "block_type" in block for block in blocks):
        return {}
    lists: dict[str, Any] = {"layers_block_type": [block["block_type"] for block in blocks]}
    for key in ("moe_intermediate_size", "num_experts_per_tok"):
        told = [block[key] for block in blocks if block.get(key) is not None]
        lists |= {key: told} if told else {}
    return lists


def _check_blocks(source: Located, table: Table) -> None:
    """Refuse blocks that tell no kind, where nothing else tells the layers: some may have no attention."""
    part: Any = source.data
    for key in table.path:
        part = part[key]
    blocks = part.get("block_configs")
    if blocks is None or any(NAMES.get(key) in ORDERS for key in table.keys):
        return
    path: tuple[str | int, ...] = (*table.path, "block_configs")
    message = "block_configs is no list of blocks"
    if isinstance(blocks, list):
        at = next(i for i, block in enumerate(blocks) if not isinstance(block, dict) or "block_type" not in block)
        path, message = (*path, at), f"block_configs[{at}] has no block_type"
    accepted = "a list of blocks, each with its block_type, or another key that tells the kind of each layer"
    raise InputError(WRONG_VALUE, message, where=source.where(*path), accepted=accepted)


def _check(source: Located, table: Table) -> None:
    wrong = [key for key, value in table.keys.items() if not accepts(MODEL_KEYS[key], value)]
    if not wrong:
        return
    from metrale_plan.model.schema import faults

    for fault in faults("model", {key: table.keys[key] for key in wrong}):
        path = table.key_path(fault.key)
        where = source.where(*path) if fault.item is None else source.where(*path, fault.item)
        raise InputError(WRONG_VALUE, fault.message, where=where, accepted=fault.accepted)


def model_type_of(source: Located) -> str:
    """The whole config's `model_type`, else that of its language model; "" where neither gives one."""
    for part, path in reversed(_parts(source.data)):
        value = part.get("model_type")
        if isinstance(value, str) and value:
            return value
        if value is not None and value != "":
            where = source.where(*path, "model_type")
            raise InputError(WRONG_VALUE, "model_type is not a text", where=where, accepted="a text")
    return ""


def dtype_of(source: Located) -> str | None:
    """The data type of the weights, by either of its keys, or None: it is never guessed."""
    for part, _ in _parts(source.data):
        for key in DTYPE_KEYS:
            if isinstance(part.get(key), str) and part[key]:
                return str(part[key])
    return None


def quantization_of(config: Mapping[str, Any], own_file: Mapping[str, Any] | None) -> dict[str, Any]:
    """The config's `quantization_config`, completed from hf_quant_config.json where that one says more."""
    own = (own_file or {}).get("quantization")
    told: dict[str, Any] = dict(own) if isinstance(own, dict) else {}
    for part, _ in reversed(_parts(config)):
        if isinstance(part.get("quantization_config"), dict):
            told |= part["quantization_config"]
    return told


def _parts(config: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """The parts of a config that speak of the language model, the innermost first, each with its path."""
    parts: list[tuple[Mapping[str, Any], tuple[str, ...]]] = [(config, ())]
    while True:
        part, path = parts[0]
        inner = next((key for key in LANGUAGE_PARTS if isinstance(part.get(key), dict)), None)
        if inner is None:
            return parts
        parts.insert(0, (part[inner], (*path, inner)))
