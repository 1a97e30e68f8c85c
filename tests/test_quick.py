"""The quick way into a command takes less than typer, never more, and gives the same values."""

import inspect
from typing import Any

import pytest
import typer
from cli import cli
from hypothesis import given, settings
from hypothesis import strategies as st

from metrale_plan.cli.app import COMMANDS, for_typer, load
from metrale_plan.cli.declare import Option
from metrale_plan.cli.quick import parameters, quick
from metrale_plan.config.flags import FLAGS


def through_typer(name: str, tokens: list[str]) -> dict[str, Any] | None:
    """What typer makes of the same line for the same command, or None when it refuses."""
    body, seen = load(name), {}

    def recorder(**values: Any) -> int:
        seen.update(values)
        return 0

    recorder.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback()(lambda: None)
    app.command(name)(for_typer(recorder))
    try:
        app([name, *tokens], standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return None
    return {key: value for key, value in seen.items() if key != "invocation"}


def same(values: dict[str, Any]) -> dict[str, Any]:
    """Values as they compare: typer gives an empty list where an option was not given at all."""
    return {key: list(value) if isinstance(value, tuple) else value or None for key, value in values.items()}


SPELLINGS = sorted({
    part
    for name in COMMANDS
    for parameter in parameters(load(name))
    if isinstance(parameter.declared, Option)
    for spelling in parameter.declared.spellings
    for part in spelling.split("/")
})  # fmt: skip
words = st.sampled_from(["qwen3.8-27b", "8", "+8", "007", "4:3,8:2", "", "x y", "-1", "-", "--", "auto", "gb10", "1.5"])
options = st.sampled_from(SPELLINGS)
tokens = st.lists(
    st.one_of(options, words, st.tuples(options, words).map("=".join), st.sampled_from(["--help", "--nope", "-x"])),
    max_size=6,
)


@pytest.mark.parametrize("name", COMMANDS)
@given(line=tokens)
@settings(max_examples=25, deadline=None)
def test_what_the_quick_way_takes_typer_takes_the_same_way(name: str, line: list[str]) -> None:
    values = quick(load(name), line)
    if values is not None:
        answer = through_typer(name, line)
        assert answer is not None, line
        assert same(answer) == same(values)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("plan", ["qwen3.8-27b", "--speculative", "--num-drafts", "3", "--device=gb10"]),
        ("preflight", ["--max-batch-size", "32", "qwen3.8-27b", "--fail-on-warning", "--no-carry"]),
        ("check", ["a", "b", "--device", "gb10", "--device", "b200", "--jobs", "2"]),
        ("explain", ["MP204"]),
    ],
)
def test_plain_lines_are_taken(name: str, line: list[str]) -> None:
    assert quick(load(name), line) is not None


def test_every_serve_flag_is_an_option_of_plan() -> None:
    spelled = {s for p in parameters(load("plan")) if isinstance(p.declared, Option) for s in p.declared.spellings}
    assert {f"--{name}" for flag in FLAGS for name in (flag.name, *flag.aliases)} <= spelled


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    outcome = cli(name, "--help")
    assert outcome.code == 0
