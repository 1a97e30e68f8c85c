"""Which files the gate takes for serve configs, and what it says of those that cannot be read."""

import os
from pathlib import Path

import pytest
from cli import cli, cli_json
from gate import GOOD, OTHER, REFUSED, statuses, write

from metrale_plan.sources.config_files import looks_like_a_recipe

HYDRA = "defaults:\n  - model: x\n  - _self_\nmodel:\n  runtime: y\n"
WORKFLOW = "name: x\non: push\ndefaults:\n  run: {shell: bash}\nenv: {A: b}\njobs: {}\n"
COMPOSE = "services:\n  a:\n    image: x\n    runtime: nvidia\n"
MANIFESTS = "kind: A\nspec: {runtime: x}\n---\nkind: B\n"
KUBERNETES = (Path(__file__).parent.parent / "examples" / "ci" / "kubernetes.yaml").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


QUOTED = "\n".join(f'"{key}":{rest}' for key, _, rest in (line.partition(":") for line in GOOD.splitlines()[:4]))
FLOW = '{recipe_version: "2", model: Qwen/Qwen3.6-35B-A3B-FP8, runtime: metrale, container: "e/s:1"}\n'
INDENTED = "".join(f"  {line}\n" for line in GOOD.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        QUOTED,
        QUOTED.replace('"', "'"),
        FLOW,
        INDENTED,
        "---\n" + GOOD,
        "# a note\n---\n" + FLOW + "---\n" + FLOW,
        "\n# a note\n" + GOOD,
        GOOD.replace("\n", "\r\n"),
        OTHER,
        GOOD.replace("recipe_version", "recipe_versoin"),
        GOOD.replace("runtime", "runtim"),
        GOOD + "defaults: [\n",
        "defaults: [\n",
        "recipe_version:\n\t- x\n",
    ],
)
def test_a_recipe_is_known_however_it_is_laid_out_or_broken(text: str) -> None:
    assert looks_like_a_recipe(text)


@pytest.mark.parametrize(
    "text",
    [
        HYDRA,
        WORKFLOW,
        COMPOSE,
        MANIFESTS,
        KUBERNETES,
        "# a note\n---\n" + KUBERNETES,
        "",
        "- runtime\n",
        "# recipe_version: 2\na: 1\n",
    ],
)
def test_other_yaml_is_no_recipe(text: str) -> None:
    assert not looks_like_a_recipe(text)


def test_a_recipe_in_another_layout_is_planned_and_other_yaml_is_skipped(inside: Path) -> None:
    write(inside, c=COMPOSE, f=FLOW, h=HYDRA, i=INDENTED, q=QUOTED, w=WORKFLOW)
    found = {path: status for path, _device, status, _code in statuses(cli_json("check", "."))}
    assert found == {f"{name}.yaml": "pass" if name in "fiq" else "skipped" for name in "cfhiqw"}


def test_a_link_is_a_config_of_its_own_for_the_devices_of_its_folder(inside: Path) -> None:
    write(inside, small__x=REFUSED)
    (inside / "hopper").mkdir()
    (inside / "hopper" / "x.yaml").symlink_to("../small/x.yaml")
    (inside / "again").symlink_to(".")
    (inside / "metrale-plan.toml").write_text('[[configs]]\npaths = ["hopper/**"]\ndevices = ["h100-sxm"]\n')
    expected = [("small/x.yaml", "gb10", "pass", 0), ("hopper/x.yaml", "h100-sxm", "refused", 1)]
    assert statuses(cli_json("check", "small/x.yaml", "hopper/x.yaml", "./small/../small/x.yaml")) == expected
    assert sorted(statuses(cli_json("check", "."))) == sorted(expected)


def test_what_is_no_file_is_not_waited_for(inside: Path) -> None:
    write(inside, a=GOOD)
    os.mkfifo(inside / "b.yaml")
    os.mkfifo(inside / "c.args")
    (inside / "d.yaml").symlink_to("nowhere")
    assert [status for _path, _device, status, _code in statuses(cli_json("check", "."))] == [
        "pass",
        "skipped",
        "skipped",
        "invalid",
    ]


def test_an_empty_path_is_not_the_whole_folder(inside: Path) -> None:
    write(inside, a=GOOD)
    assert cli_json("check", "")["error"]["code"] == "MP273"


@pytest.mark.parametrize("path", ["x" * 300 + "/a.yaml", "x" * 5000, "a\0b"])
def test_a_path_that_no_system_takes_is_invalid_and_no_bug(inside: Path, path: str) -> None:
    write(inside, a=GOOD)
    document = cli_json("check", "a.yaml", path)
    assert [result["status"] for result in document["results"]] == ["pass", "invalid"]
    assert cli("diff", "a.yaml", path).code == 2


@pytest.mark.parametrize(("raw", "code"), [(b"\xff[tool.metrale-plan]\n", "MP201"), (b"\xff[tool.other]\n", None)])
def test_a_project_file_that_may_hold_the_policy_is_never_passed_over(
    inside: Path, raw: bytes, code: str | None
) -> None:
    write(inside, a=GOOD)
    (inside / "pyproject.toml").write_bytes(raw)
    error = cli_json("check", "a.yaml")["error"]
    assert (error and error["code"]) == code
