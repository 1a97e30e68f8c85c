"""One planning command, start to end: a request of texts becomes a Report.

The order is the contract's: bad input beats everything, refused settings beat memory, memory comes last.
"""

from dataclasses import replace
from datetime import date

from metrale_plan import catalog
from metrale_plan.choice import find
from metrale_plan.config.dangers import Surroundings, dangers
from metrale_plan.config.given import Offers
from metrale_plan.config.resolve import Resolved, resolve
from metrale_plan.data.devices import UTILIZATION_CEILINGS
from metrale_plan.errors import CannotTell, InputError, PlanError, SettingsRefused
from metrale_plan.findings import (
    memory_findings,
    plan_findings,
    ring_may_shrink,
    state_findings,
    uncounted,
    unmodelled_warning,
    verdict_findings,
)
from metrale_plan.memory import LiveReader, MemoryAnswer, for_fit, for_plan, for_preflight
from metrale_plan.model.load import Behavior, Model
from metrale_plan.plan import make_plan
from metrale_plan.prefix_cache import prefix_active
from metrale_plan.refusals import refusals
from metrale_plan.report import ModelInfo, Report
from metrale_plan.request import Request
from metrale_plan.rules import EARLIEST, LATEST, EngineRules, rules_on
from metrale_plan.sources.drafter import drafter_block
from metrale_plan.sources.gather import Gathered, gather
from metrale_plan.verdict import PLANNED, SETTINGS_REFUSED, STAGES, judge


def assemble(request: Request, live: LiveReader) -> Report:
    """The report of one planning command; a PlanError ends up in it, with what was reached before."""
    report = Report(command=request.command)
    try:
        _fill(report, request, live)
    except PlanError as error:
        report.error = error.problem
        report.exit_code = error.exit_code
    exit_on_warnings(report, request)
    return report


def exit_on_warnings(report: Report, request: Request) -> None:
    """Exit 4 where all went well but for warnings, and `--fail-on-warning` asks for it."""
    if report.exit_code == 0 and request.fail_on_warning and any(w.severity == "warning" for w in report.warnings):
        report.exit_code = 4


def _fill(report: Report, request: Request, live: LiveReader) -> None:
    report.rules = rules = read_rules(request.rules)
    given = gather(request)
    if request.model_optional and {request.model, request.checkpoint, given.checkpoint} == {None}:
        _settings_alone(report, request, given, rules)
        return
    target = given.offers.best("kernel_target")
    named = request.model or (target.value if target and target.value in catalog.bundled_models() else None)
    found = find(named, request.checkpoint, request.environ, served=given.checkpoint, where=given.checkpoint_where)
    memory = _memory(request, given.offers, live)
    report.memory = memory.reading
    report.device = memory.device
    hardware_class = memory.device.hardware_class if memory.device else None
    model = found.load(hardware_class)
    report.model = ModelInfo(name=model.name, checkpoint=found.checkpoint, dims=model.dims)
    report.extend([*given.notes, *found.notes, *model.notes])
    _note_other_checkpoint(report, model, given)
    if target is not None and target.value != model.name:
        report.warn("MP290", f"kernel target {target.value} is not the model planned, {model.name}", "--kernel-target")
    drafter = given.offers.best("draft_model")
    block = drafter_block(drafter.value if drafter else model.draft_model)
    resolved = resolve(given.offers, model.behavior, rules, drafter_block=block)
    report.settings, report.config = resolved.settings, resolved.config
    report.extend(resolved.notes)
    refused = next(refusals(model.dims, resolved.config, resolved.settings, rules), None)
    if refused is not None:
        report.verdict = SETTINGS_REFUSED
        raise SettingsRefused(
            refused.code, refused.message, where=refused.where, accepted=refused.accepted, nearest=refused.nearest
        )
    report.extend(memory.notes)
    report.extend(state_findings(model.dims, resolved.config, resolved.settings, rules))
    report.extend(
        dangers(resolved.settings, resolved.config, _surroundings(request, model, resolved, rules, hardware_class))
    )
    _plan_and_judge(report, request, rules, model, resolved, memory)


def _surroundings(
    request: Request, model: Model, resolved: Resolved, rules: EngineRules, hardware_class: str | None
) -> Surroundings:
    return Surroundings(
        ssm_layers=model.dims.ssm_layers,
        prefix_active=prefix_active(model.dims, resolved.config, rules),
        model_kv_dtype=model.behavior.default_kv_dtype,
        hardware_class=hardware_class,
        utilization_ceiling=UTILIZATION_CEILINGS.get(hardware_class or ""),
        recipe=request.recipe,
    )


def _settings_alone(report: Report, request: Request, given: Gathered, rules: EngineRules) -> None:
    """What can be said without a model: every setting, by the engine's defaults where nobody gave it."""
    for_fit(request.memory)  # nothing is compared with it, but a wrong text is bad input all the same
    report.extend(given.notes)
    resolved = resolve(given.offers, Behavior(), rules)
    report.settings, report.config = resolved.settings, resolved.config
    report.extend(resolved.notes)


def _plan_and_judge(
    report: Report, request: Request, rules: EngineRules, model: Model, resolved: Resolved, memory: MemoryAnswer
) -> None:
    if memory.device is None:
        assert memory.failure is not None
        raise memory.failure
    free = memory.reading.free if request.compare or request.fit else None
    report.plan = plan = make_plan(model.dims, resolved.config, rules, memory.device, free=free)
    report.extend(plan_findings(plan, model.dims, resolved.config, rules))
    held_by = uncounted(resolved.unmodelled, plan)
    if held_by and not request.compare:
        report.warnings.append(unmodelled_warning(held_by))
    if not request.compare:
        return
    asked = STAGES if request.stage == "all" else PLANNED
    report.verdict = verdict = judge(
        plan,
        model.dims,
        resolved.config,
        free=free,
        asked=asked,
        held_by=held_by,
        ring_unknown=ring_may_shrink(plan, model.dims, resolved.config),
    )
    report.extend(verdict_findings(verdict))
    report.extend(memory_findings(plan, memory.reading, resolved.config, verdict))
    if verdict.fits is None:
        if memory.failure is not None:
            raise memory.failure
        raise CannotTell(
            "MP120",
            f"cannot tell: {', '.join(verdict.held_by)} changes bytes that the plan does not count",
            where=verdict.held_by[0],
            accepted="the engine's default, or `plan` for the figures without it",
        )
    report.exit_code = 0 if verdict.fits else 1


def read_rules(text: str | None) -> EngineRules:
    """The engine's rules on `--rules DATE`.

    Raises:
        InputError: not a date, or a date the rules do not cover.
    """
    accepted = f"a date from {EARLIEST} to {LATEST}"
    if text is None:
        return rules_on(LATEST)
    try:
        day = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        day = None
    if day is None or not EARLIEST <= day <= LATEST:
        raise InputError("MP219", f"--rules {text!r} is not {accepted}", where="--rules", accepted=accepted)
    return rules_on(day)


def _memory(request: Request, offers: Offers, live: LiveReader) -> MemoryAnswer:
    if not request.compare:
        return for_fit(request.memory) if request.fit else for_plan(request.memory)
    ordinal = offers.best("gpu_ordinal")
    asked = request.memory if ordinal is None else replace(request.memory, ordinal=ordinal.value)
    return for_preflight(asked, live)


def _note_other_checkpoint(report: Report, model: Model, given: Gathered) -> None:
    if given.checkpoint is not None and given.checkpoint not in model.checkpoints:
        report.warn(
            "MP215",
            f"MODEL {model.name} does not list the checkpoint {given.checkpoint}; MODEL is planned",
            where=given.checkpoint_where,
        )
