"""The flags of one warm turn -> the tables that a case file holds."""

from dataclasses import dataclass, fields
from typing import Any

from metrale_plan.errors import InputError, Problem
from metrale_plan.explain.carry.case import Case
from metrale_plan.sources.carry_case import FLAGS_INCOMPLETE, case_of_flags, read_case


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFlags:
    """Texts of the flags that describe one turn."""

    prompt_tokens: str | None = None
    common_prefix: str | None = None
    session: str | None = None
    ticket: str | None = None
    carried_tokens: str | None = None
    carried_rows: str | None = None
    carried_key: str | None = None
    carried_session: str | None = None
    stored: str | None = None
    stored_owner: str | None = None

    def given(self) -> list[str]:
        """The flags that were given, as they are spelled."""
        return [f"--{item.name.replace('_', '-')}" for item in fields(self) if getattr(self, item.name) is not None]


PATHS: dict[tuple[Any, ...], str] = {
    ("turn", 0, "prompt_len"): "--prompt-tokens",
    ("turn", 0, "common_prefix"): "--common-prefix",
    ("turn", 0, "session"): "--session",
    ("turn", 0, "ticket"): "--ticket",
    ("entry", "token_count"): "--carried-tokens",
    ("entry", "rows"): "--carried-rows",
    ("entry", "last_pair_key"): "--carried-key",
    ("entry", "session"): "--carried-session",
    ("store", "lo"): "--stored",
    ("store", "hi"): "--stored",
    ("store", "owner"): "--stored-owner",
}


def read_turns(path: str | None, flags: TurnFlags) -> tuple[Case | None, tuple[Problem, ...]]:
    """The turns of a case file or of the flags; None when neither was given.

    Session and ticket may be left out: the turn is then of the carried session, and the stored rows are its own.

    Raises:
        InputError: both, a turn without its prompt, or what `read_case` refuses.
    """
    given = flags.given()
    if path is not None:
        if given:
            raise InputError(
                FLAGS_INCOMPLETE,
                f"--case holds the turns, and {given[0]} describes another",
                where=given[0],
                accepted="--case, or the flags of one turn",
            )
        return read_case(path)
    if not given:
        return None, ()
    if flags.prompt_tokens is None:
        raise InputError(
            FLAGS_INCOMPLETE,
            f"{given[0]} describes a turn, which needs its prompt",
            where=given[0],
            accepted="--prompt-tokens N, with --common-prefix N where something is carried",
        )
    return case_of_flags(_tables(flags), PATHS)


def _tables(flags: TurnFlags) -> dict[str, Any]:
    carried = {
        "token_count": flags.carried_tokens,
        "rows": flags.carried_rows,
        "last_pair_key": flags.carried_key,
        "session": flags.carried_session,
    }
    entry = {key: value for key, value in carried.items() if value is not None}
    if entry and "token_count" not in entry:
        raise InputError(
            FLAGS_INCOMPLETE,
            "a carried entry needs its tokens",
            where="--carried-rows" if "rows" in entry else "--carried-key",
            accepted="--carried-tokens N",
        )
    if entry:
        entry.setdefault("session", "1")
    turn = {
        "prompt_len": flags.prompt_tokens,
        "common_prefix": flags.common_prefix,
        "session": flags.session if flags.session is not None else entry.get("session", "1"),
        "ticket": flags.ticket if flags.ticket is not None else "1",
    }
    tables: dict[str, Any] = {"turn": [{key: value for key, value in turn.items() if value is not None}]}
    if entry:
        tables["entry"] = entry
    if flags.stored is not None or flags.stored_owner is not None:
        lo, colon, hi = (flags.stored or "").partition(":")
        if not colon:
            raise InputError(
                FLAGS_INCOMPLETE, "--stored is two positions", where="--stored", accepted="LO:HI, such as 100:250"
            )
        tables["store"] = {"lo": lo, "hi": hi, "owner": flags.stored_owner or turn["ticket"]}
    return tables
