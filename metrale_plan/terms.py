"""The term table: one row maps a reserve term to its JSON key, its name in the engine's log, and its ledger file.

JSON, tables and the readers of what a boot left behind all look names up here.
"""

from typing import NamedTuple


class Term(NamedTuple):
    """One reserve term.

    Attributes:
        key: key under `reserve` in JSON.
        label: what a person reads.
        log: the engine's own name for it in its preflight log and ledger, or None where it logs none.
        ledger: source file under which a boot's allocation ledger shows it, or None when it shows none.
    """

    key: str
    label: str
    log: str | None
    ledger: str | None


_ENGINE = "crates/model-engine/src/model/"

TERMS: tuple[Term, ...] = (
    Term("ssm_pool", "recurrent state pool", "ssm_pool", _ENGINE + "ssm_pool.rs"),
    Term("ssm_h_stage", "h-state prefill staging", "ssm_h_stage", _ENGINE + "ssm_pool.rs"),
    Term("replay_ring", "replay ring", "replay_ring", _ENGINE + "ssm_pool.rs"),
    Term("marconi", "Marconi snapshots", "marconi", _ENGINE + "ssm_snapshot_init.rs"),
    Term("gdn_two_phase", "recurrent prefill scratch", "gdn_two_phase", _ENGINE + "impl_a1_init.rs"),
    Term("carry_stash", "carried-state stash", "gdn_carry_stash", None),
    Term("driver_fixed", "driver, fixed", "driver_fixed", None),
    Term("driver_bookkeeping", "driver, per budget", "driver_bookkeeping", None),
    Term("flat_headroom", "flat headroom", "runtime_headroom", None),
    Term("per_sequence", "per-sequence state", "per_sequence", None),
    Term("decode_ring", "decode-rollback ring", "decode_ring", _ENGINE + "ssm_snapshot_init.rs"),
    Term("buffer_arena", "buffer arena", "buffer_arena", "crates/gpu-runtime/src/buffers.rs"),
)

BY_KEY: dict[str, Term] = {term.key: term for term in TERMS}

RUNTIME_HEADROOM = ("carry_stash", "driver_fixed", "driver_bookkeeping", "flat_headroom")
"""Terms that the engine's log sums as `runtime_headroom`."""
