"""What an engine process publishes, latches, and reads each time."""

import pytest

from metrale_plan.ladder import DEFAULT_LADDER
from metrale_plan.process import EngineProcess

OFF = "METRALE_NO_MTP_K_LADDER"
LADDER = "METRALE_MTP_K_LADDER"


def test_defaults() -> None:
    engine = EngineProcess({})
    assert engine.mtp_max_seqs() == 32
    assert engine.mtp_ladder_steps() == DEFAULT_LADDER
    assert [engine.mtp_ladder_drafts(n, 3) for n in (8, 9)] == [3, 1]
    assert [engine.verify_slot_drafts(i, 3) for i in (7, 8)] == [3, 1]
    assert engine.marconi_min_tokens() == 256
    assert not engine.carry_armed(True)


def test_presence_counts_whatever_the_value() -> None:
    engine = EngineProcess({OFF: "", "METRALE_SSM_MARCONI_FULL": "0", "METRALE_MTP_POOL_FULL_WIDTH": ""})
    assert engine.mtp_ladder_disabled() and engine.mtp_max_seqs() == 4
    assert engine.marconi_snapshot_slots(16, False).slots == 16
    assert engine.mtp_state_slots(100) == 100


def test_the_mapping_is_kept_and_the_kill_switch_latches() -> None:
    env: dict[str, str] = {}
    engine = EngineProcess(env)
    env[OFF] = "1"
    assert engine.mtp_ladder_disabled()
    del env[OFF]
    assert engine.mtp_ladder_disabled()


def test_the_cap_latches_the_kill_switch_even_when_published() -> None:
    env: dict[str, str] = {}
    engine = EngineProcess(env)
    engine.set_mtp_max_seqs(8)
    assert engine.mtp_max_seqs() == 8
    env[OFF] = "1"
    assert not engine.mtp_ladder_disabled()


@pytest.mark.parametrize("num_drafts", [0, 1, 3])
def test_what_latches_the_ladder_of_the_variable(num_drafts: int) -> None:
    env = {LADDER: "32:2"}
    engine = EngineProcess(env)
    engine.verify_slot_drafts(0, num_drafts)
    env[LADDER] = "32:5"
    assert engine.mtp_ladder_drafts(1, 9) == (2 if num_drafts else 5)


def test_no_drafts_read_nothing() -> None:
    env: dict[str, str] = {}
    engine = EngineProcess(env)
    assert engine.mtp_ladder_drafts(1, 0) == 0
    env[OFF] = "1"
    assert engine.mtp_ladder_disabled()


def test_a_disabled_ladder_reads_no_steps_but_full_width_reads_no_switch() -> None:
    env = {"METRALE_MTP_POOL_FULL_WIDTH": "1"}
    engine = EngineProcess(env)
    assert engine.verify_slot_drafts(20, 6) == 6
    env[OFF] = "1"
    del env["METRALE_MTP_POOL_FULL_WIDTH"]
    assert engine.verify_slot_drafts(20, 6) == 6
    assert engine.mtp_ladder_disabled()


def test_uniform_verify_reads_nothing() -> None:
    env: dict[str, str] = {}
    engine = EngineProcess(env)
    assert engine.verify_slot_h_intermediates(20, 6, True) == 6
    env[OFF] = "1"
    assert engine.verify_slot_h_intermediates(20, 6, False) == 6


def test_a_published_ladder_wins_even_late_and_pins() -> None:
    engine = EngineProcess({})
    assert engine.mtp_ladder_drafts(20, 9) == 1
    assert not engine.mtp_ladder_pinned()
    engine.set_mtp_k_ladder([[32, 7]])
    assert engine.mtp_ladder_drafts(20, 9) == 7
    assert engine.mtp_ladder_pinned()


def test_pinned_follows_the_variable_each_time() -> None:
    env = {LADDER: "nonsense"}
    engine = EngineProcess(env)
    assert engine.mtp_ladder_pinned()
    assert engine.mtp_ladder_steps() == DEFAULT_LADDER
    del env[LADDER]
    assert not engine.mtp_ladder_pinned()


def test_publishing_twice() -> None:
    engine = EngineProcess({})
    engine.set_mtp_max_seqs(8)
    engine.set_mtp_max_seqs(8)
    with pytest.raises(ValueError) as refused:
        engine.set_mtp_max_seqs(9)
    assert str(refused.value) == "MTP dispatch cap already published as 8, refusing 9"
    engine.set_mtp_k_ladder(((4, 3), (8, 3)))
    engine.set_mtp_k_ladder([[4, 3], [8, 3]])
    with pytest.raises(ValueError) as refused:
        engine.set_mtp_k_ladder([])
    assert str(refused.value) == "MTP K-ladder already published as [(4, 3), (8, 3)], refusing []"
    assert engine.mtp_max_seqs() == 8


def test_the_restore_threshold_is_fixed_by_the_first_setting_or_reading() -> None:
    env = {"METRALE_MARCONI_MIN_TOKENS": "64"}
    engine = EngineProcess(env)
    assert engine.marconi_min_tokens() == 64
    assert not engine.set_marconi_min_tokens(1)
    env["METRALE_MARCONI_MIN_TOKENS"] = "7"
    assert engine.marconi_min_tokens() == 64
    other = EngineProcess(env)
    assert other.set_marconi_min_tokens(0)
    assert not other.set_marconi_min_tokens(0)
    assert other.marconi_min_tokens() == 0


def test_the_carry_needs_a_cap_of_one_and_reads_it_even_when_off() -> None:
    env: dict[str, str] = {}
    engine = EngineProcess(env)
    assert not engine.carry_armed(False)
    env[OFF] = "1"
    assert not engine.mtp_ladder_disabled()
    engine.set_mtp_max_seqs(1)
    assert engine.carry_armed(True) and engine.mtp_carry_drafter_enabled(True)
    assert not engine.mtp_multi_seq_mode()


def test_debug_and_protocol_are_exact_and_read_each_time() -> None:
    env = {"METRALE_MTP_CARRY_DEBUG": "1", "METRALE_EP_PROTOCOL": "v2"}
    engine = EngineProcess(env)
    assert engine.mtp_carry_debug() and engine.mtp_pool_full_width()
    env |= {"METRALE_MTP_CARRY_DEBUG": "true", "METRALE_EP_PROTOCOL": "V2"}
    assert not engine.mtp_carry_debug() and not engine.mtp_pool_full_width()


def test_bytes_that_are_no_text_are_present_but_unreadable() -> None:
    engine = EngineProcess({OFF: "\udcff", LADDER: "4:3\udcff", "METRALE_MARCONI_MIN_TOKENS": "9\udcff"})
    assert engine.mtp_ladder_disabled() and engine.mtp_ladder_pinned()
    assert engine.mtp_ladder_steps() == DEFAULT_LADDER
    assert engine.marconi_min_tokens() == 256


def test_processes_share_nothing() -> None:
    first, second = EngineProcess({}), EngineProcess({})
    first.set_mtp_max_seqs(1)
    assert second.mtp_max_seqs() == 32
