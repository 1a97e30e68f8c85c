"""The invented recordings: every one is synthetic, none was read from a GPU."""

from pathlib import Path

from metrale_plan.probes.recording import load
from metrale_plan.reading import Judged, judge_reading
from metrale_plan.reading.raw import RawReading

FOLDER = Path(__file__).parent / "data" / "probes"


def path_of(name: str) -> str:
    """The file of an invented recording."""
    return str(FOLDER / f"synthetic_{name}.json")


def raw(name: str) -> RawReading:
    """The recording itself."""
    return load(path_of(name))


def judged(name: str, ordinal: int = 0) -> Judged:
    """The recording by the rules."""
    return judge_reading(raw(name), ordinal)
