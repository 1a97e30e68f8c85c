"""Line: one term of the reserve in whole bytes, with the numbers it was made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Basis = Literal["exact", "measured"]
"""`exact`: a formula the engine allocates by. `measured`: an allowance that the engine's authors measured on GB10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One term.

    Attributes:
        term: key in the term table (`metrale_plan.terms`).
        bytes: whole bytes.
        formula: how the bytes come about, in the names of `inputs`.
        inputs: the numbers of the formula.
        basis: how well the number is known.
    """

    term: str
    bytes: int
    formula: str
    inputs: Mapping[str, int]
    basis: Basis = "exact"
