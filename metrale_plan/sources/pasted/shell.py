"""Shell text -> its commands as words, with what it assigns and exports on the way. Nothing is run.

Quotes, escapes, continuations, comments, here-documents, redirections, operators, variables and arrays are read as a
POSIX shell reads them (arrays as bash does). What only a running shell could tell stays as it is spelled, and the
word says so: see `Token.unknown`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from metrale_plan.errors import InputError
from metrale_plan.sources.tokens import Token

UNREADABLE = "MP239"

LONGEST_VALUE = 64 * 1024
"""What grows longer, such as a variable that doubles itself, counts as not known."""

MOST_ELEMENTS = 4096
"""The same for an array."""

DEEPEST_DEFAULT = 8
"""Defaults within defaults that are followed."""

_CONTINUED = re.compile(r"\\[ \t]+$")
_BLANK = frozenset(" \t\r\v\f")
_ENDS_WORD = frozenset(" \t\r\v\f\n;&|()<>")
_PLAIN = re.compile(r"[^\s\\'\"$`;&|()<>]+")
_IN_QUOTES = re.compile(r"[^\"\\$`]+")
_REDIRECTION = re.compile(r"\d*(?:<<<|<<-?|<>|<&|<|>>|>&|>\||>)|&>>?")
_OPERATOR = re.compile(r"&&|\|\||;;|\|&|[;&|()]")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_PARAMETER = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#])(?:\[([@*])\])?(?:(:?[-=+?])(.*))?", re.DOTALL)

_RESERVED = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "builtin", "command"})

Value = str | tuple[str, ...] | None
"""A variable's text, an array's elements, or None where it is not known."""


class Piece(NamedTuple):
    """Part of a word: text, or with `value` the name or expression of an expansion, spelled as `text`."""

    text: str
    quoted: bool = False
    value: str | None = None


class Word(NamedTuple):
    """A word before expansion; `array` holds the elements of `NAME=(...)`."""

    pieces: tuple[Piece, ...]
    where: str | None
    array: "tuple[Word, ...] | None" = None

    @property
    def start(self) -> str:
        """Its unquoted beginning."""
        first = self.pieces[0] if self.pieces else Piece("")
        return "" if first.quoted or first.value is not None else first.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command that was looked for, and what it stands among.

    Attributes:
        words: after expansion.
        exported: variables that the text exports before it.
        kept: names that the text sets before it and does not export.
        unset: names that the text unsets before it.
        sourced: files that the text reads before it.
    """

    words: tuple[Token, ...]
    exported: tuple[tuple[str, Token], ...]
    kept: frozenset[str]
    unset: frozenset[str]
    sourced: tuple[Token, ...]


def find_commands(
    lines: Iterable[Token],
    wanted: Callable[[Sequence[Token]], bool],
    known: Mapping[str, Value] | None = None,
) -> list[Command]:
    """The commands of a shell text that `wanted` takes.

    Args:
        known: variables and positional parameters that are set before it starts.

    Raises:
        InputError: MP239 for a quote or bracket that nothing closes.
    """
    shell = _Shell(dict(known or {}))
    found: list[Command] = []
    for words in _Reader(list(lines)).commands():
        expanded = shell.take(words)
        if expanded and wanted(expanded):
            found.append(
                Command(
                    words=tuple(expanded),
                    exported=tuple(shell.exported.items()),
                    kept=frozenset(shell.assigned) - frozenset(shell.exported),
                    unset=frozenset(shell.unset),
                    sourced=tuple(shell.sourced),
                )
            )
    return found


class _Reader:
    """Text to commands of words; the place in the text moves as words are read."""

    def __init__(self, lines: Sequence[Token]) -> None:
        self.text = "\n".join(_CONTINUED.sub(r"\\", line.text) for line in lines)
        self.places = [line.where for line in lines]
        self.at = 0
        self.line = 0
        self.documents: list[tuple[str, bool]] = []

    def commands(self) -> Iterator[list[Word]]:
        command: list[Word] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\n":
                self._move(self.at + 1)
                self._skip_documents()
            elif char in _BLANK or self.text.startswith("\\\n", self.at):
                self._move(self.at + (1 if char in _BLANK else 2))
                continue
            elif char == "#":
                end = self.text.find("\n", self.at)
                self._move(len(self.text) if end < 0 else end)
                continue
            elif redirection := _REDIRECTION.match(self.text, self.at):
                self._redirect(redirection)
                continue
            elif operator := _OPERATOR.match(self.text, self.at):
                self._move(operator.end())
            else:
                command.append(self._word())
                continue
            if command:
                yield command
                command = []
        if command:
            yield command

    def _move(self, to: int) -> str:
        """Go on, and give what was passed over."""
        passed = self.text[self.at : to]
        self.line += passed.count("\n")
        self.at = to
        return passed

    @property
    def _place(self) -> str | None:
        return self.places[min(self.line, len(self.places) - 1)] if self.places else None

    def _open(self, what: str, where: str | None) -> InputError:
        return InputError(
            UNREADABLE, f"{what} that nothing closes", where=where, accepted="quotes and brackets in pairs"
        )

    def _redirect(self, match: re.Match[str]) -> None:
        self._move(match.end())
        while self.at < len(self.text) and self.text[self.at] in _BLANK:
            self._move(self.at + 1)
        if self.at >= len(self.text) or self.text[self.at] in _ENDS_WORD:
            return
        target = "".join(piece.text for piece in self._word().pieces)
        if match[0].lstrip("0123456789") in ("<<", "<<-"):
            self.documents.append((target, match[0].endswith("-")))

    def _skip_documents(self) -> None:
        """Pass over the bodies of here-documents."""
        for end, tabs in self.documents:
            while self.at < len(self.text):
                stop = self.text.find("\n", self.at)
                stop = len(self.text) if stop < 0 else stop + 1
                line = self._move(stop).rstrip("\r\n")
                if (line.lstrip("\t") if tabs else line) == end:
                    break
        self.documents.clear()

    def _word(self) -> Word:
        where = self._place
        pieces: list[Piece] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in _ENDS_WORD:
                if char == "(" and len(pieces) == 1 and _ASSIGNED.fullmatch(Word(tuple(pieces), where).start):
                    return Word(tuple(pieces), where, tuple(self._elements()))
                break
            if char == "\\":
                escaped = self._move(self.at + 2)[1:]
                if escaped != "\n":
                    pieces.append(Piece(escaped or "\\", quoted=True))
            elif char == "'":
                pieces.append(Piece(self._single(self.at + 1), quoted=True))
            elif char == '"':
                self._double(pieces)
            elif char == "$":
                self._dollar(pieces, quoted=False)
            elif char == "`":
                self._back_quote(pieces, quoted=False)
            else:
                match = _PLAIN.match(self.text, self.at)
                end = match.end() if match else self.at + 1
                pieces.append(Piece(self._move(end)))
        return Word(tuple(pieces), where)

    def _elements(self) -> Iterator[Word]:
        """Elements of an array, up to its closing bracket."""
        where = self._place
        self._move(self.at + 1)
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == ")":
                self._move(self.at + 1)
                return
            if char in _BLANK or char == "\n":
                self._move(self.at + 1)
            elif char == "#":
                end = self.text.find("\n", self.at)
                self._move(len(self.text) if end < 0 else end)
            elif char in _ENDS_WORD:
                break
            else:
                yield self._word()
        raise self._open("a bracket", where)

    def _single(self, start: int) -> str:
        where, end = self._place, self.text.find("'", start)
        if end < 0:
            raise self._open("a quote", where)
        self._move(end + 1)
        return self.text[start:end]

    def _double(self, pieces: list[Piece]) -> None:
        where = self._place
        self._move(self.at + 1)
        pieces.append(Piece("", quoted=True))
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self._move(self.at + 1)
                return
            self._in_quotes(char, pieces)
        raise self._open("a quote", where)

    def _in_quotes(self, char: str, pieces: list[Piece]) -> None:
        if char == "\\":
            pair = self._move(self.at + 2)
            if pair != "\\\n":
                pieces.append(Piece(pair[1:] if pair[1:] in ("$", "`", '"', "\\") else pair, quoted=True))
        elif char == "$":
            self._dollar(pieces, quoted=True)
        elif char == "`":
            self._back_quote(pieces, quoted=True)
        else:
            match = _IN_QUOTES.match(self.text, self.at)
            pieces.append(Piece(self._move(match.end() if match else self.at + 1), quoted=True))

    def default(self) -> list[Piece]:
        """The whole text, as between double quotes."""
        pieces: list[Piece] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self._move(self.at + 1)
            else:
                self._in_quotes(char, pieces)
        return pieces

    def _dollar(self, pieces: list[Piece], *, quoted: bool) -> None:
        text, start, where = self.text, self.at, self._place
        following = text[start + 1 : start + 2]
        if following in ("{", "("):
            end = self._closing(following, "}" if following == "{" else ")")
            if end is None:
                raise self._open("a bracket", where)
            spelled = self._move(end)
            pieces.append(Piece(spelled, quoted, value=spelled[2:-1] if following == "{" else "$()"))
        elif following == "'" and not quoted:
            inner = self._single(start + 2)
            pieces.append(Piece(inner, True, value="$()") if "\\" in inner else Piece(inner, quoted=True))
        elif following == '"' and not quoted:
            self._move(start + 1)
        elif name := _NAME.match(text, start + 1):
            pieces.append(Piece(self._move(name.end()), quoted, value=name[0]))
        else:
            pieces.append(Piece(self._move(start + 1), quoted))

    def _closing(self, opening: str, closing: str) -> int | None:
        """Where the bracket after a $ ends, brackets within it counted."""
        depth = 0
        for at in range(self.at + 1, len(self.text)):
            char = self.text[at]
            depth += (char == opening) - (char == closing)
            if depth == 0:
                return at + 1
        return None

    def _back_quote(self, pieces: list[Piece], *, quoted: bool) -> None:
        where, end = self._place, self.text.find("`", self.at + 1)
        if end < 0:
            raise self._open("a quote", where)
        pieces.append(Piece(self._move(end + 1), quoted, value="$()"))


@dataclass(slots=True)
class _Shell:
    """What a text has set so far."""

    values: dict[str, Value]
    exported: dict[str, Token] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    unset: set[str] = field(default_factory=set)
    sourced: list[Token] = field(default_factory=list)
    all_exported: bool = False

    def take(self, words: Sequence[Word]) -> list[Token]:
        """One command: note what it sets, and give its words after expansion."""
        while words and words[0].start in _RESERVED and len(words[0].pieces) == 1:
            words = words[1:]
        count = next((at for at, word in enumerate(words) if not _ASSIGNED.match(word.start)), len(words))
        if count == len(words):
            for word in words:
                self._assign(word, export=False)
            return []
        expanded = [self._assignment(word) for word in words[:count]]
        expanded += [token for word in words[count:] for token in self._fields(word)]
        texts = [token.text for token in expanded[count:]]
        name, rest = (texts[0] if texts else ""), words[count + 1 :]
        if name in ("export", "declare", "typeset", "local", "readonly"):
            options = "".join(text[1:] for text in texts[1:] if text.startswith("-"))
            for word in rest:
                self._declare(word, export=name == "export" or "x" in options, drop=name == "export" and "n" in options)
        elif name == "unset":
            for text in texts[1:]:
                self.values.pop(text, None)
                self.exported.pop(text, None)
                self.unset.add(text)
        elif name == "set":
            flags = " ".join(texts[1:])
            self.all_exported |= bool(re.search(r"(^| )(-[a-z]*a|-o allexport)", flags))
            self.all_exported &= not re.search(r"(^| )(\+[a-z]*a|\+o allexport)", flags)
        elif name in ("source", ".") and len(texts) > 1:
            self.sourced.append(expanded[count + 1])
        return expanded

    def _declare(self, word: Word, *, export: bool, drop: bool) -> None:
        if _ASSIGNED.match(word.start):
            self._assign(word, export=export and not drop)
            return
        for token in self._fields(word):
            if drop:
                self.exported.pop(token.text, None)
            elif export:
                self.marked.add(token.text)
                if token.text in self.assigned:
                    self._export(token.text, token.where)

    def _assign(self, word: Word, *, export: bool) -> None:
        match = _ASSIGNED.match(word.start)
        assert match is not None
        name, adds = match[1], bool(match[2])
        value: Value
        if word.array is not None:
            elements = [token for element in word.array for token in self._fields(element)]
            known = len(elements) <= MOST_ELEMENTS and not any(token.unknown for token in elements)
            value = tuple(token.text for token in elements) if known else None
        else:
            first = word.pieces[0]._replace(text=word.start[match.end() :])
            value = self._joined((first, *word.pieces[1:]))
        self.values[name] = _added(self.values.get(name, ""), value) if adds else value
        self.assigned.add(name)
        self.unset.discard(name)
        if export or self.all_exported or name in self.exported or name in self.marked:
            self._export(name, word.where)

    def _assignment(self, word: Word) -> Token:
        """A `NAME=value` in front of a command, whose value is not split."""
        value = self._joined(word.pieces)
        spelled = "".join(piece.text for piece in word.pieces)
        return Token(spelled if value is None else value, word.where, spelled if value is None else None)

    def _export(self, name: str, where: str | None) -> None:
        value = self.values[name]
        text = value if isinstance(value, str) else "" if value is None else " ".join(value)
        self.exported[name] = Token(text, where, f"${name}" if value is None else None)

    def _fields(self, word: Word) -> list[Token]:
        """A word's words: an expansion without quotes gives none, one or several."""
        if word.array is not None:
            return [Token(word.start, word.where)]
        fields: list[str] = []
        current: str | None = None
        unknown: str | None = None
        for piece in word.pieces:
            value = piece.text if piece.value is None else self._value(piece.value)
            if value is None:
                unknown, value = unknown or piece.text, piece.text
                current = (current or "") + value
            elif isinstance(value, str) and (piece.quoted or piece.value is None):
                current = (current or "") + value
            else:
                parts = value.split() if isinstance(value, str) else list(value)
                for at, part in enumerate(parts):
                    if at and current is not None:
                        fields.append(current)
                        current = None
                    current = (current or "") + part
        if current is not None:
            fields.append(current)
        if word.pieces and _only_array(word):
            fields = fields if any(fields) else []
        return [Token(text, word.where, unknown) for text in fields]

    def _joined(self, pieces: Iterable[Piece], depth: int = 0) -> str | None:
        """The pieces as one text, as an assignment takes them; None where one is not known."""
        parts: list[str] = []
        for piece in pieces:
            value = piece.text if piece.value is None else self._value(piece.value, depth)
            if value is None:
                return None
            parts.append(value if isinstance(value, str) else " ".join(value))
        text = "".join(parts)
        return text if len(text) <= LONGEST_VALUE else None

    def _value(self, expression: str, depth: int = 0) -> Value:
        """What an expansion stands for."""
        match = _PARAMETER.fullmatch(expression)
        if match is None or depth > DEEPEST_DEFAULT:
            return None
        name, all_of, way, default = match[1], match[2], match[3] or "", match[4] or ""
        if name in ("@", "*"):
            return self.values.get("@", ())
        value, there = self.values.get(name), name in self.values
        if isinstance(value, tuple) and not all_of:
            value = value[0] if value else ""
        elif isinstance(value, str) and all_of:
            value = (value,)
        lacking = not there or (way.startswith(":") and value in ("", ()))
        if way[-1:] in ("-", "=") and lacking:
            return self._joined(_Reader([Token(default)]).default(), depth + 1)
        if way[-1:] == "+":
            return "" if lacking else self._joined(_Reader([Token(default)]).default(), depth + 1)
        return value


def _only_array(word: Word) -> bool:
    """Whether a word is nothing but `"$@"` or `"${NAME[@]}"`, which gives no word where it is empty."""
    values = [piece for piece in word.pieces if piece.value is not None]
    others = "".join(piece.text for piece in word.pieces if piece.value is None)
    return len(values) == 1 and not others and (values[0].value == "@" or str(values[0].value).endswith("[@]"))


def _added(before: Value, more: Value) -> Value:
    """What `NAME+=` leaves."""
    if before is None or more is None:
        return None
    if isinstance(before, str) and isinstance(more, str):
        text = before + more
        return text if len(text) <= LONGEST_VALUE else None
    first = before if isinstance(before, tuple) else (before,) if before else ()
    elements = (*first, *(more if isinstance(more, tuple) else (more,)))
    return elements if len(elements) <= MOST_ELEMENTS else None
