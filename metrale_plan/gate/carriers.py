"""Which settings carry the bytes of each reserve term, so that a finding can point at the line to change."""

from collections.abc import Iterable, Iterator

from metrale_plan.config.given import Settings

CARRIERS: dict[str, tuple[str, ...]] = {
    "ssm_pool": ("max_batch_size", "num_drafts", "mtp_max_seqs", "mtp_k_ladder", "ssm_h_dtype"),
    "ssm_h_stage": ("max_batch_size", "ssm_h_dtype"),
    "replay_ring": ("max_batch_size", "num_drafts", "ssm_rollback_mode"),
    "marconi": ("ssm_cache_slots", "enable_prefix_caching", "METRALE_SSM_MARCONI_FULL"),
    "gdn_two_phase": ("max_prefill_tokens", "max_seq_len", "METRALE_MAX_BATCH_TOKENS"),
    "carry_stash": ("num_drafts", "mtp_max_seqs", "max_batch_size"),
    "driver_fixed": ("gpu_memory_utilization",),
    "driver_bookkeeping": ("gpu_memory_utilization",),
    "flat_headroom": ("speculative",),
    "per_sequence": ("max_batch_size", "max_seq_len"),
    "decode_ring": ("ssm_decode_ring_slots", "max_batch_size", "METRALE_SSM_DECODE_RING"),
    "buffer_arena": ("max_prefill_tokens", "max_seq_len", "max_batch_size", "METRALE_MAX_BATCH_TOKENS"),
}
"""Keys of `settings` by term, the one that moves it most first."""


def split_place(where: str | None) -> tuple[str, int] | None:
    """File and line of a `where`, or None when it names a flag or a variable."""
    path, colon, line = (where or "").rpartition(":")
    return (path, int(line)) if colon and path and line.isascii() and line.isdigit() else None


def key_of(where: str | None, settings: Settings) -> str | None:
    """The key of `settings` that a flag or variable in `where` means, or None."""
    if not where:
        return None
    key = where.partition("=")[0]
    if key.startswith("--"):
        key = key[2:].replace("-", "_")
    return key if key in settings else None


def terms_of(key: str) -> Iterator[str]:
    """Terms that a setting carries."""
    return (term for term, keys in CARRIERS.items() if key in keys)


def carrier(terms: Iterable[str], settings: Settings) -> tuple[str, tuple[str, int]] | None:
    """The first setting of these terms that stands in a file, and its file and line; None when none does."""
    for term in terms:
        for key in CARRIERS.get(term, ()):
            place = split_place(settings[key].where) if key in settings else None
            if place is not None:
                return key, place
    return None
