"""Why each width gets its drafts and each slot its capacity, and what the verify pools cost for it.

Sources: the engine's memory plan, 3.2 and 4 (`speculative/ladder`, `ssm_reserve`).
"""

from dataclasses import replace
from typing import Literal

from metrale_plan.config.given import Settings
from metrale_plan.config.serve import ServeConfig, Steps
from metrale_plan.device import DeviceSpec
from metrale_plan.explain.ladder.against import set_against
from metrale_plan.explain.ladder.side import pool_total, side_of, verify_of
from metrale_plan.explain.ladder.values import LadderExplanation
from metrale_plan.explain.origin import Lost, Origin, origin_of
from metrale_plan.ladder import MAX_MTP_MAX_SEQS
from metrale_plan.model.dims import ModelDims
from metrale_plan.rules import EngineRules

__all__ = ["LadderExplanation", "explain_ladder"]


PROPOSERS = ("speculative", "self_speculative", "ngram_speculative", "dflash")


def explain_ladder(
    config: ServeConfig,
    settings: Settings,
    rules: EngineRules,
    *,
    dims: ModelDims | None = None,
    device: DeviceSpec | None = None,
    against: Steps | Literal["full-width"] | None = None,
) -> LadderExplanation:
    """Everything about the ladder of one serve.

    Args:
        dims, device: the model and the device to price on; None leaves the bytes out.
        against: another ladder's steps, or "full-width", to put beside it.
    """
    proposer = next((name for name in PROPOSERS if getattr(config, name)), None)
    refused = None
    if proposer is None and dims is not None and dims.recurrent == "mamba2":
        refused = "the engine does not draft for Mamba-2 models"
    planned = config if proposer else replace(config, speculative=True)
    priced = None if refused else dims
    side = side_of("in force", planned, rules, priced)
    variable = settings.get("METRALE_MTP_K_LADDER")
    malformed = variable.value if variable is not None and isinstance(variable.value, str) else None
    tier = verify_of(planned).tier
    full = None if priced is None else pool_total(replace(planned, full_width_pools=True), rules, priced)
    drafts, own = "dflash_gamma" if config.dflash else "num_drafts", config.dflash_draft_ladder
    return LadderExplanation(
        proposer=proposer,
        assumed=proposer is None,
        pools_refused=refused,
        num_drafts=origin_of(settings[drafts]),
        source=_ladder_origin(settings, malformed),
        malformed=malformed,
        switched_off_by="METRALE_NO_MTP_K_LADDER" if config.ladder_disabled else None,
        dflash_ladder=origin_of(settings["dflash_draft_ladder"]) if config.dflash and own else None,
        cap=origin_of(settings["mtp_max_seqs"]),
        cap_limits=(1, MAX_MTP_MAX_SEQS),
        batch=config.ceiling,
        batch_auto=config.max_batch_size is None,
        copy_tier_slots=tier.slots if tier else None,
        copy_tier_drafts=tier.drafts if tier else None,
        side=side,
        full_width_total=full,
        saved=None if full is None or side.pools is None else full - side.pools.total,
        against=None if against is None else set_against(side, planned, rules, priced, device, against),
    )


def _ladder_origin(settings: Settings, malformed: str | None) -> Origin:
    dropped: tuple[Lost, ...] = ()
    if malformed is not None:
        why = "one malformed step voids the whole text"
        if settings["mtp_k_ladder"].source == "engine":
            why += "; it still pins the ladder, so there is no adaptive rung"
        dropped = (Lost(value=malformed, source="env", where="METRALE_MTP_K_LADDER", why=why),)
    return origin_of(settings["mtp_k_ladder"], *dropped)
