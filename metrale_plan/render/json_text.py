"""JSON text that every reader takes, whatever bytes a file's name or a value was made of."""

import re
from typing import Any

_PAIR = r"(\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})"
_ALONE = r"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}"


def json_text(value: Any, *, indent: int | None = None) -> str:
    """The value as JSON, in ASCII.

    Bytes that were no text came in as lone surrogates, which strict readers refuse; they are shown as U+FFFD.
    """
    import json

    text = json.dumps(value, indent=indent, ensure_ascii=True)
    return re.sub(f"{_PAIR}|{_ALONE}", _shown, text) if "\\ud" in text else text


def _shown(match: re.Match[str]) -> str:
    return match[1] or (match[2] or "") + "\\ufffd"
