"""The gate's config file: found, read strictly, and what its policy asks."""

from pathlib import Path
from typing import Any

import pytest
from cli import cli, cli_json
from gate import GOOD, REFUSED, WARNED, model_file, statuses, write
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.gate.patterns import matches
from metrale_plan.gate.threshold import parse_threshold


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def config(folder: Path, text: str, name: str = "metrale-plan.toml") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def codes(document: Any) -> list[str]:
    return [finding["code"] for result in document["results"] for finding in result["findings"]]


def test_configs_map_to_devices(inside: Path) -> None:
    write(inside, hopper__a=GOOD, other__b=GOOD, plain__c=GOOD)
    config(
        inside,
        """
        devices = ["gb10"]
        [[configs]]
        paths = ["hopper/**"]
        devices = ["h100-sxm", "h200-sxm"]
        [[configs]]
        paths = ["b.yaml"]
        devices = ["b200"]
        """,
    )
    assert [(path, device) for path, device, *_ in statuses(cli_json("check", "."))] == [
        ("hopper/a.yaml", "h100-sxm"),
        ("hopper/a.yaml", "h200-sxm"),
        ("other/b.yaml", "b200"),
        ("plain/c.yaml", "gb10"),
    ]
    assert {device for _, device, *_ in statuses(cli_json("check", ".", "--device", "gb300"))} == {"gb300"}
    assert {device for _, device, *_ in statuses(cli_json("check", ".", "--no-config"))} == {"gb10"}


def test_the_nearest_config_wins(inside: Path) -> None:
    write(inside, a__x=GOOD, a__deep__y=GOOD, b__z=GOOD)
    config(inside, '[project]\nname = "x"\n[tool.metrale-plan]\ndevices = ["h100-sxm"]\n', "pyproject.toml")
    config(inside / "a", 'devices = ["b200"]\n')
    config(inside / "a" / "deep", '[project]\nname = "no table of ours"\n', "pyproject.toml")
    found = {path: device for path, device, *_ in statuses(cli_json("check", "."))}
    assert found == {"a/x.yaml": "b200", "a/deep/y.yaml": "b200", "b/z.yaml": "h100-sxm"}
    config(inside, 'devices = ["gb300"]\n')
    assert {path: device for path, device, *_ in statuses(cli_json("check", "."))}["b/z.yaml"] == "gb300"
    config(inside / "elsewhere", 'devices = ["h200-sxm"]\n', "own.toml")
    named = cli_json("check", ".", "--config", "elsewhere/own.toml")
    assert {device for _, device, *_ in statuses(named)} == {"h200-sxm"}


def test_a_config_outside_the_repository_is_not_looked_for(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config(inside, 'devices = ["b200"]\n')
    (inside / "repo" / ".git").mkdir(parents=True)
    write(inside / "repo", a=GOOD)
    monkeypatch.chdir(inside / "repo")
    assert [device for _, device, *_ in statuses(cli_json("check", "."))] == ["gb10"]


def test_the_rules_date_comes_from_the_config_unless_a_flag_says(inside: Path) -> None:
    write(inside, a=GOOD)
    config(inside, 'rules = "2026-10-01"\n')
    assert cli_json("check", ".")["results"][0]["plan"]["rules"] == "2026-10-01"
    assert cli_json("check", ".", "--rules", "2026-10-05")["results"][0]["plan"]["rules"] == "2026-10-05"


def test_excluded_configs_are_skipped_with_the_reason(inside: Path) -> None:
    write(inside, a=GOOD, old__b=REFUSED)
    config(inside, 'exclude = ["old"]\n')
    assert statuses(cli_json("check", ".")) == [("a.yaml", "gb10", "pass", 0), ("old/b.yaml", None, "skipped", 0)]


@pytest.mark.parametrize(
    ("text", "code", "line", "nearest"),
    [
        ('device = ["gb10"]', "MP270", 1, ["devices"]),
        ('\n[policy]\nleast_headrom = "4GiB"', "MP270", 3, ["least_headroom"]),
        ('[[policy.ignore]]\ncode = "MP217"\nreason = "x"\nexpires = 2026-12-31\nuntil = 1', "MP270", 5, []),
        ('devices = ["gb10", "h100"]', "MP271", 1, ["h100-sxm"]),
        ("devices = 1", "MP271", 1, []),
        ('rules = "2027-01-01"', "MP271", 1, []),
        ("rules = 2026-10-01", "MP271", 1, []),
        ('[policy]\nleast_headroom = "4"', "MP271", 2, []),
        ("[policy]\nleast_headroom = 4", "MP271", 2, []),
        ("[policy.utilization_ceiling]\ngb10 = 0.9\nhoper = 0.9", "MP271", 3, ["hopper"]),
        ("[policy.utilization_ceiling]\ngb10 = 1.5", "MP271", 2, []),
        ('[policy]\nwarnings_as_errors = ["a warning"]', "MP271", 2, []),
        ('[policy]\nwarnings_as_errors = ["MP101"]', "MP271", 2, []),
        ('[[policy.ignore]]\ncode = "MP101"\nreason = "x"\nexpires = 2026-12-31', "MP271", 2, []),
        ('[[policy.ignore]]\ncode = "MP217"\nexpires = 2026-12-31', "MP271", 1, []),
        ('[[policy.ignore]]\ncode = "MP217"\nreason = ""\nexpires = 2026-12-31', "MP271", 3, []),
        ('[[policy.ignore]]\ncode = "MP217"\nreason = "x"\nexpires = "2026-12-31"', "MP271", 4, []),
        ('[policy]\nforbidden_variables = ["PATH"]', "MP271", 2, []),
        ('[policy]\nrequired_flags = [\n  "max_batch_sise",\n]', "MP271", 3, ["max_batch_size"]),
        ("[policy", "MP202", 1, []),
    ],
)
def test_a_config_is_read_strictly(inside: Path, text: str, code: str, line: int, nearest: list[str]) -> None:
    write(inside, a=GOOD)
    for name, body, offset in (
        ("metrale-plan.toml", text, 0),
        ("pyproject.toml", "[tool.metrale-plan]\n" + text.replace("[policy", "[tool.metrale-plan.policy"), 1),
    ):
        if name == "pyproject.toml":
            body = body.replace("[[policy", "[[tool.metrale-plan.policy")
        config(inside, body, name)
        document = cli_json("check", ".")
        error = document["error"]
        assert (document["exit_code"], document["results"], error["code"]) == (2, [], code)
        assert error["where"] == f"{name}:{line + offset}"
        assert error["nearest"][:1] == nearest
        (inside / name).unlink()


def test_headroom_as_a_size_and_as_a_percentage(inside: Path) -> None:
    write(inside, a=GOOD)
    headroom = cli_json("check", ".")["results"][0]["plan"]["verdict"]["headroom"]
    free = cli_json("check", ".")["results"][0]["plan"]["verdict"]["free"]
    for asked, passes in ((f"{headroom}B", True), (f"{headroom + 1}B", False), ("1%", True), ("99.5%", False)):
        config(inside, f'[policy]\nleast_headroom = "{asked}"\n')
        document = cli_json("check", ".")
        assert document["exit_code"] == (0 if passes else 1), asked
        assert codes(document) == ([] if passes else ["MP160"])
    assert headroom < free


def test_the_utilization_ceiling_is_per_class(inside: Path) -> None:
    write(inside, a=GOOD)
    config(inside, "[policy.utilization_ceiling]\ngb10 = 0.8\nhopper = 0.85\n")
    document = cli_json("check", ".", "--device", "gb10", "--device", "h100-sxm", "--device", "b200")
    assert [code for *_, code in statuses(document)] == [1, 0, 0]
    finding = document["results"][0]["findings"][0]
    assert finding["code"] == "MP161"
    assert GOOD.splitlines()[finding["line"] - 1] == "  gpu_memory_utilization: 0.85"


def test_forbidden_variables_and_required_flags(inside: Path) -> None:
    write(inside, a=GOOD, w=WARNED)
    (inside / "MODEL.toml").write_text(model_file())
    policy = 'forbidden_variables = ["METRALE_NO_*"]\nrequired_flags = ["--max-seq-len", "max_batch_size"]'
    config(inside, f"[policy]\n{policy}\n")
    document = cli_json("check", ".")
    found = {
        result["path"]: {finding["code"]: finding for finding in result["findings"]} for result in document["results"]
    }
    assert found["MODEL.toml"] == {}
    assert found["a.yaml"].keys() == {"MP163"}
    assert "--max-seq-len" in found["a.yaml"]["MP163"]["message"]
    assert found["w.yaml"].keys() == {"MP162", "MP163", "MP217"}
    assert "METRALE_NO_MTP_K_LADDER" in WARNED.splitlines()[found["w.yaml"]["MP162"]["line"] - 1]
    assert [code for *_, code in statuses(document)] == [0, 1, 1]


@pytest.mark.parametrize(("said", "code"), [('["MP217"]', 1), ('["all"]', 1), ('["MP214"]', 0)])
def test_warnings_that_are_errors(inside: Path, said: str, code: int) -> None:
    write(inside, w=WARNED)
    config(inside, f"[policy]\nwarnings_as_errors = {said}\n")
    document = cli_json("check", ".")
    assert document["exit_code"] == code
    assert document["results"][0]["findings"][0]["severity"] == ("error" if code else "warning")


def test_an_ignored_code_counts_again_after_its_day(inside: Path) -> None:
    write(inside, w=WARNED, x=WARNED)
    entry = 'code = "MP217"\nreason = "old wrapper"\nexpires = 2026-06-30\npaths = ["w.yaml"]\n'
    config(inside, f'[policy]\nwarnings_as_errors = ["all"]\n[[policy.ignore]]\n{entry}')
    document = cli_json("check", "w.yaml", "--today", "2026-06-30")
    assert (document["exit_code"], codes(document), document["warnings"]) == (0, [], [])
    assert document["results"][0]["ignored"] == [
        {"code": "MP217", "reason": "old wrapper", "expires": "2026-06-30", "where": "metrale-plan.toml:4"}
    ]
    later = cli_json("check", "w.yaml", "--today", "2026-07-01")
    assert (later["exit_code"], codes(later)) == (1, ["MP217"])
    assert [(w["code"], w["where"]) for w in later["warnings"]] == [("MP164", "metrale-plan.toml:4")]
    assert "MP164" in cli("check", "w.yaml", "--today", "2026-07-01").err
    other = cli_json("check", "x.yaml", "--today", "2026-06-30")
    assert (other["exit_code"], codes(other)) == (1, ["MP217"])


def test_an_ignored_warning_is_no_warning_for_fail_on_warning_either(inside: Path) -> None:
    write(inside, w=WARNED)
    config(inside, '[[policy.ignore]]\ncode = "MP217"\nreason = "x"\nexpires = 2099-01-01\n')
    assert cli("check", ".", "--fail-on-warning").code == 0


def test_policy_never_makes_a_broken_or_refused_config_pass(inside: Path) -> None:
    write(inside, b=REFUSED, **{"c.yaml": "defaults: [\n"})
    config(inside, '[policy]\nleast_headroom = "0B"\n')
    assert [code for *_, code in statuses(cli_json("check", ".", "--device", "h100-sxm"))] == [1, 2]


@pytest.mark.parametrize(
    ("path", "pattern", "found"),
    [
        ("a/b.yaml", "*.yaml", True),
        ("a/b.yaml", "a/*.yaml", True),
        ("a/x/b.yaml", "a/*.yaml", False),
        ("a/x/b.yaml", "a/**/*.yaml", True),
        ("a/b.yaml", "a/**/*.yaml", True),
        ("a/x/b.yaml", "a/**", True),
        ("a/x/b.yaml", "a", True),
        ("a/x/b.yaml", "./a/", True),
        ("ab/x.yaml", "a", False),
        ("a.yaml", "?.yaml", True),
        ("a+b.yaml", "a+b.yaml", True),
        ("aab.yaml", "a+b.yaml", False),
    ],
)
def test_patterns(path: str, pattern: str, found: bool) -> None:
    assert matches(path, [pattern]) is found


@given(base=st.integers(0, 2**50), whole=st.integers(0, 200), fraction=st.integers(0, 99))
def test_a_percentage_is_exact_and_rounds_up(base: int, whole: int, fraction: int) -> None:
    share = parse_threshold(f"{whole}.{fraction:02}%").of(base)
    hundredths = base * (whole * 100 + fraction)
    assert (share - 1) * 10_000 < hundredths <= share * 10_000


@given(size=st.integers(0, 2**60))
def test_a_size_is_itself(size: int) -> None:
    assert parse_threshold(f"{size}B").of(12345) == size
