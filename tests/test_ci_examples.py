"""The hook, the action and the examples for other people's CI: valid by their schemas, and right about good and bad."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import cli
from gate import GOOD, REFUSED, model_file, write
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "ci"

# A config that the engine refuses on any device, since preflight by hook and image plans for the default one.
BAD = REFUSED.replace("ssm_cache_slots: 400", "ssm_cache_slots: 900")


def load(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path)


def documents(path: Path) -> list[Any]:
    return list(YAML(typ="safe", pure=True).load_all(path))


@pytest.fixture
def tool(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has this checkout's metrale-plan and nothing of ours beside it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "metrale-plan"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m metrale_plan "$@"\n')
    script.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.defpath}", "HOME": str(tmp_path)}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    write(folder, recipes__good=GOOD)
    (folder / ".git").mkdir()
    return folder


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("vendor.github-actions", ROOT / "action.yml"),
        ("vendor.github-workflows", EXAMPLES / "github-workflow.yml"),
        ("vendor.gitlab-ci", EXAMPLES / "gitlab-ci.yml"),
        ("vendor.compose-spec", EXAMPLES / "compose.yaml"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
def test_files_are_valid_by_their_schemas(schema: str, path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# The action


def run_action(repository: Path, tool: dict[str, str], **inputs: str) -> tuple[int, str, str, str]:
    """Exit code, log, step summary and outputs of the action's script."""
    summary, output = repository / "summary", repository / "output"
    for file in (summary, output):
        file.write_text("")
    env = {**tool, **inputs, "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)}
    done = subprocess.run(
        ["bash", ROOT / "action" / "check.sh"], cwd=repository, env=env, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, summary.read_text(), output.read_text()


def test_the_action_passes_a_good_config(repository: Path, tool: dict[str, str]) -> None:
    code, log, summary, output = run_action(repository, tool, PLAN_PATHS="recipes", PLAN_DEVICES="gb10\nh100-sxm")
    assert (code, output) == (0, "exit-code=0\n")
    assert not log.startswith("::")
    assert "metrale-plan: pass" in summary
    assert "2 passed" in summary


def test_the_action_annotates_a_bad_config(repository: Path, tool: dict[str, str]) -> None:
    write(repository, **{"recipes/a bad one.yaml": BAD})
    inputs = {"PLAN_PATHS": "recipes/good.yaml\r\nrecipes/a bad one.yaml\n", "PLAN_SARIF": "plan.sarif"}
    code, log, summary, output = run_action(repository, tool, **inputs)
    assert (code, output) == (1, "exit-code=1\nsarif=plan.sarif\n")
    assert log.startswith("::error file=recipes/a bad one.yaml,line=10,title=metrale-plan MP101::")
    assert "MP101" in summary
    assert json.loads((repository / "plan.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "MP101"


def test_the_action_hands_on_usage_errors(repository: Path, tool: dict[str, str]) -> None:
    code, _, _, output = run_action(repository, tool, PLAN_PATHS="nothing/*.yaml")
    assert (code, output) == (2, "exit-code=2\n")


def test_the_action_takes_every_input_it_declares(repository: Path, tool: dict[str, str]) -> None:
    (repository / "own.toml").write_text('devices = ["b200"]\n')
    write(repository, recipes__good=GOOD + 'env:\n  METRALE_NO_MTP_K_LADDER: "0"\n')
    code, log, _, _ = run_action(
        repository, tool, PLAN_PATHS="recipes", PLAN_CONFIG="own.toml", PLAN_FAIL_ON_WARNING="true"
    )
    assert code == 4
    assert "b200" in log
    action = load(ROOT / "action.yml")
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "check")
    for name in set(action["inputs"]) - {"python"}:
        assert step["env"]["PLAN_" + name.upper().replace("-", "_")] == f"${{{{ inputs.{name} }}}}"
    for name, output in action["outputs"].items():
        assert output["value"] == f"${{{{ steps.check.outputs.{name} }}}}"


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    steps = load(EXAMPLES / "github-workflow.yml")["jobs"]["check"]["steps"]
    used = next(step for step in steps if step.get("id") == "plan")
    assert set(used["with"]) <= set(load(ROOT / "action.yml")["inputs"])


# GitLab


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (BAD, 1)])
def test_the_gitlab_job_reports_what_it_promises(
    repository: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int
) -> None:
    write(repository, recipes__one=text)
    monkeypatch.chdir(repository)
    job = load(EXAMPLES / "gitlab-ci.yml")["serve-configs"]
    (line,) = job["script"]
    program, *argv = shlex.split(line)
    assert program == "metrale-plan"
    assert cli(*argv).code == code
    reports = job["artifacts"]["reports"]
    assert bool(json.loads(Path(reports["codequality"]).read_text())) == bool(code)
    assert Path(reports["junit"]).read_text().startswith("<?xml")
    assert job["artifacts"]["when"] == "always"


# Containers


def arguments_of(command: list[str], recipe: Path) -> list[str]:
    """A container's arguments, with its recipe and a device in place of the container's own."""
    return [str(recipe) if word == "/config/serve.yaml" else word for word in command] + ["--device", "h100-sxm"]


def test_the_kubernetes_pod_waits_for_its_preflight(tmp_path: Path) -> None:
    config, pod = documents(EXAMPLES / "kubernetes.yaml")
    assert (config["kind"], pod["kind"], pod["apiVersion"]) == ("ConfigMap", "Pod", "v1")
    spec = pod["spec"]
    assert spec["restartPolicy"] == "Always"
    (first,), (serve,) = spec["initContainers"], spec["containers"]
    assert first["resources"] == serve["resources"] == {"limits": {"nvidia.com/gpu": 1}}
    mounts = {container["name"]: container["volumeMounts"] for container in (first, serve)}
    assert mounts["preflight"] == mounts["serve"]
    assert [volume["name"] for volume in spec["volumes"]] == [mount["name"] for mount in mounts["serve"]]
    assert spec["volumes"][0]["configMap"]["name"] == config["metadata"]["name"]
    recipe = tmp_path / "serve.yaml"
    recipe.write_text(config["data"]["serve.yaml"])
    assert cli(*arguments_of(first["args"], recipe)).code == 0
    recipe.write_text(BAD)
    assert cli(*arguments_of(first["args"], recipe)).code == 1


def test_the_compose_serve_waits_for_its_preflight(tmp_path: Path) -> None:
    services = load(EXAMPLES / "compose.yaml")["services"]
    assert services["serve"]["depends_on"]["preflight"]["condition"] == "service_completed_successfully"
    assert services["serve"]["deploy"] == services["preflight"]["deploy"]
    for text, code in ((GOOD, 0), (BAD, 1)):
        (tmp_path / "serve.yaml").write_text(text)
        assert cli(*arguments_of(services["preflight"]["command"], tmp_path / "serve.yaml")).code == code


# Slurm


def run_prolog(tool: dict[str, str], **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", EXAMPLES / "slurm-task-prolog.sh"], env={**tool, **env}, capture_output=True, text=True, check=False
    )


def test_the_slurm_prolog_stops_only_what_the_engine_would_refuse(tool: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path, good=GOOD, bad=BAD, untold=GOOD + "  forward: circuit\n", broken="defaults: [\n")
    assert (run_prolog(tool).returncode, run_prolog(tool).stdout) == (0, "")
    for name, code, said in (
        ("good", 0, "FITS"),
        ("bad", 1, "DOES NOT FIT"),
        ("untold", 0, "MP120"),
        ("broken", 2, "MP230"),
    ):
        done = run_prolog(tool, SERVE_RECIPE=str(tmp_path / f"{name}.yaml"), PLAN_ARGUMENTS="--device h100-sxm")
        assert done.returncode == code, done.stdout
        assert said in done.stdout
        assert all(line.startswith("print ") for line in done.stdout.splitlines())


def test_the_slurm_prolog_stops_no_task_because_of_a_planner_that_fails(tool: dict[str, str], tmp_path: Path) -> None:
    for code, expected in ((0, 0), (1, 1), (2, 2), (3, 0), (4, 0), (5, 0), (127, 0)):
        script = tmp_path / "bin" / "metrale-plan"
        script.write_text(f"#!/bin/sh\necho said\nexit {code}\n")
        done = run_prolog(tool, SERVE_RECIPE="x.yaml")
        assert (done.returncode, done.stdout) == (expected, "print metrale-plan: said\n")


# The gate's config


def test_the_example_config_is_accepted_and_bites(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    shutil.copy(EXAMPLES / "metrale-plan.toml", repository)
    write(repository, recipes__hopper__h=GOOD, recipes__hot=GOOD.replace("0.85", "0.95"), archive__old=BAD)
    document = cli("check", ".", "--format", "json").json
    found = {(r["path"], r["device"]): [f["code"] for f in r["findings"]] for r in document["results"]}
    assert found[("recipes/good.yaml", "gb10")] == []
    assert {device for path, device in found if "hopper" in path} == {"h100-sxm", "h200-sxm"}
    assert "MP161" in found[("recipes/hot.yaml", "gb10")]
    assert found[("archive/old.yaml", None)] == []


# The hook


def test_the_hook_is_given_serve_configs_only() -> None:
    import re

    (hook,) = load(ROOT / ".pre-commit-hooks.yaml")
    passed = ("MODEL.toml", "models/x/MODEL.toml", "recipes/a.yaml", "a/recipes/b/c.yml", "recipe/a.yaml", "serve.args")
    for path in passed:
        assert re.search(hook["files"], path), path
    for path in ("docker-compose.yaml", "pyproject.toml", "recipes/README.md", "MODEL.toml.orig"):
        assert not re.search(hook["files"], path), path
    assert hook["entry"].startswith("metrale-plan check ")
    assert load(EXAMPLES / "pre-commit-config.yaml")["repos"][0]["hooks"][0]["id"] == hook["id"]


@pytest.mark.slow
def test_the_hook_runs_from_the_repository(tmp_path: Path) -> None:
    """As `pre-commit try-repo` runs it: from a clone, in an environment that it builds."""
    source, project = tmp_path / "source", tmp_path / "project"
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
    shutil.copytree(ROOT, source, ignore=ignored)
    write(project, recipes__good=GOOD, recipes__bad=BAD)
    (project / "MODEL.toml").write_text(model_file())
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for folder in (source, project):
        for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "all"]):
            subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_"))}
    env["PRE_COMMIT_HOME"] = str(tmp_path / "home")
    for files, code, said in (
        (["recipes/good.yaml", "MODEL.toml"], 0, "Passed"),
        (["recipes/good.yaml", "recipes/bad.yaml"], 1, "recipes/bad.yaml:10: gb10: refused error[MP101]"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "try-repo", str(source), "metrale-plan-check", "--files", *files],
            cwd=project, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        assert said in done.stdout
