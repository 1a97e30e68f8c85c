"""`import`: a checkpoint's files -> the text of a MODEL.toml, and what they do not tell."""

from dataclasses import dataclass

from metrale_plan import __version__
from metrale_plan.errors import InputError, Problem
from metrale_plan.model.config_json import CheckpointConfig
from metrale_plan.model.dims import ModelDims
from metrale_plan.model.families import resolve
from metrale_plan.model.families.facts import UNTOLD, Facts
from metrale_plan.model.json_source import NOT_A_CONFIG
from metrale_plan.model.untold import untold
from metrale_plan.model.write import model_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One imported checkpoint.

    Attributes:
        text: the MODEL.toml.
        dims: its dimensions, or None where some are missing.
        missing: the keys to add by hand before it can be planned.
        untold: what the files do not tell.
        problems: everything to say, `untold` included.
    """

    config: CheckpointConfig
    text: str
    dims: ModelDims | None
    missing: tuple[str, ...]
    untold: tuple[Problem, ...]
    problems: tuple[Problem, ...]


def import_checkpoint(config: CheckpointConfig) -> Imported:
    """The MODEL.toml of a checkpoint.

    Raises:
        InputError: MP224 where the config holds no dimension at all; MP203 or MP206 where its dimensions are wrong.
    """
    facts = Facts(config.rows, model_type=config.model_type)
    if not any(facts.count(name) for name in ("hidden", "layer_count", "q_heads")) and facts.get("layer_types") is None:
        raise InputError(
            NOT_A_CONFIG, "no dimension of a language model is in it", where=config.where, accepted="a model's config"
        )
    resolution = resolve(facts)
    said = (*(note for note in facts.notes if note.code == UNTOLD), *untold(config, facts, resolution))
    return Imported(
        config=config,
        text=model_toml(config, facts, resolution.dims, said, version=__version__),
        dims=resolution.dims,
        missing=resolution.missing,
        untold=said,
        problems=(*config.problems, *(note for note in facts.notes if note.code != UNTOLD), *said),
    )
