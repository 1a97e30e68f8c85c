"""The two batch widths (engine memory plan, 10)."""

from dataclasses import replace

import pytest
from boots import BOOTS, DENSE, MOE, NEMOTRON, boot
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.batch_tokens import (
    build_width,
    prefill_budget,
    preflight_width,
    recurrent_chunk,
    requested_tokens,
    verify_tokens,
)
from metrale_plan.config.serve import ServeConfig
from metrale_plan.model.dims import ModelDims

HYBRID = boot(DENSE).dims
ATTENTION_ONLY = replace(HYBRID, layers=("full",) * 4, recurrent="none")


@pytest.mark.parametrize(("name", "widths"), [(DENSE, (2048, 2176)), (MOE, (8192, 8200)), (NEMOTRON, (8192, 8200))])
def test_widths_of_the_boots(name: str, widths: tuple[int, int]) -> None:
    entry = boot(name)
    assert (preflight_width(entry.dims, entry.config), build_width(entry.dims, entry.config)) == widths


@pytest.mark.parametrize(
    ("dims", "prefill", "length", "chunk", "request_"),
    [
        (HYBRID, 8192, 32768, 8192, 8192),  # unset: one chunk
        (HYBRID, 8192, 2048, 2048, 2048),  # a chunk is no longer than a sequence
        (HYBRID, 0, 32768, 8192, 8192),  # 0 is unset too
        (HYBRID, 4096, 32768, 4096, 4096),
        (HYBRID, 4096, 1000, 1000, 4096),  # given: the request is used whole
        (ATTENTION_ONLY, 8192, 2048, 0, 8192),  # no chunk: the flag's own 8192
        (ATTENTION_ONLY, 0, 2048, 0, 2048),  # no chunk and 0: a whole sequence
        (ATTENTION_ONLY, 512, 2048, 0, 512),
    ],
)
def test_request_and_chunk(dims: ModelDims, prefill: int, length: int, chunk: int, request_: int) -> None:
    config = ServeConfig(max_prefill_tokens=prefill, max_seq_len=length)
    assert (recurrent_chunk(dims, config), requested_tokens(dims, config)) == (chunk, request_)


@pytest.mark.parametrize(
    ("config", "rows"),
    [
        (ServeConfig(num_drafts=3), 1),
        (ServeConfig(num_drafts=3, speculative=True), 5),
        (ServeConfig(num_drafts=3, self_speculative=True), 5),
        (ServeConfig(num_drafts=3, ngram_speculative=True), 5),
        (ServeConfig(num_drafts=3, dflash=True, dflash_gamma=10), 11),
        (ServeConfig(num_drafts=3, speculative=True, dflash=True, dflash_gamma=10), 11),
    ],
)
def test_verify_tokens(config: ServeConfig, rows: int) -> None:
    assert verify_tokens(config) == rows


def test_narrow_widths_are_raised_to_verify_and_ceiling() -> None:
    config = ServeConfig(max_prefill_tokens=4, max_batch_size=8, num_drafts=20, speculative=True)
    assert preflight_width(HYBRID, config) == 22
    assert build_width(HYBRID, config) == 22  # 4 + 8 is less than 22
    assert preflight_width(HYBRID, replace(config, max_batch_size=None)) == 128
    assert build_width(HYBRID, replace(config, max_batch_size=None)) == 132


def test_swap_clamps_the_build_only() -> None:
    config = ServeConfig(high_speed_swap=True, swap_blocks_per_seq=64, block_size=16, max_batch_size=8)
    assert preflight_width(HYBRID, config) == 8192
    assert prefill_budget(HYBRID, config) == 64 * 16 - 8
    assert build_width(HYBRID, config) == 1024
    # Fewer swap tokens than slots: nothing is left, and the ceiling carries the width.
    assert build_width(HYBRID, replace(config, swap_blocks_per_seq=1, max_batch_size=32)) == 32


def test_launch_grid_clamps_the_build_only() -> None:
    config = ServeConfig(max_prefill_tokens=65536, max_seq_len=131072, max_batch_size=8)
    assert preflight_width(HYBRID, config) == 65536
    assert build_width(HYBRID, config) == 65520 + 8
    assert build_width(HYBRID, replace(config, max_prefill_tokens=65535)) == 65535 + 8  # the limit itself passes
    assert build_width(HYBRID, replace(config, block_size=256)) == 65280 + 8
    assert build_width(HYBRID, replace(config, block_size=100000)) == 8  # no whole block fits the limit


def test_max_batch_tokens_only_raises_the_build() -> None:
    config = ServeConfig(max_batch_size=8)
    assert build_width(HYBRID, replace(config, max_batch_tokens=8199)) == 8200
    assert build_width(HYBRID, replace(config, max_batch_tokens=8201)) == 8201
    assert preflight_width(HYBRID, replace(config, max_batch_tokens=9000)) == 8192


@given(
    st.sampled_from(BOOTS),
    st.integers(0, 200_000),
    st.integers(1, 300_000),
    st.integers(1, 128),
    st.integers(1, 70_000),
    st.integers(0, 70_000),
)
def test_widths_hold_every_row(name: str, prefill: int, length: int, batch: int, block: int, raised: int) -> None:
    dims = boot(name).dims
    config = ServeConfig(
        max_prefill_tokens=prefill, max_seq_len=length, max_batch_size=batch, block_size=block, max_batch_tokens=raised
    )
    build = build_width(dims, config)
    assert preflight_width(dims, config) >= max(batch, verify_tokens(config))
    assert build >= max(batch, raised, verify_tokens(config))
    assert build <= max(65535 + batch, raised)
