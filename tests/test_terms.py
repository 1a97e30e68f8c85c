"""Reserve terms: prefill scratch, carry stash, headroom, per-sequence state (engine memory plan, 3.3 and 6 to 9)."""

from dataclasses import replace
from datetime import date

import pytest
from boots import DENSE, MOE, NEMOTRON, boot

from metrale_plan.batch_tokens import build_width, preflight_width
from metrale_plan.config.serve import ServeConfig
from metrale_plan.model.dims import ModelDims
from metrale_plan.prefix_cache import kv_is_whole_state, prefix_active
from metrale_plan.reserve.carry_stash import carry_stash
from metrale_plan.reserve.headroom import driver_bookkeeping, memory_budget, runtime_headroom
from metrale_plan.reserve.per_sequence import per_sequence
from metrale_plan.reserve.prefill_scratch import gdn_two_phase, gdn_two_phase_allocated, prefill_row_bytes
from metrale_plan.rules import EngineRules, rules_on

MIB = 2**20
LATEST = EngineRules()
BEFORE_PAGED = rules_on(date(2026, 10, 8))
BUDGET = 111063597056

GLM = ModelDims(
    loader=None,
    model_type="glm5_next",
    recurrent="kda",
    layers=("linear", "linear", "sparse", "sparse"),
    hidden=4096,
    vocab=154624,
    q_heads=64,
    kv_heads=64,
    head_dim=256,
    index_head_dim=128,
    index_kpool=4,
    has_mtp=True,
    mtp_layers=("sparse",),
)


# 6


@pytest.mark.parametrize(
    ("name", "row", "reserved", "allocated"),
    [
        (DENSE, 45440, 93061120, 93061120),
        (MOE, 33024, 270532608, 270796800),
        (NEMOTRON, 0, 0, 0),
    ],
)
def test_prefill_scratch_of_the_boots(name: str, row: int, reserved: int, allocated: int) -> None:
    entry = boot(name)
    dims, config = entry.dims, entry.config
    assert prefill_row_bytes(dims) == row
    assert gdn_two_phase(dims, preflight_width(dims, config)) == reserved
    assert gdn_two_phase_allocated(dims, config, build_width(dims, config)) == allocated
    if entry.record["reserve_mib"]:
        assert reserved // MIB == entry.record["reserve_mib"]["gdn_two_phase"]


def test_prefill_scratch_needs_recurrent_layers() -> None:
    assert gdn_two_phase(replace(boot(DENSE).dims, layers=("full",)), 2048) == 0


# 7


@pytest.mark.parametrize(("name", "slots", "size"), [(DENSE, 33, 884989120), (MOE, 9, 106554424), (NEMOTRON, 9, 0)])
def test_carry_stash_of_the_boots(name: str, slots: int, size: int) -> None:
    entry = boot(name)
    assert carry_stash(entry.dims, entry.config, slots) == size
    assert size // MIB == entry.record["reserve_mib"]["gdn_carry_stash"]


@pytest.mark.parametrize(
    "config",
    [ServeConfig(), ServeConfig(speculative=True, ssm_h_dtype="f16-pool")],
)
def test_no_carry_stash_for_the_serve(config: ServeConfig) -> None:
    assert carry_stash(boot(DENSE).dims, config, 33) == 0


@pytest.mark.parametrize("change", [{"lin_k_dim": 64}, {"lin_v_dim": 64}, {"lin_v_heads": 0}])
def test_no_carry_stash_for_the_heads(change: dict[str, int]) -> None:
    config = ServeConfig(speculative=True)
    assert carry_stash(replace(boot(DENSE).dims, **change), config, 33) == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("proposer", ["speculative", "self_speculative", "ngram_speculative", "dflash"])
def test_every_proposer_carries(proposer: str) -> None:
    config = replace(ServeConfig(), **{proposer: True})  # type: ignore[arg-type]
    assert carry_stash(boot(DENSE).dims, config, 33) == 884989120


def test_half_precision_outside_the_pool_keeps_the_stash() -> None:
    assert carry_stash(boot(DENSE).dims, ServeConfig(speculative=True, ssm_h_dtype="f16"), 33) == 884989120


# 8


def test_budget_is_a_truncated_double() -> None:
    assert memory_budget(130663055360, 0.85) == BUDGET
    assert memory_budget(100, 0.29) == 28  # 100 * 0.29 is 28.999999999999996 in double precision
    assert memory_budget(2**53 + 1, 1.0) == 2**53


def test_bookkeeping_divides_first() -> None:
    assert driver_bookkeeping(BUDGET) == 2332335537
    assert driver_bookkeeping(999) == 0
    assert driver_bookkeeping(1999) == 21


@pytest.mark.parametrize(("name", "slots"), [(DENSE, 33), (MOE, 9), (NEMOTRON, 9)])
def test_headroom_of_the_boots(name: str, slots: int) -> None:
    entry = boot(name)
    carry = carry_stash(entry.dims, entry.config, slots)
    budget = memory_budget(entry.device.total, entry.config.gpu_memory_utilization)
    headroom = runtime_headroom(entry.config, entry.rules, budget=budget, carry=carry)
    assert (headroom.carry_stash, headroom.driver_fixed, headroom.driver_bookkeeping, headroom.flat) == (
        carry,
        1073741824,
        2332335537,
        0,
    )
    logged = entry.record["reserve_mib"]
    assert headroom.total // MIB == logged["runtime_headroom"]
    assert headroom.driver_fixed // MIB == logged["driver_fixed"]
    assert headroom.driver_bookkeeping // MIB == logged["driver_bookkeeping"]


def test_headroom_by_date() -> None:
    config = ServeConfig(speculative=True)
    flat, terms = rules_on(date(2026, 9, 30)), rules_on(date(2026, 10, 1))
    assert runtime_headroom(config, terms, budget=BUDGET, carry=7).total == 7 + 1073741824 + 2332335537
    older = runtime_headroom(config, flat, budget=BUDGET, carry=7)
    assert (older.flat, older.total, older.carry_stash) == (4096 * MIB, 4096 * MIB, 0)
    assert runtime_headroom(ServeConfig(), flat, budget=BUDGET, carry=0).total == 512 * MIB


# 9: a layer of 32768 rows is 32768 * (4*128 + 1) = 16809984; the proposer adds 6*4096 + 2*154624 + 20 = 333844.

LAYER = 16809984
PROPOSER = LAYER + 333844


@pytest.mark.parametrize(
    ("rules", "flat", "proposer", "size"),
    [
        (LATEST, False, None, 0),
        (LATEST, True, None, 2 * LAYER),
        (BEFORE_PAGED, False, None, 2 * LAYER),
        (BEFORE_PAGED, True, None, 2 * LAYER),
        (LATEST, False, "speculative", PROPOSER),
        (LATEST, False, "self_speculative", PROPOSER),
        (LATEST, False, "dflash", PROPOSER),
        (LATEST, False, "ngram_speculative", 0),
        (LATEST, True, "speculative", 2 * LAYER + PROPOSER),
        (BEFORE_PAGED, False, "speculative", 2 * LAYER + PROPOSER),
    ],
)
def test_per_sequence(rules: EngineRules, flat: bool, proposer: str | None, size: int) -> None:
    config = ServeConfig(glm_indexer_flat=flat)
    if proposer:
        config = replace(config, **{proposer: True})  # type: ignore[arg-type]
    assert per_sequence(GLM, config, rules, 8) == 8 * size
    assert per_sequence(GLM, config, rules, 0) == size
    assert per_sequence(replace(GLM, model_type="glm5"), config, rules, 8) == 0


def test_per_sequence_counts_whole_pools() -> None:
    config = ServeConfig(glm_indexer_flat=True, max_seq_len=1003)
    assert per_sequence(GLM, config, LATEST, 1) == 2 * 1000 * 513
    assert per_sequence(replace(GLM, index_kpool=0), config, LATEST, 1) == 2 * 1003 * 513


def test_per_sequence_proposer_needs_a_sparse_draft_layer() -> None:
    config = ServeConfig(speculative=True)
    assert per_sequence(replace(GLM, mtp_layers=("full",)), config, LATEST, 8) == 0
    assert per_sequence(replace(GLM, mtp_layers=()), config, LATEST, 8) == 0


@pytest.mark.parametrize("name", [DENSE, MOE, NEMOTRON])
def test_per_sequence_of_the_boots(name: str) -> None:
    entry = boot(name)
    assert per_sequence(entry.dims, entry.config, entry.rules, entry.config.ceiling) == 0


# 3.3


@pytest.mark.parametrize("model_type", ["glm5_next", "glm5_next_text"])
@pytest.mark.parametrize(
    ("rules", "flat", "unproven", "whole"),
    [
        (LATEST, False, False, True),
        (LATEST, True, False, False),
        (LATEST, True, True, True),
        (BEFORE_PAGED, False, False, False),
        (BEFORE_PAGED, False, True, True),
        (BEFORE_PAGED, True, False, False),
    ],
)
def test_glm_whole_state(model_type: str, rules: EngineRules, flat: bool, unproven: bool, whole: bool) -> None:
    dims = replace(GLM, model_type=model_type)
    config = ServeConfig(glm_indexer_flat=flat, glm_prefix_unproven=unproven, enable_prefix_caching=True)
    assert kv_is_whole_state(dims, config, rules) is whole
    assert prefix_active(dims, config, rules) is whole
    assert not prefix_active(dims, replace(config, enable_prefix_caching=False), rules)


@pytest.mark.parametrize(("ratios", "whole"), [((), True), ((0, 0), True), ((0, 4), False), ((128, 4), False)])
def test_deepseek_whole_state(ratios: tuple[int, ...], whole: bool) -> None:
    dims = replace(GLM, model_type="deepseek_v4", compress_ratios=ratios)
    assert kv_is_whole_state(dims, ServeConfig(glm_indexer_flat=True), BEFORE_PAGED) is whole


def test_other_models_are_whole() -> None:
    assert kv_is_whole_state(boot(NEMOTRON).dims, ServeConfig(glm_indexer_flat=True), BEFORE_PAGED)
