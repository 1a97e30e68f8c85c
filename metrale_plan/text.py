"""The engine's text rules: what it trims, what it reads as a count, and how it quotes a value in an error.

Python's own rules differ (`str.strip` trims U+001C to U+001F, `int` reads `1_0` and non-ASCII digits, `repr` picks its
quotes), so every value the engine would parse goes through here.
"""

U64_MAX = 2**64 - 1
"""The largest count, size or address; the engine's integers are unsigned 64-bit."""

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004"
    "\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode White_Space, complete."""

_U64_DIGITS = len(str(U64_MAX))

_SHORT_ESCAPES = {"\0": "\\0", "\t": "\\t", "\r": "\\r", "\n": "\\n", '"': '\\"', "\\": "\\\\"}

_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs", "Mn", "Me"})

# Other_Grapheme_Extend: what Grapheme_Extend holds beyond the categories Mn and Me, Cf aside.
_OTHER_GRAPHEME_EXTEND = frozenset(
    "\u09be\u09d7\u0b3e\u0b57\u0bbe\u0bd7\u0cc0\u0cc2\u0cc7\u0cc8\u0cca\u0ccb\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf"
    "\u1715\u1734\u1b35\u1b3b\u1b3d\u1b43\u1b44\u1baa\u1bf2\u1bf3\u302e\u302f\ua953\ua9c0\uff9e\uff9f"
    "\U000111c0\U00011235\U0001133e\U0001134d\U00011357\U000113b8\U000113c2\U000113c5\U000113c7\U000113c8\U000113c9"
    "\U000113cf\U000114b0\U000114bd\U000115af\U000116b6\U00011930\U0001193d\U00011f41\U00016ff0\U00016ff1"
    "\U0001d165\U0001d166\U0001d16d\U0001d16e\U0001d16f\U0001d170\U0001d171\U0001d172"
)


def trim(text: str) -> str:
    """`text` without the Unicode white space at its ends."""
    return text.strip(WHITE_SPACE)


def parse_count(text: str) -> int | None:
    """The count `text` spells, or None: ASCII digits after at most one `+`, below 2^64; nothing is trimmed.

    Takes time linear in the text, however many digits it has.
    """
    digits = text[1:] if text.startswith("+") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    significant = digits.lstrip("0")
    if len(significant) > _U64_DIGITS:
        return None
    count = int(significant or "0")
    return count if count <= U64_MAX else None


def quote(text: str) -> str:
    r"""`text` in double quotes, as the engine's error texts show a value.

    Quotes, backslashes, NUL, tab, CR and LF get short escapes; other control, format, private, unassigned and space
    characters and combining marks become `\u{hex}`. Which code points are assigned is the interpreter's Unicode table.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_quoted, text)) + '"'


def _quoted(char: str) -> str:
    from unicodedata import category

    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    if char == " " or not (category(char) in _ESCAPED_CATEGORIES or char in _OTHER_GRAPHEME_EXTEND):
        return char
    return f"\\u{{{ord(char):x}}}"
