"""The stated reading: what `--free-memory` and `--total-memory` say."""

from typing import NamedTuple

from metrale_plan.errors import InputError
from metrale_plan.units import ACCEPTED, parse_size


class Stated(NamedTuple):
    """Bytes as stated, or None where nothing was."""

    free: int | None
    total: int | None


def read_stated(free: str | None, total: str | None) -> Stated:
    """What the two flags' texts say.

    Raises:
        InputError: MP218, not a size, no unit, or a total of zero.
    """
    stated = Stated(
        None if free is None else read_size("--free-memory", free),
        None if total is None else read_size("--total-memory", total),
    )
    if stated.total == 0:
        raise InputError("MP218", "--total-memory is zero", where="--total-memory", accepted="the device's memory")
    return stated


def read_size(flag: str, text: str) -> int:
    """Bytes of a size flag.

    Raises:
        InputError: MP218, the text is not a size, or names no unit.
    """
    try:
        return parse_size(text)
    except ValueError as error:
        raise InputError("MP218", f"{flag} {error}", where=flag, accepted=ACCEPTED) from None
