"""`explain-ladder`: every number agrees with the plan it explains."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli import cli, cli_json
from hypothesis import given, settings
from hypothesis import strategies as st

from metrale_plan import catalog
from metrale_plan.assemble import assemble
from metrale_plan.config.given import Setting
from metrale_plan.config.serve import ServeConfig
from metrale_plan.explain.ladder import LadderExplanation, explain_ladder
from metrale_plan.explain.ladder.values import WidthRun
from metrale_plan.model.load import load_model
from metrale_plan.plan.verify import plan_pool, plan_verify
from metrale_plan.reading.raw import RawReading
from metrale_plan.request import Request
from metrale_plan.rules import rules_on

DIMS = load_model(catalog.find_model("qwen3.8-27b")).dims


def no_reading(ordinal: int) -> RawReading:
    raise AssertionError(ordinal)


SETTINGS = assemble(Request(command="explain-ladder", model_optional=True), no_reading).settings
SPECULATIVE = ServeConfig(speculative=True, num_drafts=3, max_batch_size=32)


def explained(config: ServeConfig, **others: Any) -> LadderExplanation:
    assert SETTINGS is not None
    settled = {**SETTINGS, "mtp_k_ladder": Setting(config.ladder, "engine")}
    return explain_ladder(config, settled, rules_on(), dims=DIMS, **others)


def at(value: LadderExplanation, width: int) -> WidthRun:
    return next(run for run in value.side.runs if run.first <= width <= run.last)


ladders = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 5)), min_size=1, max_size=5).map(
    lambda steps: tuple(sorted(steps, key=lambda step: step[0]))
)
configs = st.builds(
    ServeConfig,
    speculative=st.just(True),
    max_batch_size=st.none() | st.integers(1, 128),
    mtp_max_seqs=st.integers(1, 128),
    num_drafts=st.integers(0, 5),
    ladder=ladders,
    ladder_disabled=st.booleans(),
    ladder_pinned=st.booleans(),
    static_rung=st.booleans(),
    full_width_pools=st.booleans(),
    prompt_lookup=st.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(configs)
def test_it_agrees_with_the_plan(config: ServeConfig) -> None:
    value = explained(config)
    side = value.side
    verify = plan_verify(config, config.ceiling)
    assert verify is not None
    pool = plan_pool(DIMS, config, config.ceiling, verify, rules_on())
    slots = [group for group in side.groups for _ in range(group.first, group.last + 1)]
    assert tuple(group.capacity for group in slots[: verify.slots]) == verify.drafts
    assert tuple(group.h_steps for group in slots) == verify.counts.h_steps
    assert sum(group.bytes or 0 for group in side.groups) == pool.total - pool.live
    assert side.pools is not None and side.pools.total == pool.total
    assert value.saved is not None and value.saved >= 0
    assert value.full_width_total == pool.total + value.saved


@settings(max_examples=40, deadline=None)
@given(configs)
def test_the_staircase_covers_every_width_and_runs_within_capacity(config: ServeConfig) -> None:
    runs = explained(config).side.runs
    assert [run.first for run in runs] == [1, *(run.last + 1 for run in runs[:-1])]
    assert runs[-1].last == max(config.mtp_max_seqs, config.ceiling)
    for run in runs:
        assert run.lifted >= run.static
        assert run.drafts <= run.lifted
        assert (run.last <= config.mtp_max_seqs) == (run.reach != "above the cap")
        if run.capacity is not None:
            assert run.drafts <= run.capacity


def test_the_default_ladder_clamps_the_lift_back() -> None:
    rung = explained(SPECULATIVE).side.rung
    assert rung.active
    assert rung.lifted == rung.clamped == tuple(range(9, 17))
    run = at(explained(SPECULATIVE), 12)
    assert (run.static, run.lifted, run.capacity, run.drafts) == (1, 2, 1, 1)


def test_full_width_pools_keep_the_lift() -> None:
    value = explained(replace(SPECULATIVE, full_width_pools=True))
    assert value.side.rung.lifted == tuple(range(9, 17))
    assert value.side.rung.clamped == ()
    assert at(value, 12).drafts == 2
    assert value.saved == 0


@pytest.mark.parametrize("given_by", ["ladder_pinned", "static_rung"])
def test_a_given_ladder_and_the_static_variable_leave_no_rung(given_by: str) -> None:
    value = explained(replace(SPECULATIVE, **{given_by: True}))
    assert not value.side.rung.active
    assert value.side.rung.lifted == ()
    assert at(value, 12).lifted == 1


def test_a_capacity_that_a_wider_batch_asks_for_names_it() -> None:
    groups = explained(replace(SPECULATIVE, ladder=((4, 1), (8, 3), (16, 2)))).side.groups
    found = [(group.first, group.last, group.capacity, group.from_width) for group in groups if not group.dummy]
    assert found == [(0, 3, 3, 5), (4, 7, 3, None), (8, 31, 2, None)]


def test_figures_of_the_27b() -> None:
    # 48 layers, h 3 MiB, conv 160 KiB: the pool of batch 32 is 18,333 MiB, and full width adds 24 x 2 x 144 MiB.
    side = explained(SPECULATIVE).side
    assert side.pools is not None
    assert side.pools.total == 18_333 * 2**20
    assert explained(SPECULATIVE).saved == 24 * 2 * 144 * 2**20
    dummy = side.groups[-1]
    assert dummy.dummy and dummy.bytes == side.pools.dummy == int(613.5 * 2**20)


def test_another_ladder_is_priced_by_its_own_plan() -> None:
    argv = ("qwen3.8-27b", "--speculative", "--num-drafts", "3", "--max-batch-size", "32")
    other = cli_json("plan", *argv, "--mtp-k-ladder", "4:3,8:2,16:1")["reserve"]
    document = cli_json("explain-ladder", *argv, "--against", "4:3,8:2,16:1")
    terms = {term["term"]: term for term in document["explain_ladder"]["against"]["terms"]}
    assert terms["total"]["here"] == document["reserve"]["total"]
    assert terms["total"]["there"] == other["total"]
    assert terms["ssm_pool"]["there"] == other["ssm_pool"]
    assert all(term["difference"] == term["there"] - term["here"] for term in terms.values())
    assert terms["total"]["difference"] == sum(term["difference"] for name, term in terms.items() if name != "total")


def test_against_full_width_differs_by_what_is_saved() -> None:
    argv = ("explain-ladder", "qwen3.8-27b", "--speculative", "--num-drafts", "3", "--max-batch-size", "32")
    value = cli_json(*argv, "--against", "full-width")["explain_ladder"]
    pool = next(term for term in value["against"]["terms"] if term["term"] == "ssm_pool")
    assert pool["difference"] == value["saved"] > 0
    slots = [(pair["first"], pair["last"], pair["capacity"]) for pair in value["against"]["slots"]]
    assert slots == [(0, 7, [3, 3]), (8, 31, [1, 3])]


@pytest.mark.parametrize("text", ["4:x", "", "0:1", "4:0", "fullwidth"])
def test_a_malformed_other_ladder_is_bad_input(text: str) -> None:
    outcome = cli("explain-ladder", "--against", text)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "MP211" in outcome.err and "--against" in outcome.err


def test_where_the_ladder_came_from_and_what_lost() -> None:
    env = {"METRALE_MTP_K_LADDER": "8:2"}
    value = cli_json("explain-ladder", "--mtp-k-ladder", "4:3", env=env)["explain_ladder"]
    assert (value["source"]["value"], value["source"]["source"]) == ([[4, 3]], "flag")
    assert value["source"]["lost"][0] == {
        "value": [[8, 2]],
        "source": "env",
        "where": "METRALE_MTP_K_LADDER",
        "why": "the flag wins",
    }
    assert not value["side"]["rung"]["active"]


def test_a_malformed_variable_pins_the_default_ladder() -> None:
    value = cli_json("explain-ladder", env={"METRALE_MTP_K_LADDER": "4:three"})["explain_ladder"]
    assert value["malformed"] == "4:three"
    assert value["source"]["source"] == "engine"
    assert "voids the whole text" in value["source"]["lost"][0]["why"]
    assert not value["side"]["rung"]["active"]


def test_a_ladder_that_is_switched_off() -> None:
    outcome = cli("explain-ladder", "--speculative", "--num-drafts", "3", env={"METRALE_NO_MTP_K_LADDER": "1"})
    assert outcome.out.startswith("LADDER switched off by METRALE_NO_MTP_K_LADDER: 3 drafts at every width\n")
    assert "dispatch cap 4 (engine default)" in outcome.out


def test_without_a_model_there_are_counts_and_no_bytes() -> None:
    document = cli_json("explain-ladder")
    assert document["exit_code"] == 0
    assert document["model"] is document["pool"] is document["reserve"] is None
    assert document["settings"]["mtp_max_seqs"] == {"value": 32, "source": "engine", "where": None}
    value = document["explain_ladder"]
    assert value["side"]["pools"] is value["saved"] is None
    assert value["side"]["slots"] == 8


def test_a_model_that_the_engine_does_not_draft_for() -> None:
    outcome = cli("explain-ladder", "nemotron-3-nano-30b-a3b")
    assert outcome.code == 0
    assert "does not draft for Mamba-2" in outcome.out


def test_no_model_needs_no_heavy_library() -> None:
    program = (
        "import io, sys; from metrale_plan._entry import run; "
        "code = run(['explain-ladder'], {}, io.StringIO(), io.StringIO()); "
        "heavy = {'pydantic', 'rich', 'numpy', 'cupy', 'tomli', 'json'}; "
        "print(code, sorted({name.split('.')[0] for name in sys.modules} & heavy))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 []"


@pytest.mark.parametrize("argv", [("--device", "gb11"), ("--total-memory", "80"), ("--rules", "2020-01-01")])
def test_bad_input_is_bad_input_without_a_model_too(argv: tuple[str, ...]) -> None:
    assert cli("explain-ladder", *argv).code == 2


def test_a_malformed_variable_under_a_flag_claims_nothing() -> None:
    document = cli_json("explain-ladder", "--mtp-k-ladder", "4:2", env={"METRALE_MTP_K_LADDER": "4:x"})
    (warning,) = [w for w in document["warnings"] if w["code"] == "MP216"]
    assert warning["message"].endswith("in force instead: --mtp-k-ladder 4:2")
    assert document["explain_ladder"]["source"]["lost"][0]["why"] == "one malformed step voids the whole text"


def test_a_malformed_ladder_of_a_recipe_is_not_rescued_by_the_environment(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    lines = ('recipe_version: "2"', "model: Qwen/Qwen3.8-27B", "runtime: metrale", "container: x:y")
    recipe.write_text("\n".join((*lines, "env:", '  METRALE_MTP_K_LADDER: "4:x"', "")), "utf-8")
    document = cli_json("explain-ladder", "--recipe", str(recipe), env={"METRALE_MTP_K_LADDER": "4:2"})
    assert document["error"] is None, document["error"]
    assert document["explain_ladder"]["side"]["ladder"] == [[4, 3], [8, 3], [16, 1], [32, 1]]
    assert document["explain_ladder"]["side"]["pinned"]


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        ((), "the most drafts of a step is 1"),
        (("--num-drafts", "3", "--mtp-max-seqs", "8"), "the dispatch cap is 8"),
        (("--num-drafts", "3"), None),
    ],
)
def test_a_rung_that_lifts_nothing_says_why(argv: tuple[str, ...], why: str | None) -> None:
    assert cli_json("explain-ladder", *argv)["explain_ladder"]["side"]["rung"]["idle"] == why


def test_the_ladder_of_dflash_has_its_origin() -> None:
    argv = ("explain-ladder", "--dflash", "--dflash-gamma", "8")
    assert cli_json(*argv)["explain_ladder"]["dflash_ladder"] is None
    own = cli_json(*argv, "--dflash-draft-ladder", "4:6,16:3")["explain_ladder"]["dflash_ladder"]
    assert (own["value"], own["source"]) == ([[4, 6], [16, 3]], "flag")
    assert "DFlash ladder 4:6,16:3 (flag)" in cli(*argv, "--dflash-draft-ladder", "4:6,16:3").out


def test_the_other_side_s_rung_says_why_it_lifts_nothing() -> None:
    out = cli("explain-ladder", "--against", "full-width", env={"COLUMNS": "200"}).out
    assert "adaptive rung on, lifts nothing: the most drafts of a step is 1" in out.split("AGAINST")[1]
