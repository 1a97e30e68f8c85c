"""Report: everything a command found out, as values; tables and JSON are made from it and add no arithmetic."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from metrale_plan.config.given import Settings
from metrale_plan.config.serve import ServeConfig
from metrale_plan.device import DeviceSpec, MemoryReading
from metrale_plan.errors import Problem
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan import MemoryPlan
from metrale_plan.rules import EngineRules
from metrale_plan.verdict import Verdict

SCHEMA = "metrale-plan/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """Who the plan is for."""

    name: str
    checkpoint: str | None
    dims: ModelDims


@dataclass(slots=True, kw_only=True)
class Report:
    """What is known when a command ends; a field is None where it was not reached."""

    command: str
    exit_code: int = 0
    rules: EngineRules | None = None
    model: ModelInfo | None = None
    settings: Settings | None = None
    config: ServeConfig | None = None
    device: DeviceSpec | None = None
    memory: MemoryReading | None = None
    plan: MemoryPlan | None = None
    verdict: Verdict | None = None
    warnings: list[Problem] = field(default_factory=list)
    error: Problem | None = None

    def warn(self, code: str, message: str, where: str | None = None) -> None:
        """Add a warning: it counts for `--fail-on-warning`."""
        self.warnings.append(Problem(code=code, message=message, where=where, severity="warning"))

    def note(self, code: str, message: str, where: str | None = None) -> None:
        """Add a note: it informs and changes no exit code."""
        self.warnings.append(Problem(code=code, message=message, where=where, severity="note"))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add what a reader of input had to say; whatever is not a warning is a note."""
        self.warnings += [p if p.severity == "warning" else replace(p, severity="note") for p in problems]
