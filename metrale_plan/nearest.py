"""Nearest spellings, and the contract's definition of a misspelling: at most two edits."""

from collections.abc import Iterable

MISSPELLING_EDITS = 2

LONGEST_WORD = 200
"""What is longer resembles no name, and comparing it takes long."""


def edit_distance(a: str, b: str) -> int:
    """Levenshtein distance: insertions, deletions and substitutions of one character."""
    previous = list(range(len(b) + 1))
    for row, ca in enumerate(a, 1):
        current = [row]
        for column, cb in enumerate(b, 1):
            current.append(min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (ca != cb)))
        previous = current
    return previous[-1]


def misspelling_of(key: str, known: Iterable[str]) -> str | None:
    """The known key that `key` misspells (1 or 2 edits), nearest first then alphabetical, or None."""
    scored = sorted(
        (edit_distance(key, name), name) for name in known if abs(len(name) - len(key)) <= MISSPELLING_EDITS
    )
    return scored[0][1] if scored and 0 < scored[0][0] <= MISSPELLING_EDITS else None


def nearest(word: str, known: Iterable[str], *, at_most: int = 3) -> tuple[str, ...]:
    """Up to `at_most` known spellings that resemble `word` whatever the case, best first."""
    from difflib import get_close_matches

    if len(word) > LONGEST_WORD:
        return ()
    folded = {name.casefold(): name for name in known}
    return tuple(folded[name] for name in get_close_matches(word.casefold(), folded, n=at_most, cutoff=0.6))
