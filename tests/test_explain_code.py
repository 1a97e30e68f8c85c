"""`explain CODE`, its page, and the registry behind both."""

import shlex
from pathlib import Path

import pytest
from cli import cli, cli_json

from metrale_plan.codes import CODES, Code
from metrale_plan.render.explain_code import PAGE_COMMAND, codes_page

PAGE = Path(__file__).parent.parent / "docs" / "codes.md"
IDS = [code.code for code in CODES]


@pytest.mark.parametrize("code", CODES, ids=IDS)
def test_every_code_is_explained(code: Code) -> None:
    outcome = cli("explain", code.code.lower())
    assert outcome.code == 0
    said = " ".join(outcome.out.split())
    assert said.startswith(f"{code.code}: {code.title}")
    for text in (code.meaning, code.example, code.remedy):
        assert " ".join(text.split()) in said
    assert code.meaning and code.remedy
    assert code.example or code.code == "MP200"
    assert cli_json("explain", code.code)["explain"]["meaning"] == code.meaning


def test_codes_are_unique_and_of_the_three_ranges() -> None:
    assert len(set(IDS)) == len(IDS)
    assert all(code[:2] == "MP" and code[2] in "123" and len(code) == 5 for code in IDS)


def test_the_page_is_made_from_the_registry() -> None:
    assert PAGE.read_text("utf-8") == codes_page(), f"write it anew: {PAGE_COMMAND}"


def test_an_unknown_code_gets_its_nearest() -> None:
    outcome = cli("explain", "MP2044")
    assert outcome.code == 2
    assert "MP265" in outcome.err and "MP204" in outcome.err
    document = cli_json("explain", "nonsense")
    assert (document["exit_code"], document["explain"], document["error"]["code"]) == (2, None, "MP265")


def runnable(code: Code) -> bool:
    """Whether the example is a command line that needs no file and no host of its own."""
    words = code.example.split()
    command = bool(words) and (words[0] in ("plan", "preflight", "explain") or words[0].startswith("explain-"))
    return (
        command
        and code.code[2] != "3"
        and not any(mark in code.example for mark in (", ", ".toml", ".yaml", "CHECKPOINT"))
    )


@pytest.mark.parametrize("code", [code for code in CODES if runnable(code)], ids=lambda code: code.code)
def test_the_example_gives_the_code(code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli(*shlex.split(code.example))
    assert f"[{code.code}]" in outcome.err or (code.kind == "refusal" and outcome.code == 1)


def test_a_refusal_names_its_code() -> None:
    refused = cli("preflight", "qwen3.8-27b", "--device", "gb10", "--free-memory", "1GiB")
    assert refused.code == 1
    assert refused.out.splitlines()[0].endswith("(MP101)")
