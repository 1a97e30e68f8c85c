"""Replay vector files against the public functions: `python tests/replay.py FILE.jsonl...`

The file's name says the group. Prints each disagreement, then `N passed, M failed`. Exit 0 when all rows agree and at
least one ran, 1 when one disagrees, 2 when a file cannot be replayed. Nothing is computed here: it maps fields to
arguments.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metrale_plan import carry, ladder, pool, reserve
from metrale_plan.process import EngineProcess

Row = dict[str, Any]


class Unreplayable(Exception):
    """A file that cannot be replayed; the text is one line."""


def refusal(call: Callable[[], Any]) -> tuple[Any, str | None]:
    """What `call` returns and no error, or no value and the text it refused with."""
    try:
        return call(), None
    except ValueError as error:
        return None, str(error)


def process(row: Row) -> EngineProcess:
    """A fresh process under the row's `env`, after the row's publications."""
    engine = EngineProcess(dict(row["env"]))
    if row.get("publish_cap") is not None:
        engine.set_mtp_max_seqs(row["publish_cap"])
    published = row.get("publish_ladder", row.get("publish"))
    if published is not None:
        engine.set_mtp_k_ladder(published)
    return engine


def tier(row: Row) -> reserve.CopyTier | None:
    return None if row["tier"] is None else reserve.CopyTier(**row["tier"])


def counts(found: pool.PoolCounts) -> Row:
    verify = found.verify
    held = None if verify is None else {"h_steps": verify.h_steps, "conv_steps": verify.conv_steps}
    return {"slots": found.slots, "verify": held}


def decision(found: reserve.MarconiSlotDecision | reserve.DecodeRingDecision) -> Row:
    return {"slots": found.slots, "skip_reason": found.skip_reason}


def store_range(row: Row) -> carry.StoreRange:
    return carry.StoreRange(row["owner"], row["lo"], row["hi"])


def ladder_parse(row: Row) -> Row:
    flag_steps, flag_error = refusal(lambda: ladder.parse_mtp_k_ladder(row["value"]))
    return {"steps": ladder.parse_ladder(row["value"]), "flag_steps": flag_steps, "flag_error": flag_error}


def ladder_drafts(row: Row) -> Row:
    return {"drafts": ladder.ladder_drafts_from_steps(row["steps"], row["n_active"], row["num_drafts"])}


def mtp_ladder_drafts(row: Row) -> Row:
    engine = process(row)
    cases = [[n_active, num, engine.mtp_ladder_drafts(n_active, num)] for n_active, num, _ in row["cases"]]
    return {"disabled": engine.mtp_ladder_disabled(), "pinned": engine.mtp_ladder_pinned(), "cases": cases}


def mtp_max_seqs_resolve(row: Row) -> Row:
    found, error = refusal(
        lambda: ladder.resolve_mtp_max_seqs(row["cli"], row["model_default"], row["ladder_disabled"])
    )
    n, source = (None, None) if found is None else found
    return {"n": n, "source": source, "error": error}


def env_settings(row: Row) -> Row:
    engine = process(row)
    names = (
        "mtp_ladder_disabled",
        "mtp_ladder_pinned",
        "mtp_max_seqs",
        "mtp_multi_seq_mode",
        "mtp_pool_full_width",
        "marconi_reserve_full",
        "marconi_min_tokens",
        "mtp_carry_debug",
    )
    return {name: getattr(engine, name)() for name in names} | {
        "marconi_16_inactive": engine.marconi_snapshot_slots(16, False).slots,
        "mtp_state_slots_100": engine.mtp_state_slots(100),
    }


def marconi_min_tokens(row: Row) -> Row:
    return {"min_tokens": carry.marconi_min_tokens(row["value"])}


PROCESS_READINGS = frozenset(
    {
        "carry_armed",
        "marconi_min_tokens",
        "marconi_reserve_full",
        "mtp_carry_debug",
        "mtp_carry_drafter_enabled",
        "mtp_ladder_disabled",
        "mtp_ladder_drafts",
        "mtp_ladder_pinned",
        "mtp_max_seqs",
        "mtp_multi_seq_mode",
        "mtp_pool_full_width",
        "mtp_state_slots",
        "set_marconi_min_tokens",
        "verify_slot_drafts",
        "verify_slot_h_intermediates",
    }
)


def process_state(row: Row) -> Row:
    env = dict(row["env"])
    engine = EngineProcess(env)

    def outcome(name: str, *args: Any) -> Any:
        if name == "setenv":
            env[args[0]] = args[1]
            return None
        if name == "unsetenv":
            env.pop(args[0], None)
            return None
        if name in ("set_mtp_max_seqs", "set_mtp_k_ladder"):
            _, error = refusal(lambda: getattr(engine, name)(*args))
            return {"ok": True} if error is None else {"error": error}
        if name == "marconi_snapshot_slots":
            return decision(engine.marconi_snapshot_slots(*args))
        if name not in PROCESS_READINGS:
            raise LookupError(f"no call is named {name!r}")
        return getattr(engine, name)(*args)

    return {"results": [outcome(*call) for call in row["script"]]}


def mtp_state_slots(row: Row) -> Row:
    return {"slots": reserve.mtp_state_slots(row["max_batch_size"], row["spec_dispatch_cap"], row["full_width"])}


def verify_slot_drafts(row: Row) -> Row:
    steps, per_width, num_drafts = row["steps"], row["per_width"], row["num_drafts"]

    def drafts_at(width: int) -> int:
        if steps is None:
            return int(per_width[width - 1])
        return ladder.ladder_drafts_from_steps(steps, width, num_drafts)

    return {"drafts": reserve.verify_slot_drafts(row["slot_idx"], row["dispatch_cap"], num_drafts, drafts_at)}


def verify_slot_h(row: Row) -> Row:
    engine = process(row)

    def case(slot: int, num: int, uniform: bool) -> list[int | bool]:
        drafts = engine.verify_slot_drafts(slot, num)
        return [slot, num, uniform, drafts, engine.verify_slot_h_intermediates(slot, num, uniform)]

    return {
        "cap": engine.mtp_max_seqs(),
        "full_width": engine.mtp_pool_full_width(),
        "state_slots": [[batch, engine.mtp_state_slots(batch)] for batch, _ in row["state_slots"]],
        "cases": [case(*given[:3]) for given in row["cases"]],
    }


def ssm_h_stored_bytes(row: Row) -> Row:
    stored, error = refusal(lambda: reserve.ssm_h_stored_bytes(row["h_f32_bytes"], row["f16_pool"]))
    return {"bytes": stored, "error": error}


def ssm_h_prefill_stage_bytes(row: Row) -> Row:
    return {"bytes": reserve.ssm_h_prefill_stage_bytes(row["slots"], row["h_layer_f32_bytes"], row["f16_pool"])}


def marconi_slots(row: Row) -> Row:
    active = reserve.prefix_caching_active(row["enable_flag"], row["kv_only_prefix_cache_is_safe"])
    found = reserve.marconi_snapshot_slots(row["requested"], row["active"], row["full_reserve"])
    return {"active": active} | decision(found)


def decode_ring_slots(row: Row) -> Row:
    names = ("num_ssm_layers", "use_speculative", "published", "ring_override", "watchdogs_disabled")
    return decision(reserve.decode_rollback_ring_slots(*(row[name] for name in names)))


def decode_ring_watchdogs(row: Row) -> Row:
    return {"disabled": reserve.watchdogs_disabled_from_value(row["value"])}


def decode_ring_parse(row: Row) -> Row:
    slots, error = refusal(lambda: reserve.parse_decode_ring_slots(row["value"]))
    return {"ok": error is None, "slots": slots}


def decode_ring_fit(row: Row) -> Row:
    names = ("start_slots", "reserve_without_ring", "bytes_per_ring_slot", "free_mem")
    return {"slots": reserve.fit_decode_ring_slots(*(row[name] for name in names))}


def copy_tier(row: Row) -> Row:
    return {
        "h": reserve.tier_h(tier(row), row["base"], row["slot"]),
        "rows": reserve.tier_rows(tier(row), row["k"]),
    }


def pool_counts(row: Row) -> Row:
    shape = pool.PoolShape(**row["shape"])
    if row["tier"] is None:
        return counts(pool.pool_counts(shape, row["mtp_slots"], row["ladder_h"]))
    return counts(pool.pool_counts_tiered(shape, row["mtp_slots"], row["ladder_h"], tier(row)))


def pool_counts_live(row: Row) -> Row:
    engine, shape = process(row), pool.PoolShape(**row["shape"])
    slots = engine.mtp_state_slots(shape.max_slots)
    figures = [engine.verify_slot_h_intermediates(slot, shape.num_drafts, False) for slot in range(slots)]
    return counts(pool.pool_counts_tiered(shape, slots, figures, tier(row)))


def pool_bytes(row: Row) -> Row:
    steps = row["h_steps"]
    verify = None if steps is None else pool.VerifyCounts(tuple(steps), row["conv_steps"])
    held = pool.PoolCounts(row["slots"], verify)
    plan = pool.PoolPlan(row["layers"], row["h_f32_bytes"], row["conv_bytes"], row["f16_pool"], held)
    return {"h_stored": plan.h_stored, "per_layer": plan.per_layer, "total": plan.total}


def entry(row: Row) -> carry.CarriedDrafter:
    return carry.CarriedDrafter((), row["rows"], row["last_pair_key"], row["tokens"], row["session_hash"])


def carry_common_prefix_len(row: Row) -> Row:
    holder = carry.CarriedDrafter((), 0, None, row["tokens"], 0)
    return {"common": holder.common_prefix_len(row["prompt"])}


def carry_usable_by(row: Row) -> Row:
    held, prompt, session = entry(row), row["prompt"], row["prompt_session"]
    return {
        "matches": held.session_matches(session),
        "common": held.common_prefix_len(prompt),
        "usable": held.usable_by(prompt, session),
    }


def carry_plan_append(row: Row) -> Row:
    plan = carry.plan_append(row["last_pair_key"], row["prompt_len"], row["hidden_lo"], row["hidden_hi"])
    return {"plan": None if plan is None else [plan.first_key, plan.rows]}


def carry_visible_to(row: Row) -> Row:
    return {"visible": store_range(row).visible_to(row["reader"])}


def carry_merge_interval(row: Row) -> Row:
    return {"result": carry.merge_interval((row["lo"], row["hi"]), row["start"], row["count"])}


def carry_stamped_merge(row: Row) -> Row:
    merged = carry.stamped_merge(store_range(row), row["writer"], row["start"], row["count"])
    return {"result": [merged.owner, merged.lo, merged.hi]}


def carry_armed(row: Row) -> Row:
    if row["env"] is None:
        return {"armed": carry.carry_armed(row["carry"], row["multi_seq"])}
    engine = process(row)
    return {"armed": engine.carry_armed(row["carry"]), "multi_seq": engine.mtp_multi_seq_mode()}


def carry_outcome(row: Row) -> Row:
    return {"text": str(getattr(carry.CarryOutcome, row["kind"])(**row["fields"]))}


def carry_hidden_row_offset(row: Row) -> Row:
    return {"address": carry.hidden_row_offset(row["base"], row["pos"], row["hidden_size"])}


GROUPS: dict[str, Callable[[Row], Row]] = {
    group.__name__: group
    for group in (
        carry_armed,
        carry_common_prefix_len,
        carry_hidden_row_offset,
        carry_merge_interval,
        carry_outcome,
        carry_plan_append,
        carry_stamped_merge,
        carry_usable_by,
        carry_visible_to,
        copy_tier,
        decode_ring_fit,
        decode_ring_parse,
        decode_ring_slots,
        decode_ring_watchdogs,
        env_settings,
        ladder_drafts,
        ladder_parse,
        marconi_min_tokens,
        marconi_slots,
        mtp_ladder_drafts,
        mtp_max_seqs_resolve,
        mtp_state_slots,
        pool_bytes,
        pool_counts,
        pool_counts_live,
        process_state,
        ssm_h_prefill_stage_bytes,
        ssm_h_stored_bytes,
        verify_slot_drafts,
        verify_slot_h,
    )
}
"""What each group's functions make of a row: the fields that must come out, under their names in the file."""


def read_rows(path: Path) -> list[tuple[int, Row]]:
    """The rows of a vector file with their line numbers; blank lines are no rows.

    Raises:
        Unreplayable: the group is unknown, the file cannot be read, a line is no JSON object, or there is no row.
    """
    if path.stem not in GROUPS:
        raise Unreplayable(f"{path}: no group is named {path.stem!r}")
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise Unreplayable(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise Unreplayable(f"{path}: not UTF-8 at byte {error.start}") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Unreplayable(f"{path}:{number}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise Unreplayable(f"{path}:{number}: not a JSON object")
        rows.append((number, row))
    if not rows:
        raise Unreplayable(f"{path}: no rows")
    return rows


def disagreements(group: str, row: Row) -> Iterator[tuple[str, str, str]]:
    """Each field of `row` that came out otherwise: its name, the text expected and the text got, both JSON."""
    try:
        found = GROUPS[group](row)
    except Exception as error:
        yield group, "a result", f"{type(error).__name__}: {error}"
        return
    for field, value in found.items():
        got = json.dumps(value, sort_keys=True)
        expected = json.dumps(row[field], sort_keys=True) if field in row else "no such field"
        if got != expected:
            yield field, expected, got


def main(argv: list[str]) -> int:
    if not argv:
        print("usage: python tests/replay.py FILE.jsonl...", file=sys.stderr)
        return 2
    try:
        files = [(Path(name), read_rows(Path(name))) for name in argv]
    except Unreplayable as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    passed = failed = 0
    for path, rows in files:
        for number, row in rows:
            wrong = list(disagreements(path.stem, row))
            for field, expected, got in wrong:
                print(f"{path.name} row {number}: {field}: expected {expected}, got {got}")
            passed, failed = (passed, failed + 1) if wrong else (passed + 1, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
