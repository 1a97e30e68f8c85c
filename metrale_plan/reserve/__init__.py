"""Reserve terms: the engine's small functions under their own names. Each takes plain values and reads nothing."""

from metrale_plan.reserve.copy_tier import CopyTier, tier_h, tier_rows
from metrale_plan.reserve.decode_ring import (
    DecodeRingDecision,
    decode_rollback_ring_slots,
    fit_decode_ring_slots,
    parse_decode_ring_slots,
    watchdogs_disabled_from_value,
)
from metrale_plan.reserve.marconi import MarconiSlotDecision, marconi_snapshot_slots, prefix_caching_active
from metrale_plan.reserve.replay import ssm_replay_ring_bytes, ssm_replay_row_bytes
from metrale_plan.reserve.state import ssm_h_prefill_stage_bytes, ssm_h_stored_bytes
from metrale_plan.reserve.verify import mtp_state_slots, verify_slot_drafts, verify_slot_h_intermediates

__all__ = [
    "CopyTier",
    "DecodeRingDecision",
    "MarconiSlotDecision",
    "decode_rollback_ring_slots",
    "fit_decode_ring_slots",
    "marconi_snapshot_slots",
    "mtp_state_slots",
    "parse_decode_ring_slots",
    "prefix_caching_active",
    "ssm_h_prefill_stage_bytes",
    "ssm_h_stored_bytes",
    "ssm_replay_ring_bytes",
    "ssm_replay_row_bytes",
    "tier_h",
    "tier_rows",
    "verify_slot_drafts",
    "verify_slot_h_intermediates",
    "watchdogs_disabled_from_value",
]
