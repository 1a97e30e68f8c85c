"""Every flag that `met serve` takes, once: spelling, kind of value, aliases, default, and what it bears on.

A row is data. Typer's options, the reader of pasted command lines, recipes and `schema flags` are all made from it.
"""

from functools import cache
from typing import NamedTuple

from metrale_plan.config.kinds import (
    BATCH,
    KV_DTYPE,
    KV_EDGE,
    LADDER,
    PORT,
    PRESENCE,
    RING,
    TEXT,
    UTILIZATION,
    Kind,
    choice,
    count,
    number,
)
from metrale_plan.nearest import nearest

TABLE_VERSION = 1
ENGINE_VERSION = "1.0.0-beta-preview"
"""The engine whose option list the table follows, with two flags that came later."""


class Flag(NamedTuple):
    """One serve flag.

    Attributes:
        key: its name in a recipe and in `settings`.
        kind: how its value reads.
        default: the engine's default as text, or None where the engine resolves one or has none.
        aliases: other spellings on the command line, without dashes.
        recipe_aliases: other keys in a recipe.
        affects: the area of memory it bears on, or None when it has nothing to do with memory.
        repeatable: given several times, each adds one.
        help: one line; the flags that have one are shown in `--help`.
    """

    key: str
    kind: Kind
    default: str | None = None
    aliases: tuple[str, ...] = ()
    recipe_aliases: tuple[str, ...] = ()
    affects: str | None = None
    repeatable: bool = False
    help: str | None = None

    @property
    def name(self) -> str:
        """Spelling on the command line, without the dashes."""
        return self.key.replace("_", "-")

    @property
    def presence(self) -> bool:
        """Whether the flag stands alone."""
        return self.kind is PRESENCE


FLAGS: tuple[Flag, ...] = (
    Flag("auto_swap", PRESENCE),
    Flag("dangerously_allow_unresolved_kernel_lookups", PRESENCE),
    Flag("check_kernels", PRESENCE),
    Flag("model_from_path", TEXT),
    Flag("model_name", TEXT, aliases=("served-model-name",)),
    Flag("kernel_target", TEXT, affects="model", help="kernel target by name, instead of matching the checkpoint"),
    Flag("cache_dir", TEXT),
    Flag("port", PORT, default="8888"),
    Flag(
        "gpu_ordinal",
        count(),
        default="0",
        affects="parallelism",
        help="which GPU of the machine, as CUDA numbers them",
    ),
    Flag(
        "max_seq_len",
        count(1),
        default="32768",
        recipe_aliases=("max_model_len",),
        affects="sequence",
        help="longest sequence in tokens, prompt and output together",
    ),
    Flag("block_size", count(1), default="16", affects="kv", help="tokens per KV block"),
    Flag("kv_cache_dtype", KV_DTYPE, affects="kv", help="precision of the KV cache"),
    Flag(
        "ssm_h_dtype",
        choice("f32", "f16", "f16-pool"),
        affects="ssm",
        help="precision of recurrent h state; only f16-pool changes sizes",
    ),
    Flag(
        "ssm_rollback_mode",
        choice("snapshot", "replay"),
        default="snapshot",
        affects="ssm",
        help="how rejected drafts are undone in recurrent state",
    ),
    Flag(
        "ssm_decode_ring_slots",
        RING,
        default="auto",
        affects="ssm",
        help="depth of the decode-rollback ring: auto, or 0 to 8",
    ),
    Flag("gdn_fused_norm", PRESENCE, affects="ssm", help="fused output norm in delta-net decode"),
    Flag("ssm_batched_recurrent", choice("auto", "on", "off"), default="auto", affects="ssm"),
    Flag("prefill_varlen_batch", PRESENCE, affects="prefill"),
    Flag("prefill_codispatch", PRESENCE, affects="prefill"),
    Flag(
        "weight_quantization",
        choice("declared", "nvfp4"),
        default="declared",
        affects="weights",
        help="precision the linear layers are served at",
    ),
    Flag("w4a4_downcast", PRESENCE),
    Flag("w4a4_downcast_wide", PRESENCE),
    Flag(
        "expert_quantization",
        choice("fp8", "nvfp4-gate-up", "nvfp4"),
        default="fp8",
        affects="weights",
        help="precision of routed experts from an FP8 checkpoint",
    ),
    Flag("moe_prefill_tc", PRESENCE, affects="weights"),
    Flag("exact_verify", PRESENCE, affects="speculation"),
    Flag("no_ssm_tail_midchunk", PRESENCE, affects="ssm"),
    Flag("no_canonical_tiers", PRESENCE),
    Flag("mtp_gate", choice("auto", "force"), affects="speculation"),
    Flag(
        "lm_head_dtype",
        choice("default", "bf16", "nvfp4", "fp8"),
        default="default",
        affects="weights",
        help="precision of the vocabulary projection",
    ),
    Flag(
        "kv_high_precision_layers",
        KV_EDGE,
        default="0",
        affects="kv",
        help="attention layers at each end kept at BF16 KV",
    ),
    Flag(
        "gpu_memory_utilization",
        UTILIZATION,
        default="0.9",
        affects="memory",
        help="share of total device memory the serve may use",
    ),
    Flag("max_num_seqs", count(1), default="128", affects="batch", help="length of the waiting queue; sizes nothing"),
    Flag(
        "forward",
        choice("legacy", "circuit", "circuit-reference"),
        default="legacy",
        affects="memory",
        help="decode implementation",
    ),
    Flag("disable_thinking", PRESENCE, aliases=("stupify",)),
    Flag("max_thinking_budget", count()),
    Flag("max_inter_tool_prose", count()),
    Flag(
        "content_loop_watchdog",
        choice("auto", "on", "off"),
        default="auto",
        affects="ssm",
        help="loop detector that the rollback ring serves",
    ),
    Flag("content_loop_min_repeats", count()),
    Flag("tool_grammar", choice("auto", "on", "off"), default="auto"),
    Flag("default_chat_template_kwargs", TEXT),
    Flag("disable_template_overrides", PRESENCE),
    Flag("speculative", PRESENCE, affects="speculation", help="draft with the MTP head"),
    Flag("self_speculative", PRESENCE, affects="speculation", help="draft with the recurrent layers skipped"),
    Flag("ngram_speculative", PRESENCE, affects="speculation", help="draft from repeated text"),
    Flag(
        "prompt_lookup_decoding",
        PRESENCE,
        affects="speculation",
        help="draft by copying earlier text; needs --speculative",
    ),
    Flag("prompt_lookup_ngram", count(1), default="4", affects="speculation"),
    Flag("prompt_lookup_max_drafts", count(1, 16), default="3", affects="speculation", help="longest copied draft"),
    Flag("prompt_lookup_min_match", count(), default="4", affects="speculation"),
    Flag("prompt_lookup_miss_backoff", count(), default="0", affects="speculation"),
    Flag(
        "prompt_lookup_max_seqs",
        count(),
        default="8",
        affects="speculation",
        help="sequences whose verify slots are widened for copies",
    ),
    Flag("dflash", PRESENCE, affects="speculation", help="draft blocks with a separate drafter checkpoint"),
    Flag("draft_model", TEXT, affects="speculation", help="drafter checkpoint of --dflash"),
    Flag("dflash_gamma", count(1), affects="speculation", help="block size of --dflash"),
    Flag("dflash_window_size", count(), default="4096", affects="speculation"),
    Flag(
        "dflash_draft_ladder", LADDER, affects="speculation", help="DFlash drafts by batch width, as width:drafts steps"
    ),
    Flag("num_drafts", count(), affects="speculation", help="drafts per MTP step"),
    Flag("mtp_k_ladder", LADDER, affects="speculation", help="drafts by batch width, as width:drafts steps"),
    Flag("mtp_dcut_ratio", number(0.0, 1.0, accepted="a number from 0 to 1"), affects="speculation"),
    Flag("mtp_max_seqs", count(1, 128), affects="speculation", help="dispatch cap: widest batch that speculates"),
    Flag("max_batch_size", BATCH, default="8", affects="batch", help="sequences decoded together, or auto"),
    Flag(
        "mtp_quantization",
        choice("bf16", "fp8", "nvfp4"),
        default="bf16",
        affects="speculation",
        help="precision of the MTP head",
    ),
    Flag("draft_confidence_stop", number(0.0, 1.0, accepted="a number between 0 and 1"), affects="speculation"),
    Flag("mtp_experts_nvfp4", PRESENCE, affects="speculation"),
    Flag("nemotron_shared_expert_e4m3", PRESENCE),
    Flag("mtp_vocab", count(), default="100000", affects="speculation"),
    Flag("enable_prefix_caching", PRESENCE, affects="prefix_cache", help="reuse the KV of earlier prompts"),
    Flag("hermetic", PRESENCE, affects="prefix_cache"),
    Flag("dump", TEXT),
    Flag("scheduler", choice("fifo", "slai"), default="fifo", affects="batch"),
    Flag("scheduler_config", choice("sync", "async"), default="sync"),
    Flag("telemetry", choice("off", "basic", "kernel"), default="off"),
    Flag("tbt_deadline_ms", count(), default="100", affects="batch"),
    Flag("max_prefill_tokens", count(), default="8192", affects="prefill", help="prompt tokens per prefill chunk"),
    Flag("oom_guard_mb", count(), default="4096", affects="memory", help="free memory below which loading stops"),
    Flag("rank", count(), default="0", affects="parallelism"),
    Flag("world_size", count(1), default="1", affects="parallelism", help="processes of one serve"),
    Flag(
        "tp_size",
        count(1),
        default="1",
        recipe_aliases=("tensor_parallel",),
        affects="parallelism",
        help="tensor-parallel ways",
    ),
    Flag("ep_size", count(1), default="1", affects="parallelism", help="expert-parallel ways"),
    Flag("master_addr", TEXT, default="127.0.0.1", affects="parallelism"),
    Flag("master_port", PORT, default="29500", affects="parallelism"),
    Flag(
        "tool_call_parser",
        choice("hermes", "qwen3_coder", "qwen3_xml", "gemma4", "mistral", "minimax_xml", "bare_json", "poolside_v1"),
    ),
    Flag("tool_max_tokens", count(), default="8192"),
    Flag("ssm_cache_slots", count(), default="16", affects="prefix_cache", help="Marconi snapshot slots"),
    Flag("ssm_checkpoint_interval", count(), default="256", affects="prefix_cache"),
    Flag(
        "marconi_min_tokens",
        count(),
        default="256",
        affects="prefix_cache",
        help="shortest prefix match for which a snapshot is restored",
    ),
    Flag("auto_compact", TEXT, affects="sequence"),
    Flag("default_top_n_sigma", number(), default="1"),
    Flag("default_min_p", number(), default="0.08"),
    Flag(
        "swap_space_gb",
        number(0.0, accepted="a number, 0 or more"),
        default="3",
        affects="swap",
        help="disk for sequences that were moved out",
    ),
    Flag("high_speed_swap", PRESENCE, affects="swap", help="keep part of each sequence's KV on disk"),
    Flag("high_speed_swap_dir", TEXT, affects="swap"),
    Flag("high_speed_swap_gb", number(0.0, accepted="a number, 0 or more"), affects="swap"),
    Flag("high_speed_swap_resident_blocks", count(), affects="swap"),
    Flag("high_speed_swap_rank", count(1, 128), default="32", affects="swap"),
    Flag("high_speed_swap_qd", count(1, 64), default="8", affects="swap"),
    Flag("no_high_speed_swap_graph", PRESENCE, affects="swap"),
    Flag(
        "high_speed_swap_cache_blocks_per_seq",
        count(),
        default="64",
        affects="swap",
        help="KV blocks of one sequence kept on the device under --high-speed-swap",
    ),
    Flag("request_timeout", count(), default="300"),
    Flag("profile", PRESENCE),
    Flag("fp8_kv_calibration_tokens", count(), affects="kv", help="tokens observed before FP8 KV scales are fixed"),
    Flag("fp8_kv_headroom", number(1.0, accepted="a number, 1 or more"), default="2", affects="kv"),
    Flag("warmup_prompt", TEXT),
    Flag("adaptive_sampling", PRESENCE),
    Flag("no_fast_load", PRESENCE, affects="memory"),
    Flag("no_tui", PRESENCE),
    Flag("fast_load_prefetch_shards", PRESENCE, affects="memory"),
    Flag("activation_quantization", TEXT, default="declared", affects="weights"),
    Flag("vision_max_pixels", count(), default="0", affects="memory"),
    Flag("vision_allow_remote_images", PRESENCE),
    Flag("vision_remote_image_max_mb", count(), default="20"),
    Flag("vision_remote_image_timeout_s", count(), default="10"),
    Flag("vision_remote_image_allow_private", PRESENCE),
    Flag("video_allow_ffmpeg", PRESENCE),
    Flag("video_ffmpeg_path", TEXT, default="ffmpeg"),
    Flag("video_fps", number(0.0, accepted="a number, 0 or more"), default="2"),
    Flag("video_max_frames", count(), default="768"),
    Flag("video_decode_timeout_s", count(), default="120"),
    Flag("bind", TEXT, default="127.0.0.1", aliases=("host",), recipe_aliases=("host",)),
    Flag("require_auth", PRESENCE),
    Flag("auth_tokens_file", TEXT),
    Flag("auth_token", TEXT),
    Flag("lora_adapter", TEXT, affects="lora", repeatable=True, help="adapter to load at start, name=path"),
    Flag("src_lang", TEXT),
    Flag("tgt_lang", TEXT),
    Flag("max_lora_rank", count(1), affects="lora", help="rank that adapter slots are sized for"),
    Flag("max_loras", count(1), default="8", affects="lora", help="adapter slots"),
    Flag("lora_stageable", TEXT, affects="lora", repeatable=True),
    Flag("lora_stageable_disk", TEXT, affects="lora", repeatable=True),
)

EXCLUSIONS = (("speculative", "dflash"),)
"""Pairs that the engine refuses together."""

REQUIRES = (("prompt_lookup_decoding", "speculative"), ("draft_confidence_stop", "speculative"))
"""Pairs of which the first needs the second."""

NEWER_KEYS: dict[str, str] = {
    "prompt_lookup_shared_cache_scopes": "a key of a newer engine",
    "spec_cost_model": "a key of a newer engine",
    "moe_nvfp4_experts": "a key of an older engine, which expert_quantization replaces",
}
"""Keys that are met in recipes and that this version of the table lacks; a recipe with them is read all the same.

None of them bears on a byte that is planned before the weights.
"""


@cache
def by_key() -> dict[str, Flag]:
    """Flags by recipe key."""
    return {flag.key: flag for flag in FLAGS}


@cache
def by_spelling() -> dict[str, Flag]:
    """Flags by every spelling on the command line, with its dashes."""
    return {f"--{name}": flag for flag in FLAGS for name in (flag.name, *flag.aliases)}


@cache
def by_recipe_key() -> dict[str, Flag]:
    """Flags by every spelling in a recipe: the flag's key and its recipe aliases."""
    return {key: flag for flag in FLAGS for key in (flag.key, *flag.recipe_aliases)}


def near_recipe_keys(word: str) -> tuple[str, ...]:
    """Recipe keys that resemble a word; a command line's spelling leads to its key."""
    spelled = word.lstrip("-").replace("-", "_")
    as_flag = by_spelling().get(f"--{spelled.replace('_', '-')}")
    return (as_flag.key,) if as_flag is not None else nearest(spelled, [*by_recipe_key(), *NEWER_KEYS])
