"""ServeConfig: every resolved setting that a formula reads, complete and frozen."""

from dataclasses import dataclass
from typing import Literal

Steps = tuple[tuple[int, int], ...]

AUTO_BATCH_CEILING = 128
"""Slots planned for under `--max-batch-size auto`: the widest batch a serve accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeConfig:
    """One serve's settings after flags, recipe, variables, MODEL.toml and engine defaults; nothing is missing.

    Attributes (those that their names do not explain):
        max_batch_size: sequences decoded together, or None for `auto`.
        ladder: draft ladder in force, `(width, drafts)` sorted by width.
        ladder_disabled, ladder_pinned: `METRALE_NO_MTP_K_LADDER`; an explicit ladder is in force.
        full_width_pools: `METRALE_MTP_POOL_FULL_WIDTH` or `METRALE_EP_PROTOCOL=v2`.
        kv_high_precision_layers: attention layers at each end kept at BF16; None for all of them.
        ssm_decode_ring_slots: depth pinned by the flag, or None for `auto`.
        ring_override: text of `METRALE_SSM_DECODE_RING`, or None.
        dflash_gamma: γ in force under DFlash, else None.
        dflash_gamma_given: whether the flag gave it.
        splitk: text of `METRALE_ATTN_DECODE_SPLITK` when readable, else None (the class's policy).
        max_batch_tokens: `METRALE_MAX_BATCH_TOKENS`; 0 when unset.
        ffn_min_rows: `METRALE_FFN_W4A16_LT_MIN_ROWS`, or None for the class's.
        kv_floor_tokens: floor of the after-load ring fit, tokens per sequence.
        native_fp8: `METRALE_DENSE_FP8=1` with none of the variables that fall back from that route.
        carry: drafter carry configured on, off, or None when nobody said.
    """

    max_batch_size: int | None = 8
    max_seq_len: int = 32768
    block_size: int = 16
    max_prefill_tokens: int = 8192
    gpu_memory_utilization: float = 0.90
    num_drafts: int = 1
    mtp_max_seqs: int = 32
    ladder: Steps = ((4, 3), (8, 3), (16, 1), (32, 1))
    ladder_disabled: bool = False
    ladder_pinned: bool = False
    static_rung: bool = False
    full_width_pools: bool = False
    kv_cache_dtype: str = "fp8"
    kv_high_precision_layers: int | None = 0
    ssm_cache_slots: int = 16
    marconi_reserve_full: bool = False
    marconi_min_tokens: int = 256
    ssm_decode_ring_slots: int | None = None
    ring_override: str | None = None
    watchdogs_disabled: bool = False
    reserve_ring_full: bool = False
    ssm_rollback_mode: Literal["snapshot", "replay"] = "snapshot"
    ssm_h_dtype: Literal["f32", "f16", "f16-pool"] = "f32"
    gdn_fused_norm: bool = False
    gdn_fused_conv: bool = False
    mtp_quantization: str = "bf16"
    weight_quantization: str = "declared"
    lm_head_dtype: str = "default"
    enable_prefix_caching: bool = False
    speculative: bool = False
    self_speculative: bool = False
    ngram_speculative: bool = False
    dflash: bool = False
    dflash_gamma: int | None = None
    dflash_gamma_given: bool = False
    dflash_draft_ladder: Steps = ()
    prompt_lookup: bool = False
    prompt_lookup_max_seqs: int = 8
    prompt_lookup_max_drafts: int = 3
    high_speed_swap: bool = False
    swap_blocks_per_seq: int = 64
    splitk: str | None = None
    max_batch_tokens: int = 0
    ffn_min_rows: int | None = None
    native_q2: bool = False
    native_q2_mmq: bool = False
    fp8_rowwise: bool = False
    glm_indexer_flat: bool = False
    glm_prefix_unproven: bool = False
    kv_floor_tokens: int = 4096
    native_fp8: bool = False
    carry: bool | None = None

    @property
    def proposer(self) -> bool:
        """Whether anything drafts: MTP, self- or n-gram speculation, or DFlash."""
        return self.speculative or self.self_speculative or self.ngram_speculative or self.dflash

    @property
    def ceiling(self) -> int:
        """Slots the reserve is planned for."""
        return AUTO_BATCH_CEILING if self.max_batch_size is None else self.max_batch_size

    @property
    def drafts(self) -> int:
        """Drafts of one sequence's verify: γ under DFlash, else `num_drafts`."""
        return self.dflash_gamma if self.dflash and self.dflash_gamma is not None else self.num_drafts

    @property
    def f16_pool(self) -> bool:
        """Whether the pools store h state at half precision."""
        return self.ssm_h_dtype == "f16-pool"
