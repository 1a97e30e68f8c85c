"""The line reader of plain YAML agrees with the general one on everything it takes, and takes the recipes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from metrale_plan.sources.yaml_lines import compose_lines

RECIPES = sorted((Path(__file__).parent / "data" / "recipes").glob("*.yaml"))


def shape(node: Any) -> Any:
    """Tags, values and lines, whoever made the node."""
    value = node.value if isinstance(node.value, str) else [(shape(key), shape(inner)) for key, inner in node.value]
    line = (
        node.start_mark.line if isinstance(node.value, str) else None
    )  # a mapping's own line is asked of the root only
    return str(node.tag), value, line


def both(text: str) -> None:
    """Whatever the line reader takes, the general one reads the same."""
    mine = compose_lines(text)
    if mine is None:
        return
    theirs = YAML(typ="safe", pure=True).compose(text)
    assert shape(mine) == shape(theirs)
    assert mine.start_mark.line == theirs.start_mark.line


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipes_read_the_same(path: Path) -> None:
    both(path.read_text(encoding="utf-8"))


def test_most_recipes_are_plain() -> None:
    taken = [compose_lines(path.read_text(encoding="utf-8")) is not None for path in RECIPES]
    assert sum(taken) > 0.9 * len(taken)


WORDS = st.sampled_from(
    ["true", "True", "no", "null", "~", "on", "auto", "0", "007", "0x1F", "0o17", "1_000", "1e5", "1.5", ".5", "1.",
     "-1", "+1", "4:3,8:2", "12:30:45", "2026-10-09", "2026-10-09T10:00:00Z", "127.0.0.1", "a:b", "a:", "/x/y", "x,y",
     "1:", "1,2", "0b1", "nan", ".inf", "inf", "=", "<<", "{}", "[]", "{a: 1}", '"q"', "'q'", '"a\\n"', "'it''s'", '"',
     "a b", "a #c", "a#c", "*x", "&x y", "!t x", "|", ">", "- a", "a: b", "", "é", "\t", "@x", "`x`", "%x", "? x"]
)  # fmt: skip
KEYS = st.sampled_from(["a", "b_c", "true", "null", "1", "'q'", '"q"', "a b", "a-b", "<<", "M_X", "", "? a", "- a"])
LINES = st.builds(
    lambda indent, key, colon, word, tail: indent + key + colon + word + tail,
    st.sampled_from(["", "", "", "  ", "  ", "    ", " ", "\t"]),
    KEYS,
    st.sampled_from([": ", ": ", ": ", ":", ":  ", " : ", " "]),
    WORDS,
    st.sampled_from(["", "", "", " ", " # note", "# note", "\r", "\t"]),
)
EXTRAS = st.sampled_from(["", "  ", "# note", "   # note", "---", "...", "%YAML 1.1", "- a", "\t"])


@settings(max_examples=600)
@given(st.lists(st.one_of(LINES, LINES, EXTRAS), max_size=7).map("\n".join))
@example("a:\n  b: 1\nc: 2\n")
@example("a:\n# note\n    b: 1\n    d: x\nc: 2")
@example("a:\n  b: 1\n   c: 2")
@example("a:\n  b: 1\n c: 2")
@example("a:\n  b:\n    c: 1\n")
@example("a:\nb: 1\n")
@example("  a: 1\nb: 2\n")
@example("true: 1\n")
def test_what_it_takes_it_reads_as_the_general_reader_does(text: str) -> None:
    both(text)


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_any_text_is_taken_alike_or_left(text: str) -> None:
    try:
        both(text)
    except YAMLError:
        pytest.fail(f"the general reader refuses {text!r}")


def test_lines_count_from_the_top_of_the_file() -> None:
    root = compose_lines("# first\n\nmodel: x\ndefaults:\n  # note\n  batch: 8\n")
    assert root is not None
    assert isinstance(root.value, list)
    (model, _), (_, defaults) = root.value
    assert (root.start_mark.line, model.start_mark.line) == (2, 2)
    assert isinstance(defaults.value, list)
    assert defaults.value[0][0].start_mark.line == 5
