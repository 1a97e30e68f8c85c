"""What the gate writes where: several formats at once, files that cannot be written, and texts that mean harm."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli import cli, cli_json
from gate import GOOD, OTHER, REFUSED, WARNED, statuses, write

from metrale_plan import checking
from metrale_plan.render.gate import FORMATS
from metrale_plan.render.json_text import json_text

HOSTILE = '"a\\e[31m|`x`\\n::error file=x::pwn\\r\\n##[error]y <b>]]>&\\0 @me %0A"'


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, a=GOOD)
    return tmp_path


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_lets_a_value_or_a_name_steer_a_terminal(inside: Path, name: str) -> None:
    write(inside, **{"r/\x1b[31m\n::x ##[error].yaml": GOOD + f"  {HOSTILE}: 8\n"})
    run = cli("check", "r", "--format", name, "--output", f"{name}=out")
    assert run.code == 2
    for text in (run.out, (inside / "out").read_text()):
        assert "MP232" in text or name == "table"
        assert not any(char < " " and char not in "\n\r" for char in text)
        if name == "junit":
            assert ElementTree.fromstring(text).tag == "testsuites"
        elif name in ("github", "concise"):
            assert len(text.splitlines()) == 2


@pytest.mark.parametrize("name", ["json", "jsonl", "gitlab", "sarif"])
def test_bytes_that_are_no_text_make_json_that_strict_readers_take(inside: Path, name: str) -> None:
    (inside / "r").mkdir()
    (inside / b"r/a\xff.yaml".decode("utf-8", "surrogateescape")).write_text("recipe_version: [\n")
    text = cli("check", "r", "--format", name).out
    assert "\\ufffd" in text or name == "sarif"
    for line in text.splitlines() if name == "jsonl" else [text]:
        json.dumps(json.loads(line), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\udcff", "\\ufffd"),
        ("\ud83d\ude00", "\\ud83d\\ude00"),
        ("\ud83d\ud83d\ude00\udc00", "\\ufffd\\ud83d\\ude00\\ufffd"),
        ("\\ud83d", "\\\\ud83d"),
        ("\\\udcff", "\\\\\\ufffd"),
    ],
)
def test_lone_surrogates_alone_are_replaced(given: str, shown: str) -> None:
    assert json_text([given]) == f'["{shown}"]'


def test_junit_says_when_nothing_was_checked(inside: Path) -> None:
    write(inside, r__other=OTHER)
    root = ElementTree.fromstring(cli("check", "r", "--format", "junit").out)
    assert (root.get("tests"), root.get("errors"), root.get("skipped")) == ("2", "1", "1")
    assert len(root.findall("*/testcase")) == 2
    assert [error.get("type") for error in root.iter("error")] == ["MP272"]


def test_a_file_that_cannot_be_written_leaves_the_others_as_they_were(inside: Path) -> None:
    (inside / "old.xml").write_text("old")
    run = cli("check", "a.yaml", "--output", "junit=old.xml", "--output", "sarif=new", "--output", "json=no/folder")
    assert (run.code, run.out) == (2, "")
    assert "no/folder cannot be written" in run.err
    assert (inside / "old.xml").read_text() == "old"
    assert not (inside / "new").exists()
    for _ in range(2):
        assert cli("check", "a.yaml", "--output", "junit=old.xml").code == 0
    assert ElementTree.parse(inside / "old.xml").getroot().get("tests") == "1"


def test_one_file_by_two_names_is_refused(inside: Path) -> None:
    run = cli("check", "a.yaml", "--output", "junit=x", "--output", f"sarif={inside}/x")
    assert (run.code, "MP274" in run.err, (inside / "x").exists()) == (2, True, False)


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_stdout_by_any_name_is_one_stream(name: str) -> None:
    run = cli("check", "a.yaml", "--format", "json", "--output", f"json={name}")
    assert (run.code, run.json["exit_code"]) == (0, 0)
    assert cli("check", "a.yaml", "--format", "json", "--output", f"junit={name}").json["error"]["code"] == "MP274"


def test_a_folded_title_shows_the_name_as_it_is(inside: Path) -> None:
    write(inside, o__my_x=GOOD, n__my_x=REFUSED, o__other=GOOD, n__other=GOOD)
    text = cli("diff", "o", "n", "--format", "markdown").out
    assert "<summary>my_x.yaml on gb10:" in text
    assert "| my\\_x.yaml (changed) |" in text


EXPIRED = '[[policy.ignore]]\ncode = "MP217"\nreason = "x"\nexpires = 2026-01-01\n'


@pytest.mark.parametrize(
    ("policy", "flags", "code"),
    [
        (EXPIRED, [], 0),
        (EXPIRED, ["--fail-on-warning"], 4),
        ('[policy]\nwarnings_as_errors = ["MP164"]\n' + EXPIRED, ["--fail-on-warning"], 1),
        ('[policy]\nwarnings_as_errors = ["all"]\n' + EXPIRED, [], 1),
    ],
)
def test_an_expired_entry_counts_as_the_warning_it_is(inside: Path, policy: str, flags: list[str], code: int) -> None:
    (inside / "metrale-plan.toml").write_text(policy)
    document = cli_json("check", "a.yaml", "--today", "2026-01-02", *flags)
    assert (document["exit_code"], document["warnings"][0]["code"]) == (code, "MP164")
    assert cli_json("check", "a.yaml", "--today", "2026-01-01", *flags)["exit_code"] == 0


@pytest.mark.parametrize(
    ("policy", "where"),
    [
        ('[policy]\nforbidden_variables = ["METRALE_A",\n "METRALE_*_X"]\n', 3),
        (EXPIRED.replace('"x"', '" "'), 3),
        (EXPIRED.replace("MP217", "MP101"), 2),
    ],
)
def test_a_policy_that_could_never_work_is_refused(inside: Path, policy: str, where: int) -> None:
    (inside / "metrale-plan.toml").write_text(policy)
    error = cli_json("check", "a.yaml")["error"]
    assert (error["code"], error["where"]) == ("MP271", f"metrale-plan.toml:{where}")


def test_a_device_named_twice_is_one_device(inside: Path) -> None:
    once = [("a.yaml", "gb10", "pass", 0)]
    assert statuses(cli_json("check", "a.yaml", "--device", "gb10", "--device", "gb10")) == once
    (inside / "metrale-plan.toml").write_text('devices = ["gb10", "gb10"]\n')
    assert statuses(cli_json("check", "a.yaml")) == once


def test_a_config_and_none_is_a_contradiction() -> None:
    assert cli_json("check", "a.yaml", "--config", "x.toml", "--no-config")["error"]["code"] == "MP220"


def test_a_system_that_cannot_share_the_work_does_it_alone(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for index in range(70):
        write(inside, **{f"r__{index:02}": WARNED if index % 2 else GOOD})
    alone = cli_json("check", "r", "--jobs", "1")
    assert cli_json("check", "r", "--jobs", "5000") == alone

    def refused(*_args: object, **_named: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", refused)
    assert checking.PARALLEL_FROM > 70
    assert cli_json("check", "r", "--jobs", "2") == alone


@pytest.mark.parametrize("command", ["check", "diff", "plan", "nope"])
@pytest.mark.parametrize("flag", ["--color", "--output", "--format"])
def test_a_forgotten_value_does_not_swallow_the_format(command: str, flag: str) -> None:
    run = cli(command, "a.yaml", flag, "--format", "json")
    assert run.code == run.json["exit_code"] == 2
