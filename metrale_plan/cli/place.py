"""Where and when a command runs: its working folder, the repository around it, and the day."""

from datetime import date
from pathlib import Path

from metrale_plan.errors import InputError


def this_folder() -> str:
    """The working folder, absolute."""
    return str(Path.cwd())


def repository_root(folder: str) -> str:
    """The repository that a folder lies in, or the folder itself outside of any."""
    here = Path(folder)
    return str(next((place for place in (here, *here.parents) if (place / ".git").exists()), here))


def to_day(text: str | None) -> date:
    """The day that expiry dates are compared with: as stated, else the clock's in UTC.

    Raises:
        InputError: not a date.
    """
    if text is None:
        from datetime import UTC, datetime

        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError("MP211", f"--today {text!r} is not a date", where="--today", accepted="YYYY-MM-DD") from None
