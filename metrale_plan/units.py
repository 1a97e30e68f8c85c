"""Bytes: exact sizes from text, and labelled text from bytes. Whole bytes inside, powers of 1024 shown."""

import re

KIB, MIB, GIB = 2**10, 2**20, 2**30

UNITS = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}

_SIZE = re.compile(r"(?P<whole>[0-9]+)(?:\.(?P<fraction>[0-9]+))? ?(?P<unit>[A-Za-z]*)")
_DIGITS = 30  # more than any size needs, few enough that int() stays instant

ACCEPTED = "a number and a unit: B, KiB, MiB, GiB, TiB (powers of 1024) or KB, MB, GB, TB (powers of 1000)"


def parse_size(text: str) -> int:
    """Bytes of a size such as `79.2GiB`; a decimal fraction is exact and rounded down to a byte.

    Raises:
        ValueError: no unit (the message shows both readings), an unknown unit, or not a size.
    """
    match = _SIZE.fullmatch(text)
    if not match or len(match["whole"]) > _DIGITS or len(match["fraction"] or "") > _DIGITS:
        raise ValueError(f"{text!r} is not a size")
    unit = match["unit"]
    if not unit:
        number = text.strip()
        raise ValueError(f"{text!r} has no unit: {number}GiB would be 2^30 bytes each, {number}GB 10^9")
    if unit not in UNITS:
        spelled = [name for name in UNITS if name.lower() == unit.lower()]
        hint = f"; did you mean {spelled[0]}?" if spelled else ""
        raise ValueError(f"{text!r}: unknown unit {unit!r}{hint}")
    fraction = match["fraction"] or ""
    scaled = int(match["whole"] + fraction) * UNITS[unit]
    return scaled // int("1" + "0" * len(fraction))


def mib(size: int) -> str:
    """`32,877 MiB`, with one decimal where it is not whole."""
    return f"{size // MIB:,} MiB" if size % MIB == 0 else f"{size / MIB:,.1f} MiB"


def gib(size: int) -> str:
    """`37.37 GiB`."""
    return f"{size / GIB:,.2f} GiB"


def human(size: int) -> str:
    """The size in the unit a person would pick, labelled: B below a KiB, then KiB, MiB, GiB."""
    magnitude = abs(size)
    if magnitude < KIB:
        return f"{size} B"
    if magnitude < MIB:
        return f"{size // KIB:,} KiB" if size % KIB == 0 else f"{size / KIB:,.1f} KiB"
    return mib(size) if magnitude < 100 * GIB else gib(size)
