"""What others wrote, fit to be printed: no control characters, no walls of text."""

from unicodedata import category

LONGEST = 600
"""Characters of one message; what is longer holds somebody's file, not a sentence."""

LONGEST_PLACE = 5000
"""The same for a place, since a path may have 4096."""

_SHOWN = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp"})


def printable(text: str, *, lines: bool = False) -> str:
    """The text with what would move a cursor, colour a terminal or turn words around spelled out; `lines` stay."""
    if text.isprintable():
        return text
    return "".join(char if lines and char == "\n" else _shown(char) for char in text)


def _shown(char: str) -> str:
    if category(char) not in _HIDDEN:
        return char
    return _SHOWN.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}")


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, or its two ends where it is longer than a message is."""
    if len(text) <= longest:
        return text
    tail = longest // 3
    return f"{text[: longest - tail]} ... {text[-tail:]}"
