"""Integer arithmetic of the engine's memory plan (its section 0): rounding, floored and saturating operations."""

from metrale_plan.text import U64_MAX


def ceil_div(a: int, b: int) -> int:
    """`a / b` rounded up."""
    return -(-a // b)


def align(n: int, to: int) -> int:
    """`n` rounded up to a multiple of `to`."""
    return ceil_div(n, to) * to


def less(a: int, b: int) -> int:
    """`a - b`, or 0 where that is negative (written a ⊖ b in the plan)."""
    return max(a - b, 0)


def clamp(n: int, low: int, high: int) -> int:
    """`n` moved into `low..=high`."""
    return max(low, min(n, high))


def saturating_add(*terms: int) -> int:
    """Sum of non-negative terms, stopping at 2^64 - 1."""
    return min(sum(terms), U64_MAX)


def saturating_mul(a: int, b: int) -> int:
    """Product of non-negative numbers, stopping at 2^64 - 1."""
    return min(a * b, U64_MAX)
