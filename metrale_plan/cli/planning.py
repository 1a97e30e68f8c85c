"""`preflight` and `plan`: their parameters, and how what was typed becomes a request."""

from typing import TYPE_CHECKING, Annotated, Optional

from metrale_plan.cli.declare import Option
from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.options import (
    Common,
    FreeMemory,
    Over,
    Probe,
    Samples,
    UnifiedFloor,
    check_stage,
    planning_command,
)

if TYPE_CHECKING:
    from metrale_plan.memory import MemoryRequest
    from metrale_plan.request import Request

Stage = Annotated[
    str,
    Option(
        "--stage",
        metavar="reserve|all",
        help="`reserve` asks the engine's first question only; `all` goes on from there.",
    ),
]


@planning_command
def preflight(
    invocation: Invocation,
    common: Common,
    free_memory: FreeMemory = None,
    stage: Stage = "all",
    probe: Probe = None,
    samples: Samples = None,
    over: Over = None,
    unified_floor: UnifiedFloor = None,
) -> int:
    """Plan a serve, then compare the plan with the GPU's free memory before anything loads.

    Everything after `--` is read as a `met serve` command line.
    """
    from metrale_plan.memory import MemoryRequest

    memory = MemoryRequest(free=free_memory, probe=probe, samples=samples, over=over, floor=unified_floor)
    asked = request(invocation, "preflight", common, memory=memory, stage=stage, compare=True)
    return answer(invocation, asked, show_settings=common.show_settings)


@planning_command
def plan(invocation: Invocation, common: Common) -> int:
    """Print what the engine will reserve, term by term, without comparing it with any memory."""
    return answer(invocation, request(invocation, "plan", common), show_settings=common.show_settings)


def request(
    invocation: Invocation,
    command: str,
    common: Common,
    *,
    memory: "Optional[MemoryRequest]" = None,
    stage: str = "all",
    compare: bool = False,
    fit: bool = False,
    model_optional: bool = False,
) -> "Request":
    """What was typed, as a request; `memory` is how to read it, to which the common options are added.

    Raises:
        InputError: no such stage.
    """
    from dataclasses import replace

    from metrale_plan.memory import MemoryRequest
    from metrale_plan.request import Request

    check_stage(stage)
    return Request(
        command=command,
        model=common.model,
        checkpoint=common.checkpoint,
        flags=common.flags,
        after=invocation.after,
        environ=invocation.environ,
        recipe=common.recipe,
        args_file=common.args_file,
        isolated_env=common.isolated_env,
        carry=common.carry,
        memory=replace(memory or MemoryRequest(), device=common.device, total=common.total_memory),
        rules=common.rules,
        stage=stage,
        fail_on_warning=common.fail_on_warning,
        compare=compare,
        fit=fit,
        model_optional=model_optional,
    )


def answer(invocation: Invocation, asked: "Request", *, show_settings: bool = False) -> int:
    """Assemble the request's report and print it, or where its settings come from; returns the exit code."""
    from metrale_plan.assemble import assemble
    from metrale_plan.cli.output import emit
    from metrale_plan.memory import live_reader

    report = assemble(asked, live_reader(asked.memory))
    emit(invocation, report, show_settings=show_settings)
    return report.exit_code
