"""What `doctor` finds: every GPU of a reading by the same rules as preflight, and whether any of them can be told."""

from dataclasses import dataclass, replace

from metrale_plan.errors import Problem
from metrale_plan.memory import MemoryAnswer, judged_answer
from metrale_plan.reading.raw import RawReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A reading and what became of it.

    Attributes:
        gpus: by CUDA ordinal; one without a device where no GPU was read at all.
        warnings: each once, whichever GPU gave cause.
        error: why no memory figure could be read, or None when one could.
        exit_code: 0 when at least one GPU's free memory is known, else 3.
    """

    raw: RawReading
    gpus: tuple[tuple[int, MemoryAnswer], ...]
    warnings: tuple[Problem, ...]
    error: Problem | None

    @property
    def exit_code(self) -> int:
        """The contract's: 3 for "cannot tell"."""
        return 0 if self.error is None else 3


def diagnose(raw: RawReading, ordinal: int | None) -> Diagnosis:
    """Every GPU that was read, or the one asked for."""
    ordinals = [ordinal] if ordinal is not None else [device.ordinal for device in raw.cuda.devices] or [0]
    gpus = tuple((number, judged_answer(raw, number)) for number in ordinals)
    warnings = dict.fromkeys(problem for _, answer in gpus for problem in answer.notes)
    failures = [answer.failure for _, answer in gpus if answer.failure is not None]
    told = any(answer.failure is None for _, answer in gpus)
    error = None if told or not failures else replace(failures[0].problem, severity="error")
    return Diagnosis(raw=raw, gpus=gpus, warnings=tuple(warnings), error=error)
