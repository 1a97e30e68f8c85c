"""A serve as people keep it: each form gives the flags, variables and places that its author meant."""

from pathlib import Path

import pytest
from cli import cli_json

from metrale_plan.errors import InputError
from metrale_plan.sources.argv import parse_serve_args
from metrale_plan.sources.pasted import read_file, read_words
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


HEAD = f"met serve {CHECKPOINT}"
ALL = "--speculative --num-drafts 3"
SET = "METRALE_SSM_MARCONI_FULL=1"

TEXTS = {
    "operators without spaces": f"cd /srv;{SET} {HEAD} {ALL}&&echo done",
    "a subshell": f"({SET} {HEAD} {ALL})",
    "a loop": f"while true; do {SET} {HEAD} {ALL}; sleep 1; done",
    "flags after a redirection": f"{SET} {HEAD} --speculative >serve.log 2>&1 --num-drafts 3",
    "exported at the end of a list": f"export {SET}; {HEAD} {ALL}",
    "exported later": f"{SET}\nexport METRALE_SSM_MARCONI_FULL\n{HEAD} {ALL}",
    "exported first": f"export METRALE_SSM_MARCONI_FULL\n{SET}\n{HEAD} {ALL}",
    "all exported": f"set -a\n{SET}\nset +a\nMETRALE_FP8_ROWWISE=1\n{HEAD} {ALL}",
    "no longer exported": f"export {SET} METRALE_FP8_ROWWISE=1\nunset METRALE_FP8_ROWWISE\n{HEAD} {ALL}",
    "flags in a variable": f"FLAGS='{ALL}'\n{SET} {HEAD} $FLAGS",
    "flags in an array": f'FLAGS=(--speculative)\nFLAGS+=(--num-drafts "3")  # drafts\n{SET} {HEAD} "${{FLAGS[@]}}"',
    "defaults": f'DRAFTS=${{DRAFTS:-${{N:-3}}}}\n{SET} {HEAD} --speculative --num-drafts "$DRAFTS" "$@"',
    "a here-document": f"cat <<'END' >note\nit's met serve x\nEND\n{SET} {HEAD} {ALL}",
    "a shell": f"bash -lc '{SET} exec {HEAD} {ALL}'",
    "a shell with arguments": f"{SET} sh -c 'exec met serve \"$@\"' sh {CHECKPOINT} {ALL}",
    "a shell in a container": f"docker run -v $HOME/.cache:/c -ite {SET} img bash -c '{HEAD} {ALL}'",
    "env in a container": f"docker run img env {SET} {HEAD} {ALL}",
    "another host": f"ssh host '{SET} {HEAD} {ALL}'",
    "a superuser": f"sudo {SET} {HEAD} {ALL}",
    "a superuser that keeps it": f"{SET} sudo -E {HEAD} {ALL}",
    "unit with a shell": f'ExecStart=/bin/sh -c "{SET} exec {HEAD} {ALL}"',
    "unit with flags in a variable": f'Environment={SET} "FLAGS={ALL}"\nExecStart=/usr/bin/{HEAD} $FLAGS',
    "unit that starts anew": (
        f"Environment=METRALE_FP8_ROWWISE=1\nEnvironment=\nEnvironment={SET}\n"
        f"ExecStart=/usr/bin/met serve x\nExecStart=\nExecStart=/usr/bin/{HEAD} {ALL}"
    ),
    "unit with a container": (
        f"Environment={SET} METRALE_FP8_ROWWISE=1\n"
        f"ExecStart=/usr/bin/docker run -e METRALE_SSM_MARCONI_FULL img {HEAD} {ALL}"
    ),
    "compose with merges": (
        f"x-all: &all\n  environment: {{METRALE_SSM_MARCONI_FULL: 1}}\nservices:\n  db: {{command: db serve}}\n"
        f"  met:\n    <<: *all\n    command: {HEAD} {ALL}\n"
    ),
    "compose with a shell": f"services:\n  met:\n    environment: [{SET}]\n    command: [bash, -c, {HEAD} {ALL}]\n",
    "compose with a default": (
        f"services:\n  met:\n    environment:\n      METRALE_SSM_MARCONI_FULL: ${{FULL:-1}}\n"
        f"    command: {HEAD} --speculative --num-drafts ${{DRAFTS:-3}}\n"
    ),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_gives_what_its_shell_service_or_container_would(text: str) -> None:
    checked(read_words([text]))


@pytest.mark.parametrize("value", ["&&", "<think>", "Hi;", ">", "a | b", "$HOME", " ", "#"])
def test_words_that_a_shell_has_split_are_taken_as_they_are(value: str) -> None:
    given = dict(
        parse_serve_args(read_words(["met", "serve", "x", "--warmup-prompt", value, "--port", "1"]).serve).offers
    )
    assert (given["warmup_prompt"].value, given["port"].value) == (value, 1)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"{HEAD} --num-drafts $N", "$N"),
        (f"N=$(nproc)\n{HEAD} --num-drafts $N", "$N"),
        (f"{HEAD} --model-name `hostname`", "`hostname`"),
        (f"METRALE_MTP_K_LADDER=$L {HEAD}", "$L"),
        (f"ExecStart=/usr/bin/{HEAD} --model-name %i", "%i"),
        (f"command: {HEAD} --num-drafts $N\nenvironment: {{N: 3}}", "$N"),
    ],
)
def test_what_only_the_running_thing_could_tell_is_refused(text: str, named: str) -> None:
    with pytest.raises(InputError) as caught:
        read_words([text])
    assert named in caught.value.problem.message


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD} \\\n\n  --speculative",
        f"{HEAD} \\\n  # three drafts \\\n  --num-drafts 3",
        f"{HEAD}\n  --num-drafts 3",
    ],
)
def test_flags_that_a_broken_continuation_cuts_off_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="begins a command of its own"):
        read_words([text])


@pytest.mark.parametrize("text", [f"{HEAD} && {HEAD}", f"{HEAD}; {HEAD}", f"{HEAD}\nbash -c '{HEAD}'"])
def test_two_serves_in_one_text_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="more than one"):
        read_words([text])


@pytest.mark.parametrize(
    ("text", "reaches"),
    [
        (HEAD, True),
        (f"env -u METRALE_FP8_ROWWISE {HEAD}", False),
        (f"env --unset=METRALE_FP8_ROWWISE {HEAD}", False),
        (f"unset METRALE_FP8_ROWWISE; {HEAD}", False),
        (f"sudo {HEAD}", False),
        (f"sudo -E {HEAD}", True),
        (f"sudo --preserve-env=METRALE_FP8_ROWWISE {HEAD}", True),
        (f"ssh host {HEAD}", False),
        (f"docker-compose run met {HEAD}", False),
        (f"kubectl exec met -- {HEAD}", False),
        (f"docker run -itdeMETRALE_FP8_ROWWISE img {HEAD}", True),
    ],
)
def test_what_this_environment_sets_reaches_only_what_it_would_reach(text: str, reaches: bool) -> None:
    document = cli_json("plan", "--", text, env={"METRALE_FP8_ROWWISE": "1"})
    assert ("METRALE_FP8_ROWWISE" in document["settings"]) == reaches
    codes = {warning["code"] for warning in document["warnings"]}
    assert ("MP240" in codes, "MP241" in codes) == (reaches, not reaches)


@pytest.mark.parametrize(
    "text",
    [
        f"METRALE_FP8_ROWWISE=1\n{HEAD}",
        f"METRALE_FP8_ROWWISE=1 docker run img {HEAD}",
        f"export METRALE_FP8_ROWWISE=1\nsudo {HEAD}",
        f"Environment=METRALE_FP8_ROWWISE=1\nExecStart=docker run img {HEAD}",
    ],
)
def test_a_variable_that_does_not_reach_the_serve_is_told(text: str) -> None:
    document = cli_json("plan", "--", text)
    assert "METRALE_FP8_ROWWISE" not in document["settings"]
    [note] = [warning for warning in document["warnings"] if warning["code"] == "MP241"]
    assert "METRALE_FP8_ROWWISE" in note["message"]


def test_a_file_that_a_script_reads_is_told() -> None:
    document = cli_json("plan", "--", f". /etc/met.env\n{HEAD}")
    [note] = [warning for warning in document["warnings"] if warning["code"] == "MP242"]
    assert "/etc/met.env" in note["message"]


def test_a_variable_that_something_stronger_sets_is_not_said_to_be_used() -> None:
    document = cli_json("plan", "--", f"METRALE_FP8_ROWWISE=0 met serve {CHECKPOINT}", env={"METRALE_FP8_ROWWISE": "1"})
    assert document["settings"]["METRALE_FP8_ROWWISE"]["value"] is False
    assert "MP240" not in {warning["code"] for warning in document["warnings"]}


@pytest.mark.parametrize(
    "name", ["METRAL_FP8_ROWWISE", "metrale_fp8_rowwise", "METRLAE_FP8_ROWWISE", "METRALLE_FP8_ROWISE"]
)
def test_a_misspelt_prefix_is_no_variable_of_the_engine(name: str) -> None:
    document = cli_json("plan", "--", f"{name}=1 met serve {CHECKPOINT}")
    [warning] = [warning for warning in document["warnings"] if warning["code"] == "MP216"]
    assert name in warning["message"] and "METRALE_FP8_ROWWISE" in warning["message"]
    assert cli_json("plan", "--", f"CUDA_VISIBLE_DEVICES=1 met serve {CHECKPOINT}")["warnings"] != document["warnings"]
