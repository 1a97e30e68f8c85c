"""The draft ladder (drafts per verify step as a function of the active sequences) and the dispatch cap.

Source: `speculative/ladder`. Nothing here reads the environment; `process.EngineProcess` adds what one engine process
has published and latched.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from metrale_plan.text import parse_count, quote, trim

Steps = tuple[tuple[int, int], ...]
"""A ladder: `(width, drafts)` pairs; a width counts active sequences, and the first step that covers them applies."""

DEFAULT_LADDER: Steps = ((4, 3), (8, 3), (16, 1), (32, 1))
"""The ladder in force when neither the flag nor the variable gives one."""

DEFAULT_MTP_MAX_SEQS = 32
"""Dispatch cap in sequences when neither the flag nor the model gives one and the ladder is on."""

MAX_MTP_MAX_SEQS = 128
"""The widest dispatch cap that a serve accepts, in sequences."""

_CAP_WITHOUT_LADDER = 4


class MtpMaxSeqsSource(StrEnum):
    """Where a dispatch cap came from; the values are the engine's own words."""

    CLI = "Cli"
    MODEL_DEFAULT = "ModelDefault"
    ENGINE_DEFAULT = "EngineDefault"


def as_steps(steps: Iterable[Sequence[int]]) -> Steps:
    """Any pairs of ints (a list of lists from JSON, say) as `Steps`, their order kept."""
    return tuple((width, drafts) for width, drafts in steps)


def parse_ladder(value: str) -> Steps | None:
    """The steps of a `width:drafts,...` text sorted by width, or None when any part of it is malformed.

    Forgiving, as the variable `METRALE_MTP_K_LADDER` is read: zeros pass, steps of one width keep their order, white
    space around a step, a width or a count is ignored. The caller falls back to `DEFAULT_LADDER` on None.
    Source: `ladder: parse_ladder`.
    """
    steps: list[tuple[int, int]] = []
    for part in value.split(","):
        before, _, after = part.partition(":")
        width, drafts = parse_count(trim(before)), parse_count(trim(after))
        if width is None or drafts is None:
            return None
        steps.append((width, drafts))
    return tuple(sorted(steps, key=lambda step: step[0]))


def parse_mtp_k_ladder(value: str) -> Steps:
    """The steps of a `--mtp-k-ladder` text, sorted by width.

    Raises:
        ValueError: a malformed step, or a width or draft count of 0. Source: `ladder: parse_mtp_k_ladder`.
    """
    steps = parse_ladder(value)
    if steps is None:
        raise ValueError(f"--mtp-k-ladder {quote(value)} is not a list of n_max:drafts steps")
    if any(0 in step for step in steps):
        raise ValueError(f"--mtp-k-ladder {quote(value)}: widths and draft counts start at 1")
    return steps


def ladder_drafts_from_steps(steps: Sequence[Sequence[int]], n_active: int, num_drafts: int) -> int:
    """Drafts per step at `n_active` sequences: 0 when `num_drafts` is 0, else within 1..=`num_drafts`.

    The first step whose width covers `n_active` counts, whatever the order of `steps`; past all of them the last one
    does, and without any step it is `num_drafts`. Source: `ladder: ladder_drafts_from_steps`.
    """
    if num_drafts == 0 or not steps:
        return num_drafts
    drafts = next((k for n_max, k in steps if n_active <= n_max), steps[-1][1])
    return min(max(drafts, 1), num_drafts)


def mtp_ladder_drafts(n_active: int, num_drafts: int, steps: Sequence[Sequence[int]], disabled: bool) -> int:
    """Drafts per step at `n_active` sequences: `num_drafts` with the ladder `disabled`, else what `steps` give.

    Source: `ladder: mtp_ladder_drafts`.
    """
    return num_drafts if disabled else ladder_drafts_from_steps(steps, n_active, num_drafts)


def resolve_mtp_max_seqs(cli: int | None, model_default: int, ladder_disabled: bool) -> tuple[int, MtpMaxSeqsSource]:
    """The dispatch cap in sequences and its source: the flag, else a model value above 0, else 32 (4 without a ladder).

    Raises:
        ValueError: a cap outside 1..=`MAX_MTP_MAX_SEQS`, wherever it came from.
            Source: `ladder: resolve_mtp_max_seqs`.
    """
    if cli is not None:
        cap, source = cli, MtpMaxSeqsSource.CLI
    elif model_default > 0:
        cap, source = model_default, MtpMaxSeqsSource.MODEL_DEFAULT
    else:
        cap = _CAP_WITHOUT_LADDER if ladder_disabled else DEFAULT_MTP_MAX_SEQS
        source = MtpMaxSeqsSource.ENGINE_DEFAULT
    if not 1 <= cap <= MAX_MTP_MAX_SEQS:
        raise ValueError(f"MTP dispatch cap {cap} ({source}) is outside 1..={MAX_MTP_MAX_SEQS}")
    return cap, source


def ladder_text(steps: Sequence[tuple[int, int]]) -> str:
    """A ladder as `parse_mtp_k_ladder` reads it."""
    return ",".join(f"{width}:{drafts}" for width, drafts in steps)
