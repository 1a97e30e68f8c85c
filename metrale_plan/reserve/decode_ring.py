"""Depth of the decode-rollback ring: what is asked for, what applies, what fits.

Source: the engine's memory plan, sections 5.2 and 13.3 (`ssm_reserve::decode_ring`).
"""

from dataclasses import dataclass

from metrale_plan.text import U64_MAX, parse_count, quote, trim

DEFAULT_DECODE_RING_SLOTS = 8
"""Depth where a ring is kept and nothing says how deep; also the deepest."""

DECODE_RING_FIT_LADDER = (8, 4, 2, 1, 0)
"""Depths that the fit tries, deepest first."""


@dataclass(frozen=True, slots=True)
class DecodeRingDecision:
    """Ring depth, and why there is none (None unless a rule about the serve's mode switched it off)."""

    slots: int
    skip_reason: str | None


def decode_rollback_ring_slots(
    num_ssm_layers: int,
    use_speculative: bool,
    published: int | None,
    ring_override: str | None,
    watchdogs_disabled: bool,
) -> DecodeRingDecision:
    """The ring depth that a serve wants.

    A model without recurrent layers has no ring; then a published depth, then an override of exactly `1` (8) or `0`
    decides; else speculation or absent watchdogs switch the ring off. Source: section 5.2.
    """
    if num_ssm_layers == 0:
        return DecodeRingDecision(0, None)
    if published is not None:
        return DecodeRingDecision(published, None)
    if ring_override == "1":
        return DecodeRingDecision(DEFAULT_DECODE_RING_SLOTS, None)
    if ring_override == "0":
        return DecodeRingDecision(0, None)
    if use_speculative:
        return DecodeRingDecision(0, "speculative decode active")
    if watchdogs_disabled:
        return DecodeRingDecision(0, "watchdogs disabled")
    return DecodeRingDecision(DEFAULT_DECODE_RING_SLOTS, None)


def parse_decode_ring_slots(value: str) -> int | None:
    """The depth that a `--ssm-decode-ring-slots` text asks for; None for `auto`. Nothing is trimmed.

    Raises:
        ValueError: neither exactly `auto` nor a count of 0 to 8. Source: section 5.2.
    """
    if value == "auto":
        return None
    slots = parse_count(value)
    if slots is None or slots > DEFAULT_DECODE_RING_SLOTS:
        raise ValueError(
            f"--ssm-decode-ring-slots {quote(value)} is neither auto nor a count from 0 to {DEFAULT_DECODE_RING_SLOTS}"
        )
    return slots


def watchdogs_disabled_from_value(value: str | None) -> bool:
    """Whether a text of `METRALE_DISABLE_WATCHDOGS` (None: unset) is `1` or `true`, trimmed, in any letter case."""
    return value is not None and trim(value).lower() in ("1", "true")


def fit_decode_ring_slots(start_slots: int, reserve_without_ring: int, bytes_per_ring_slot: int, free_mem: int) -> int:
    """The deepest of 8, 4, 2, 1, 0 not above `start_slots` that fits `free_mem` beside the reserve; 0 when none does.

    All sizes in bytes, `bytes_per_ring_slot` those of one depth unit; sums and products saturate at 2^64 - 1.
    Source: section 13.3.
    """
    for slots in DECODE_RING_FIT_LADDER:
        ring = min(slots * bytes_per_ring_slot, U64_MAX)
        if slots <= start_slots and min(reserve_without_ring + ring, U64_MAX) <= free_mem:
            return slots
    return 0
