"""Which form of each engine rule applies on a date: one frozen value, and the only place that compares dates.

Source of the table: the engine's memory plan, "Engine builds differ".
"""

from dataclasses import dataclass
from datetime import date

EARLIEST = date(2026, 9, 30)
LATEST = date(2026, 10, 9)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRules:
    """The dated behaviours of one engine build; the default of every field is the latest form.

    Attributes:
        asked: the date asked for, as reported.
        dummies_in_reserve: the reserve counts the dummy slots of pool, stage and replay ring.
        given_gamma_in_reserve: a given DFlash γ sizes the reserve even when the drafter is readable.
        headroom_terms: carry and driver terms, instead of one flat headroom.
        charge_chunk_slack: KV sizing is charged what the driver holds around small allocations.
        head_twin_before_kv: the vocabulary head's transposed twin exists when KV is sized.
        prefix_share_per_mille: part of an unclamped KV pool held back for the prefix cache.
        copy_tier_in_replay_ring: prompt lookup widens the replay ring.
        leaked_copies: the dense loader keeps copies it no longer needs.
        expert_table_decision: transposed expert tables are built only when the plan fits with them.
        marconi_hidden_row: the reserve's snapshots hold the last hidden row.
        moe_expert_elem: bytes of one element in the MoE expert buffers.
        ffn_bf16_weight: the arena holds one BF16 FFN weight above a row threshold.
        dflash_ladder_bounded: a DFlash ladder step above γ - 1 is refused.
        glm_paged_indexer: GLM's sparse-attention indexer lives in KV blocks, not per sequence.
    """

    asked: date = LATEST
    dummies_in_reserve: bool = True
    given_gamma_in_reserve: bool = True
    headroom_terms: bool = True
    charge_chunk_slack: bool = True
    head_twin_before_kv: bool = True
    prefix_share_per_mille: int = 3
    copy_tier_in_replay_ring: bool = True
    leaked_copies: bool = False
    expert_table_decision: bool = True
    marconi_hidden_row: bool = True
    moe_expert_elem: int = 4
    ffn_bf16_weight: bool = True
    dflash_ladder_bounded: bool = True
    glm_paged_indexer: bool = True


def rules_on(day: date = LATEST) -> EngineRules:
    """The engine's rules on `day`; a change applies on its own date, and earlier dates keep the older forms."""

    def since(year: int, month: int, at: int) -> bool:
        return day >= date(year, month, at)

    return EngineRules(
        asked=day,
        dummies_in_reserve=since(2026, 9, 30),
        given_gamma_in_reserve=since(2026, 9, 30),
        headroom_terms=since(2026, 10, 1),
        charge_chunk_slack=since(2026, 10, 1),
        head_twin_before_kv=since(2026, 10, 1),
        prefix_share_per_mille=3 if since(2026, 10, 2) else 0,
        copy_tier_in_replay_ring=since(2026, 10, 2),
        leaked_copies=not since(2026, 10, 2),
        expert_table_decision=since(2026, 10, 2),
        marconi_hidden_row=since(2026, 10, 3),
        moe_expert_elem=4 if since(2026, 10, 5) else 2,
        ffn_bf16_weight=since(2026, 10, 9),
        dflash_ladder_bounded=since(2026, 10, 9),
        glm_paged_indexer=since(2026, 10, 9),
    )
