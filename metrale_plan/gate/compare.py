"""Two planning documents, term by term: every setting, count and size that differs, and what it comes to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from metrale_plan.config.flags import by_key
from metrale_plan.config.resolve import ENGINE_DEFAULTS
from metrale_plan.gate.outcome import most_serious
from metrale_plan.gate.threshold import Threshold

ChangeKind = Literal["setting", "count", "term"]

Document = Mapping[str, Any]

SECTIONS = ("model", "ladder", "verify", "pool", "marconi", "decode_ring", "batch_tokens", "reserve", "arena", "kv",
            "weights", "memory")  # fmt: skip
"""Objects of a document that hold counts and sizes, in its order."""

ALL_SIZES = frozenset({"reserve", "arena"})

SIZES = frozenset(
    {
        "pool.h_unit",
        "pool.h_stored_unit",
        "pool.conv_unit",
        "pool.live",
        "pool.h_intermediates",
        "pool.conv_intermediates",
        "pool.checkpoints",
        "pool.total",
        "weights.stored",
        "weights.outside",
        "weights.derived",
        "weights.total",
        "memory.free",
        "memory.total",
    }
)
"""Sizes in bytes that their names do not give away; those whose name ends in `bytes` are sizes anyway."""

SAID_ELSEWHERE = frozenset(
    {
        "marconi.bytes",
        "decode_ring.bytes",
        "pool.total",
        "memory.samples",
        "memory.notes",
        "memory.source",
        "ladder.source",
        "ladder.cap.source",
        "reserve.total",
    }
)
"""What another row says already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One value that differs.

    Attributes:
        key: dotted path in the document; for a setting, its key.
        before, after: the values; None where a side does not have it.
    """

    key: str
    kind: ChangeKind
    before: Any
    after: Any

    @property
    def delta(self) -> int | None:
        """Bytes more, for a term; a side that lacks it counts as 0."""
        return (self.after or 0) - (self.before or 0) if self.kind == "term" else None

    @property
    def percent(self) -> float | None:
        """Growth of a term in percent, or None where it started from nothing."""
        return percent(self.before, self.after) if self.kind == "term" else None


def percent(before: int | None, after: int | None) -> float | None:
    """Growth in percent, to a hundredth; None where there is nothing to grow from."""
    return round(((after or 0) - before) * 100 / before, 2) if before else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a comparison: what it is called, and its document."""

    label: str
    document: Document

    @property
    def exit_code(self) -> int:
        """Of the plan."""
        code: int = self.document["exit_code"]
        return code

    @property
    def total(self) -> int | None:
        """What the engine compares with free memory, or None where the plan did not get there."""
        reserve = self.document.get("reserve")
        return reserve["total"] if reserve else None

    @property
    def verdict(self) -> str:
        """The verdict in a few words."""
        verdict, error = self.document.get("verdict"), self.document.get("error")
        if error is not None:
            return {1: "refused", 3: "cannot tell"}.get(self.exit_code, "invalid") + f" ({error['code']})"
        if verdict is None:
            return "not compared with memory"
        if verdict["fits"] is None:
            return "cannot tell"
        return f"fits at {', '.join(verdict['checked'])}" if verdict["fits"] else f"refused at {verdict['stage']}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One config before and after; a side is None where there was no such config.

    Attributes:
        name: the config.
        device: the device both are planned for, or None where the documents say.
        was: its name before, where that was another.
        limit: growth that is allowed, or None.
        forgiving: whether a broken `before` is no failure, since it cannot be mended any more.
    """

    name: str
    device: str | None
    before: Side | None
    after: Side | None
    was: str | None = None
    changes: tuple[Change, ...] = ()
    limit: Threshold | None = None
    forgiving: bool = False

    @property
    def status(self) -> Literal["same", "changed", "added", "removed"]:
        """What happened to the config."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        same = not self.changes and self.before.verdict == self.after.verdict
        return "same" if same else "changed"

    @property
    def growth(self) -> int | None:
        """Bytes more in total, where both sides have a total."""
        before = self.before.total if self.before else None
        after = self.after.total if self.after else None
        return None if before is None or after is None else after - before

    @property
    def over_limit(self) -> bool:
        """Whether it grew by more than the limit, or lost the plan that could tell."""
        if self.limit is None or self.before is None or self.after is None or self.before.total is None:
            return False
        return self.growth is None or self.limit.exceeded_by(self.growth, self.before.total)

    @property
    def exit_code(self) -> int:
        """2 or 5 for a side that is no plan, 1 for growth over the limit."""
        sides = [self.after] if self.forgiving else [self.before, self.after]
        broken = [side.exit_code for side in sides if side is not None and side.exit_code in (2, 5)]
        return most_serious([*broken, 1 if self.over_limit else 0])


def compare(
    name: str,
    device: str | None,
    before: Side | None,
    after: Side | None,
    *,
    was: str | None = None,
    limit: Threshold | None = None,
    forgiving: bool = False,
) -> Comparison:
    """The comparison of two sides; with one of them missing there are no changes to list."""
    changes = () if before is None or after is None else tuple(changes_between(before.document, after.document))
    return Comparison(
        name=name,
        device=device,
        before=before,
        after=after,
        was=was,
        changes=changes,
        limit=limit,
        forgiving=forgiving,
    )


def changes_between(before: Document, after: Document) -> Iterator[Change]:
    """Every setting, count and term that differs, in the documents' order: settings, counts, terms."""
    yield from _differing("setting", _settings(before), _settings(after))
    for kind in ("count", "term"):
        yield from _differing(kind, dict(figures(before, kind)), dict(figures(after, kind)))


def _differing(kind: ChangeKind, before: Document, after: Document) -> Iterator[Change]:
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if old != new:
            yield Change(key=key, kind=kind, before=old, after=new)


def _settings(document: Document) -> dict[str, Any]:
    """Values by key, without those that state the engine's default: to say it is no change."""
    settings = document.get("settings") or {}
    return {key: setting["value"] for key, setting in settings.items() if not _is_default(key, setting["value"])}


def _is_default(key: str, value: Any) -> bool:
    """Whether a setting that somebody may also leave out has the value it then has."""
    flag = by_key().get(key)
    if flag is None or key in ENGINE_DEFAULTS:
        return False
    if flag.presence:
        return value is False
    return flag.default is not None and bool(flag.kind.parse(flag.default) == value)


def figures(document: Document, wanted: ChangeKind) -> Iterator[tuple[str, Any]]:
    """Counts or sizes of a document by dotted path."""
    if wanted == "count":
        yield "rules", document.get("rules")
    for section in SECTIONS:
        for key, value in _leaves(section, document.get(section)):
            size = section in ALL_SIZES or key in SIZES or key.endswith("bytes")
            if key not in SAID_ELSEWHERE and ("term" if size else "count") == wanted:
                yield key, value


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Leaves below a value; a list is one."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}", inner)
    elif value is not None:
        yield path, value
