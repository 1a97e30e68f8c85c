"""Recurrent-state snapshot slots of the prefix cache. Source: `ssm_reserve`."""

from dataclasses import dataclass

_INACTIVE = "prefix caching inactive \N{EM DASH} Marconi snapshot slots are unreachable"


@dataclass(frozen=True, slots=True)
class MarconiSlotDecision:
    """Snapshot slots to keep, and why requested ones were dropped (None when none were)."""

    slots: int
    skip_reason: str | None


def prefix_caching_active(enable_flag: bool, kv_only_prefix_cache_is_safe: bool) -> bool:
    """Whether a real prefix cache runs: asked for, and the model's KV alone can restore a prefix.

    Source: `ssm_reserve: prefix_caching_active`.
    """
    return enable_flag and kv_only_prefix_cache_is_safe


def marconi_snapshot_slots(requested: int, active: bool, full_reserve: bool) -> MarconiSlotDecision:
    """The `requested` slots when prefix caching is `active` or the full reserve is forced, else none.

    Source: `ssm_reserve: marconi_snapshot_slots_with`.
    """
    if requested == 0 or active or full_reserve:
        return MarconiSlotDecision(requested, None)
    return MarconiSlotDecision(0, _INACTIVE)
