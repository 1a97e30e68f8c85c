"""Warm turns of the drafter carry: a JSON or TOML case file, or the flags of one turn, -> a Case.

[entry]                    what a finished turn left in the carry slot; leave it out for an empty slot
tokens = [1, 2, 3]         its token ids, or token_count = 3
rows = 2                   drafter rows; one per key up to last_pair_key if left out
last_pair_key = 1          key of the newest row, or "none"; tokens - 2 if left out
session = 7                64 bits, a number or text such as "0x7"; 0 is no session
blocks = [4, 9]            drafter KV blocks, by id

[store]                    the hidden store: owner, lo, hi (half open); nothing stored if left out

[[turn]]                   one request; several replay in order
session = 7
ticket = 2                 the sequence's ticket, from 1
prompt = [1, 2, 3, 4]      its token ids, or prompt_len = 4 and common_prefix = 3
writes = [{start = 2, count = 2}]   hidden rows written before the carry is tried; ticket if another's
leaves = {rows = 3}        what it leaves when it finishes, with the keys of [entry]
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from metrale_plan.carry import StoreRange
from metrale_plan.errors import InputError, Problem
from metrale_plan.explain.carry.case import Case, Left, Tokens, Turn, Write
from metrale_plan.nearest import nearest
from metrale_plan.text import U64_MAX

NOT_A_CASE = "MP260"
WRONG_VALUE = "MP261"
CONTRADICTS = "MP262"
FLAGS_INCOMPLETE = "MP263"
UNLIKELY = "MP264"

MOST_TOKENS = 2**22
"""Most tokens of one turn: four million, far above any served length, few enough to replay at once."""

Where = Callable[..., str]
"""A path of keys and indexes -> "file:line", "file: key" or the flag that gave it."""

CASE_KEYS = ("entry", "store", "turn")
ENTRY_KEYS = ("tokens", "token_count", "rows", "last_pair_key", "session", "blocks")
STORE_KEYS = ("owner", "lo", "hi")
TURN_KEYS = ("session", "ticket", "prompt", "prompt_len", "common_prefix", "writes", "leaves")
WRITE_KEYS = ("start", "count", "ticket")


def read_case(path: str) -> tuple[Case, tuple[Problem, ...]]:
    """The case of a file, and warnings about figures that no engine would hold together.

    Raises:
        InputError: MP201 unreadable, MP202 not TOML, MP260 not JSON or no case, MP261 a wrong key or value, MP262 a
            contradiction; each at its line or key.
    """
    if path.lower().endswith(".json"):
        data, where = _json(path)
    else:
        from metrale_plan.model.toml_source import read_toml

        source = read_toml(path)
        data, where = source.data, source.where
    reader = _Reader(where)
    return reader.case(data), tuple(reader.notes)


def case_of_flags(values: Mapping[str, Any], flags: Mapping[tuple[Any, ...], str]) -> tuple[Case, tuple[Problem, ...]]:
    """The case of one turn given by flags.

    Args:
        values: the same tables as a file holds.
        flags: the flag behind each path, for messages.
    """

    def where(*path: Any) -> str:
        return next((flags[path[:size]] for size in range(len(path), 0, -1) if path[:size] in flags), "--prompt-tokens")

    reader = _Reader(where)
    return reader.case(values), tuple(reader.notes)


def _json(path: str) -> tuple[Any, Where]:
    import json

    from metrale_plan.model.toml_source import read_text

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(NOT_A_CASE, f"{twice} is given twice", where=path)
        return table

    text = read_text(Path(path))
    try:
        data = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InputError(NOT_A_CASE, f"not JSON: {error.msg}", where=f"{path}:{error.lineno}") from None
    except (ValueError, RecursionError):
        raise InputError(NOT_A_CASE, "not JSON: a number or a nesting beyond any limit", where=path) from None

    def where(*keys: Any) -> str:
        dotted = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")
        return f"{path}: {dotted}" if dotted else path

    return data, where


class _Reader:
    """Checks a case's tables and builds the Case; `notes` collects what is odd but can be replayed."""

    def __init__(self, where: Where) -> None:
        self.where = where
        self.notes: list[Problem] = []

    def case(self, data: Any) -> Case:
        if not isinstance(data, Mapping):
            raise InputError(NOT_A_CASE, "a case is a table of entry, store and turn", where=self.where())
        self.known(data, CASE_KEYS, ())
        turns = data.get("turn")
        if not isinstance(turns, list) or not turns:
            raise InputError(
                NOT_A_CASE,
                "a case needs at least one turn",
                where=self.where("turn"),
                accepted='[[turn]] in TOML, "turn": [{...}] in JSON',
            )
        entry = self.left(data["entry"], ("entry",), None) if "entry" in data else None
        store = self.store(data["store"]) if "store" in data else StoreRange.EMPTY
        held = entry.tokens.count if entry is not None and entry.tokens is not None else 0
        known: list[Turn] = []
        for index, raw in enumerate(turns):
            turn = self.turn(raw, ("turn", index), held)
            known.append(turn)
            left = turn.leaves.tokens if turn.leaves is not None else None
            # Without `leaves` the slot may be empty by then; the longest it can hold bounds the common prefix.
            held = left.count if left is not None else turn.prompt.count
        return Case(entry=entry, store=store, turns=tuple(known))

    # Tables

    def turn(self, raw: Any, path: tuple[Any, ...], held: int) -> Turn:
        table = self.table(raw, path, TURN_KEYS)
        prompt = self.prompt(table, path, held)
        writes = table.get("writes", [])
        if not isinstance(writes, list):
            raise self.wrong((*path, "writes"), writes, "a list of {start, count}")
        leaves = self.left(table["leaves"], (*path, "leaves"), prompt.count) if "leaves" in table else None
        return Turn(
            session=self.number(table, "session", path, default=0),
            ticket=self.number(table, "ticket", path, default=1),
            prompt=prompt,
            writes=tuple(self.write(item, (*path, "writes", at)) for at, item in enumerate(writes)),
            leaves=leaves,
        )

    def prompt(self, table: Mapping[str, Any], path: tuple[Any, ...], held: int) -> Tokens:
        if "prompt" in table:
            for key in ("prompt_len", "common_prefix"):
                if key in table:
                    raise InputError(
                        CONTRADICTS,
                        f"{key} beside prompt, which says it",
                        where=self.where(*path, key),
                        accepted="prompt (token ids), or prompt_len with common_prefix",
                    )
            ids = self.tokens(table["prompt"], (*path, "prompt"))
            return Tokens(count=len(ids), ids=ids)
        if "prompt_len" not in table:
            raise InputError(
                WRONG_VALUE,
                "a turn needs its prompt",
                where=self.where(*path),
                accepted="prompt (token ids), or prompt_len with common_prefix",
            )
        count = self.number(table, "prompt_len", path, most=MOST_TOKENS)
        if "common_prefix" not in table and held:
            raise InputError(
                WRONG_VALUE,
                "prompt_len needs common_prefix: how many tokens it shares with the carried ones",
                where=self.where(*path, "prompt_len"),
                accepted=f"common_prefix, 0 to {min(count, held)}",
            )
        common = self.number(table, "common_prefix", path, default=0)
        if common > min(count, held):
            raise InputError(
                CONTRADICTS,
                f"common_prefix {common}, but the prompt has {count} tokens and the slot at most {held}",
                where=self.where(*path, "common_prefix"),
                accepted=f"0 to {min(count, held)}",
            )
        return Tokens(count=count, common=common)

    def left(self, raw: Any, path: tuple[Any, ...], prompt: int | None) -> Left:
        table = self.table(raw, path, ENTRY_KEYS)
        tokens: Tokens | None = None
        if "tokens" in table:
            ids = self.tokens(table["tokens"], (*path, "tokens"))
            tokens = Tokens(count=len(ids), ids=ids)
            if table.get("token_count", len(ids)) != len(ids):
                message = f"token_count {table['token_count']}, but {len(ids)} tokens are listed"
                raise InputError(
                    CONTRADICTS, message, where=self.where(*path, "token_count"), accepted=f"{len(ids)}, or left out"
                )
        elif "token_count" in table:
            tokens = Tokens(count=self.number(table, "token_count", path, most=MOST_TOKENS))
        elif prompt is None:
            raise InputError(
                WRONG_VALUE,
                "an entry needs its tokens",
                where=self.where(*path),
                accepted="tokens (ids) or token_count",
            )
        keyless = "last_pair_key" in table and table["last_pair_key"] in (None, "none")
        key = None if keyless else self.number(table, "last_pair_key", path, default=None)
        rows = self.number(table, "rows", path, default=None)
        blocks = table.get("blocks", [])
        left = Left(
            tokens=tokens,
            rows=rows,
            last_pair_key=key,
            keyless=keyless,
            session=self.number(table, "session", path, default=None if prompt is not None else 0),
            blocks=self.tokens(blocks, (*path, "blocks")),
        )
        self.plausible(left, path, tokens.count if tokens is not None else prompt or 0)
        return left

    def plausible(self, left: Left, path: tuple[Any, ...], count: int) -> None:
        """Warn of figures that no finished turn leaves; the replay takes them all the same."""
        key = count - 2 if left.last_pair_key is None and not left.keyless else left.last_pair_key
        if key is not None and left.last_pair_key is not None and key > count - 2:
            self.note((*path, "last_pair_key"), f"pair key {key} needs {key + 2} tokens, and there are {count}")
        if left.rows is not None and key is not None and left.rows > key + 1:
            self.note((*path, "rows"), f"{left.rows} rows, but keys 0 to {key} make at most {key + 1}")

    def store(self, raw: Any) -> StoreRange:
        path = ("store",)
        table = self.table(raw, path, STORE_KEYS)
        owner, lo, hi = (self.number(table, key, path, default=0) for key in STORE_KEYS)
        if lo > hi:
            self.note((*path, "lo"), f"rows {lo} to {hi} are no range")
        return StoreRange(owner, lo, hi)

    def write(self, raw: Any, path: tuple[Any, ...]) -> Write:
        table = self.table(raw, path, WRITE_KEYS)
        for key in ("start", "count"):
            if key not in table:
                raise InputError(WRONG_VALUE, f"a write needs {key}", where=self.where(*path), accepted="start, count")
        start = self.number(table, "start", path)
        count = self.number(table, "count", path)
        if start + count > U64_MAX:
            raise self.wrong((*path, "count"), count, "a range that ends below 2^64")
        return Write(start=start, count=count, ticket=self.number(table, "ticket", path, default=None))

    # Values

    def table(self, raw: Any, path: tuple[Any, ...], keys: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(raw, Mapping):
            raise self.wrong(path, raw, f"a table of {', '.join(keys)}")
        self.known(raw, keys, path)
        return raw

    def known(self, table: Mapping[str, Any], keys: tuple[str, ...], path: tuple[Any, ...]) -> None:
        for key in table:
            if key not in keys:
                raise InputError(
                    WRONG_VALUE,
                    f"unknown key {key}",
                    where=self.where(*path, key),
                    accepted=", ".join(keys),
                    nearest=nearest(str(key), keys),
                )

    def number(
        self, table: Mapping[str, Any], key: str, path: tuple[Any, ...], *, default: Any = 0, most: int = U64_MAX
    ) -> Any:
        """A count of a table, or `default` where it is left out; a text such as "0x7" counts too."""
        if key not in table:
            return default
        raw = table[key]
        value = _number(raw)
        if value is None or not 0 <= value <= most:
            accepted = f"a whole number, 0 to {most}" if most < U64_MAX else "a whole number below 2^64"
            raise self.wrong((*path, key), raw, accepted + (', or "none"' if key == "last_pair_key" else ""))
        return value

    def tokens(self, raw: Any, path: tuple[Any, ...]) -> tuple[int, ...]:
        accepted = "a list of 32-bit ids"
        if not isinstance(raw, Iterable) or isinstance(raw, (str, Mapping)):
            raise self.wrong(path, raw, accepted)
        ids = tuple(raw)
        if len(ids) > MOST_TOKENS:
            raise self.wrong(path, f"{len(ids)} ids", f"at most {MOST_TOKENS} ids")
        for at, value in enumerate(ids):
            if type(value) is not int or not 0 <= value < 2**32:
                raise self.wrong((*path, at), value, accepted)
        return ids

    def wrong(self, path: tuple[Any, ...], raw: Any, accepted: str) -> InputError:
        name = next((str(key) for key in reversed(path) if isinstance(key, str)), "case")
        shown = repr(raw)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return InputError(WRONG_VALUE, f"{name} is {shown}, not {accepted}", where=self.where(*path), accepted=accepted)

    def note(self, path: tuple[Any, ...], message: str) -> None:
        where = self.where(*path)
        self.notes.append(Problem(code=UNLIKELY, message=message, where=where, severity="warning"))


def _number(raw: Any) -> int | None:
    if type(raw) is int:
        return raw
    if isinstance(raw, str) and len(raw) <= 40 and raw.isascii():
        digits, base = (raw[2:], 16) if raw[:2].lower() == "0x" else (raw, 10)
        if digits.isalnum():
            try:
                return int(digits, base)
            except ValueError:
                return None
    return None
