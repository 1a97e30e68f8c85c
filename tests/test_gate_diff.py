"""`diff`: what changed between two plans, on the command line, in saved documents and since a commit."""

import json
import subprocess
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cli import cli, cli_json
from gate import BROKEN, EXCLUDING, GOOD, OTHER, REFUSED, UNTOLD, model_file, write

from metrale_plan.gate.threshold import parse_threshold

LARGER = GOOD.replace("max_batch_size: 8", "max_batch_size: 16")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, a=GOOD, b=LARGER)
    return tmp_path


def changes(document: Any, index: int = 0) -> dict[str, tuple[Any, Any]]:
    return {c["key"]: (c["before"], c["after"]) for c in document["diff"]["comparisons"][index]["changes"]}


def test_settings_counts_and_terms_with_bytes_and_percent() -> None:
    document = cli_json("diff", "a.yaml", "b.yaml")
    before, after = (cli_json("preflight", "--recipe", name, "--device", "gb10") for name in ("a.yaml", "b.yaml"))
    found = {c["key"]: c for c in document["diff"]["comparisons"][0]["changes"]}
    assert (found["max_batch_size"]["kind"], found["pool.slots"]["kind"]) == ("setting", "count")
    assert (found["max_batch_size"]["before"], found["max_batch_size"]["after"]) == (8, 16)
    pool = found["reserve.ssm_pool"]
    old, new = before["reserve"]["ssm_pool"], after["reserve"]["ssm_pool"]
    assert (pool["before"], pool["after"], pool["delta"]) == (old, new, new - old)
    assert pool["percent"] == round((new - old) * 100 / old, 2)
    total = document["diff"]["comparisons"][0]["total"]
    assert total["delta"] == after["reserve"]["total"] - before["reserve"]["total"]
    terms = {key for key in found if key.startswith("reserve.") and key != "reserve.inference_reserve"}
    assert sum(found[key]["delta"] for key in terms) == total["delta"]


def test_every_term_that_differs_is_listed_and_no_other() -> None:
    found = changes(cli_json("diff", "a.yaml", "b.yaml"))
    before, after = (cli_json("preflight", "--recipe", name, "--device", "gb10") for name in ("a.yaml", "b.yaml"))
    for section in ("reserve", "arena"):
        differing = {f"{section}.{key}" for key in before[section] if before[section][key] != after[section][key]}
        assert {key for key in found if key.startswith(f"{section}.")} == differing - {"reserve.total"}


def test_a_config_is_the_same_as_itself_and_as_its_defaults_written_out(inside: Path) -> None:
    write(inside, same=GOOD + "  swap_space_gb: 3\n  telemetry: off\n  auto_swap: false\n  max_seq_len: 32768\n")
    for other in ("a.yaml", "same.yaml"):
        comparison = cli_json("diff", "a.yaml", other)["diff"]["comparisons"][0]
        assert (comparison["status"], comparison["changes"]) == ("same", [])


def test_the_verdicts_before_and_after(inside: Path) -> None:
    write(inside, c=REFUSED, d=EXCLUDING)
    run = cli("diff", "a.yaml", "c.yaml", "--device", "h100-sxm")
    assert run.code == 0
    assert "before: fits at reserve" in run.out
    assert "after: refused at reserve" in run.out
    settings = cli_json("diff", "c.yaml", "d.yaml", "--device", "h100-sxm")["diff"]["comparisons"][0]
    assert settings["after"]["verdict"]["stage"] == "settings"
    assert settings["after"]["error"]["code"] == "MP109"
    assert settings["total"]["delta"] is None


@pytest.mark.parametrize(("limit", "code"), [("1B", 1), ("1TiB", 0), ("0.1%", 1), ("500%", 0)])
def test_growth_over_the_limit_fails(limit: str, code: int) -> None:
    run = cli("diff", "a.yaml", "b.yaml", "--fail-over", limit)
    assert run.code == code
    assert ("MP170" in run.err) == bool(code)
    assert cli("diff", "b.yaml", "a.yaml", "--fail-over", limit).code == 0


def test_the_limit_itself_is_allowed() -> None:
    growth = cli_json("diff", "a.yaml", "b.yaml")["diff"]["comparisons"][0]["total"]["delta"]
    assert cli("diff", "a.yaml", "b.yaml", "--fail-over", f"{growth}B").code == 0
    assert cli("diff", "a.yaml", "b.yaml", "--fail-over", f"{growth - 1}B").code == 1


def test_a_plan_that_is_gone_is_over_any_limit(inside: Path) -> None:
    write(inside, d=EXCLUDING)
    assert cli("diff", "a.yaml", "d.yaml", "--fail-over", "900TiB").code == 1


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["a.yaml"], "MP220"),
        (["a.yaml", "b.yaml", "a.yaml"], "MP220"),
        (["--base", "HEAD"], "MP220"),
        (["a.yaml", "broken.toml"], "MP202"),
        (["broken.toml", "a.yaml"], "MP202"),
        (["a.yaml", "missing.yaml"], "MP201"),
        (["a.yaml", "other.yaml"], "MP237"),
        (["a.yaml", "package.json"], "MP277"),
        (["a.yaml", "text.json"], "MP277"),
        (["a.yaml", "models.json"], "MP277"),
        (["a.yaml", "b.yaml", "--fail-over", "5"], "MP218"),
        (["a.yaml", "b.yaml", "--device", "h100"], "MP208"),
        (["a.yaml", "b.yaml", "--rules", "2020-01-01"], "MP219"),
        (["--base", "no-such-ref", "a.yaml"], "MP276"),
        (["empty", "empty"], "MP272"),
    ],
)
def test_bad_input(inside: Path, argv: list[str], code: str) -> None:
    write(inside, other=OTHER, **{"package.json": "{}", "text.json": "no", "broken.toml": BROKEN})
    (inside / "models.json").write_text('{"schema": "metrale-plan/1", "command": "models", "models": []}')
    (inside / "empty").mkdir()
    document = cli_json("diff", *argv)
    assert (document["exit_code"], document["error"]["code"]) == (2, code)


def test_something_untold_is_compared_by_what_is_known(inside: Path) -> None:
    write(inside, u=UNTOLD)
    run = cli("diff", "a.yaml", "u.yaml")
    assert run.code == 0
    assert "after: cannot tell (MP120)" in run.out


def test_saved_plans_compare_like_their_configs(inside: Path) -> None:
    for name in ("a", "b"):
        plan = cli("preflight", "--format", "json", "--recipe", f"{name}.yaml", "--device", "gb10").out
        (inside / f"{name}.json").write_text(plan)
    live = cli_json("diff", "a.yaml", "b.yaml")["diff"]["comparisons"][0]
    for sides in (("a.json", "b.json"), ("a.json", "b.yaml"), ("a.yaml", "b.json")):
        saved = cli_json("diff", *sides)["diff"]["comparisons"][0]
        assert (saved["changes"], saved["total"]) == (live["changes"], live["total"])


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Paths of everything in a document; of a list, of its first element."""
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value[:1]))
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def test_a_saved_plan_of_another_version_or_hand_is_read_or_refused_and_never_a_bug(inside: Path) -> None:
    write(inside, w=EXCLUDING)
    argv = ("check", "a.yaml", "w.yaml", "--format", "json")
    (inside / "a.json").write_text(cli(*argv).out)
    whole = cli_json(*argv[:-2])
    some = [place for place in places(whole) if place and not set(place) & {"arena", "findings"}]
    shapes = (None, -1, "x", [], {}, [[]], {"a": 1}, True, 1.5, 10**400)
    for index, place in enumerate(some):
        for value in (shapes[index % len(shapes)], "left out"):
            changed = deepcopy(whole)
            at = changed
            for key in place[:-1]:
                at = at[key]
            if value == "left out":
                del at[place[-1]]
            else:
                at[place[-1]] = value
            (inside / "b.json").write_text(json.dumps(changed))
            run = cli("diff", "a.json", "b.json", "--format", ("table", "json", "markdown")[index % 3])
            assert run.code in (0, 2), (place, value, run.err or run.out)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"total": 109', '"total": 1e9, "x": 109', "reserve.total"),
        ('"schema": "metrale-plan/1"', '"schema": "metrale-plan/2"', "its schema is 'metrale-plan/2'"),
        ('"value": 8,', '"value": NaN,', "not JSON"),
        ('"value": 8,', '"value": 1e999,', "not JSON"),
        ('"exit_code": 0', '"exit_code": "0"', "exit_code"),
    ],
)
def test_a_broken_saved_plan_is_told_by_its_key(inside: Path, old: str, new: str, said: str) -> None:
    plan = cli("preflight", "--format", "json", "--recipe", "a.yaml", "--device", "gb10").out
    assert old in plan
    (inside / "p.json").write_text(plan.replace(old, new, 1))
    error = cli_json("diff", "a.yaml", "p.json")["error"]
    assert error["code"] == "MP277"
    assert said in error["message"]


def test_a_percentage_is_exact_to_a_fraction_of_a_byte() -> None:
    allowed = parse_threshold("5%")
    assert not allowed.exceeded_by(5, 100)
    assert allowed.exceeded_by(6, 101)
    assert allowed.exceeded_by(1, 0)
    assert not allowed.exceeded_by(0, 0)
    total = cli_json("diff", "a.yaml", "b.yaml")["diff"]["comparisons"][0]["total"]
    share = Fraction(100 * total["delta"], total["before"])
    below = share.numerator * 10**9 // share.denominator
    for parts, code in ((below, 1), (below + 1, 0)):
        limit = f"{parts // 10**9}.{parts % 10**9:09}%"
        assert cli("diff", "a.yaml", "b.yaml", "--fail-over", limit).code == code


def test_saved_checks_compare_config_by_config(inside: Path) -> None:
    write(inside, r__x=GOOD, r__y=GOOD, r__z=OTHER)
    argv = ("check", "r", "--device", "gb10", "--device", "h100-sxm", "--format", "json")
    (inside / "before.json").write_text(cli(*argv).out)
    write(inside, r__x=LARGER, r__w=GOOD)
    (inside / "after.json").write_text(cli(*argv).out)
    comparisons = cli_json("diff", "before.json", "after.json")["diff"]["comparisons"]
    found = {(c["name"], c["device"]): c["status"] for c in comparisons}
    assert found == {
        (f"r/{name}.yaml", device): status
        for name, status in (("x", "changed"), ("y", "same"), ("w", "added"))
        for device in ("gb10", "h100-sxm")
    }


def test_folders_compare_by_name(inside: Path) -> None:
    write(inside, old__x=GOOD, old__y=GOOD, new__x=LARGER, new__sub__v=GOOD, new__n=OTHER)
    comparisons = cli_json("diff", "old", "new")["diff"]["comparisons"]
    assert {c["name"]: c["status"] for c in comparisons} == {
        "x.yaml": "changed",
        "y.yaml": "removed",
        "sub/v.yaml": "added",
    }


def test_bundled_models_and_model_files(inside: Path) -> None:
    (inside / "MODEL.toml").write_text(
        model_file("qwen3.8-27b").replace("layers_linear_attention = 48", "layers_linear_attention = 48 # same")
    )
    comparison = cli_json("diff", "qwen3.8-27b", "MODEL.toml")["diff"]["comparisons"][0]
    assert set(changes({"diff": {"comparisons": [comparison]}})) == {"model.name"}
    document = cli_json("diff", "qwen3.8-27b", "qwen3.6-35b-a3b")
    assert changes(document)["model.ssm_layers"] == (48, 30)


def test_flags_after_the_dashes_hold_for_both_sides() -> None:
    comparison = cli_json("diff", "a.yaml", "b.yaml", "--", "--max-batch-size", "4")["diff"]["comparisons"][0]
    assert comparison["status"] == "same"


# since a commit


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(inside: Path) -> Path:
    write(inside, r__kept=GOOD, r__grown=GOOD, r__gone=GOOD, r__mended="recipe_version: [\n", r__other=OTHER)
    (inside / "r" / "m").mkdir()
    (inside / "r" / "m" / "MODEL.toml").write_text(model_file())
    git(inside, "init", "-q", "-b", "trunk")
    git(inside, "add", "-A")
    git(inside, "commit", "-qm", "first")
    write(inside, r__grown=LARGER, r__new=GOOD, r__mended=GOOD)
    (inside / "r" / "gone.yaml").unlink()
    return inside


@pytest.mark.git
def test_the_base_is_planned_as_the_commit_has_it(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = cli_json("diff", "--base", "trunk", "r")
    found = {c["name"]: c for c in document["diff"]["comparisons"]}
    assert {name: c["status"] for name, c in found.items()} == {
        "r/kept.yaml": "same",
        "r/grown.yaml": "changed",
        "r/gone.yaml": "removed",
        "r/new.yaml": "added",
        "r/mended.yaml": "changed",
        "r/m/MODEL.toml": "same",
    }
    assert document["exit_code"] == 0
    assert found["r/grown.yaml"]["before"]["path"] == "trunk:r/grown.yaml"
    assert found["r/mended.yaml"]["before"]["error"]["where"].startswith("trunk:r/mended.yaml:")
    assert found["r/grown.yaml"]["total"] == cli_json("diff", "a.yaml", "b.yaml")["diff"]["comparisons"][0]["total"]
    monkeypatch.chdir(repository / "r")
    inner = cli_json("diff", "--base", "trunk", "grown.yaml")["diff"]["comparisons"]
    assert [(c["name"], c["status"]) for c in inner] == [("grown.yaml", "changed")]


@pytest.mark.git
def test_the_base_in_markdown_for_a_pull_request(repository: Path) -> None:
    run = cli("diff", "--base", "trunk", "r", "--fail-over", "10%", "--output", "markdown=diff.md")
    assert run.code == 1
    text = (repository / "diff.md").read_text()
    assert "| r/grown.yaml (changed) |" in text
    assert "**over the limit**" in text
    assert "| setting | --max-batch-size | 8 | 16 |" in text
    assert "r/kept.yaml" not in text


@pytest.mark.git
def test_patterns_links_and_odd_names_are_found_at_the_base_too(repository: Path) -> None:
    odd = "r/o dd [1]\n:x.yaml"
    write(repository, **{odd: GOOD, "r/build/b.yaml": GOOD, "r/serve.txt": "met serve Qwen/Qwen3.6-35B-A3B-FP8\n"})
    (repository / "r" / "link.yaml").symlink_to("grown.yaml")
    (repository / "r" / "lost.yaml").symlink_to("nowhere")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    write(repository, **{odd: LARGER, "r/grown.yaml": GOOD})

    def found(*paths: str) -> dict[str, str]:
        comparisons = cli_json("diff", "--base", "HEAD", *paths)["diff"]["comparisons"]
        return {c["name"]: c["status"] for c in comparisons}

    folder = found("r")
    assert folder["r/link.yaml"] == folder["r/grown.yaml"] == folder[odd] == "changed"
    assert {folder[name] for name in ("r/kept.yaml", "r/new.yaml")} == {"same"}
    named = {name: status for name, status in folder.items() if name.endswith(".yaml")}
    assert found("r/*.yaml") == found("./r/*.y?ml") == named
    assert found("**/*.yaml").items() >= named.items()
    assert found("r/build/b.yaml", "r/serve.txt") == {"r/build/b.yaml": "same", "r/serve.txt": "same"}
    assert found(odd) == {odd: "changed"}


@pytest.mark.git
def test_a_renamed_config_is_compared_with_what_it_was(repository: Path) -> None:
    git(repository, "checkout", "--", "r/gone.yaml")
    git(repository, "mv", "r/kept.yaml", "r/moved.yaml")
    write(repository, r__moved=LARGER)
    document = cli_json("diff", "--base", "trunk", "r", "--fail-over", "1GiB")
    found = {c["name"]: c for c in document["diff"]["comparisons"]}
    assert "r/kept.yaml" not in found
    moved = found["r/moved.yaml"]
    assert (moved["was"], moved["status"], moved["over_limit"]) == ("r/kept.yaml", "changed", True)
    assert moved["before"]["path"] == "trunk:r/kept.yaml"
    assert "r/moved.yaml (was r/kept.yaml) on gb10: changed" in cli("diff", "--base", "trunk", "r").out


@pytest.mark.parametrize("ref", ["--upload-pack=x", "nope", "HEAD~99", ""])
@pytest.mark.git
def test_a_commit_that_git_does_not_know(repository: Path, ref: str) -> None:
    del repository
    assert cli_json("diff", f"--base={ref}", "r")["error"]["code"] == "MP276"


@pytest.mark.parametrize("path", ["../x", "/etc"])
@pytest.mark.git
def test_paths_outside_are_not_looked_up(repository: Path, path: str) -> None:
    del repository
    assert cli_json("diff", "--base", "trunk", path)["exit_code"] == 2


def test_the_table_fits_its_terminal() -> None:
    for width in (60, 80, 200):
        out = cli("diff", "a.yaml", "b.yaml", env={"COLUMNS": str(width)}).out
        assert max(map(len, out.splitlines())) <= width


def test_json_is_one_document_with_the_diff() -> None:
    document = json.loads(cli("diff", "a.yaml", "b.yaml", "--format", "json").out)
    assert document.keys() == {"schema", "command", "exit_code", "warnings", "error", "diff"}
