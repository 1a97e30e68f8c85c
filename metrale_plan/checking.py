"""The gate's work: one serve config on one device, planned and judged; and many of them, by several processes.

A bug in one config is that config's outcome, so that the others are still heard.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path

from metrale_plan import __version__, catalog
from metrale_plan.assemble import assemble, read_rules
from metrale_plan.errors import Problem
from metrale_plan.gate.judge import Circumstances, judge
from metrale_plan.gate.outcome import STATUS_OF, Finding, Outcome
from metrale_plan.gate.policy import NO_CONFIG, GateConfig
from metrale_plan.gate.summary import GateReport, gate_report
from metrale_plan.memory import DEFAULT_PROFILE, MemoryRequest
from metrale_plan.reading.raw import RawReading
from metrale_plan.render.json import document, failure
from metrale_plan.request import Request
from metrale_plan.sources.config_files import NOT_FOUND, ConfigFile, find_configs
from metrale_plan.sources.gate_config import nearest_config, read_config

PARALLEL_FROM = 400
"""Jobs from which further processes pay for their own start."""

JOBS_PER_CHUNK = 32

OTHER_RUNTIME = "MP237"
"""A recipe of another runtime: skipped here, an error where it is asked for by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What a user typed after `check`, as text, and where it was typed.

    Attributes:
        paths: files, folders and patterns.
        config: the gate config to use for every path, or None for the nearest of each.
        no_config: use none at all.
        devices: device ids; empty for the gate config's, else the default profile.
        after: the tokens after `--`.
        environ: METRALE_* variables that hold for every config; empty unless asked for.
        jobs: processes, or None to decide by the number of configs.
        today: the day that expiry dates are compared with.
        folder: the working folder, absolute.
        root: the repository's root, absolute, which findings are relative to.
    """

    paths: tuple[str, ...]
    config: str | None = None
    no_config: bool = False
    devices: tuple[str, ...] = ()
    free: str | None = None
    total: str | None = None
    rules: str | None = None
    stage: str = "all"
    fail_on_warning: bool = False
    after: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    jobs: int | None = None
    today: date
    folder: str
    root: str


@dataclass(frozen=True, slots=True)
class Job:
    """One config on one device, by one gate config; a reason to skip it makes it no work at all."""

    file: ConfigFile
    device: str | None
    gate: GateConfig
    matched: str
    skip: str | None = None


def run_check(request: CheckRequest) -> GateReport:
    """Every outcome, in the order of the paths, then of the devices.

    Raises:
        InputError: a pattern that matches nothing, a broken gate config, an unknown device, a date not covered.
    """
    for device in request.devices:
        catalog.load_device(device)
    read_rules(request.rules)
    gates = Gates(request)
    jobs = [job for file in find_configs(request.paths) for job in _jobs(file, request, gates)]
    outcomes = tuple(_skips_once(_run_all(jobs, request)))
    expired = [(gate, problem) for gate in gates.read.values() for problem in _expired(gate, request.today)]
    codes = (1 if gate.policy.is_error(problem.code) else 4 * request.fail_on_warning for gate, problem in expired)
    return gate_report(outcomes, tuple(problem for _gate, problem in expired), __version__, tuple(codes))


def _skips_once(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The outcomes with one line for a skipped config, however many devices it would have been for."""
    previous: Outcome | None = None
    for outcome in outcomes:
        if outcome.status != "skipped" or outcome != previous:
            yield outcome
        previous = outcome


def _jobs(file: ConfigFile, request: CheckRequest, gates: "Gates") -> Iterator[Job]:
    gate = gates.of(file)
    absolute = os.path.normpath(Path(request.folder, file.path))
    matched = Path(os.path.relpath(absolute, gate.folder or request.folder)).as_posix()
    skip = file.skip or ("excluded by the gate's config" if gate.excludes(matched) else None)
    if skip is not None or file.missing:
        yield Job(file, None, gate, matched, skip)
        return
    for device in dict.fromkeys(request.devices or gate.devices_for(matched) or (DEFAULT_PROFILE,)):
        yield Job(file, device, gate, matched)


class Gates:
    """The gate configs of one run, each found and read once.

    Attributes:
        read: those that hold for some config, by their path.
    """

    def __init__(self, request: CheckRequest) -> None:
        self.request = request
        self.read: dict[str, GateConfig] = {}
        self._known: dict[Path, Path | None] = {}

    def of(self, file: ConfigFile) -> GateConfig:
        """The gate config that holds for a file.

        Raises:
            InputError: it cannot be read.
        """
        path = self._path(file)
        if path is None:
            return NO_CONFIG
        if str(path) not in self.read:
            self.read[str(path)] = read_config(path)
        return self.read[str(path)]

    def _path(self, file: ConfigFile) -> Path | None:
        request = self.request
        if request.no_config:
            return None
        if request.config is not None:
            return Path(request.config)
        path = nearest_config(Path(os.path.normpath(Path(request.folder, file.path).parent)), self._known)
        inside = path is not None and path.is_relative_to(request.folder)
        return path.relative_to(request.folder) if path is not None and inside else path


def _expired(gate: GateConfig, today: date) -> Iterator[Problem]:
    for entry in gate.policy.ignored:
        if entry.expires < today:
            yield Problem(
                code="MP164",
                message=f"{entry.code} is no longer ignored: the entry expired on {entry.expires} ({entry.reason})",
                where=entry.where,
                accepted="the cause mended, or a later date with its reason",
                severity="warning",
            )


def _run_all(jobs: Sequence[Job], request: CheckRequest) -> Iterable[Outcome]:
    processes = min(request.jobs or _cores(), len(jobs) // JOBS_PER_CHUNK or 1)
    work = partial(check_one, request)
    if processes > 1 and (request.jobs is not None or len(jobs) >= PARALLEL_FROM):
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool

        try:
            with ProcessPoolExecutor(processes) as pool:
                return list(pool.map(work, jobs, chunksize=JOBS_PER_CHUNK))
        except (OSError, NotImplementedError, BrokenProcessPool):
            pass  # a system without semaphores, or one that ended a process: this one does the work
    return [work(job) for job in jobs]


def _cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # no such call on this system
        return os.cpu_count() or 1


def check_one(request: CheckRequest, job: Job) -> Outcome:
    """The outcome of one job."""
    path = job.file.path
    if job.skip is not None:
        return Outcome(path=path, device=None, status="skipped", exit_code=0, reason=job.skip)
    if job.file.missing:
        return _missing(request, job)
    try:
        return _checked(request, job)
    except Exception as error:
        message = f"a bug in metrale-plan: {type(error).__name__}: {error}; please report it"
        return _failed(request, job, 5, Problem(code="MP200", message=message, where=path))


def _checked(request: CheckRequest, job: Job) -> Outcome:
    report = assemble(_planning_request(request, job), no_live)
    if report.error is not None and report.error.code == OTHER_RUNTIME:
        return Outcome(path=job.file.path, device=None, status="skipped", exit_code=0, reason=report.error.message)
    case = Circumstances(
        path=job.file.path,
        matched=job.matched,
        file=job.file.path,
        device=job.device,
        serve=job.file.kind != "model" or bool(request.after),
        today=request.today,
        fail_on_warning=request.fail_on_warning,
        locate=partial(locate, request.folder, request.root),
    )
    outcome = judge(report, job.gate.policy, case)
    return replace(outcome, document=document(report))


def _planning_request(request: CheckRequest, job: Job) -> Request:
    """What `preflight` would be asked about this config on this device."""
    return Request(
        command="preflight",
        model=job.file.path if job.file.kind == "model" else None,
        recipe=job.file.path if job.file.kind == "recipe" else None,
        args_file=job.file.path if job.file.kind == "args" else None,
        after=request.after,
        environ=request.environ,
        memory=MemoryRequest(device=job.device, free=request.free, total=request.total),
        rules=request.rules or job.gate.rules,
        stage=request.stage,
        compare=True,
    )


def no_live(_ordinal: int) -> RawReading:
    """The gate always states a device, so nothing is ever read."""
    raise AssertionError("the gate read a GPU")


def locate(folder: str, root: str, path: str) -> str:
    """A path as findings show it: relative to the repository's root where it lies in it, with forward slashes."""
    absolute = os.path.normpath(Path(folder, path))
    inside = Path(absolute).is_relative_to(root)
    return (Path(absolute).relative_to(root) if inside else Path(absolute)).as_posix()


def _missing(request: CheckRequest, job: Job) -> Outcome:
    path = job.file.path
    problem = Problem(
        code=NOT_FOUND,
        message=f"{path} does not exist",
        where=path,
        accepted="a file, a folder or a pattern",
    )
    return _failed(request, job, 2, problem)


def _failed(request: CheckRequest, job: Job, exit_code: int, problem: Problem) -> Outcome:
    """An outcome without a report."""
    path = job.file.path
    finding = Finding(
        code=problem.code,
        severity="error",
        message=problem.message,
        path=locate(request.folder, request.root, path),
        accepted=problem.accepted,
    )
    return Outcome(
        path=path,
        device=job.device,
        status=STATUS_OF[exit_code],
        exit_code=exit_code,
        reason=problem.message,
        findings=(finding,),
        document=failure("preflight", exit_code, problem),
    )
