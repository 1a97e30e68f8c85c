"""Every spelling of every dimension: MODEL.toml's first, then those of config.json and params.json. Data, no logic.

A dotted spelling is a key of a nested table. `kind` says which values a key takes; `keys` holds the kinds.
"""

from typing import NamedTuple


class Dim(NamedTuple):
    """One dimension: the kind of its values, and its spellings in the order they are preferred and suggested."""

    kind: str
    spellings: tuple[str, ...]


DIMS: dict[str, Dim] = {
    # How many layers, and in which order.
    "layer_count": Dim("layers", ("layers_total", "num_hidden_layers", "n_layers", "decoder_layers", "encoder_layers")),
    "linear_count": Dim("layer_share", ("layers_linear_attention",)),
    "mamba_count": Dim("layer_share", ("layers_ssm",)),
    "kda_count": Dim("layer_share", ("layers_kda",)),
    "full_count": Dim("layer_share", ("layers_full_attention", "layers_attention")),
    "sparse_count": Dim("layer_share", ("layers_dsa",)),
    "sliding_count": Dim("layer_share", ("layers_sliding_attention",)),
    "pattern": Dim("text", ("layer_pattern",)),
    "layer_types": Dim("words", ("layer_types", "layers_block_type", "attention_pattern")),
    "full_interval": Dim("size", ("full_attention_interval",)),
    "override_pattern": Dim("text", ("hybrid_override_pattern",)),
    "attn_types": Dim("counts", ("attn_type_list",)),
    "kda_indexes": Dim("counts", ("linear_attn_config.kda_layers",)),
    "full_indexes": Dim("counts", ("linear_attn_config.full_attn_layers",)),
    # Widths and heads.
    "hidden": Dim("size", ("hidden_dim", "hidden_size", "d_model", "dim")),
    "vocab": Dim("size", ("vocab_size",)),
    "tokenizer_vocab": Dim("count", ("tokenizer_vocab",)),
    "q_heads": Dim(
        "size", ("q_heads", "num_attention_heads", "n_heads", "decoder_attention_heads", "encoder_attention_heads")
    ),
    "q_heads_by_layer": Dim("counts", ("num_attention_heads_per_layer",)),
    "kv_heads": Dim("count_each", ("kv_heads", "num_key_value_heads", "num_attention_groups", "n_kv_heads")),
    "head_dim": Dim("count_each", ("head_dim", "attention_head_dim")),
    "global_kv_heads": Dim("count", ("num_global_kv_heads", "num_global_key_value_heads")),
    "global_head_dim": Dim("count", ("global_head_dim",)),
    "sliding_kv_heads": Dim("count", ("attention_other_setting.num_attention_groups",)),
    "sliding_head_dim": Dim("count", ("attention_other_setting.head_dim",)),
    "sliding_window": Dim("count", ("sliding_window",)),
    "attn_gated": Dim("flag", ("attn_output_gate", "use_head_wise_attn_gate")),
    "mrope_interleaved": Dim(
        "flag", ("mrope_interleaved", "rope_parameters.mrope_interleaved", "rope_scaling.mrope_interleaved")
    ),
    # Feed-forward; a width listed by layer counts as its widest.
    "inter": Dim("count_each", ("intermediate_size", "decoder_ffn_dim", "encoder_ffn_dim")),
    "experts_used": Dim("flag", ("enable_moe_block",)),
    "experts": Dim(
        "count",
        ("moe_experts", "num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts", "moe.num_experts"),
    ),
    "top_k": Dim(
        "count_each",
        (
            "moe_topk",
            "moe_top_k",
            "top_k",
            "num_experts_per_tok",
            "top_k_experts",
            "experts_per_token",
            "num_experts_per_token",
            "moe.num_experts_per_tok",
        ),
    ),
    "moe_inter": Dim("count_each", ("moe_intermediate", "moe_intermediate_size", "moe.expert_hidden_dim")),
    "shared_inter": Dim(
        "count",
        (
            "shared_expert_intermediate",
            "shared_expert_intermediate_size",
            "moe_shared_expert_intermediate_size",
            "shared_intermediate_size",
            "share_expert_dim",
        ),
    ),
    "shared_experts": Dim(
        "count", ("num_shared_experts", "shared_experts", "n_shared_experts", "moe.num_shared_experts")
    ),
    "moe_latent": Dim("count", ("routed_expert_hidden_size", "moe_latent_size")),
    "zero_experts": Dim("count", ("zero_expert_num",)),
    # Recurrent layers.
    "lin_k_heads": Dim("count", ("linear_attn_key_heads", "linear_num_key_heads")),
    "lin_k_dim": Dim("count", ("linear_attn_key_dim", "linear_key_head_dim")),
    "lin_v_heads": Dim("count", ("linear_attn_value_heads", "linear_num_value_heads")),
    "lin_v_dim": Dim("count", ("linear_attn_value_dim", "linear_value_head_dim")),
    "kda_heads": Dim("count", ("linear_num_heads", "linear_attn_config.num_heads")),
    "kda_head_dim": Dim("count", ("linear_head_dim", "linear_attn_config.head_dim")),
    "conv_kernel": Dim(
        "count",
        (
            "linear_conv_kernel",
            "linear_conv_kernel_dim",
            "linear_attn_config.short_conv_kernel_size",
            "conv_kernel",
            "mamba_d_conv",
        ),
    ),
    "mamba_heads": Dim("count", ("mamba_num_heads", "mamba_n_heads")),
    "mamba_head_dim": Dim("count", ("mamba_head_dim", "mamba_d_head")),
    "ssm_state": Dim("count", ("ssm_state_size", "mamba_d_state")),
    "ssm_groups": Dim("count", ("n_groups", "mamba_n_groups")),
    # Latent attention, grouped output, hyper-connections, indexer, per-layer compression.
    "kv_lora_rank": Dim("count", ("kv_lora_rank",)),
    "q_lora_rank": Dim("count", ("q_lora_rank",)),
    "qk_rope_head_dim": Dim("count", ("qk_rope_head_dim",)),
    "qk_nope_head_dim": Dim("count", ("qk_nope_head_dim",)),
    "o_groups": Dim("count", ("o_groups",)),
    "o_lora_rank": Dim("count", ("o_lora_rank",)),
    "hc_mult": Dim("count", ("hc_mult", "hc_count")),
    "hc_lowrank": Dim("count", ("hc_lowrank",)),
    "index_topk": Dim("count", ("index_topk", "indexer_budget")),
    "index_n_heads": Dim("count", ("index_n_heads", "indexer_n_heads")),
    "index_head_dim": Dim("count", ("index_head_dim", "indexer_head_dim")),
    "index_compress_ratio": Dim("count", ("indexer_compress_ratio",)),
    "index_kpool": Dim("count", ("index_kpool",)),
    "compress_ratios": Dim("counts", ("compress_ratios",)),
    # Draft head.
    "mtp_count": Dim(
        "layer_share",
        ("mtp_layers", "mtp_num_hidden_layers", "num_nextn_predict_layers", "num_mtp_modules", "mtp.num_hidden_layers"),
    ),
    "mtp_used": Dim("flag", ("use_mtp",)),
    "mtp_indexer": Dim("flag", ("index_share_for_mtp_iteration",)),
    "mtp_kinds": Dim("words", ("mtp.layer_types", "mtp_layers_block_type")),
    "mtp_pattern": Dim("text", ("mtp_hybrid_override_pattern",)),
    "mtp_kind": Dim("text", ("mtp_type",)),
    "mtp_dense_ffn": Dim("flag", ("mtp_dense_ffn",)),
}
"""`intermediate_size` is the expert width of a few checkpoints, and params.json calls it `hidden_dim` beside `dim`:
`families` tells those apart."""

LAYER_WORDS: dict[str, str] = {
    "linear": "linear",
    "linear_attention": "linear",
    "gdn": "linear",
    "kda": "linear",
    "mamba": "linear",
    "mamba2": "linear",
    "ssm": "linear",
    "full": "full",
    "full_attention": "full",
    "attention": "full",
    "mla": "full",
    "gated_mla": "full",
    "mla_full_attention": "full",
    "sliding": "sliding",
    "sliding_attention": "sliding",
    "dsa": "sparse",
    "deepseek_sparse_attention": "sparse",
    "moe": "moe",
    "mlp": "moe",
}
"""Words for one layer, and the kind they mean. A stand-alone feed-forward block is `moe`: neither KV nor state."""

PATTERN_LETTERS: dict[str, str] = {"M": "mamba", "*": "attention", "E": "moe", "-": "mlp"}
"""Letters of `hybrid_override_pattern`, as layer words."""

DRAFTER_BLOCK = ("block_size", "dflash_block_size", "draft_block_size")
"""Spellings of a DFlash drafter's block size in its config.json."""
