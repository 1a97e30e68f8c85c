"""The JSON document of a planning command, exactly as the schema `metrale-plan/1` says."""

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from metrale_plan.config.given import Given, Settings
from metrale_plan.config.serve import ServeConfig
from metrale_plan.config.variables import Ignored
from metrale_plan.device import MemoryReading, ReadingDetail
from metrale_plan.errors import Problem
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan import MemoryPlan
from metrale_plan.report import SCHEMA, ModelInfo, Report
from metrale_plan.verdict import Verdict


def envelope(command: str, exit_code: int, warnings: list[Problem], error: Problem | None) -> dict[str, Any]:
    """Keys that every document has."""
    return {
        "schema": SCHEMA,
        "command": command,
        "exit_code": exit_code,
        "warnings": [_warning(problem) for problem in warnings],
        "error": None if error is None else problem_document(error),
    }


def document(report: Report, *, won_over: bool = False) -> dict[str, Any]:
    """A planning command's document: every key, null where it was not reached.

    Args:
        won_over: whether each setting also says what it won over, as `--show-settings` asks for.
    """
    plan, model, settings, config = report.plan, report.model, report.settings, report.config
    whole = plan is not None and model is not None and config is not None
    body: dict[str, Any] = {
        "schema": SCHEMA,
        "rules": None if report.rules is None else report.rules.asked.isoformat(),
        "command": report.command,
        "exit_code": report.exit_code,
        "model": None if model is None else _model(model),
        "settings": None if settings is None else _settings(settings, won_over),
        "ladder": None if settings is None or config is None else _ladder(settings, config, plan),
        "verify": None,
        "pool": None,
        "marconi": None,
        "decode_ring": None,
        "batch_tokens": None,
        "reserve": None,
        "arena": None,
        "kv": None,
        "weights": None,
        "memory": None if report.memory is None else reading_document(report.memory),
        "verdict": None if report.verdict is None else _verdict(report.verdict),
    }
    if whole:
        assert plan is not None and model is not None and config is not None
        body |= _plan(plan, model.dims, config)
    if report.command.startswith("explain-"):
        body[report.command.replace("-", "_")] = None
    return body | envelope(report.command, report.exit_code, report.warnings, report.error)


def values(value: Any) -> Any:
    """A value, and whatever it holds, as JSON has it: fields by name, plain tuples as lists, numbers as they are."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: values(item) for name, item in value._asdict().items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: values(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): values(item) for key, item in value.items()}
    return [values(item) for item in value] if isinstance(value, (list, tuple)) else value


def _model(model: ModelInfo) -> dict[str, Any]:
    dims = model.dims
    return {
        "name": model.name,
        "checkpoint": model.checkpoint,
        "model_type": dims.model_type,
        "loader": dims.loader,
        "recurrent": dims.recurrent,
        "ssm_layers": dims.ssm_layers,
        "attention_layers": dims.attention_layers,
        "h_state_bytes": dims.h_unit,
        "conv_state_bytes": dims.conv_unit,
        "blob_bytes": dims.blob,
    }


def plain(value: Any) -> Any:
    """A setting's value as JSON has it: tuples become lists."""
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _settings(settings: Settings, won_over: bool) -> dict[str, Any]:
    return {
        key: {"value": plain(setting.value), "source": setting.source, "where": setting.where}
        | ({"lost": [_given(given) for given in setting.lost]} if won_over else {})
        for key, setting in settings.items()
    }


def _given(given: Given) -> dict[str, Any]:
    value = given.text if isinstance(given.value, Ignored) else plain(given.value)
    return {"value": value, "source": given.source, "where": given.where}


def _ladder(settings: Settings, config: ServeConfig, plan: MemoryPlan | None) -> dict[str, Any]:
    cap = settings["mtp_max_seqs"]
    return {
        "steps": plain(config.ladder),
        "source": settings["mtp_k_ladder"].source,
        "pinned": config.ladder_pinned,
        "disabled": config.ladder_disabled,
        "cap": {"value": cap.value, "source": cap.source},
        "num_drafts": config.drafts,
        "verify_k": plan.verify.rows if plan is not None and plan.verify is not None else None,
    }


def _plan(plan: MemoryPlan, dims: ModelDims, config: ServeConfig) -> dict[str, Any]:
    verify, pool, ring = plan.verify, plan.pool, plan.ring
    return {
        "verify": None
        if verify is None
        else {
            "slots": verify.slots,
            "slots_with_dummy": len(verify.counts.h_steps),
            "drafts": list(verify.drafts),
            "h_steps": list(verify.counts.h_steps),
            "conv_steps": verify.counts.conv_steps,
        },
        "pool": {
            "slots": pool.counts.slots,
            "layers": pool.layers,
            "h_unit": dims.h_unit,
            "h_stored_unit": pool.h_stored,
            "conv_unit": dims.conv_unit,
            "live": pool.live,
            "h_intermediates": pool.h_intermediates,
            "conv_intermediates": pool.conv_intermediates,
            "checkpoints": pool.checkpoints,
            "total": pool.total,
        },
        "marconi": {
            "requested": config.ssm_cache_slots,
            "slots": plan.marconi.slots,
            "skip_reason": plan.marconi.skip_reason,
            "bytes": plan.bytes_of("marconi"),
        },
        "decode_ring": {
            "requested": ring.requested,
            "slots": ring.slots,
            "skip_reason": ring.skip_reason,
            "fitted": ring.fitted,
            "slot_bytes": ring.slot_bytes,
            "bytes": ring.bytes,
        },
        "batch_tokens": {"preflight": plan.widths[0], "build": plan.widths[1]},
        "reserve": {
            **{line.term: line.bytes for line in plan.reserve},
            "inference_reserve": plan.inference_reserve,
            "buffer_arena": plan.arena_reserved.bytes,
            "total": plan.total,
        },
        "arena": dict(plan.arena),
        "kv": {
            "dtype": config.kv_cache_dtype,
            "block_bytes": plan.block_bytes,
            "draft_block_bytes": plan.draft_block_bytes,
            "blocks": None,
            "draft_blocks": None,
            "limit": None,
            "full_length_sequences": None,
        },
    }


def reading_document(memory: MemoryReading) -> dict[str, Any]:
    """A memory reading, whether a plan was compared with it or not."""
    return {
        "source": memory.source,
        "device": memory.device,
        "free": memory.free,
        "total": memory.total,
        "unified": memory.unified,
        "samples": [{"free": free, "total": total} for free, total in memory.samples],
        "notes": list(memory.notes),
        "floor": memory.floor,
        **_detail(memory.detail),
    }


def _detail(detail: ReadingDetail | None) -> dict[str, Any]:
    """What only a live or recorded reading knows; null where nothing was read."""
    keys = [field.name for field in fields(ReadingDetail)]
    return dict.fromkeys(keys) if detail is None else asdict(detail)


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "fits": verdict.fits,
        "checked": list(verdict.checked),
        "need": verdict.need,
        "free": verdict.free,
        "headroom": verdict.headroom,
        "stage": verdict.stage,
        "suggestions": list(verdict.suggestions),
    }


def _warning(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "where": problem.where,
    }


def problem_document(problem: Problem) -> dict[str, Any]:
    """An error."""
    return {
        "code": problem.code,
        "message": problem.message,
        "where": problem.where,
        "accepted": problem.accepted,
        "nearest": list(problem.nearest),
    }


PLANNING = frozenset({"preflight", "plan", "explain-ladder", "explain-ring", "explain-marconi", "explain-carry"})


def failure(command: str, exit_code: int, error: Problem) -> dict[str, Any]:
    """The document of a command that ended before it had a report."""
    if command in PLANNING:
        return document(Report(command=command, exit_code=exit_code, error=error))
    body: dict[str, Any] = {"results": []} if command == "check" else {command: None}
    return body | envelope(command, exit_code, [], error)
