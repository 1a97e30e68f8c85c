"""`check`: its parameters, and nothing else."""

from typing import Annotated, Optional

from metrale_plan.cli.declare import Argument, Option
from metrale_plan.cli.invocation import Invocation
from metrale_plan.cli.options import FreeMemory, Rules, TotalMemory, check_stage

Paths = Annotated[Optional[list[str]], Argument(help="Files, folders and quoted patterns.", show_default=False)]
Config = Annotated[
    Optional[str],
    Option("--config", metavar="FILE", help="The gate's config, instead of the nearest one of each path."),
]
NoConfig = Annotated[bool, Option("--no-config", help="Use no gate config at all.")]
Devices = Annotated[
    Optional[list[str]],
    Option("--device", metavar="ID", help="Device profile, as often as wanted; wins over the config."),
]
Stage = Annotated[
    str, Option("--stage", metavar="reserve|all", help="`reserve` asks the engine's first question only.")
]
FailOnWarning = Annotated[bool, Option("--fail-on-warning", help="Exit 4 when all fit, some with warnings.")]
WithEnv = Annotated[bool, Option("--with-env", help="Let the METRALE_* variables of this environment count.")]
Jobs = Annotated[
    Optional[int], Option("--jobs", metavar="N", min=1, help="Processes; by the number of configs if left out.")
]
Today = Annotated[
    Optional[str], Option("--today", metavar="DATE", help="Judge expiry dates as of this day (YYYY-MM-DD).")
]


def check(
    invocation: Invocation,
    paths: Paths = None,
    config: Config = None,
    no_config: NoConfig = False,
    device: Devices = None,
    free_memory: FreeMemory = None,
    total_memory: TotalMemory = None,
    rules: Rules = None,
    stage: Stage = "all",
    fail_on_warning: FailOnWarning = False,
    with_env: WithEnv = False,
    jobs: Jobs = None,
    today: Today = None,
) -> int:
    """Gate many serve configs at once: recipes, files of serve flags, and MODEL.tomls.

    --format FORMAT prints on stdout, --output FORMAT=FILE writes a file (- is stdout), both as often as wanted:
    table, concise, json, jsonl, github, gitlab, sarif, junit, markdown.

    Flags after `--` hold for every config.
    """
    from metrale_plan.checking import CheckRequest, run_check
    from metrale_plan.cli.output import write_problems
    from metrale_plan.cli.place import repository_root, this_folder, to_day
    from metrale_plan.cli.writing import targets, write_all
    from metrale_plan.errors import InputError
    from metrale_plan.render.gate import FORMATS, renderer
    from metrale_plan.render.gate.table import sheet

    wanted = targets(invocation, {name: entry.alone for name, entry in FORMATS.items()})
    check_stage(stage)
    if config is not None and no_config:
        raise InputError("MP220", "--config names a config and --no-config uses none", accepted="one of the two")
    if not paths:
        raise InputError("MP220", "check needs a path", accepted="files, folders and quoted patterns, such as recipes/")
    folder = this_folder()
    report = run_check(
        CheckRequest(
            paths=tuple(paths),
            config=config,
            no_config=no_config,
            devices=tuple(device or ()),
            free=free_memory,
            total=total_memory,
            rules=rules,
            stage=stage,
            fail_on_warning=fail_on_warning,
            after=invocation.after,
            environ=metrale_variables(invocation) if with_env else {},
            jobs=jobs,
            today=to_day(today),
            folder=folder,
            root=repository_root(folder),
        )
    )
    write_all(invocation, wanted, lambda name: renderer(name)(report), lambda: sheet(report))
    if not invocation.json:
        write_problems(invocation.stderr, [*report.warnings, *([report.error] if report.error else [])])
    return report.exit_code


def metrale_variables(invocation: Invocation) -> dict[str, str]:
    """The variables that bear on a serve; the rest need not travel to other processes."""
    return {name: value for name, value in invocation.environ.items() if name.startswith("METRALE_")}
