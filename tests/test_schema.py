"""`schema`: the flag table is complete, and every planning document keeps to its JSON Schema."""

import io
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from metrale_plan._entry import run
from metrale_plan.config.flags import FLAGS
from metrale_plan.render.schema import plan_schema

RECIPES = Path(__file__).parent / "data" / "recipes"
DOCUMENTS = {
    "good": ["plan", "qwen3.8-27b", "--speculative"],
    "settings shown": ["plan", "qwen3.8-27b", "--show-settings"],
    "fits": ["preflight", "qwen3.8-27b", "--device", "gb10"],
    "refused": ["preflight", "qwen3.8-27b", "--device", "gb10", "--free-memory", "2GiB"],
    "settings refused": ["preflight", "nemotron-3-nano-30b-a3b", "--speculative", "--device", "gb10"],
    "bad input": ["plan", "qwen3.8-72b"],
    "cannot tell": ["preflight", "qwen3.8-27b", "--tp-size", "2", "--device", "gb10"],
    "recipe": ["plan", "--recipe", str(RECIPES / "qwen3.6-27b-nvfp4.yaml")],
    "explained": ["explain-ladder", "qwen3.8-27b", "--speculative"],
}


def printed(*argv: str, code: int | None = None) -> dict[str, object]:
    out = io.StringIO()
    found = run([*argv], {}, out, io.StringIO())
    assert code is None or found == code
    document: dict[str, object] = json.loads(out.getvalue())
    return document


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(plan_schema())
    assert printed("schema", "plan") == plan_schema()
    assert printed("schema", "plan", "--format", "json")["document"] == plan_schema()


@pytest.mark.parametrize("argv", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_keeps_to_the_schema(argv: list[str]) -> None:
    Draft202012Validator(plan_schema()).validate(printed(*argv, "--format", "json"))


def test_a_document_that_lacks_a_key_does_not_keep_to_it() -> None:
    document = printed("plan", "qwen3.8-27b", "--format", "json")
    del document["weights"]
    assert not Draft202012Validator(plan_schema()).is_valid(document)


def test_the_flag_table_has_every_flag_with_its_version() -> None:
    document = printed("schema", "flags", "--format", "json", code=0)
    table: dict[str, list[dict[str, object]]] = document["flags"]  # type: ignore[assignment]
    assert document["schema"] == "metrale-plan/1"
    assert table["version"] == 1
    assert [row["key"] for row in table["flags"]] == [flag.key for flag in FLAGS]
    assert len(table["flags"]) == 128
    cap = next(row for row in table["flags"] if row["key"] == "max_seq_len")
    assert (cap["flag"], cap["recipe_aliases"], cap["default"]) == ("max-seq-len", ["max_model_len"], "32768")


def test_the_flag_table_as_a_screen() -> None:
    out = io.StringIO()
    assert run(["schema", "flags"], {"COLUMNS": "120"}, out, io.StringIO()) == 0
    assert out.getvalue().startswith("128 flags of met serve, table 1, engine ")


@pytest.mark.parametrize(("argv", "nearest"), [(["schema"], []), (["schema", "flag"], ["flags"])])
def test_no_such_schema_keeps_the_version_key(argv: list[str], nearest: list[str]) -> None:
    document = printed(*argv, "--format", "json", code=2)
    assert document["schema"] == "metrale-plan/1"
    assert document["error"]["nearest"] == nearest  # type: ignore[index]
