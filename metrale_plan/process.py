"""One engine process: what it has published, and which settings it latched at their first reading.

The engine keeps these in process-wide statics, some read from the environment once, others every time. An
`EngineProcess` is one such process. It decides only when a value is read; the rules are the pure functions'.
"""

from collections.abc import Mapping, Sequence

from metrale_plan import carry, ladder
from metrale_plan.reserve import marconi, verify


class EngineProcess:
    """A fresh engine process under `env`, which is kept and not copied, so later changes to it show where they would.

    Names and values are text as `os.environ` has it; a value with lone surrogates (bytes that were no UTF-8) is
    present, but unreadable as text.
    """

    __slots__ = (
        "_disabled",
        "_env",
        "_env_steps",
        "_marconi_min_tokens",
        "_published_cap",
        "_published_ladder",
    )

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._disabled: bool | None = None
        self._env_steps: ladder.Steps | None = None
        self._marconi_min_tokens: int | None = None
        self._published_cap: int | None = None
        self._published_ladder: ladder.Steps | None = None

    def _present(self, name: str) -> bool:
        return name in self._env

    def _text(self, name: str) -> str | None:
        value = self._env.get(name)
        if value is None or any("\ud800" <= char <= "\udfff" for char in value):
            return None
        return value

    def set_mtp_max_seqs(self, n: int) -> None:
        """Publish the dispatch cap, once; it wins over the default from then on. Source: `ladder: set_mtp_max_seqs`.

        Raises:
            ValueError: another cap is published already.
        """
        if self._published_cap is None:
            self._published_cap = n
        if self._published_cap != n:
            raise ValueError(f"MTP dispatch cap already published as {self._published_cap}, refusing {n}")

    def set_mtp_k_ladder(self, steps: Sequence[Sequence[int]]) -> None:
        """Publish the ladder, once; it wins over the variable, even one already read.

        Source: `ladder: set_mtp_k_ladder`.

        Raises:
            ValueError: another ladder is published already; the order of the steps counts.
        """
        given = ladder.as_steps(steps)
        if self._published_ladder is None:
            self._published_ladder = given
        if self._published_ladder != given:
            raise ValueError(
                f"MTP K-ladder already published as {list(self._published_ladder)}, refusing {list(given)}"
            )

    def set_marconi_min_tokens(self, tokens: int) -> bool:
        """Set the restore threshold; False, and nothing changes, once it was set or read.

        Source: `mtp_carry: set_marconi_min_tokens`.
        """
        if self._marconi_min_tokens is not None:
            return False
        self._marconi_min_tokens = tokens
        return True

    def mtp_ladder_disabled(self) -> bool:
        """Whether `METRALE_NO_MTP_K_LADDER` was present, with any value, at the first reading.

        Source: `ladder: mtp_ladder_disabled`.
        """
        if self._disabled is None:
            self._disabled = self._present("METRALE_NO_MTP_K_LADDER")
        return self._disabled

    def mtp_ladder_pinned(self) -> bool:
        """Whether a ladder is published, or `METRALE_MTP_K_LADDER` is present now.

        Source: `ladder: mtp_ladder_pinned`.
        """
        return self._published_ladder is not None or self._present("METRALE_MTP_K_LADDER")

    def mtp_ladder_steps(self) -> ladder.Steps:
        """The ladder in force: the published one, else the variable's, else the default.

        The first call that finds none published fixes what the variable gives. Source: `ladder: mtp_ladder_steps`.
        """
        if self._published_ladder is not None:
            return self._published_ladder
        if self._env_steps is None:
            text = self._text("METRALE_MTP_K_LADDER")
            parsed = None if text is None else ladder.parse_ladder(text)
            self._env_steps = ladder.DEFAULT_LADDER if parsed is None else parsed
        return self._env_steps

    def mtp_ladder_drafts(self, n_active: int, num_drafts: int) -> int:
        """Drafts per step at `n_active` sequences. Source: `ladder: mtp_ladder_drafts`.

        Without drafts it reads nothing, and with the ladder disabled no steps.
        """
        if num_drafts == 0 or self.mtp_ladder_disabled():
            return ladder.mtp_ladder_drafts(n_active, num_drafts, (), True)
        return ladder.mtp_ladder_drafts(n_active, num_drafts, self.mtp_ladder_steps(), False)

    def mtp_max_seqs(self) -> int:
        """The dispatch cap in sequences: the published one, else the engine's default. Source: `ladder: mtp_max_seqs`.

        The default is worked out in either case, so this fixes `mtp_ladder_disabled`.
        """
        default, _ = ladder.resolve_mtp_max_seqs(None, 0, self.mtp_ladder_disabled())
        return default if self._published_cap is None else self._published_cap

    def mtp_multi_seq_mode(self) -> bool:
        """Whether more than one sequence may speculate at a time. Source: `speculative: mtp_multi_seq_mode`."""
        return self.mtp_max_seqs() > 1

    def mtp_pool_full_width(self) -> bool:
        """Whether every slot gets full verify capacity: a variable present, or the v2 EP protocol; read each time.

        Source: `ssm_reserve: mtp_pool_full_width`.
        """
        return self._present("METRALE_MTP_POOL_FULL_WIDTH") or self._text("METRALE_EP_PROTOCOL") == "v2"

    def mtp_state_slots(self, max_batch_size: int) -> int:
        """Slots that the verify pools cover, without the dummy. Source: `ssm_reserve: mtp_state_slots`."""
        return verify.mtp_state_slots(max_batch_size, self.mtp_max_seqs(), self.mtp_pool_full_width())

    def verify_slot_drafts(self, slot_idx: int, num_drafts: int) -> int:
        """Draft capacity of a slot; full-width pools read nothing more. Source: `ssm_reserve: verify_slot_drafts`."""
        if self.mtp_pool_full_width():
            return num_drafts
        return verify.verify_slot_drafts(
            slot_idx, self.mtp_max_seqs(), num_drafts, lambda width: self.mtp_ladder_drafts(width, num_drafts)
        )

    def verify_slot_h_intermediates(self, slot_idx: int, num_drafts: int, uniform_verify: bool) -> int:
        """h intermediates of a slot; uniform verify reads nothing.

        Source: `ssm_reserve: verify_slot_h_intermediates`.
        """
        return verify.verify_slot_h_intermediates(
            slot_idx, num_drafts, uniform_verify, lambda slot: self.verify_slot_drafts(slot, num_drafts)
        )

    def marconi_reserve_full(self) -> bool:
        """Whether `METRALE_SSM_MARCONI_FULL` is present now. Source: `ssm_reserve: marconi_reserve_full`."""
        return self._present("METRALE_SSM_MARCONI_FULL")

    def marconi_snapshot_slots(self, requested: int, prefix_caching_active: bool) -> marconi.MarconiSlotDecision:
        """Snapshot slots to keep. Source: `ssm_reserve: marconi_snapshot_slots`."""
        return marconi.marconi_snapshot_slots(requested, prefix_caching_active, self.marconi_reserve_full())

    def marconi_min_tokens(self) -> int:
        """The restore threshold in tokens, fixed by the first setting or reading.

        Source: `mtp_carry: marconi_min_tokens`.
        """
        if self._marconi_min_tokens is None:
            self._marconi_min_tokens = carry.marconi_min_tokens(self._text("METRALE_MARCONI_MIN_TOKENS"))
        return self._marconi_min_tokens

    def carry_armed(self, carry_configured: bool) -> bool:
        """Whether the drafter carry runs; reads the dispatch cap even when not configured.

        Source: `mtp_carry: carry_armed`.
        """
        return carry.carry_armed(carry_configured, self.mtp_multi_seq_mode())

    def mtp_carry_drafter_enabled(self, carry_configured: bool) -> bool:
        """`carry_armed` under the name that the layers use. Source: `mtp_carry: mtp_carry_drafter_enabled`."""
        return self.carry_armed(carry_configured)

    def mtp_carry_debug(self) -> bool:
        """Whether `METRALE_MTP_CARRY_DEBUG` is `1` now. Source: `mtp_carry: mtp_carry_debug`."""
        return self._text("METRALE_MTP_CARRY_DEBUG") == "1"
