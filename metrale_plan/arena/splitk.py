"""Split-K decode attention: the policy's text and the workspace it needs (engine memory plan, 11.2)."""

from typing import Literal

from metrale_plan.arena.shape import ArenaShape
from metrale_plan.integers import ceil_div, clamp
from metrale_plan.text import parse_count

SplitKPolicy = Literal["legacy", "auto"] | int
"""A named policy, or the number of splits."""

MAX_SPLITS = 16
_OFF = ("0", "off", "false", "no")


def parse_splitk(text: str) -> SplitKPolicy | None:
    """`METRALE_ATTN_DECODE_SPLITK`: a policy, a count of splits, or None where it is unreadable (11.2)."""
    if text == "legacy":
        return "legacy"
    if text == "auto":
        return "auto"
    if text in _OFF:
        return 1
    count = parse_count(text)
    return None if count is None else clamp(count, 1, MAX_SPLITS)


def policy_in_force(shape: ArenaShape) -> SplitKPolicy:
    """The variable's policy when it is readable, else the device class's (11.2)."""
    for text in (shape.config.splitk, shape.device.splitk):
        policy = parse_splitk(text) if text is not None else None
        if policy is not None:
            return policy
    return "legacy"


def splitk_slots(shape: ArenaShape) -> int:
    """Partial results that can be in flight at once (11.2)."""
    policy = policy_in_force(shape)
    if policy == "legacy":
        return max(shape.device.sm_count, 1)
    heads = max(shape.dims.q_heads, 1)
    splits = clamp(ceil_div(2 * shape.device.sm_count, heads), 1, MAX_SPLITS) if policy == "auto" else policy
    return shape.decode_rows * heads * splits


def splitk_workspace(shape: ArenaShape) -> int:
    """Bytes of the workspace: one FP32 head with its maximum and sum per slot (11)."""
    return 4 * (shape.dims.head_dim + 2) * splitk_slots(shape)
