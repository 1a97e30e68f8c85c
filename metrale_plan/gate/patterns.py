"""Path patterns of the gate's config: `*` and `?` inside one folder, `**` over any number of them."""

import re
from collections.abc import Iterable
from functools import cache


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether any pattern means this path.

    Args:
        path: with forward slashes, relative to the folder that the patterns are relative to.
        patterns: one without a slash means a name at any depth; a folder's name means everything in it.
    """
    return any(_compiled(pattern).fullmatch(path) is not None for pattern in patterns)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    rooted = pattern.removeprefix("./").rstrip("/")
    anywhere = "" if "/" in rooted else "(?:.*/)?"
    out = ""
    at = 0
    while at < len(rooted):
        if rooted.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif rooted.startswith("**", at):
            out, at = out + ".*", at + 2
        elif rooted[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif rooted[at] == "?":
            out, at = out + "[^/]", at + 1
        else:
            out, at = out + re.escape(rooted[at]), at + 1
    return re.compile(f"{anywhere}{out}(?:/.*)?", re.DOTALL)
