"""A serve as people keep it: each form gives the flags, variables and places that its author meant."""

from pathlib import Path

import pytest

from metrale_plan.errors import InputError
from metrale_plan.sources.argv import parse_serve_args
from metrale_plan.sources.command_line import read_file, read_words
from metrale_plan.sources.tokens import Pasted

CHECKPOINT = "unsloth/Qwen3.8-27B-NVFP4"
FLAGS = ["--speculative", "--num-drafts", "3"]
SCRIPT = f"""#!/bin/bash
# it's the night serve
set -e
drafts=3
export METRALE_SSM_MARCONI_FULL=1
cd /srv && exec met serve {CHECKPOINT} \\
  --speculative \\
  --num-drafts "$drafts" 2>&1 | tee serve.log
"""
UNIT = f"""[Unit]
Description=the operator's serve

[Service]
Environment="METRALE_SSM_MARCONI_FULL=1" DRAFTS=3
EnvironmentFile=-/etc/serve.env
ExecStart=-/usr/bin/met serve {CHECKPOINT} \\
    --speculative --num-drafts ${{DRAFTS}}
Restart=always
"""
COMPOSE = f"""services:
  database:
    image: postgres
  model:
    image: metrale/metrale-inference-gb10:latest
    environment:
      METRALE_SSM_MARCONI_FULL: "1"
    command: [met, serve, {CHECKPOINT}, --speculative,
      --num-drafts, 3]
"""
BLOCK_COMPOSE = f"""command:
  - met
  - serve
  - {CHECKPOINT}
  - --speculative
  - --num-drafts
  - 3
environment:
  - METRALE_SSM_MARCONI_FULL=1
"""
FLAG_FILE = f"""# flags of the night serve
METRALE_SSM_MARCONI_FULL=1
{CHECKPOINT}
--speculative
--num-drafts=3   # measured
"""

WORDS = {
    "plain": ["METRALE_SSM_MARCONI_FULL=1", "met", "serve", CHECKPOINT, *FLAGS],
    "path and env": ["env", "METRALE_SSM_MARCONI_FULL=1", "/usr/local/bin/met", "serve", CHECKPOINT, *FLAGS],
    "wrapped": ["METRALE_SSM_MARCONI_FULL=1", "numactl", "-N", "0", "met", "serve", CHECKPOINT, *FLAGS],
    "one text": [f"METRALE_SSM_MARCONI_FULL=1 met serve {CHECKPOINT} \\\r\n  --speculative \\\n  --num-drafts '3'"],
    "prompt": ["$", "METRALE_SSM_MARCONI_FULL=1", "met", "serve", CHECKPOINT, *FLAGS, "\\\n"],
    "docker": [
        "docker",
        "run",
        "--gpus",
        "all",
        "-e",
        "METRALE_SSM_MARCONI_FULL=1",
        "img:x",
        "met",
        "serve",
        CHECKPOINT,
        *FLAGS,
    ],
    "docker entrypoint": [
        "sudo",
        "docker",
        "run",
        "--env=METRALE_SSM_MARCONI_FULL=1",
        "img",
        "serve",
        CHECKPOINT,
        *FLAGS,
    ],
    "docker handed on": [
        "METRALE_SSM_MARCONI_FULL=1",
        "podman",
        "run",
        "-eMETRALE_SSM_MARCONI_FULL",
        "img",
        "met",
        "serve",
        CHECKPOINT,
        *FLAGS,
    ],
    "compose": [COMPOSE],
    "compose block": [BLOCK_COMPOSE],
    "unit": [UNIT],
    "script": [SCRIPT],
}


def checked(pasted: Pasted) -> None:
    args = parse_serve_args(pasted.serve)
    assert args.checkpoint == CHECKPOINT
    assert {key: given.value for key, given in args.offers} == {"speculative": True, "num_drafts": 3}
    assert {name: token.text for name, token in pasted.env if name.startswith("METRALE_")} == {
        "METRALE_SSM_MARCONI_FULL": "1"
    }


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_every_form_after_the_dashes_gives_the_same_serve(words: list[str]) -> None:
    checked(read_words(words))


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("serve.sh", SCRIPT, 8),
        ("serve.service", UNIT, 8),
        ("compose.yaml", COMPOSE, 9),
        ("service.yaml", BLOCK_COMPOSE, 6),
        ("serve.args", FLAG_FILE, 5),
    ],
)
def test_every_form_in_a_file_gives_the_same_serve_with_its_lines(
    tmp_path: Path, name: str, text: str, line: int
) -> None:
    path = tmp_path / name
    path.write_text(text)
    pasted = read_file(str(path))
    checked(pasted)
    given = dict(parse_serve_args(pasted.serve, "recipe").offers)["num_drafts"]
    assert (given.source, given.where) == ("recipe", f"{path}:{line}")


def test_what_is_left_of_a_plain_list_of_words() -> None:
    pasted = read_words(["command:", "[met,", "serve,", f"{CHECKPOINT},", "--num-drafts,", "3]"])
    assert dict(parse_serve_args(pasted.serve).offers)["num_drafts"].value == 3


@pytest.mark.parametrize("words", [WORDS["docker"], WORDS["compose"], WORDS["unit"]])
def test_a_container_or_service_does_not_see_this_environment(words: list[str]) -> None:
    assert read_words(words).contained
    assert not read_words(WORDS["plain"]).contained


def test_a_file_of_variables_alone(tmp_path: Path) -> None:
    path = tmp_path / "serve.env"
    path.write_text("export METRALE_SSM_MARCONI_FULL=1\nMETRALE_MTP_K_LADDER='4:3,8:2'\n")
    assert [(name, token.text) for name, token in read_file(str(path)).env] == [
        ("METRALE_SSM_MARCONI_FULL", "1"),
        ("METRALE_MTP_K_LADDER", "4:3,8:2"),
    ]


def test_a_file_within_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outer.args"
    path.write_text("--speculative\n@inner.args\n")
    with pytest.raises(InputError) as caught:
        read_file(str(path))
    assert caught.value.problem.where == f"{path}:2"
