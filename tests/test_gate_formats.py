"""Every format of `check` over one run: good, refused, broken, skipped and warned configs on two devices."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cli import cli
from gate import GOOD, OTHER, REFUSED, UNTOLD, WARNED, write
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from metrale_plan.errors import Problem
from metrale_plan.gate.outcome import Finding, Outcome
from metrale_plan.gate.summary import GateReport, gate_report
from metrale_plan.render.gate import FORMATS, renderer
from metrale_plan.render.gate.github import PER_STEP
from metrale_plan.render.gate.markdown import LIMIT
from metrale_plan.render.markdown import cell

DATA = Path(__file__).parent / "data"
SARIF = Draft4Validator(json.loads((DATA / "sarif" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8")))
DEVICES = ("--device", "h100-sxm", "--device", "gb300")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    write(tmp_path, r__good=GOOD, r__refused=REFUSED, r__untold=UNTOLD, r__warned=WARNED, r__other=OTHER)
    write(tmp_path, r__broken=GOOD.replace("max_batch_size", "max_batch_sise"))
    return tmp_path


def made(name: str) -> str:
    run = cli("check", "r", *DEVICES, "--format", name, env={"COLUMNS": "500"})
    assert run.code == 2
    return run.out


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_the_same_on_stdout_and_in_a_file(inside: Path, name: str) -> None:
    cli("check", "r", *DEVICES, "--output", f"{name}=out.txt")
    text = (inside / "out.txt").read_text(encoding="utf-8")
    assert text.endswith("\n")
    if name != "table":  # which is as wide as its screen
        assert text == made(name)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("json", "jsonl")])
def test_every_format_matches_its_golden(name: str) -> None:
    golden = DATA / "goldens" / "check" / f"{name}.txt"
    assert masked(made(name)) == golden.read_text(encoding="utf-8")


MASKS = (
    (r"-?[\d,]+(\.\d+)? (MiB|GiB|KiB)", "SIZE"),
    (r'"semanticVersion": "[^"]*"', '"semanticVersion": "VERSION"'),
    (r'"bytes": \d+', '"bytes": BYTES'),
    (r"--max-seq-len \d+", "--max-seq-len N"),
    (r"fits at [a-z, ]+, SIZE left(; not reached: [a-z, ]+)?", "FITS"),
    (r"(?m)^a pass speaks of .*\n+", ""),
    (r" {2,}(?=\S)|  +$", " "),
)


def masked(text: str) -> str:
    """Without what changes with a release, how far the planning reaches, and sizes, which other tests are about."""
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return text


def test_json_lines_are_the_documents_results() -> None:
    lines = [json.loads(line) for line in made("jsonl").splitlines()]
    document = json.loads(made("json"))
    head = {"schema": "metrale-plan/1", "command": "check"}
    assert lines == [head | result for result in document["results"]]


def test_several_formats_at_once(inside: Path) -> None:
    outputs = ("sarif=plan.sarif", "junit=plan.xml", "markdown=-", "json=plan.json")
    run = cli("check", "r", *DEVICES, "--format", "concise", *(f"--output={output}" for output in outputs))
    assert run.out == made("concise") + made("markdown")
    assert json.loads((inside / "plan.sarif").read_text())["version"] == "2.1.0"
    assert ElementTree.parse(inside / "plan.xml").getroot().tag == "testsuites"
    assert json.loads((inside / "plan.json").read_text())["command"] == "check"


def test_a_table_is_printed_where_nothing_else_is(inside: Path) -> None:
    table = cli("check", "r", *DEVICES).out
    assert cli("check", "r", *DEVICES, "--output", "sarif=plan.sarif").out == table
    assert cli("check", "r", *DEVICES, "--output", "concise=-").out == made("concise")
    assert (inside / "plan.sarif").exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["--format", "json", "--output", "markdown=-"],
        ["--format", "table", "--format", "sarif"],
        ["--output", "sarif=x", "--output", "junit=x"],
        ["--output", "sarif"],
        ["--output", "=x"],
        ["--output", "sariff=x"],
        ["--format", "sariff"],
        ["--output", "sarif=missing/folder/x"],
    ],
)
def test_outputs_that_do_not_go_together_write_nothing(inside: Path, argv: list[str]) -> None:
    before = sorted(inside.rglob("*"))
    run = cli("check", "r", *argv)
    assert run.code == 2
    assert run.out == "" or json.loads(run.out)["error"]["code"] == "MP274"
    assert "Traceback" not in run.err
    assert sorted(inside.rglob("*")) == before


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_table_fits_its_terminal(width: int) -> None:
    out = cli("check", "r", *DEVICES, env={"COLUMNS": str(width)}).out
    assert max(map(len, out.splitlines())) <= width
    for word in ("pass", "refused", "invalid", "cannot tell", "skipped", "r/good.yaml", "12 checked"):
        assert word in out or word == "12 checked"


def test_a_line_per_config_and_device_and_a_summary() -> None:
    lines = made("concise").splitlines()
    assert lines[-1] == "10 checked: 2 invalid, 1 refused, 2 cannot tell, 5 passed, 1 skipped"
    places = Counter(re.sub(r":\d+:", ":", line).split(": ")[0] for line in lines[:-1])
    assert places == Counter(
        {f"r/{name}.yaml": 2 for name in ("broken", "good", "refused", "untold", "warned")} | {"r/other.yaml": 1}
    )


# SARIF


def test_sarif_is_valid_and_quotes_the_registry() -> None:
    log = json.loads(made("sarif"))
    SARIF.validate(log)
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    assert {"MP101", "MP120", "MP217"} <= set(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].startswith("r/")
        assert place["region"]["startLine"] >= 1
    assert run["invocations"][0] == {"executionSuccessful": False, "exitCode": 2, "toolExecutionNotifications": []}


def test_sarif_of_a_clean_run_and_of_nothing_is_valid(inside: Path) -> None:
    clean = json.loads(cli("check", "r/good.yaml", "--format", "sarif").out)
    SARIF.validate(clean)
    assert clean["runs"][0]["results"] == []
    assert clean["runs"][0]["invocations"][0]["executionSuccessful"] is True
    (inside / "empty").mkdir()
    nothing = json.loads(cli("check", "empty", "--format", "sarif").out)
    SARIF.validate(nothing)
    assert nothing["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["descriptor"] == {"id": "MP272"}


# JUnit


def test_junit_has_a_suite_per_device_and_counts_that_add_up() -> None:
    root = ElementTree.fromstring(made("junit"))
    suites = {suite.get("name"): suite for suite in root}
    assert suites.keys() == {"h100-sxm", "gb300", "no device"}
    for element in (root, *root):
        cases = list(element.iter("testcase"))
        assert element.get("tests") == str(len(cases))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert element.get(attribute) == str(sum(case.find(tag) is not None for case in cases))
    refused = next(case for case in suites["h100-sxm"] if case.get("name") == "r/refused.yaml")
    failure = refused.find("failure")
    assert failure is not None
    assert failure.get("type") == "MP101"
    assert "r/refused.yaml:10: error[MP101]" in (failure.text or "")


# GitLab


def test_gitlab_fingerprints_are_unique_and_survive_moved_lines(inside: Path) -> None:
    entries = json.loads(made("gitlab"))
    prints = [entry["fingerprint"] for entry in entries]
    assert len(set(prints)) == len(prints) > 0
    for entry in entries:
        assert entry.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
    moved = "# a new first line\n"
    write(inside, r__refused=moved + REFUSED, r__untold=moved + UNTOLD, r__warned=moved + WARNED)
    again = json.loads(made("gitlab"))
    assert [entry["fingerprint"] for entry in again] == prints
    assert [entry["location"] for entry in again] != [entry["location"] for entry in entries]


def test_gitlab_of_a_clean_run_is_an_empty_list() -> None:
    assert json.loads(cli("check", "r/good.yaml", "--format", "gitlab").out) == []


# GitHub and markdown


def finding(index: int, size: int, severity: Any = "error", message: str = "too large") -> Finding:
    return Finding(code="MP101", severity=severity, message=message, path=f"c{index}.yaml", line=index + 1, bytes=size)


def report(*findings: Finding, path: str = "c.yaml") -> GateReport:
    outcomes = tuple(
        Outcome(
            path=f"{index}-{path}",
            device="gb10",
            status="refused",
            exit_code=1,
            reason=found.message,
            findings=(found,),
        )
        for index, found in enumerate(findings)
    )
    return gate_report(outcomes, (), "1.2.3")


def test_github_shows_the_largest_of_each_kind_and_tells_the_rest() -> None:
    found = [finding(index, (index * 7) % 40) for index in range(40)]
    found += [finding(index, index, "warning") for index in range(100, 115)]
    lines = renderer("github")(report(*found)).splitlines()
    errors = [line for line in lines if line.startswith("::error ")]
    warnings = [line for line in lines if line.startswith("::warning ")]
    assert len(errors) == len(warnings) == PER_STEP
    largest = sorted(found[:40], key=lambda entry: -entry.bytes)[:PER_STEP]
    assert [re.search(r"file=(c\d+\.yaml)", line)[1] for line in errors] == [entry.path for entry in largest]  # type: ignore[index]
    assert "35 more findings" in "\n".join(lines)
    told = [line for line in lines if line.startswith("  c")]
    assert len(told) == 35


def test_github_escapes_what_would_end_a_command() -> None:
    odd = Finding(code="MP101", severity="error", message="100%\r\n::error::no", path="a,b:c%.yaml", line=3)
    line = renderer("github")(report(odd)).splitlines()[0]
    assert line == ("::error file=a%2Cb%3Ac%25.yaml,line=3,title=metrale-plan MP101::gb10: 100%25%0D%0A::error::no")
    many = [finding(i, 1000 - i) for i in range(PER_STEP)]
    rest = renderer("github")(report(*many, finding(99, 0, message="x\n::stop-commands::y")))
    assert not any(line.lstrip().startswith("::stop") for line in rest.splitlines())


def test_the_gates_own_error_is_annotated_too(inside: Path) -> None:
    (inside / "empty").mkdir()
    assert "::error title=metrale-plan MP272::" in cli("check", "empty", "--format", "github").out


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_any_text_leaves_every_format_well_formed(text: str) -> None:
    odd = report(
        Finding(code="MP203", severity="error", message=text, path=f"d/{text}", line=1, accepted=text), path=text
    )
    SARIF.validate(json.loads(renderer("sarif")(odd)))
    json.loads(renderer("gitlab")(odd))
    json.loads(renderer("jsonl")(odd))
    ElementTree.fromstring(renderer("junit")(odd))
    github = renderer("github")(odd).split("\n")
    assert [line.startswith("::error ") for line in github] == [True, False, False]
    rows = [line for line in renderer("markdown")(odd).split("\n") if line.startswith("| refused")]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0].replace("\\\\", ""))) == 7
    renderer("table")(odd)
    renderer("concise")(odd)


def test_markdown_stays_within_a_comment_and_counts_what_it_leaves_out() -> None:
    text = renderer("markdown")(report(*(finding(index, index, message="x" * 200) for index in range(2000))))
    assert len(text) < LIMIT
    left_out = int(re.search(r"(\d+) more are not shown here", text)[1])  # type: ignore[index]
    assert left_out + text.count("| refused |") == 2000


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a|b", "a\\|b"), ("<img>", "&lt;img&gt;"), ("a\nb", "a b"), ("@someone", "&#64;someone"), ("`x`", "\\`x\\`")],
)
def test_cells_show_their_text(text: str, shown: str) -> None:
    assert cell(text) == shown


def test_the_gates_warnings_are_in_every_format_for_people() -> None:
    warned = GateReport(
        outcomes=report(finding(1, 1)).outcomes,
        warnings=(Problem(code="MP164", message="expired", severity="warning"),),
    )
    for name in ("github", "markdown", "sarif", "json"):
        assert "MP164" in renderer(name)(warned), name
