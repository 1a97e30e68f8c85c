"""Which installed distributions provide cupy; two of them overwrite each other's files."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

_FOLDER = re.compile(r"(?P<name>cupy(?:[-_.][a-z0-9]+)*)-(?P<version>\d[^-]*)\.(?:dist|egg)-info", re.IGNORECASE)


def cupy_distributions(folders: Iterable[str] | None = None) -> tuple[str, ...]:
    """Name and version of each, sorted, by the folders that installers leave: importlib.metadata takes far longer."""
    found: set[str] = set()
    for folder in sys.path if folders is None else folders:
        try:
            entries = [entry.name for entry in Path(folder or ".").iterdir()]
        except OSError:
            continue
        for entry in entries:
            match = _FOLDER.fullmatch(entry)
            if match:
                found.add(f"{match['name'].lower().replace('_', '-')} {match['version']}")
    return tuple(sorted(found))
