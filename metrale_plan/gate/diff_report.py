"""DiffReport: every comparison of one run, and what they come to."""

from dataclasses import dataclass

from metrale_plan.errors import Problem
from metrale_plan.gate.compare import Comparison
from metrale_plan.gate.outcome import most_serious
from metrale_plan.units import human


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffReport:
    """The comparisons, in order."""

    comparisons: tuple[Comparison, ...]

    @property
    def exit_code(self) -> int:
        """The most serious of all; differences alone are no failure."""
        return most_serious(comparison.exit_code for comparison in self.comparisons)

    @property
    def error(self) -> Problem | None:
        """Why it fails, or None."""
        return next(
            (_error(comparison) for comparison in self.comparisons if comparison.exit_code == self.exit_code != 0), None
        )

    @property
    def summary(self) -> str:
        """Counts by status in a line."""
        statuses = [comparison.status for comparison in self.comparisons]
        told = [f"{statuses.count(status)} {status}" for status in ("changed", "added", "removed", "same")]
        return ", ".join(text for text in told if not text.startswith("0 "))


def _error(comparison: Comparison) -> Problem:
    for side in (comparison.after, comparison.before):
        error = side.document.get("error") if side is not None and side.exit_code in (2, 5) else None
        if error is not None:
            return Problem(
                code=error["code"],
                message=error["message"],
                where=error["where"],
                accepted=error["accepted"],
                nearest=tuple(error["nearest"]),
            )
    limit, before = comparison.limit, comparison.before
    base = before.total if before is not None and before.total is not None else 0
    allowed = limit.shown(base) if limit is not None else ""
    grew = "no longer has a total" if comparison.growth is None else f"grew by {human(comparison.growth)}"
    return Problem(
        code="MP170",
        message=f"{comparison.name} {grew}, more than --fail-over {allowed}",
        where=comparison.name,
        accepted=f"growth of at most {allowed}",
    )
