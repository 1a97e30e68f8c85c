"""`doctor`, and `preflight` over recordings: the whole way from a file to exit code, screen and JSON."""

import getpass
import json
import platform
import re
from pathlib import Path
from typing import Any

import pytest
from cli import cli, cli_json
from recordings import FOLDER, path_of

from metrale_plan.findings import largest_utilization_below
from metrale_plan.units import GIB, MIB

M27 = "qwen3.8-27b"
BLOB = 48 * (3 * MIB + 160 * 1024)
"""One Marconi snapshot of that model, 151.5 MiB."""

UNREADABLE = {
    "no_cupy": "MP301",
    "no_driver": "MP302",
    "old_driver": "MP302",
    "hidden": "MP303",
    "h100_exclusive": "MP314",
    "h100_prohibited": "MP314",
    "h100_free_above_total": "MP310",
    "h100_zero_total": "MP310",
    "h100_does_not_add_up": "MP310",
}
NAMES = sorted(path.stem.removeprefix("synthetic_") for path in FOLDER.iterdir())


def preflight(name: str, *more: str) -> Any:
    return cli_json("preflight", M27, "--stage", "reserve", "--probe", path_of(name), *more)


def codes(document: Any) -> list[str]:
    return [warning["code"] for warning in document["warnings"]]


def needing(name: str, need: int) -> list[str]:
    """Flags under which the reserve on a recording's GPU takes at least `need`, and less than a snapshot more."""
    flags = ["--enable-prefix-caching", "--ssm-decode-ring-slots", "0", "--ssm-cache-slots"]
    bare: int = preflight(name, *flags, "0")["reserve"]["total"]
    return [*flags, str(-(-(need - bare) // BLOB))]


@pytest.mark.parametrize(("need", "fits"), [(40, True), (53, False)])
def test_page_cache_on_shared_memory(need: int, fits: bool) -> None:
    document = preflight("gb10_page_cache", *needing("gb10_page_cache", need * GIB))
    assert need * GIB <= document["verdict"]["need"] < need * GIB + BLOB
    assert document["verdict"]["fits"] is fits and document["exit_code"] == (0 if fits else 1)
    memory = document["memory"]
    assert (memory["source"], memory["device"], memory["unified"]) == ("recording", "NVIDIA GB10", True)
    assert memory["free"] == 52 * GIB and memory["driver_free"] == int(2.77 * GIB)
    assert any("2.77 GiB" in note and "52.00 GiB" in note and "MemAvailable" in note for note in memory["notes"])


@pytest.mark.parametrize("name", ["two_numberings_one", "two_numberings_both"])
def test_two_numberings_of_gpus(name: str) -> None:
    flags = needing(name, 12 * GIB)
    document = preflight(name, *flags)
    assert document["exit_code"] == 1 and document["memory"]["device"] == "NVIDIA GeForce RTX 3080"
    refused = cli("preflight", M27, "--stage", "reserve", "--probe", path_of(name), *flags)
    assert refused.code == 1
    assert "DOES NOT FIT" in refused.out and "NVIDIA GeForce RTX 3080" in refused.out and "5090" not in refused.out


@pytest.mark.parametrize(
    ("free", "named", "not_named"),
    [("101.8GiB", ("0.83 (101.00 GiB)", "105.87 GiB"), "0.84"), ("52GiB", ("0.42",), "0.43")],
)
def test_a_utilization_above_what_is_free(free: str, named: tuple[str, ...], not_named: str) -> None:
    flags = ["--total-memory", "121.69GiB", "--free-memory", free, "--gpu-memory-utilization", "0.87"]
    document = cli_json("preflight", M27, *flags)
    (warning,) = [warning for warning in document["warnings"] if warning["code"] == "MP150"]
    assert warning["severity"] == "warning"
    assert all(word in warning["message"] for word in named) and not_named not in warning["message"]
    assert cli("preflight", M27, *flags, "--fail-on-warning").code == 4


def test_a_utilization_below_what_is_free_says_nothing() -> None:
    flags = ["--total-memory", "121.69GiB", "--free-memory", "101.8GiB", "--gpu-memory-utilization"]
    assert "MP150" not in codes(cli_json("preflight", M27, *flags, "0.83"))
    assert "MP150" in codes(cli_json("preflight", M27, *flags, "0.84"))


@pytest.mark.parametrize(
    ("free", "total", "part"), [(101, 100, 100), (100, 100, 99), (1, 1000, None), (0, 100, None), (11, 1000, 1)]
)
def test_the_largest_utilization_is_strictly_below(free: int, total: int, part: int | None) -> None:
    assert largest_utilization_below(free, total) == part


def test_inside_the_floor_is_a_warning_and_nothing_else() -> None:
    flags = needing("gb10_page_cache", 45 * GIB)
    inside = preflight("gb10_page_cache", *flags)
    assert inside["verdict"]["fits"] is True and inside["exit_code"] == 0
    assert "MP311" in codes(inside) and inside["memory"]["floor"] == 8 * GIB
    lower = preflight("gb10_page_cache", *flags, "--unified-floor", "4GiB")
    assert "MP311" not in codes(lower) and lower["memory"]["floor"] == 4 * GIB
    assert any(note.startswith("4.00 GiB of the shared memory") for note in lower["memory"]["notes"])
    assert preflight("h100_held", "--unified-floor", "99GiB")["memory"]["floor"] is None


def test_a_stated_figure_has_no_floor_unless_asked() -> None:
    stated = cli_json("preflight", M27, "--device", "gb10")
    assert stated["memory"]["floor"] is None and stated["memory"]["ordinal"] is None
    asked = cli_json("preflight", M27, "--device", "gb10", "--unified-floor", "120GiB")
    assert "MP311" in codes(asked)


def test_who_holds_the_memory_is_in_the_refusal() -> None:
    flags = ["--max-batch-size", "32", "--speculative"]
    outcome = cli("preflight", M27, *flags, "--probe", path_of("h100_held"))
    assert outcome.code == 1
    assert "held by: met (pid 900) 61,440 MiB; Xorg (pid 901) an amount that is not told" in outcome.out
    holders = preflight("h100_held", *flags)["memory"]["holders"]
    assert holders[0] == {"pid": 900, "name": "met", "bytes": 60 * GIB}


def test_a_full_gpu_is_a_certain_no() -> None:
    document = preflight("h100_full")
    assert document["exit_code"] == 1 and document["verdict"]["free"] == 0
    assert "MP316" in codes(document)


@pytest.mark.parametrize(("name", "code"), sorted(UNREADABLE.items()))
def test_what_cannot_be_told_is_exit_three(name: str, code: str) -> None:
    document = preflight(name)
    assert document["exit_code"] == 3 and document["error"]["code"] == code
    assert document["memory"]["source"] == "none" and document["memory"]["free"] is None
    assert document["memory"]["sources"]


def test_a_stated_free_figure_stands_beside_a_recordings_total() -> None:
    document = preflight("h100_exclusive", "--free-memory", "70GiB")
    assert document["exit_code"] == 0
    memory = document["memory"]
    assert (memory["source"], memory["free"], memory["total"]) == ("flag", 70 * GIB, 84_929_740_800)


def test_what_was_read_of_free_memory_is_no_concern_where_it_is_stated() -> None:
    for name in ("h100_full", "h100_moving"):
        document = preflight(name, "--free-memory", "79GiB", "--gpu-memory-utilization", "0.5", "--fail-on-warning")
        assert document["exit_code"] == 0 and document["memory"]["free"] == 79 * GIB
    shared = preflight("gb10_page_cache", "--free-memory", "60GiB")["memory"]
    assert shared["floor"] is None and not any("MemAvailable" in note for note in shared["notes"])
    assert shared["driver_free"] == int(2.77 * GIB)
    two = preflight("two_numberings_one", "--free-memory", "9GiB")["memory"]["notes"]
    assert any("NVML numbers 1" in note for note in two)


def test_a_stated_free_figure_above_the_total_read_is_said() -> None:
    document = preflight("h100_held", "--free-memory", "900GiB")
    (warning,) = [warning for warning in document["warnings"] if warning["code"] == "MP320"]
    assert "900.00 GiB is more than the total of 79.10 GiB" in warning["message"]


@pytest.mark.parametrize("name", ["h100_free_above_total", "h100_zero_total", "h100_does_not_add_up"])
def test_the_total_of_a_contradiction_counts_no_more_than_the_rest(name: str) -> None:
    document = preflight(name, "--free-memory", "70GiB")
    assert document["exit_code"] == 3 and document["error"]["code"] == "MP310"


@pytest.mark.parametrize("command", [("preflight", M27), ("doctor",)])
@pytest.mark.parametrize("flags", [("--samples", "0"), ("--samples", "5"), ("--over", "1 parsec"), ("--over", "5s")])
def test_samples_of_a_recording_are_taken_already(command: tuple[str, ...], flags: tuple[str, str]) -> None:
    document = cli_json(*command, "--probe", path_of("h100_held"), *flags)
    assert (document["exit_code"], document["error"]["code"]) == (2, "MP220")
    assert document["error"]["where"] == flags[0]


@pytest.mark.parametrize("over", ["25h", "999999999h"])
def test_samples_are_spread_over_a_day_at_most(over: str) -> None:
    for command in (("preflight", M27), ("doctor",)):
        document = cli_json(*command, "--over", over)
        assert (document["exit_code"], document["error"]["accepted"]) == (2, "at most 24h")


def test_nothing_in_a_recording_steers_a_terminal(tmp_path: Path) -> None:
    data = json.loads(Path(path_of("h100_held")).read_text(encoding="utf-8"))
    data["cuda"]["devices"][0]["properties"]["name"] = "GPU\x1b[2J\nFITS\x9b31m"
    data["nvml"]["devices"][0]["processes"][0]["name"] = "met\x07\nheld by: nobody"
    data["packages"], data["read_at"] = ["cupy\x1b]0;x\x07"], "now\x08"
    file = tmp_path / "recording.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    commands = [("doctor",), ("preflight", M27, "--max-batch-size", "128"), ("doctor", "--color", "always")]
    for command in commands:
        outcome = cli(*command, "--probe", str(file))
        printed = re.sub(r"\x1b\[[0-9;]*m", "", outcome.out) if "--color" in command else outcome.out
        assert outcome.out and all(c.isprintable() or c == "\n" for c in printed + outcome.err)
        assert "GPU\\x1b[2J FITS\\x9b31m" in outcome.err


@pytest.mark.parametrize("other", [("--device", "gb10"), ("--total-memory", "80GiB")])
def test_a_recording_beside_a_stated_device_is_refused(other: tuple[str, str]) -> None:
    document = preflight("h100_held", *other)
    assert document["exit_code"] == 2 and other[0] in document["error"]["message"]


@pytest.mark.parametrize(
    ("flags", "where"),
    [
        (("--samples", "0"), "--samples"),
        (("--over", "10"), "--over"),
        (("--over", "1 year"), "--over"),
        (("--unified-floor", "8"), "--unified-floor"),
        (("--probe", "no-such-file"), "no-such-file"),
    ],
)
def test_bad_reading_options_are_exit_two(flags: tuple[str, ...], where: str) -> None:
    document = cli_json("preflight", M27, *flags)
    assert document["exit_code"] == 2 and document["error"]["where"] == where


def test_reading_options_belong_before_the_serve_command() -> None:
    for flag in ("--probe", "--samples", "--over", "--unified-floor"):
        outcome = cli("preflight", M27, "--", "met", "serve", "x/y", flag, "1")
        assert outcome.code == 2 and "MP213" in outcome.err


@pytest.mark.parametrize("name", NAMES)
def test_doctor_reports_every_recording(name: str) -> None:
    document = cli_json("doctor", "--probe", path_of(name))
    code = UNREADABLE.get(name)
    assert document["exit_code"] == (3 if code else 0)
    assert (document["error"] or {}).get("code") == code
    assert set(document) == {"schema", "command", "exit_code", "warnings", "error", "doctor"}
    found = document["doctor"]
    (gpu,) = found["gpus"]
    assert gpu["chosen"] == (code is None) == (gpu["refused"] is None)
    assert {source["source"] for source in gpu["memory"]["sources"]} == {"cuda", "nvml", "host"}
    outcome = cli("doctor", "--probe", path_of(name), env={"COLUMNS": "80"})
    assert outcome.code == document["exit_code"]
    assert outcome.out.startswith("NO MEMORY FIGURE" if code else "MEMORY CAN BE READ")
    assert "GPU 0" in outcome.out and max(map(len, outcome.out.splitlines())) <= 80


def test_doctor_says_why_and_by_which_figure() -> None:
    out = cli("doctor", "--probe", path_of("gb10_page_cache")).out
    for words in (
        "cuda said",
        "nvml said",
        "host said",
        "chosen",
        "52.00 GiB free of 121.69 GiB",
        "class         gb10",
        "8.00 GiB should stay free",
    ):
        assert words in out


def test_doctor_on_this_machine_keeps_its_names_out(tmp_path: Path) -> None:
    file = tmp_path / "recording.json"
    live = cli_json("doctor", "--record", str(file))
    assert live["exit_code"] in (0, 3) and live["doctor"]["source"] == "live"
    recorded = file.read_text(encoding="utf-8")
    said = json.dumps(live) + recorded
    assert f'"{platform.node()}"' not in said and str(Path.home()) + "/" not in said
    assert getpass.getuser() not in json.loads(recorded)["environment"].values()
    replayed = cli_json("doctor", "--probe", str(file))
    assert replayed["exit_code"] == live["exit_code"]
    gpus = [{**gpu, "memory": {**gpu["memory"], "source": None}} for gpu in live["doctor"]["gpus"]]
    again = [{**gpu, "memory": {**gpu["memory"], "source": None}} for gpu in replayed["doctor"]["gpus"]]
    assert again == gpus
    assert cli("doctor", "--record", str(file)).code == 2
    assert file.read_text(encoding="utf-8") == recorded


def test_doctor_asks_for_one_gpu_or_all() -> None:
    one = cli_json("doctor", "--probe", path_of("two_numberings_one"), "--gpu-ordinal", "1")
    assert one["exit_code"] == 3 and one["error"]["code"] == "MP303"
    both = cli("doctor", "--probe", path_of("h100_held"), "--record", "x")
    assert both.code == 2 and not Path("x").exists()


@pytest.mark.parametrize("command", ["doctor", "models", "devices", "schema", "import", "explain"])
def test_a_serve_after_a_command_that_plans_nothing_is_refused(command: str) -> None:
    document = cli_json(command, "--", "met", "serve", "x/y")
    assert (document["exit_code"], document["error"]["code"], document["error"]["where"]) == (2, "MP220", "--")


def test_doctor_says_two_cupy_packages_plainly() -> None:
    outcome = cli("doctor", "--probe", path_of("h100_both_cupy"))
    assert outcome.code == 0
    assert "cupy-cuda12x 14.2.0 and cupy-cuda13x 14.2.0 (they overwrite each other's files)" in outcome.out
    assert "warning[MP307]" in outcome.err
