"""`schema`: the flag table, and the JSON Schema of a planning command's document, as values and as a screen."""

from dataclasses import fields
from typing import Any

from metrale_plan.config.flags import ENGINE_VERSION, EXCLUSIONS, FLAGS, NEWER_KEYS, REQUIRES, TABLE_VERSION, Flag
from metrale_plan.device import ReadingDetail
from metrale_plan.render.sheet import Column, Grid, Row, Sheet, Text
from metrale_plan.report import SCHEMA
from metrale_plan.terms import TERMS

Schema = dict[str, Any]


def flags_value() -> dict[str, Any]:
    """The flag table as data."""
    return {
        "version": TABLE_VERSION,
        "engine_version": ENGINE_VERSION,
        "flags": [_flag(flag) for flag in FLAGS],
        "exclusions": [list(pair) for pair in EXCLUSIONS],
        "requires": [list(pair) for pair in REQUIRES],
        "recipe_keys_of_other_versions": dict(NEWER_KEYS),
    }


def _flag(flag: Flag) -> dict[str, Any]:
    return {
        "key": flag.key,
        "flag": flag.name,
        "kind": flag.kind.name,
        "accepted": flag.kind.accepted,
        "options": list(flag.kind.options),
        "default": flag.default,
        "aliases": list(flag.aliases),
        "recipe_aliases": list(flag.recipe_aliases),
        "presence_only": flag.presence,
        "repeatable": flag.repeatable,
        "affects": flag.affects,
    }


def flags_sheet() -> Sheet:
    """The flag table as a screen."""
    rows = (
        Row((f"--{flag.name}", flag.default or "", flag.affects or "", flag.kind.accepted + _also(flag)))
        for flag in FLAGS
    )
    columns = (Column("flag"), Column("default"), Column("bears on"), Column("takes", flexible=True))
    head = f"{len(FLAGS)} flags of met serve, table {TABLE_VERSION}, engine {ENGINE_VERSION}"
    return (Text(head, "strong"), Grid(columns, tuple(rows)))


def _also(flag: Flag) -> str:
    names = [*(f"--{alias}" for alias in flag.aliases), *(f"{alias} in a recipe" for alias in flag.recipe_aliases)]
    return f"; also {', '.join(names)}" if names else ""


INTEGER: Schema = {"type": "integer"}
BYTES: Schema = {"type": "integer", "minimum": 0}
TEXT: Schema = {"type": "string"}
BOOL: Schema = {"type": "boolean"}
SOURCE: Schema = {"enum": ["flag", "command", "recipe", "env", "model", "engine"]}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _object(**keys: Schema) -> Schema:
    """An object that has all of these keys; more may come in later versions."""
    return {"type": "object", "properties": keys, "required": list(keys)}


def plan_schema() -> Schema:
    """JSON Schema of what `preflight`, `plan` and the explain commands print under `--format json`."""
    terms = [term.key for term in TERMS if term.key != "buffer_arena"]
    sizes = dict.fromkeys(("slots", "layers", "h_unit", "h_stored_unit", "conv_unit", "live"), BYTES)
    sizes |= dict.fromkeys(("h_intermediates", "conv_intermediates", "checkpoints", "total"), BYTES)
    detail = {field.name: Schema() for field in fields(ReadingDetail)}
    body = _object(
        schema={"const": SCHEMA},
        command=TEXT,
        exit_code={"enum": [0, 1, 2, 3, 4, 5]},
        warnings=_list(
            _object(code=_code(), severity={"enum": ["note", "warning"]}, message=TEXT, where=_or_null(TEXT))
        ),
        error=_or_null(
            _object(code=_code(), message=TEXT, where=_or_null(TEXT), accepted=_or_null(TEXT), nearest=_list(TEXT))
        ),
        rules=_or_null({"type": "string", "format": "date"}),
        model=_or_null(
            _object(
                name=TEXT,
                checkpoint=_or_null(TEXT),
                model_type=TEXT,
                loader=TEXT,
                recurrent={"enum": ["gdn", "mamba2", "kda", "none"]},
                ssm_layers=BYTES,
                attention_layers=BYTES,
                h_state_bytes=BYTES,
                conv_state_bytes=BYTES,
                blob_bytes=BYTES,
            )
        ),
        settings=_or_null(
            {
                "type": "object",
                "additionalProperties": _object(value={}, source=SOURCE, where=_or_null(TEXT)),
            }
        ),
        ladder=_or_null(
            _object(
                steps=_list(_list(BYTES)),
                source=SOURCE,
                pinned=BOOL,
                disabled=BOOL,
                cap=_object(value=BYTES, source=SOURCE),
                num_drafts=BYTES,
                verify_k=_or_null(BYTES),
            )
        ),
        verify=_or_null(
            _object(slots=BYTES, slots_with_dummy=BYTES, drafts=_list(BYTES), h_steps=_list(BYTES), conv_steps=BYTES)
        ),
        pool=_or_null(_object(**sizes)),
        marconi=_or_null(_object(requested=BYTES, slots=BYTES, skip_reason=_or_null(TEXT), bytes=BYTES)),
        decode_ring=_or_null(
            _object(
                requested=BYTES,
                slots=BYTES,
                skip_reason=_or_null(TEXT),
                fitted=BOOL,
                slot_bytes=BYTES,
                bytes=BYTES,
            )
        ),
        batch_tokens=_or_null(_object(preflight=BYTES, build=BYTES)),
        reserve=_or_null(_object(**dict.fromkeys([*terms, "inference_reserve", "buffer_arena", "total"], BYTES))),
        arena=_or_null({"type": "object", "additionalProperties": BYTES}),
        kv=_or_null(
            _object(
                dtype=TEXT,
                block_bytes=BYTES,
                draft_block_bytes=_or_null(BYTES),
                blocks=_or_null(BYTES),
                draft_blocks=_or_null(BYTES),
                limit={"enum": ["slots", "kv", None]},
                full_length_sequences=_or_null(BYTES),
            )
        ),
        weights=_or_null(_object(stored=BYTES, outside=BYTES, derived=BYTES, total=BYTES, basis=TEXT)),
        memory=_or_null(
            _object(
                source={"enum": ["live", "device", "flag", "recording", "none"]},
                device=_or_null(TEXT),
                free=_or_null(BYTES),
                total=_or_null(BYTES),
                unified=BOOL,
                samples=_list(_object(free=BYTES, total=BYTES)),
                notes=_list(TEXT),
                **detail,
            )
        ),
        verdict=_or_null(
            _object(
                fits=_or_null(BOOL),
                checked=_list(TEXT),
                need=_or_null(BYTES),
                free=_or_null(BYTES),
                headroom=_or_null(INTEGER),
                stage={"enum": ["settings", "reserve", "load", "kv", None]},
                suggestions=_list(_object(flags={"type": "object"}, need=BYTES, headroom=INTEGER, cost={})),
            )
        ),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A plan of metrale-plan ({SCHEMA})",
        "description": "All sizes are in bytes. Keys are never absent; what was not reached is null.",
    } | body


def _code() -> Schema:
    return {"type": "string", "pattern": "^MP[123][0-9]{2}$"}
