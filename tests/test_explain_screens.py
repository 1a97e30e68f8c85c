"""Every explain command reads well at 60, 80 and 200 columns, piped, in colour, and without UTF-8."""

import io
import re

import pytest
from cli import cli

from metrale_plan._entry import run

CARRY = ("--carried-tokens", "12000", "--prompt-tokens", "12600", "--common-prefix", "11900", "--stored", "11950:12600")
SCREENS = {
    "ladder": ("explain-ladder",),
    "ladder of the 27b": (
        *("explain-ladder", "qwen3.8-27b", "--speculative", "--num-drafts", "3", "--max-batch-size", "128"),
        *("--against", "4:1,8:3,24:2"),
    ),
    "dflash": ("explain-ladder", "qwen3.8-27b", "--dflash", "--dflash-gamma", "8"),
    "ring": ("explain-ring", "qwen3.8-27b", "--max-batch-size", "32", "--free-memory", "40GiB"),
    "marconi": ("explain-marconi", "glm-5.3-flash", "--enable-prefix-caching", "--rules", "2026-10-02"),
    "carry": ("explain-carry", "qwen3.8-27b", "--speculative", "--mtp-max-seqs", "1", *CARRY),
    "order": ("explain-carry",),
    "code": ("explain", "MP101"),
}
NAMES = sorted(SCREENS)


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_asked(name: str, width: int) -> None:
    outcome = cli(*SCREENS[name], env={"COLUMNS": str(width)})
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert len(lines) > 3
    assert [line for line in lines if len(line) > width] == []
    assert "\x1b" not in outcome.out


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("name", NAMES)
def test_in_colour_it_says_the_same(name: str, width: int) -> None:
    env = {"COLUMNS": str(width)}
    coloured = cli(*SCREENS[name], "--color", "always", env=env)
    plain = cli(*SCREENS[name], env=env)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured.out)
    assert [line for line in bare.splitlines() if len(line) > width] == []
    figures = r"[0-9][0-9,.]*"
    assert set(re.findall(figures, bare)) >= set(re.findall(figures, plain.out))


@pytest.mark.parametrize("name", NAMES)
def test_a_dumb_terminal_has_its_width_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    out = cli(*SCREENS[name], "--color", "always", env={"COLUMNS": "60", "TERM": "dumb"}).out
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert [line for line in bare.splitlines() if len(line) > 60] == []


@pytest.mark.parametrize("width", range(40, 100))
def test_no_mark_of_a_legend_ends_a_line(width: int) -> None:
    for name in ("ladder of the 27b", "carry"):
        for line in cli(*SCREENS[name], env={"COLUMNS": str(width)}).out.splitlines():
            assert not re.search(r"[;,:] [#+x:=.~]$", line)


@pytest.mark.parametrize("color", ["never", "always"])
@pytest.mark.parametrize("name", NAMES)
def test_without_utf8_nothing_is_lost(name: str, color: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    assert run([*SCREENS[name], "--color", color], {"COLUMNS": "80"}, out, io.StringIO()) == 0
    assert b"?" not in raw.getvalue()
    assert len(raw.getvalue()) > 100
