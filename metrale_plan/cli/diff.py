"""`diff`: its parameters, and nothing else."""

from typing import Annotated, Optional

from metrale_plan.cli.check import Devices, WithEnv
from metrale_plan.cli.declare import Argument, Option
from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.options import FreeMemory, Rules, TotalMemory

Sides = Annotated[
    Optional[list[str]],
    Argument(
        help="A and B: configs, folders, MODEL.tomls, bundled models or saved plans; with --base, paths.",
        show_default=False,
    ),
]
Base = Annotated[
    Optional[str], Option("--base", metavar="REF", help="Compare the paths with a git commit, branch or tag.")
]
FailOver = Annotated[
    Optional[str], Option("--fail-over", metavar="SIZE|PERCENT", help="Exit 1 when a total grows by more: 1GiB, or 5%.")
]


def diff(
    invocation: Invocation,
    sides: Sides = None,
    base: Base = None,
    device: Devices = None,
    free_memory: FreeMemory = None,
    total_memory: TotalMemory = None,
    rules: Rules = None,
    fail_over: FailOver = None,
    with_env: WithEnv = False,
) -> int:
    """Compare two plans: every setting, count and term that changed, and the verdict before and after.

    --format FORMAT prints on stdout, --output FORMAT=FILE writes a file (- is stdout): table, json, markdown.

    Flags after `--` hold for both sides.
    """
    from metrale_plan.cli.check import metrale_variables
    from metrale_plan.cli.output import write_problems
    from metrale_plan.cli.place import this_folder
    from metrale_plan.cli.writing import targets, write_all
    from metrale_plan.comparing import DiffRequest, run_diff
    from metrale_plan.errors import InputError
    from metrale_plan.gate.diff_report import DiffReport
    from metrale_plan.gate.threshold import ACCEPTED, parse_threshold
    from metrale_plan.render.comparison import FORMATS, renderer
    from metrale_plan.render.comparison.table import sheet

    wanted = targets(invocation, FORMATS)
    given = tuple(sides or ())
    if base is None and len(given) != 2:
        raise InputError(
            "MP220", f"diff compares two, got {len(given)}", accepted="diff A B, or diff --base REF PATH..."
        )
    if base is not None and not given:
        raise InputError("MP220", "diff --base needs a path", accepted="diff --base REF PATH...")
    try:
        limit = None if fail_over is None else parse_threshold(fail_over)
    except ValueError as error:
        raise InputError("MP218", f"--fail-over {error}", where="--fail-over", accepted=ACCEPTED) from None
    report = DiffReport(
        comparisons=run_diff(
            DiffRequest(
                paths=given,
                base=base,
                devices=tuple(device or ()),
                free=free_memory,
                total=total_memory,
                rules=rules,
                limit=limit,
                after=invocation.after,
                environ=metrale_variables(invocation) if with_env else {},
                folder=this_folder(),
            )
        )
    )
    write_all(invocation, wanted, lambda name: renderer(name)(report), lambda: sheet(report))
    if report.error is not None and not invocation.json:
        write_problems(invocation.stderr, [report.error])
    return report.exit_code
