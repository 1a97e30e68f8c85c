"""What the files of a checkpoint do not tell: said one by one, never guessed."""

from collections.abc import Iterator

from metrale_plan.errors import Problem
from metrale_plan.model.config_json import CheckpointConfig
from metrale_plan.model.families import Resolution
from metrale_plan.model.families.facts import UNTOLD, Facts
from metrale_plan.model.spellings import DIMS

ASSUMED_ABSENT = {
    "attn_gated": "one query row a head",
    "mrope_interleaved": "one position stream",
    "mtp_count": "no draft head",
}
"""Switches that a config without them is read as not having, and what that means for sizes."""


def untold(config: CheckpointConfig, facts: Facts, resolution: Resolution) -> Iterator[Problem]:
    """One problem for each thing: a warning where a plan needs it, else a note."""
    for spelling in resolution.missing:
        name = next((name for name, dim in DIMS.items() if dim.spellings[0] == spelling), spelling)
        keys = [key for key in DIMS[name].spellings if key != spelling] if name in DIMS else []
        looked = f": no key {', '.join(keys)}" if keys else ""
        yield _problem(f"{spelling}{looked}; a plan needs it", config, "warning")
    if config.dtype is None:
        yield _problem("the data type: neither dtype nor torch_dtype is there", config)
    if facts.fact("tokenizer_vocab") is None:
        yield _problem(
            "tokenizer_vocab: no tokenizer.json, nor vocab.json with tokenizer_config.json, so the whole vocabulary "
            "counts as served",
            config,
        )
    absent = [f"{DIMS[name].spellings[0]} ({why})" for name, why in ASSUMED_ABSENT.items() if not _stated(facts, name)]
    if absent:
        yield _problem(f"{', '.join(absent)}: no key, so each is read as absent", config)
    if not config.quantization:
        yield _problem("how the weights are quantized: neither the config nor hf_quant_config.json says", config)
    if config.weight_bytes is None:
        yield _problem("the size of the weights: no index and no weight files", config)
    yield _problem(
        "default_num_drafts, mtp_max_seqs, default_kv_dtype: only the engine's own model file gives these; the "
        "engine's defaults are in force without it",
        config,
    )


def _stated(facts: Facts, name: str) -> bool:
    if name == "mtp_count":
        return any(facts.fact(key) is not None for key in ("mtp_count", "mtp_kinds", "mtp_pattern"))
    return facts.fact(name) is not None


def _problem(message: str, config: CheckpointConfig, severity: str = "note") -> Problem:
    return Problem(
        code=UNTOLD, message=message, where=config.where, severity="warning" if severity == "warning" else "note"
    )
