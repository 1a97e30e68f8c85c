"""Which model a command plans: that of MODEL, of the checkpoint that is served, or of a checkpoint's own files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from metrale_plan import catalog
from metrale_plan.errors import InputError, Problem
from metrale_plan.model.load import Model, load_model, model_of_checkpoint

if TYPE_CHECKING:
    from metrale_plan.model.config_json import CheckpointConfig


class Found(NamedTuple):
    """Where the dimensions of one plan come from.

    Attributes:
        path: the MODEL.toml, or None where the checkpoint alone is planned.
        checkpoint: id or path of the checkpoint that is served, if named.
        config: what that checkpoint itself says, where it was read.
    """

    path: Path | None
    checkpoint: str | None
    config: "CheckpointConfig | None" = None

    @property
    def notes(self) -> tuple[Problem, ...]:
        """What there is to say about the checkpoint's files."""
        return () if self.config is None else self.config.problems

    def load(self, hardware_class: str | None) -> Model:
        """The model, on one hardware class."""
        if self.config is None:
            assert self.path is not None
            return catalog.load_found(self.path, hardware_class=hardware_class, checkpoint=self.checkpoint)
        if self.path is None:
            return model_of_checkpoint(self.config)
        listed = self.config.hf_id or self.checkpoint
        return load_model(self.path, hardware_class=hardware_class, checkpoint=listed, config=self.config)


def find(
    model: str | None,
    checkpoint: str | None,
    environ: Mapping[str, str],
    *,
    served: str | None,
    where: str | None = None,
) -> Found:
    """The MODEL.toml and the checkpoint that a request means.

    Args:
        model: MODEL, or None.
        checkpoint: config file, folder or hub id to read, or None.
        environ: says where the hub cache is.
        served: the checkpoint that the serve command line or the recipe names.
        where: "file:line" of that, or None.

    Raises:
        InputError: nothing names a model, or no bundled model lists the checkpoint, or a file cannot be read.
    """
    if checkpoint is None:
        return Found(path=find_model(model, served, where), checkpoint=served)
    from metrale_plan.sources.checkpoint import read_checkpoint

    config = read_checkpoint(checkpoint, environ)
    alone = model is None and served is None
    path = None if alone else find_model(model, served, where)
    return Found(path=path, checkpoint=served or config.hf_id or checkpoint, config=config)


def find_model(model: str | None, served: str | None, where: str | None = None) -> Path:
    """Path of the MODEL.toml that MODEL, else the checkpoint that is served, means.

    Raises:
        InputError: nothing names a model, or no bundled model lists the checkpoint.
    """
    if model is not None:
        return catalog.find_model(model)
    if served is None:
        raise InputError(
            "MP220",
            "no model named",
            accepted="MODEL (a bundled name, a MODEL.toml or its directory), --checkpoint, --recipe, or "
            "-- met serve CHECKPOINT ...",
        )
    return catalog.find_model(catalog.model_for_checkpoint(served, where=where))
