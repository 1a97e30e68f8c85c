"""The engine's text rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_plan.text import U64_MAX, WHITE_SPACE, parse_count, quote, trim


@given(st.integers(0, U64_MAX), st.sampled_from(["", "+"]), st.integers(0, 30))
def test_a_count_reads_back(count: int, sign: str, zeros: int) -> None:
    assert parse_count(f"{sign}{'0' * zeros}{count}") == count


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "++1",
        "-1",
        "-0",
        "1_0",
        "1,0",
        " 1",
        "1 ",
        "0x1",
        "1e1",
        "\uff14",
        "\u00b2",
        "\u0663",
        str(U64_MAX + 1),
    ],
)
def test_not_a_count(text: str) -> None:
    assert parse_count(text) is None


def test_a_huge_digit_string_is_quick_to_refuse_or_read() -> None:
    assert parse_count("9" * 10_000_000) is None
    assert parse_count("0" * 10_000_000 + "7") == 7


@given(st.text(WHITE_SPACE), st.text(WHITE_SPACE))
def test_trim_takes_unicode_white_space_from_the_ends(before: str, after: str) -> None:
    assert trim(f"{before}a b{after}") == "a b"


@pytest.mark.parametrize("char", ["\x1c", "\x1d", "\x1e", "\x1f", "\u200b", "\ufeff", "\0"])
def test_trim_leaves_what_is_not_white_space(char: str) -> None:
    assert trim(f" {char}1{char} ") == f"{char}1{char}"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("4:3 '", '"4:3 \'"'),
        ('"\\\0\t\r\n', '"\\"\\\\\\0\\t\\r\\n"'),
        ("\x0b\x1f\x7f\x85\xa0\xad", r'"\u{b}\u{1f}\u{7f}\u{85}\u{a0}\u{ad}"'),
        ("\u200d\u2028\u2029\u3000\ufeff", r'"\u{200d}\u{2028}\u{2029}\u{3000}\u{feff}"'),
        ("\ue000\U0010ffff\u0378", r'"\u{e000}\u{10ffff}\u{378}"'),
        ("n\u0303\u20dd\u09be\uff9e\U0001d165", r'"n\u{303}\u{20dd}\u{9be}\u{ff9e}\u{1d165}"'),
        ("a\u0903\udc80", '"a\u0903\\u{dc80}"'),
        ("na\xefve \u0663\U0001f600", '"na\xefve \u0663\U0001f600"'),
    ],
)
def test_quote(text: str, quoted: str) -> None:
    assert quote(text) == quoted
