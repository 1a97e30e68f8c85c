"""What the verify pools cover: how many slots, and how many drafts each slot can hold. Source: `ssm_reserve`."""

from collections.abc import Callable

MTP_STATE_SLOTS_FLOOR = 32
"""Slots that the verify pools cover at least, where the batch has as many."""


def mtp_state_slots(max_batch_size: int, spec_dispatch_cap: int, full_width: bool) -> int:
    """Slots that the verify pools cover, without the dummy; never more than `max_batch_size`.

    All of them when `full_width`, else as many as may speculate at once, with a floor of 32.
    Source: `ssm_reserve: mtp_state_slots_with`.
    """
    if full_width:
        return max_batch_size
    return min(max_batch_size, max(spec_dispatch_cap, MTP_STATE_SLOTS_FLOOR))


def verify_slot_drafts(slot_idx: int, dispatch_cap: int, num_drafts: int, drafts_at: Callable[[int], int]) -> int:
    """Draft capacity of slot `slot_idx` (from 0): within 1..=`num_drafts`, or 0 when that is 0.

    It is the most that `drafts_at(width)` asks for at any width that can put a speculating sequence on this slot:
    `slot_idx + 1` up to the dispatch cap, and at least that one width. Widths past the first that asks for
    `num_drafts` are not asked. Source: `ssm_reserve: verify_slot_drafts_with`.
    """
    if num_drafts == 0:
        return 0
    most = 1
    for width in range(slot_idx + 1, max(dispatch_cap, slot_idx + 1) + 1):
        most = max(most, drafts_at(width))
        if most >= num_drafts:
            return num_drafts
    return most


def verify_slot_h_intermediates(
    slot_idx: int, num_drafts: int, uniform_verify: bool, slot_drafts: Callable[[int], int]
) -> int:
    """h-state intermediates that slot `slot_idx` holds: `num_drafts` when uniform (DFlash), else its draft capacity.

    `slot_drafts` gives that capacity for a slot; it is not called when uniform.
    Source: `ssm_reserve: verify_slot_h_intermediates`.
    """
    return num_drafts if uniform_verify else slot_drafts(slot_idx)
