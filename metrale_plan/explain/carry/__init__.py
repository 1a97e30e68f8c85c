"""Whether the drafter carry runs under these settings, what it holds, and how warm turns of a case would end."""

from dataclasses import dataclass

from metrale_plan.carry import carry_armed
from metrale_plan.config.given import Settings
from metrale_plan.config.serve import ServeConfig
from metrale_plan.explain.carry.case import Case
from metrale_plan.explain.carry.outcome import ORDER
from metrale_plan.explain.carry.replay import replay
from metrale_plan.explain.carry.turn import REBUILD_MS, REBUILD_ROWS
from metrale_plan.explain.carry.values import Geometry, TurnResult
from metrale_plan.explain.origin import Origin, origin_of
from metrale_plan.kv import DRAFT_BLOCK_TOKENS
from metrale_plan.model.dims import ModelDims
from metrale_plan.plan import MemoryPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed:
    """Whether the carry runs.

    Attributes:
        armed: None when the cap allows it and nobody said whether it is configured.
        configured: what was said of the configuration, or None.
        multi_seq: several sequences may speculate at once, which disarms it whatever the configuration says.
        why: the reason, in words.
    """

    armed: bool | None
    configured: bool | None
    multi_seq: bool
    cap: Origin
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryBytes:
    """What the carry's stores take; None without a model or where the serve has none.

    Attributes:
        hidden_row: one row of the hidden store, BF16.
        store_rows, store: rows that the whole store holds, and their bytes; only with --speculative and an MTP head.
        draft_block: one drafter KV block of `block_tokens` rows, whatever --block-size is.
    """

    hidden_row: int | None
    store_rows: int | None
    store: int | None
    draft_block: int | None
    block_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One outcome of the order, and when it applies."""

    outcome: str
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryExplanation:
    """The whole screen; `order` is in which the simulation tries the outcomes."""

    state: Armed
    drafts_with_mtp: bool
    has_mtp: bool | None
    bytes: CarryBytes
    order: tuple[Stage, ...]
    rebuild_ms: int
    rebuild_rows: int
    turns: tuple[TurnResult, ...]


def explain_carry(
    config: ServeConfig,
    settings: Settings,
    *,
    plan: MemoryPlan | None = None,
    dims: ModelDims | None = None,
    case: Case | None = None,
) -> CarryExplanation:
    """Everything about the carry of one serve.

    Args:
        plan, dims: the model's; None leaves the bytes out.
        case: turns to replay.
    """
    sizes = _bytes(config, plan, dims)
    geometry = Geometry(hidden_row=sizes.hidden_row, draft_block=sizes.draft_block, block_tokens=sizes.block_tokens)
    return CarryExplanation(
        state=_armed(config, settings),
        drafts_with_mtp=config.speculative,
        has_mtp=None if dims is None else dims.has_mtp,
        bytes=sizes,
        order=tuple(Stage(outcome=outcome, when=when) for outcome, when in ORDER),
        rebuild_ms=REBUILD_MS,
        rebuild_rows=REBUILD_ROWS,
        turns=() if case is None else tuple(replay(case, geometry)),
    )


def _armed(config: ServeConfig, settings: Settings) -> Armed:
    configured = config.carry
    multi_seq = config.mtp_max_seqs > 1
    armed = None if configured is None and not multi_seq else carry_armed(bool(configured), multi_seq)
    if multi_seq:
        why = f"the dispatch cap of {config.mtp_max_seqs} lets several sequences speculate at once"
        why += "; only a cap of 1 leaves it armed, whatever is configured"
    elif configured is None:
        why = "the dispatch cap of 1 leaves it to the configuration, and --carry or --no-carry was not said"
    else:
        why = f"the dispatch cap is 1 and the carry is configured {'on' if configured else 'off'}"
    return Armed(
        armed=armed, configured=configured, multi_seq=multi_seq, cap=origin_of(settings["mtp_max_seqs"]), why=why
    )


def _bytes(config: ServeConfig, plan: MemoryPlan | None, dims: ModelDims | None) -> CarryBytes:
    row = None if dims is None else 2 * dims.hidden
    held = row is not None and dims is not None and config.speculative and dims.has_mtp
    return CarryBytes(
        hidden_row=row,
        store_rows=config.max_seq_len if held else None,
        store=config.max_seq_len * row if held and row is not None else None,
        draft_block=None if plan is None else plan.draft_block_bytes,
        block_tokens=DRAFT_BLOCK_TOKENS,
    )
