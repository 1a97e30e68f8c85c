"""Laws of a plan: totals are sums, more slots never cost less, and a verdict only turns one way as memory grows."""

from dataclasses import replace

from boots import BOOTS, Boot, boot
from hypothesis import given, settings
from hypothesis import strategies as st

from metrale_plan.config.serve import ServeConfig
from metrale_plan.plan import make_plan
from metrale_plan.rules import rules_on
from metrale_plan.terms import BY_KEY
from metrale_plan.verdict import judge

boots = st.sampled_from(BOOTS).map(boot)
batches = st.integers(1, 128)
configs = st.builds(
    ServeConfig,
    max_batch_size=batches,
    max_seq_len=st.integers(1, 300_000),
    block_size=st.sampled_from([1, 16, 64, 100_000]),
    max_prefill_tokens=st.sampled_from([0, 1, 2048, 8192, 70_000]),
    num_drafts=st.integers(0, 16),
    mtp_max_seqs=batches,
    full_width_pools=st.booleans(),
    ladder_disabled=st.booleans(),
    ssm_cache_slots=st.integers(0, 64),
    enable_prefix_caching=st.booleans(),
    speculative=st.booleans(),
    prompt_lookup=st.booleans(),
    ssm_rollback_mode=st.sampled_from(["snapshot", "replay"]),
    ssm_h_dtype=st.sampled_from(["f32", "f16-pool"]),
    ssm_decode_ring_slots=st.none() | st.integers(0, 8),
    reserve_ring_full=st.booleans(),
)


@given(boots, configs)
@settings(max_examples=60, deadline=None)
def test_totals_are_sums_of_named_lines(recorded: Boot, config: ServeConfig) -> None:
    plan = make_plan(recorded.dims, config, recorded.rules, recorded.device)
    assert {line.term for line in plan.lines} == BY_KEY.keys()
    assert all(line.bytes >= 0 for line in plan.lines)
    assert plan.inference_reserve == sum(line.bytes for line in plan.reserve)
    assert plan.total == plan.inference_reserve + plan.arena_reserved.bytes


@given(boots, configs, batches)
@settings(max_examples=60, deadline=None)
def test_more_slots_never_cost_less(recorded: Boot, config: ServeConfig, other: int) -> None:
    few, many = sorted((config.ceiling, other))
    smaller, larger = (
        make_plan(recorded.dims, replace(config, max_batch_size=batch), recorded.rules, recorded.device)
        for batch in (few, many)
    )
    for line in smaller.lines:
        assert line.bytes <= larger.bytes_of(line.term), line.term


@given(boots, configs, st.integers(0, 2**38), st.integers(0, 2**38))
@settings(max_examples=60, deadline=None)
def test_more_memory_never_refuses(recorded: Boot, config: ServeConfig, a: int, b: int) -> None:
    def verdict(free: int) -> tuple[bool | None, int, int]:
        plan = make_plan(recorded.dims, config, recorded.rules, recorded.device, free=free)
        answer = judge(plan, recorded.dims, config, free=free)
        assert answer.fits is (plan.total <= free)
        return answer.fits, plan.ring.reserved, plan.ring.want

    (fits_less, depth_less, want), (fits_more, depth_more, _) = (verdict(free) for free in sorted((a, b)))
    assert not (fits_less and not fits_more)
    if fits_less:
        assert depth_less <= depth_more <= want


@given(boots, configs)
@settings(max_examples=60, deadline=None)
def test_verify_slots_and_drafts_stay_in_bounds(recorded: Boot, config: ServeConfig) -> None:
    plan = make_plan(recorded.dims, config, rules_on(), recorded.device)
    assert (plan.verify is None) == (not config.proposer)
    if plan.verify is not None:
        assert plan.verify.slots <= config.ceiling
        assert len(plan.verify.drafts) == plan.verify.slots
        assert all(0 <= drafts <= config.num_drafts for drafts in plan.verify.drafts)
        assert all(steps < plan.verify.rows for steps in plan.verify.counts.h_steps)
