"""The ring fit and its two yardsticks (engine memory plan, 13.3)."""

from dataclasses import replace

import pytest
from boots import DENSE, MOE, NEMOTRON, boot
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.config.serve import ServeConfig
from metrale_plan.ring_fit import (
    Yardstick,
    after_load_yardstick,
    before_load_yardstick,
    derived_copies,
    fit_ring,
    kv_floor,
)

GIB = 2**30
U64 = 2**64 - 1
SIZES = st.integers(0, U64)


def hundredths(gib: int) -> int:
    return gib * GIB // 100


def test_a_ring_is_fitted_to_what_the_load_leaves() -> None:
    per_depth = 32 * boot(DENSE).dims.blob
    assert per_depth == 32 * 1515 * 2**20 // 10
    floor = hundredths(400)
    yardstick = after_load_yardstick(
        budget=hundredths(7126),
        weights=hundredths(2875),
        derived=hundredths(395),
        arena=hundredths(358),
        fixed=hundredths(795),
        floor=floor,
    )
    assert abs(yardstick.limit - hundredths(2703)) < 8
    assert (floor + 8 * per_depth) * 100 // GIB == 4187  # 41.88 rounded
    assert floor + 8 * per_depth > yardstick.limit
    assert (floor + 4 * per_depth) * 100 // GIB == 2293  # 22.94 rounded
    assert fit_ring(8, per_depth, False, yardstick) == 4
    assert fit_ring(8, per_depth, True, yardstick) == 8
    # The same serve against free memory alone would have kept all of it.
    loose = before_load_yardstick(hundredths(795), hundredths(358), hundredths(7920))
    assert fit_ring(8, per_depth, False, loose) == 8


@pytest.mark.parametrize(
    ("want", "per_depth", "pinned", "limit", "depth"),
    [
        (8, 10, False, 180, 8),
        (8, 10, False, 179, 4),
        (8, 10, False, 139, 2),
        (8, 10, False, 119, 1),
        (8, 10, False, 109, 0),
        (8, 10, False, 100, 0),
        (8, 10, True, 0, 8),
        (0, 10, False, 0, 0),
        (8, 0, False, 0, 8),
        (7, 10, False, 170, 7),  # a depth between two steps is kept when it fits
        (7, 10, False, 169, 4),
        (3, 10, False, 129, 2),
    ],
)
@pytest.mark.parametrize("kind", ["before_load", "after_load"])
def test_fit(kind: str, want: int, per_depth: int, pinned: bool, limit: int, depth: int) -> None:
    yardstick = (
        before_load_yardstick(60, 40, limit)
        if kind == "before_load"
        else after_load_yardstick(limit + 10, 1, 2, 3, 4, 100)
    )
    assert fit_ring(want, per_depth, pinned, yardstick) == depth


def test_nothing_fits() -> None:
    assert fit_ring(8, 10, False, before_load_yardstick(60, 40, 99)) == 8  # the verdict refuses it
    assert fit_ring(8, 10, False, after_load_yardstick(99, 0, 0, 0, 0, 100)) == 0
    assert after_load_yardstick(10, 5, 5, 5, 5, 100) == Yardstick("after_load", 100, 0)


def test_saturation() -> None:
    assert before_load_yardstick(U64, 1, 5).beside == U64
    assert after_load_yardstick(U64, U64, U64, 0, 0, 0).limit == 0
    # Everything saturates at the limit itself, so it counts as fitting.
    assert fit_ring(8, U64, False, before_load_yardstick(U64, 0, U64)) == 8
    assert fit_ring(8, U64, False, before_load_yardstick(0, 0, U64 - 1)) == 0


@given(st.integers(0, 8), SIZES, st.booleans(), SIZES, SIZES, SIZES)
def test_fit_never_deepens(want: int, per_depth: int, pinned: bool, fixed: int, arena: int, free: int) -> None:
    before = before_load_yardstick(fixed, arena, free)
    after = after_load_yardstick(free, 0, 0, 0, 0, before.beside)
    for yardstick in (before, after):
        depth = fit_ring(want, per_depth, pinned, yardstick)
        assert 0 <= depth <= want
        if depth != want:
            assert not pinned
            assert depth in (4, 2, 1, 0)
            assert depth == 0 or yardstick.fits(min(depth * per_depth, U64))
    if before.fits(0):
        assert fit_ring(want, per_depth, pinned, before) == fit_ring(want, per_depth, pinned, after)


# kv_floor


def test_kv_floor() -> None:
    dims = boot(DENSE).dims
    config = ServeConfig(max_batch_size=32, max_seq_len=24576)
    # 524288 B a block of 16 tokens, 32768 B a token: 32 * 4096 of them are 4 GiB.
    assert kv_floor(dims, config) == 4 * GIB
    assert kv_floor(dims, replace(config, max_seq_len=2048)) == 2 * GIB
    assert kv_floor(dims, replace(config, kv_floor_tokens=0)) == 0
    assert kv_floor(dims, replace(config, max_batch_size=None)) == 16 * GIB
    assert kv_floor(dims, replace(config, kv_high_precision_layers=None)) == 4 * GIB  # the flag's dtype throughout
    assert kv_floor(dims, replace(config, kv_floor_tokens=U64, max_seq_len=U64)) == U64


def test_kv_floor_divides_a_block_first() -> None:
    # A turbo3 block of 3 tokens of 10 elements, one layer: 2 * (90//8 + 30//16) = 24; 8 a token.
    dims = replace(boot(DENSE).dims, layers=("full",), kv_heads=1, head_dim=10)
    config = ServeConfig(kv_cache_dtype="turbo3", block_size=3, max_batch_size=1)
    assert kv_floor(dims, config) == 4096 * (24 // 3)
    assert kv_floor(dims, replace(config, block_size=7)) == 4096 * ((2 * (26 + 4)) // 7)


# derived copies


def test_derived_copies_of_the_dense_boot() -> None:
    dims = boot(DENSE).dims
    assert derived_copies(dims) == 4242882560
    assert derived_copies(dims, gdn_fp8=False) == 167813120


def test_derived_copies_with_more_attention_twins() -> None:
    dims = boot(DENSE).dims
    # q: 12288 x 5120 with 4 * 96 * 40 bytes of scales; o: 5120 x 6144 with 4 * 40 * 48
    query, output = 16 * (62914560 + 15360), 16 * (31457280 + 7680)
    assert derived_copies(dims, prefill_q_t=True) == 4242882560 + query
    assert derived_copies(dims, prefill_kernels=False) == 4242882560 + query + output
    assert derived_copies(dims, prefill_q_t=True, prefill_kernels=False, gdn_fp8=False) == 167813120 + query + output


def test_derived_copies_round_grids_up() -> None:
    dims = replace(boot(DENSE).dims, layers=("full",), kv_heads=1, head_dim=129, hidden=257)
    assert derived_copies(dims) == 2 * (129 * 257 + 4 * 2 * 3)


@pytest.mark.parametrize("name", [DENSE, MOE, NEMOTRON])
def test_derived_copies_follow_the_layers(name: str) -> None:
    dims = boot(name).dims
    assert derived_copies(replace(dims, layers=dims.layers * 2)) == 2 * derived_copies(dims)
