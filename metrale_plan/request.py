"""Request: one planning command as it was typed, before anything is read or judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from metrale_plan.memory import MemoryRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user typed, as text.

    Attributes:
        command: "preflight", "plan" or an explain command.
        model: MODEL, or None to go by the checkpoint.
        flags: serve flags before `--`, by key: text, True, a list of texts, or None.
        after: the tokens after `--`.
        environ: the environment variables, of which only METRALE_* are read.
        checkpoint: config file, folder or hub id of the checkpoint to read, or None.
        recipe: path of `--recipe`, or None.
        args_file: path of `--args-file`, or None.
        isolated_env: whether the METRALE_* variables of `environ` are left out.
        carry: `--carry` or `--no-carry`, or None for neither.
        compare: whether the plan is compared with free memory.
        fit: whether the ring is fitted to memory where some was stated; nothing is judged.
        model_optional: whether settings alone are an answer: without a model the report ends with them.
    """

    command: str
    model: str | None = None
    flags: Mapping[str, object] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    checkpoint: str | None = None
    recipe: str | None = None
    args_file: str | None = None
    isolated_env: bool = False
    carry: bool | None = None
    memory: MemoryRequest = field(default_factory=MemoryRequest)
    rules: str | None = None
    stage: str = "all"
    fail_on_warning: bool = False
    compare: bool = False
    fit: bool = False
    model_optional: bool = False
