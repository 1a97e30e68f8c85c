"""`check`: what each config comes to, what they come to together, and where findings point."""

import json
import os
from pathlib import Path

import pytest
from cli import cli, cli_json
from gate import BROKEN, EXCLUDING, GOOD, OTHER, REFUSED, UNTOLD, WARNED, model_file, statuses, write

from metrale_plan.gate.outcome import SERIOUSNESS, most_serious
from metrale_plan.render.gate import FORMATS


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_each_kind_of_config_comes_to_its_own_outcome(inside: Path) -> None:
    write(inside, a=GOOD, b=REFUSED, c=EXCLUDING, d=UNTOLD, e=OTHER, f="a: [1\n")
    (inside / "g.toml").write_text(BROKEN)
    document = cli_json("check", "a.yaml", "b.yaml", "c.yaml", "d.yaml", "e.yaml", "f.yaml", "g.toml", "h.yaml",
                        "--device", "h100-sxm")  # fmt: skip
    assert statuses(document) == [
        ("a.yaml", "h100-sxm", "pass", 0),
        ("b.yaml", "h100-sxm", "refused", 1),
        ("c.yaml", "h100-sxm", "refused", 1),
        ("d.yaml", "h100-sxm", "cannot tell", 3),
        ("e.yaml", None, "skipped", 0),
        ("f.yaml", "h100-sxm", "invalid", 2),
        ("g.toml", "h100-sxm", "invalid", 2),
        ("h.yaml", None, "invalid", 2),
    ]
    assert document["exit_code"] == 2
    assert document["summary"]["counts"] == {"invalid": 3, "refused": 2, "cannot tell": 1, "pass": 1, "skipped": 1}
    assert "vllm" in document["results"][4]["reason"]
    assert document["results"][4]["plan"] is None


def test_a_results_plan_is_the_document_that_preflight_prints(inside: Path) -> None:
    write(inside, b=REFUSED)
    (inside / "broken.toml").write_text(BROKEN)
    (inside / "MODEL.toml").write_text(model_file())
    asked = {"b.yaml": ["--recipe", "b.yaml"], "MODEL.toml": ["MODEL.toml"], "broken.toml": ["broken.toml"]}
    for result in cli_json("check", *asked, "--device", "h100-sxm")["results"]:
        assert result["plan"] == cli_json("preflight", *asked[result["path"]], "--device", "h100-sxm")
        assert result["plan"]["exit_code"] == result["exit_code"]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a": GOOD}, 0),
        ({"a": GOOD, "b": REFUSED}, 1),
        ({"a": GOOD, "d": UNTOLD}, 3),
        ({"b": REFUSED, "d": UNTOLD}, 1),
        ({"a": GOOD, "b": REFUSED, "d": UNTOLD, "broken.yaml": "defaults: [\n"}, 2),
        ({"a": GOOD, "e": OTHER}, 0),
        ({"e": OTHER}, 2),
        ({}, 2),
    ],
)
def test_the_most_serious_outcome_decides(inside: Path, files: dict[str, str], code: int) -> None:
    write(inside, **files)
    run = cli("check", ".", "--device", "h100-sxm", "--format", "json")
    assert run.code == run.json["exit_code"] == code


def test_exit_codes_are_ranked_as_promised() -> None:
    assert SERIOUSNESS == (5, 2, 1, 3, 4, 0)
    for at, code in enumerate(SERIOUSNESS):
        assert most_serious([0, *SERIOUSNESS[at:]]) == code


@pytest.mark.parametrize("files", [{}, {"e": OTHER}, {"docker-compose": "services: {}\n"}])
def test_nothing_checked_is_never_a_pass(inside: Path, files: dict[str, str]) -> None:
    write(inside, **files)
    run = cli("check", ".")
    assert run.code == 2
    assert "MP272" in run.err
    document = cli_json("check", ".")
    assert document["error"]["code"] == "MP272"
    assert [result["status"] for result in document["results"]] == ["skipped"] * len(files)


def test_a_warning_fails_only_when_asked(inside: Path) -> None:
    write(inside, w=WARNED)
    assert cli("check", ".").code == 0
    document = cli_json("check", ".", "--fail-on-warning")
    assert document["exit_code"] == document["results"][0]["exit_code"] == 4
    assert document["results"][0]["plan"]["exit_code"] == 4
    assert document["results"][0]["findings"][0]["code"] == "MP217"
    write(inside, a=GOOD)
    assert cli("check", "a.yaml", "--fail-on-warning").code == 0


def test_the_ambient_environment_counts_only_when_asked(inside: Path) -> None:
    write(inside, a=GOOD)
    env = {"METRALE_SSM_MARCONI_FULL": "1", "METRALE_NO_MTP_K_LADDER": "1"}
    isolated = cli_json("check", ".", env=env)
    assert not any(key.startswith("METRALE_") for key in isolated["results"][0]["plan"]["settings"])
    ambient = cli_json("check", ".", "--with-env", env=env)
    assert env.keys() <= ambient["results"][0]["plan"]["settings"].keys()


def test_several_devices_make_a_line_each(inside: Path) -> None:
    write(inside, b=REFUSED)
    document = cli_json("check", ".", "--device", "h100-sxm", "--device", "gb300")
    assert statuses(document) == [("b.yaml", "h100-sxm", "refused", 1), ("b.yaml", "gb300", "pass", 0)]


def test_files_folders_and_patterns_lead_to_each_config_once_in_order(inside: Path) -> None:
    write(inside, z__b=GOOD, z__a=GOOD, y__x=GOOD, z__compose="services: {}\n", z__sub__c=GOOD, **{".hidden__h": GOOD})
    (inside / "m").mkdir()
    (inside / "m" / "MODEL.toml").write_text(model_file())
    (inside / "m" / "notes.toml").write_text("a = 1\n")
    paths = [r["path"] for r in cli_json("check", "y/*.yaml", "z/b.yaml", "z", "m", "**/*.yaml")["results"]]
    assert paths == ["y/x.yaml", "z/b.yaml", "z/a.yaml", "z/compose.yaml", "z/sub/c.yaml", "m/MODEL.toml"]


def test_a_pattern_that_matches_nothing_is_an_error() -> None:
    document = cli_json("check", "nothing/*.yaml")
    assert (document["exit_code"], document["error"]["code"], document["results"]) == (2, "MP273", [])


def test_findings_point_at_the_line_that_carries_the_bytes(inside: Path) -> None:
    write(inside, sub__b=REFUSED, sub__c=EXCLUDING, sub__w=WARNED)
    results = {result["path"]: result for result in cli_json("check", "sub", "--device", "h100-sxm")["results"]}
    found = {path: result["findings"][0] for path, result in results.items()}
    snapshots = REFUSED.splitlines().index("  ssm_cache_slots: 400") + 1
    assert (found["sub/b.yaml"]["path"], found["sub/b.yaml"]["line"]) == ("sub/b.yaml", snapshots)
    assert found["sub/b.yaml"]["setting"] == "ssm_cache_slots"
    assert found["sub/b.yaml"]["bytes"] == results["sub/b.yaml"]["plan"]["reserve"]["marconi"]
    assert EXCLUDING.splitlines()[found["sub/c.yaml"]["line"] - 1] == "  dflash: true"
    assert "METRALE_NO_MTP_K_LADDER" in WARNED.splitlines()[found["sub/w.yaml"]["line"] - 1]


def test_findings_are_relative_to_the_repository(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(inside, sub__deep__b=REFUSED)
    monkeypatch.chdir(inside / "sub")
    result = cli_json("check", "deep", "--device", "h100-sxm")["results"][0]
    assert result["path"] == "deep/b.yaml"
    assert result["findings"][0]["path"] == "sub/deep/b.yaml"
    result = cli_json("check", str(inside / "sub/deep/b.yaml"), "--device", "h100-sxm")["results"][0]
    assert result["findings"][0]["path"] == "sub/deep/b.yaml"


def test_a_model_file_alone_is_planned_with_the_engines_defaults(inside: Path) -> None:
    (inside / "MODEL.toml").write_text(model_file())
    assert statuses(cli_json("check", "MODEL.toml")) == [("MODEL.toml", "gb10", "pass", 0)]
    assert statuses(cli_json("check", ".", "--free-memory", "2GiB"))[0][2] == "refused"


def test_flags_after_the_dashes_hold_for_every_config(inside: Path) -> None:
    write(inside, a=GOOD)
    plan = cli_json("check", ".", "--", "--max-batch-size", "32")["results"][0]["plan"]
    assert plan["settings"]["max_batch_size"]["value"] == 32
    assert plan["settings"]["max_batch_size"]["source"] == "command"


def test_a_bug_in_one_config_leaves_the_others_their_say(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(inside, a=GOOD, b=GOOD)
    from metrale_plan import checking

    real = checking.assemble

    def sometimes(request: object, live: object) -> object:
        if getattr(request, "recipe", None) == "a.yaml":
            raise RuntimeError("boom")
        return real(request, live)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "assemble", sometimes)
    document = cli_json("check", ".")
    assert statuses(document) == [("a.yaml", "gb10", "bug", 5), ("b.yaml", "gb10", "pass", 0)]
    assert document["exit_code"] == 5
    assert document["results"][0]["plan"]["error"]["code"] == "MP200"


@pytest.mark.parametrize("name", FORMATS)
def test_a_name_that_is_no_text_breaks_no_format(inside: Path, name: str) -> None:
    (inside / os.fsdecode(b"a\xff%:,.yaml")).write_text(REFUSED)
    run = cli("check", ".", "--device", "h100-sxm", "--format", name, "--output", f"{name}=out")
    assert (run.code, run.err) == (1, "")
    assert "MP101" in run.out or name == "table"
    assert (inside / "out").read_bytes().decode("utf-8")


def test_an_args_file_is_checked_line_by_line(inside: Path) -> None:
    lines = ["met serve unsloth/Qwen3.8-27B-NVFP4 \\", "  --enable-prefix-caching \\", "  --ssm-cache-slots 900"]
    (inside / "serve.args").write_text("\n".join(lines) + "\n")
    result = cli_json("check", ".")["results"][0]
    assert (result["path"], result["status"]) == ("serve.args", "refused")
    assert (result["findings"][0]["code"], result["findings"][0]["line"]) == ("MP101", 3)


# Case 11: JSON that is not JSON


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["check", "good.yaml"], 0),
        (["check", "refused.yaml", "--device", "h100-sxm"], 1),
        (["check", "broken.toml"], 2),
        (["check", "missing.yaml"], 2),
        (["check", "--no-such-flag", "good.yaml"], 2),
        (["check", "good.yaml", "--device", "h100"], 2),
        (["check"], 2),
        (["check", "good.yaml", "--output", "markdown=-"], 2),
        (["check", "good.yaml", "--output", "sarif=no/such/folder/x"], 2),
        (["check", "good.yaml", "--output", "sarif"], 2),
        (["check", "good.yaml", "--config", "broken.toml"], 2),
        (["check", "good.yaml", "--jobs", "x"], 2),
        (["diff", "good.yaml", "refused.yaml"], 0),
        (["diff", "good.yaml"], 2),
        (["diff", "good.yaml", "broken.toml"], 2),
        (["diff", "good.yaml", "refused.yaml", "--fail-over", "1MiB"], 1),
        (["preflight", "--recipe", "good.yaml", "--device", "gb10"], 0),
        (["preflight", "--recipe", "refused.yaml", "--device", "h100-sxm"], 1),
        (["plan", "broken.toml"], 2),
        (["plan", "missing/MODEL.toml"], 2),
        (["plan", "--output", "json=x"], 2),
    ],
)
def test_stdout_is_one_json_document_whatever_happens(inside: Path, argv: list[str], code: int) -> None:
    write(inside, good=GOOD, refused=REFUSED)
    (inside / "broken.toml").write_text(BROKEN)
    run = cli(argv[0], "--format", "json", *argv[1:])
    document = json.loads(run.out)
    assert run.code == document["exit_code"] == code
    assert document["schema"] == "metrale-plan/1"
    assert document["command"] == argv[0]
    assert {"warnings", "error"} <= document.keys()
    told_per_config = argv[0] == "check" and argv[1:] in (["broken.toml"], ["missing.yaml"])
    an_answer = code == 0 or (code == 1 and argv[0] != "diff") or told_per_config
    assert (document["error"] is None) == an_answer


def test_json_asked_for_as_an_output_is_json_too_when_it_fails(inside: Path) -> None:
    write(inside, good=GOOD)
    assert cli("check", "--output", "json=-", "good.yaml", "--nope").json["error"]["code"] == "MP210"


# Case 12: silently ignored keys


@pytest.mark.parametrize(
    ("text", "line", "nearest"),
    [("[behavior]\ndefault_num_draft = 3\n", 2, "default_num_drafts"), ("[behaviour]\nx = 1\n", 1, "behavior")],
)
def test_a_misspelt_key_is_an_error_at_its_line(inside: Path, text: str, line: int, nearest: str) -> None:
    body = model_file().split("[behavior]")[0]
    (inside / "MODEL.toml").write_text(body + text)
    result = cli_json("check", ".")["results"][0]
    assert (result["status"], result["exit_code"]) == ("invalid", 2)
    finding = result["findings"][0]
    assert finding["line"] == body.count("\n") + line
    assert finding["nearest"] == [nearest]


def test_tables_of_the_engine_pass_untouched(inside: Path) -> None:
    tables = '\n[sampling.tools]\nx = 1\n[kernel]\ny = "z"\n[expected_absent.w4a16]\nq = ["a"]\n'
    (inside / "MODEL.toml").write_text(model_file() + tables)
    (inside / "plain").mkdir()
    (inside / "plain" / "MODEL.toml").write_text(model_file())
    with_tables, plain = cli_json("check", "MODEL.toml", "plain")["results"]
    assert with_tables["status"] == plain["status"] == "pass"
    assert with_tables["plan"]["reserve"] == plain["plan"]["reserve"]
    assert with_tables["findings"] == []


# Many configs


def test_processes_change_neither_results_nor_order(inside: Path) -> None:
    for index in range(40):
        write(inside, **{f"c{index:03}": GOOD.replace("batch_size: 8", f"batch_size: {index + 1}")})
    alone, together = (cli_json("check", ".", "--jobs", jobs) for jobs in ("1", "2"))
    assert alone == together
    assert [r["path"] for r in alone["results"]] == [f"c{index:03}.yaml" for index in range(40)]
