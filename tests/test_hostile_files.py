"""Files made to hurt a reader: each is answered quickly, in little memory, by a plan or as bad input."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAD = 'recipe_version: "2"\nmodel: unsloth/Qwen3.8-27B-NVFP4\nruntime: metrale\n'
META = HEAD + "metadata: "
DRAFTS = HEAD + "defaults:\n  num_drafts: "
BOMB = "metadata:\n  a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"  {b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

MOST_CPU_SECONDS = 2.0
"""Twice what any of them takes: a blow-up takes minutes, and a busy machine is no failure."""

MOST_MEMORY = 200 * 2**20

RECIPES = {
    "bomb where a list may stand": HEAD + BOMB + "defaults:\n  lora_adapter: *i\n",
    "bomb as a key": HEAD + BOMB + "*i : 1\n",
    "bomb as the runtime": 'recipe_version: "2"\nmodel: x\n' + BOMB + "runtime: *i\n",
    "defaults within itself": HEAD + "defaults: &d\n  num_drafts: *d\n",
    "document within itself": "&d\n" + HEAD + "env: *d\n",
    "list within itself": HEAD + "defaults:\n  lora_adapter: &l [*l]\n",
    "anchors": HEAD + "metadata:\n" + "".join(f"  a{i}: &a{i} 1\n" for i in range(1900)),
    "too many anchors": HEAD + "metadata:\n" + "".join(f"  a{i}: &a{i} 1\n" for i in range(4000)),
    "brackets within brackets": META + "[" + ("[" * 60 + "]" * 60 + ",") * 400 + "]",
    "single pairs": META + "[" + "? a," * 1990 + "]",
    "too many single pairs": META + "[" + "? a," * 9000 + "]",
    "deep lists": META + "\n " + "- " * 30_000,
    "deep keys": HEAD + "? " * 30_000,
    "deep indents": HEAD + "metadata:\n" + "\n".join(" " * i + "a:" for i in range(1, 340)),
    "documents": HEAD + "---\n" * 16_000,
    "lines": HEAD + "\n" * 60_000,
    "one long word": META + "a" * 60_000,
    "open quote": META + '"' + "a\n " * 20_000,
    "long tag": META + "!<" + "a" * 60_000 + "> x",
    "block of lines": META + "|\n" + " x\n" * 20_000,
    "digits": DRAFTS + "9" * 60_000,
    "hexadecimal digits": DRAFTS + "0x" + "f" * 60_000,
    "octal digits": DRAFTS + "0o" + "7" * 60_000,
    "digits of nodes": HEAD + "max_nodes: " + "9" * 60_000,
    "long key": HEAD + "a" * 900 + ": 1",
    "long variable": HEAD + "env:\n  METRALE_" + "A" * 900 + ': "1"',
    "escape above Unicode": META + '"\\U00110000"',
    "escape above an integer": META + '"\\UFFFFFFFF"',
    "NUL": META + "\0",
    "large": META + "x" * 300_000,
}

FLAGS = {
    "flags": "--num-drafts 3\n" * 4_000,
    "open quote": '"' + "a" * 60_000,
    "continuations": "\\\n" * 30_000 + "met serve x",
    "dollars": "met serve x " + "$" * 60_000,
    "open braces": "met serve x " + "${" * 30_000,
    "open substitutions": "met serve x " + "$(" * 30_000,
    "back quotes": "met serve x " + "`" * 60_001,
    "parentheses": "(" * 60_000 + "met serve x",
    "doubling variable": "A=aa\n" + "A=$A$A\n" * 60 + "met serve x $A",
    "variable of itself": "A=$A\nmet serve x $A",
    "here-documents": "cat <<A\n" * 7_000 + "met serve x",
    "operators": "; " * 30_000 + "met serve x",
    "substitutions within substitutions": "met serve x " + "$(" * 20_000 + ")" * 20_000,
    "defaults within defaults": "met serve x " + "${A:-" * 10_000 + "}" * 10_000,
    "array of arrays": "A=(x x x x x x x x)\n" + 'A=("${A[@]}" "${A[@]}")\n' * 40 + 'met serve "${A[@]}"',
    "texts with a serve": "bash -c 'x serve'\n" * 3_000 + "met serve x",
    "larger than a script": "met serve x\n" + "#" * 2**20,
    "shells within shells": "bash -c '" * 2_000 + "met serve x",
}


MEASURE = """
import os, subprocess, sys
program = subprocess.Popen([sys.executable, "-m", "metrale_plan", *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(program.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
"""
"""A small process in between: the peak of a process starts at its parent's, and that of the tests is large."""


def measured(argv: list[str]) -> tuple[int, float, int, str]:
    """Exit code, CPU seconds, bytes of memory and stderr of one run in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-S", "-c", MEASURE, *argv],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    code, seconds, memory = ran.stdout.split()
    return int(code), float(seconds), int(memory), ran.stderr.decode(errors="replace")


def checked(argv: list[str]) -> None:
    code, seconds, memory, text = measured(argv)
    assert code in (0, 2), text
    assert seconds < MOST_CPU_SECONDS
    assert memory < MOST_MEMORY
    assert len(text) < 4000


@pytest.mark.parametrize("text", RECIPES.values(), ids=RECIPES)
def test_recipe(text: str, tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    path.write_text(text)
    checked(["plan", "--recipe", str(path)])


@pytest.mark.parametrize("text", FLAGS.values(), ids=FLAGS)
def test_flags(text: str, tmp_path: Path) -> None:
    path = tmp_path / "serve.args"
    path.write_text(text)
    checked(["plan", "--args-file", str(path)])


def test_a_file_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    with path.open("wb") as file:
        file.truncate(2**33)
    checked(["plan", "--recipe", str(path)])


def test_what_the_tests_hold_is_not_measured() -> None:
    held = b"x" * MOST_MEMORY
    checked(["--version"])
    del held


def test_what_a_file_holds_moves_no_cursor(tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    path.write_text(
        HEAD.replace("unsloth", "\\e[31m\\u202eun\\nsloth").replace("model: ", 'model: "').replace("NVFP4", 'NVFP4"')
    )
    _, _, _, text = measured(["plan", "--recipe", str(path)])
    assert text.splitlines()[0].isprintable()
    assert r"\x1b[31m\u202eun\nsloth" in text
