"""Combinations that the engine takes and that rarely mean what they say: one coded warning each.

They speak only of values that somebody set (flag, command line, recipe, file or variable), never of defaults.
"""

from collections.abc import Iterator
from typing import NamedTuple

from metrale_plan.config.flags import by_key
from metrale_plan.config.given import Setting, Settings
from metrale_plan.config.serve import ServeConfig
from metrale_plan.config.variables import PREFIX, by_name
from metrale_plan.errors import Problem

SIZELESS = frozenset({"METRALE_MTP_STATIC_RUNG", "METRALE_MARCONI_MIN_TOKENS"})
"""Variables that are read and never change a size."""


class Surroundings(NamedTuple):
    """What the settings stand among.

    Attributes:
        ssm_layers: recurrent layers of the model.
        prefix_active: whether the prefix cache is real.
        model_kv_dtype: the model file's KV dtype, or "" where it names none.
        hardware_class: the device's class, or None.
        utilization_ceiling: highest utilization that the class's own recipes use, or None where none is known.
        recipe: the recipe's path, or None without one.
    """

    ssm_layers: int
    prefix_active: bool
    model_kv_dtype: str
    hardware_class: str | None
    utilization_ceiling: float | None
    recipe: str | None


def dangers(settings: Settings, config: ServeConfig, around: Surroundings) -> Iterator[Problem]:
    """Every warning that these settings give cause to."""
    yield from _carry(settings, config)
    yield from _ladder(settings, config)
    yield from _snapshots(settings, config, around)
    yield from _kv_dtype(settings, config, around)
    yield from _utilization(settings, config, around)
    yield from _queue(settings, config)
    yield from _beside_recipe(settings, around)


def _set(settings: Settings, key: str) -> Setting | None:
    """A setting that somebody gave, or None where the model file or the engine did."""
    setting = settings.get(key)
    return None if setting is None or setting.source in ("model", "engine") else setting


def _written_out(key: str, setting: Setting) -> bool:
    """Whether a recipe only writes the engine's default out, as those that list every flag do."""
    default = by_key()[key].default
    return setting.source == "recipe" and str(setting.value) == default


def _warning(code: str, message: str, key: str, setting: Setting) -> Problem:
    flag = key if key.startswith(PREFIX) else "--" + key.replace("_", "-")
    return Problem(code=code, message=message, where=setting.where or flag, severity="warning")


def _carry(settings: Settings, config: ServeConfig) -> Iterator[Problem]:
    carry = _set(settings, "carry")
    if carry is not None and config.carry and config.mtp_max_seqs > 1:
        yield _warning(
            "MP130",
            f"the drafter carry stays off: it runs only at a dispatch cap of 1, and --mtp-max-seqs is "
            f"{config.mtp_max_seqs}",
            "mtp_max_seqs",
            settings["mtp_max_seqs"],
        )


def _ladder(settings: Settings, config: ServeConfig) -> Iterator[Problem]:
    ladder = _set(settings, "mtp_k_ladder")
    if ladder is None:
        return
    if config.ladder_disabled:
        message = "the draft ladder is not used: METRALE_NO_MTP_K_LADDER is set"
        yield _warning("MP137", message, "mtp_k_ladder", ladder)
        return
    above = [f"{width}:{drafts}" for width, drafts in config.ladder if drafts > config.drafts]
    if above:
        most = "γ" if config.dflash else "--num-drafts"
        yield _warning(
            "MP131",
            f"the draft ladder's {', '.join(above)} asks for more than {most} {config.drafts}; "
            f"it is cut to {config.drafts}",
            "mtp_k_ladder",
            ladder,
        )


def _snapshots(settings: Settings, config: ServeConfig, around: Surroundings) -> Iterator[Problem]:
    slots = _set(settings, "ssm_cache_slots")
    dropped = config.ssm_cache_slots > 0 and not around.prefix_active and not config.marconi_reserve_full
    if slots is None or _written_out("ssm_cache_slots", slots):
        return
    if dropped and around.ssm_layers > 0:
        why = "this model's cannot run" if config.enable_prefix_caching else "--enable-prefix-caching is not given"
        yield _warning(
            "MP132",
            f"--ssm-cache-slots {config.ssm_cache_slots} does nothing: snapshots need the prefix cache, and {why}",
            "ssm_cache_slots",
            slots,
        )


def _kv_dtype(settings: Settings, config: ServeConfig, around: Surroundings) -> Iterator[Problem]:
    dtype = _set(settings, "kv_cache_dtype")
    if dtype is not None and around.model_kv_dtype and config.kv_cache_dtype != around.model_kv_dtype:
        yield _warning(
            "MP133",
            f"--kv-cache-dtype {config.kv_cache_dtype} where the model file asks for {around.model_kv_dtype}",
            "kv_cache_dtype",
            dtype,
        )


def _utilization(settings: Settings, config: ServeConfig, around: Surroundings) -> Iterator[Problem]:
    share, ceiling = _set(settings, "gpu_memory_utilization"), around.utilization_ceiling
    if share is not None and ceiling is not None and config.gpu_memory_utilization > ceiling:
        yield _warning(
            "MP134",
            f"--gpu-memory-utilization {config.gpu_memory_utilization:g} is above the {ceiling:g} that class "
            f"{around.hardware_class} names as the highest in use",
            "gpu_memory_utilization",
            share,
        )


def _queue(settings: Settings, config: ServeConfig) -> Iterator[Problem]:
    queue = _set(settings, "max_num_seqs")
    if queue is None or _written_out("max_num_seqs", queue) or _set(settings, "max_batch_size") is not None:
        return
    if queue.value != config.max_batch_size:
        yield _warning(
            "MP135",
            f"--max-num-seqs {queue.value} is the length of the waiting queue and sizes nothing; the batch is "
            f"--max-batch-size, which stays at {config.max_batch_size}",
            "max_num_seqs",
            queue,
        )


def _beside_recipe(settings: Settings, around: Surroundings) -> Iterator[Problem]:
    if around.recipe is None:
        return
    for key, setting in settings.items():
        variable = by_name().get(key)
        if variable is None or key in SIZELESS or setting.source != "env" or setting.value == variable.default:
            continue
        if variable.flag is not None and settings[variable.flag].source != "env":
            continue
        yield _warning(
            "MP136",
            f"{key} of this environment changes the plan and is not in the recipe's env: a serve started elsewhere "
            "from the same recipe is another one",
            key,
            setting,
        )
