"""A MODEL.toml from what a checkpoint says: every number with the key it comes from. Pure text; nothing is written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from metrale_plan.errors import Problem
from metrale_plan.model.config_json import CheckpointConfig
from metrale_plan.model.dims import ModelDims
from metrale_plan.model.families.facts import SEPARATE_STACKS, Fact, Facts
from metrale_plan.model.families.schedule import KIND_OF
from metrale_plan.model.spellings import DIMS

LINE = 116
LONGEST_GROUP = 8
"""Layers of the longest repeating group that is written as one."""

COUNT_KEYS = {"gdn": "layers_linear_attention", "kda": "layers_kda", "mamba2": "layers_ssm", "none": ""}


def model_toml(
    config: CheckpointConfig, facts: Facts, dims: ModelDims | None, untold: Iterable[Problem], *, version: str
) -> str:
    """The text of a MODEL.toml from which the same dimensions come as from the checkpoint itself.

    Args:
        facts: the checkpoint's dimensions under our names.
        dims: what they resolve to, or None where some are missing.
        untold: what the checkpoint does not tell; listed on top.
    """
    lines = [
        f"# {_comment(config.name)}: dimensions as the checkpoint gives them; after each its key there.",
        f"# Made by metrale-plan {version} import.",
    ]
    problems = list(untold)
    if problems:
        lines += ["#", "# Not told by the checkpoint:"]
        lines += [f"# - {_comment(problem.message)}" for problem in problems]
    lines += ["", "[model]", *_named("hf_id", config.hf_id), *_named("model_type", config.model_type)]
    given = dict(facts)
    for name in DIMS:
        if name in given:
            lines += _entry(name, given[name], given, dims)
        elif name == "head_dim" and dims is not None and not dims.kv_lora_rank:
            keys = " / ".join(given[of].spelling for of in ("hidden", "q_heads"))
            lines.append(f"head_dim = {dims.head_dim} # {keys}")
        if name == "layer_count":
            lines += _counts(dims, given)
    if config.model_type:
        lines += ["", "[[model_types]]", *_named("model_type", config.model_type)]
        lines += [f"hidden_size = {facts.count('hidden')}"] if facts.count("hidden") else []
    lines += ["", *_remarks(config)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _named(key: str, text: str | None) -> list[str]:
    return [f"{key} = {_string(text)}"] if text else []


def _entry(name: str, fact: Fact, given: Mapping[str, Fact], dims: ModelDims | None) -> Iterator[str]:
    """One dimension, in MODEL.toml's spelling where it has one."""
    key = fact.spelling if fact.spelling in SEPARATE_STACKS else DIMS[name].spellings[0]
    value = fact.value
    comment = "# " + _comment(".".join(map(str, fact.path)) or fact.where)
    if name == "head_dim" and value == 0:
        return  # latent attention: the width comes from its parts
    if name == "layer_types" and dims is not None:
        count = len(dims.layers)
        group = _group(value[:count])
        more = value[count:]
        split = not more or (dims.has_mtp and "mtp_kinds" not in given)
        if group is not None and split:
            yield f"layer_pattern = {_string(group)} {comment}"
            if more:
                yield _assignment("mtp.layer_types", more, f"{comment}, beyond the {count} layers")
            return
    yield _assignment(key, value, comment)


def _group(words: Sequence[str]) -> str | None:
    """`3:1 (linear, linear, linear, full)`: the shortest group whose repetition is the list, or None for none."""
    for length in range(1, min(LONGEST_GROUP, len(words) // 2) + 1):
        if all(word == words[index % length] for index, word in enumerate(words)):
            runs: list[int] = []
            for index, word in enumerate(words[:length]):
                if index and KIND_OF.get(word) == KIND_OF.get(words[index - 1]):
                    runs[-1] += 1
                else:
                    runs.append(1)
            return f"{':'.join(map(str, runs))} ({', '.join(words[:length])})"
    return None


def _counts(dims: ModelDims | None, given: dict[str, Fact]) -> Iterator[str]:
    """The layers, and those of each kind, counted, where the checkpoint itself does not."""
    if dims is None:
        return
    if "layer_count" not in given:
        yield f"layers_total = {len(dims.layers)} # counted"
    for name, key, kind in (
        ("linear_count", COUNT_KEYS[dims.recurrent], "linear"),
        ("full_count", "layers_full_attention", "full"),
        ("sparse_count", "layers_dsa", "sparse"),
        ("sliding_count", "layers_sliding_attention", "sliding"),
    ):
        count = sum(layer == kind for layer in dims.layers)
        if key and count and name not in given:
            yield f"{key} = {count} # counted"


def _remarks(config: CheckpointConfig) -> Iterator[str]:
    """What the checkpoint says beside the dimensions, for whoever reads the file."""
    if config.dtype:
        yield f"# dtype: {_comment(config.dtype)}"
    for key, value in config.quantization.items():
        if isinstance(value, dict) and key == "kv_cache_scheme":
            value = ", ".join(f"{name} {inner}" for name, inner in value.items())
        if isinstance(value, (str, int, float)):
            yield f"# quantization {_comment(key)}: {_comment(str(value))}"
    if config.weight_bytes is not None:
        yield f"# weight files: {config.weight_bytes} bytes"


def _assignment(key: str, value: Any, comment: str) -> str:
    if not isinstance(value, list):
        return f"{key} = {_scalar(value)} {comment}"
    line = f"{key} = [{', '.join(map(_scalar, value))}]"
    if len(line) + len(comment) < LINE:
        return f"{line} {comment}"
    rows, row = [f"{key} = [ {comment}"], "   "
    for item in map(_scalar, value):
        if len(row) + len(item) + 2 > LINE:
            rows.append(row)
            row = "   "
        row += f" {item},"
    return "\n".join((*rows, row, "]"))


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _string(value) if isinstance(value, str) else str(value)


def _string(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else _encodable(c) for c in escaped) + '"'


def _comment(text: str) -> str:
    """Text that stays in its comment."""
    return "".join(" " if ord(c) < 32 or ord(c) == 127 else _encodable(c) for c in text)


def _encodable(char: str) -> str:
    """JSON can hold half a surrogate pair, which UTF-8 cannot."""
    return "�" if 0xD800 <= ord(char) <= 0xDFFF else char
