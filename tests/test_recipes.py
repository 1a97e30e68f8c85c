"""Every real recipe, planned through the command line; the ones of other runtimes, skipped with a reason."""

import io
import json
from pathlib import Path

import pytest

from metrale_plan._entry import run
from metrale_plan.sources.recipe import Recipe, Skipped, parse_recipe, read_recipe

RECIPES = Path(__file__).parent / "data" / "recipes"
FILES = sorted(RECIPES.glob("*.yaml"))
OURS = [path for path in FILES if isinstance(read_recipe(path), Recipe)]
OTHERS = [path for path in FILES if path not in OURS]
WITHOUT_FACTS = {"qwen3.5-0.8b-bf16-metrale": "MP207", "mistral-small-4-119b-nvfp4": "MP205"}
"""Recipes whose checkpoint has no dimensions here, and what that gives."""


def planned(*argv: str, environ: dict[str, str] | None = None) -> dict[str, object]:
    out = io.StringIO()
    code = run([*argv, "--format", "json"], environ or {}, out, io.StringIO())
    document: dict[str, object] = json.loads(out.getvalue())
    assert document["exit_code"] == code
    return document


def test_counts() -> None:
    assert (len(OURS), len(OTHERS)) == (32, 4)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_recipe_is_planned_with_the_provenance_of_each_setting(path: Path) -> None:
    document = planned("plan", "--recipe", str(path))
    if path.stem in WITHOUT_FACTS:
        assert document["exit_code"] == 2
        assert document["error"]["code"] == WITHOUT_FACTS[path.stem]  # type: ignore[index]
        return
    assert document["exit_code"] == 0, document["error"]
    assert document["reserve"]["total"] > 0  # type: ignore[index]
    recipe = read_recipe(path)
    assert isinstance(recipe, Recipe)
    settings: dict[str, dict[str, object]] = document["settings"]  # type: ignore[assignment]
    lines = path.read_text().splitlines()
    for key, given in recipe.offers:
        setting = settings[key]
        assert (setting["source"], setting["where"]) == ("recipe", given.where)
        assert given.where is not None
        name, _, line = given.where.rpartition(":")
        assert name == str(path)
        assert given.text in lines[int(line) - 1]
    untouched = {key for key in settings if key not in dict(recipe.offers)}
    assert {settings[key]["source"] for key in untouched} <= {"model", "engine"}


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_another_runtime_is_skipped_with_a_reason(path: Path) -> None:
    skipped = read_recipe(path)
    assert isinstance(skipped, Skipped)
    assert "not a serve of this engine" in skipped.reason
    document = planned("plan", "--recipe", str(path))
    assert document["exit_code"] == 2
    assert document["error"]["code"] == "MP237"  # type: ignore[index]


def test_false_leaves_a_bare_flag_out_with_one_note() -> None:
    document = planned("plan", "--recipe", str(RECIPES / "qwen3.6-27b-nvfp4.yaml"))
    notes = [w for w in document["warnings"] if w["code"] == "MP235"]  # type: ignore[index, attr-defined]
    assert len(notes) == 1
    assert "2026-10-05" in notes[0]["message"]
    assert document["settings"]["dflash"] == {  # type: ignore[index]
        "value": False,
        "source": "recipe",
        "where": f"{RECIPES / 'qwen3.6-27b-nvfp4.yaml'}:18",
    }


def test_a_flag_replaces_the_recipe_s_value_and_the_recipe_s_env_the_ambient_one() -> None:
    path = RECIPES / "deepseek-v4.1-flash-q2k-b200.yaml"
    ambient = {"METRALE_DS41_MAX_SEQ": "1024", "METRALE_SSM_MARCONI_FULL": "1"}
    document = planned("plan", "--recipe", str(path), "--max-batch-size", "3", environ=ambient)
    settings: dict[str, dict[str, object]] = document["settings"]  # type: ignore[assignment]
    assert settings["max_batch_size"] == {"value": 3, "source": "flag", "where": None}
    assert settings["METRALE_DS41_MAX_SEQ"]["source"] == "recipe"
    assert settings["METRALE_SSM_MARCONI_FULL"]["source"] == "env"
    alone = planned("plan", "--recipe", str(path), "--isolated-env", environ=ambient)
    assert "METRALE_SSM_MARCONI_FULL" not in alone["settings"]  # type: ignore[operator]


HEAD = 'recipe_version: "2"\nmodel: a/b\nruntime: metrale\n'


def values(text: str) -> dict[str, object]:
    recipe = parse_recipe(HEAD + text, "serve.yaml")
    assert isinstance(recipe, Recipe)
    return {key: given.value for key, given in recipe.offers}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("defaults: {tool_grammar: off, ssm_batched_recurrent: on, max_batch_size: auto}", ("off", "on", "auto")),
        ("defaults: {speculative: TRUE, dflash: False}", (True, False)),
        ("defaults: {num_drafts: \"3\", gpu_memory_utilization: '0.8'}", (3, 0.8)),
        ("defaults: {num_drafts: 0x3, ssm_cache_slots: 0o20, port: 010}", (3, 16, 10)),
        ("defaults: {num_drafts: !!str 3, gpu_memory_utilization: .8}", (3, 0.8)),
        ("metadata: {common: &c {num_drafts: 3}}\ndefaults: *c", (3,)),
        ("metadata: &n 3\ndefaults:\n  num_drafts: *n", (3,)),
        ("metadata: [&n 2, &n 3]\ndefaults:\n  num_drafts: *n", (3,)),
        ("defaults: {lora_adapter: [a=b, c=d]}", (("a=b", "c=d"),)),
        ("defaults: {lora_adapter: a=b}", (("a=b",),)),
        ("defaults: {model_name: 2026-10-05}", ("2026-10-05",)),
        ("defaults:\nenv: {METRALE_FP8_ROWWISE: 1}", (True,)),
        ("env:", ()),
    ],
)
def test_yaml_1_2_says_what_the_author_meant(text: str, expected: tuple[object, ...]) -> None:
    assert tuple(values(text).values()) == expected


def test_a_yaml_1_1_line_does_not_make_words_into_switches() -> None:
    recipe = parse_recipe(f"%YAML 1.1\n---\n{HEAD}defaults: {{tool_grammar: off}}", "serve.yaml")
    assert isinstance(recipe, Recipe)
    assert dict(recipe.offers)["tool_grammar"].value == "off"


def test_crlf_and_a_byte_order_mark_keep_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + "defaults:\n  port: 9\n").replace("\n", "\r\n").encode())
    recipe = read_recipe(path)
    assert isinstance(recipe, Recipe)
    assert dict(recipe.offers)["port"].where == f"{path}:5"


@pytest.mark.parametrize(
    "text", ["runtime: vllm\nimages: 1\nimages: 2", "recipe_version: '1'\n<<: {a: 1}\ncommand: vllm serve"]
)
def test_nothing_in_another_program_s_recipe_is_judged(text: str) -> None:
    assert isinstance(parse_recipe(text, "other.yaml"), Skipped)


def test_keys_of_other_engine_versions_are_noted() -> None:
    recipe = parse_recipe(HEAD + "defaults: {spec_cost_model: off, moe_nvfp4_experts: true}", "serve.yaml")
    assert isinstance(recipe, Recipe)
    assert recipe.offers == ()
    assert [note.code for note in recipe.notes] == ["MP234", "MP234"]
