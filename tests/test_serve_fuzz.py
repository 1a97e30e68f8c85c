"""Whatever text somebody keeps a serve in, reading it ends in a serve or in one clear error."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from metrale_plan.errors import InputError
from metrale_plan.sources.argv import parse_serve_args
from metrale_plan.sources.pasted import read_text, read_words
from metrale_plan.sources.recipe import parse_recipe

PIECES = st.sampled_from(
    [
        *("met", "serve", "docker", "run", "-e", "--env", "A=1", "METRALE_X=1", "METRALE_FP8_ROWWISE", "env", "export"),
        *("command:", "services:", "environment:", "entrypoint:", "[met, serve]", "[", "]", "{", "}", ",", "- ", ": "),
        *(
            "ExecStart=",
            "Environment=",
            "[Service]",
            "EnvironmentFile=-x",
            "@a.args",
            "@",
            "$X",
            "${X:-1}",
            "${X",
            "$$",
        ),
        *(
            "\n",
            "\r\n",
            "\\\n",
            "  ",
            "\t",
            "'",
            '"',
            "#",
            ";",
            "&&",
            "|",
            "2>&1",
            "<<",
            "&a",
            "*a",
            "!!python/x",
            "---",
        ),
        *(
            "--speculative",
            "--max-batch-size",
            "=",
            "8",
            "129",
            "--",
            "-",
            "—x",
            "unsloth/Qwen3.8-27B-NVFP4",
            "é",
            "\x00",
        ),
        *("recipe_version: '2'\n", "model: a/b\n", "runtime: metrale\n", "defaults:\n", "env:\n", "  num_drafts: 3\n"),
        *("metadata:", "~", "null", "true", "1e3", "0x1", "? ", "| ", "> ", "%YAML 1.1\n", "\ufeff", "\u2028", "\x85"),
    ]
)
TEXTS = st.lists(PIECES, max_size=14)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(["", " ", "\n"]))
def test_a_text_is_a_serve_or_an_error(pieces: list[str], between: str) -> None:
    with contextlib.suppress(InputError):
        parse_serve_args(read_text(between.join(pieces), "serve.args").serve, "recipe")


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_words_are_a_serve_or_an_error(pieces: list[str]) -> None:
    with contextlib.suppress(InputError):
        parse_serve_args(read_words(pieces).serve)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(["", " ", "\n"]))
def test_yaml_is_a_recipe_or_an_error(pieces: list[str], between: str) -> None:
    for head in ("", "recipe_version: '2'\nmodel: a/b\nruntime: metrale\n"):
        with contextlib.suppress(InputError):
            parse_recipe(head + between.join(pieces), "serve.yaml")
