"""The DFlash drafter's config.json, of which one number matters: its block size."""

from pathlib import Path

from metrale_plan.model.spellings import DRAFTER_BLOCK


def drafter_block(draft_model: str | None) -> int | None:
    """Block size of the drafter in a folder, or None where there is no such config, or it names none.

    Args:
        draft_model: a drafter's folder or its config.json; the id of a checkpoint elsewhere names no file here.
    """
    if draft_model is None:
        return None
    path = Path(draft_model)
    path = path / "config.json" if path.is_dir() else path
    if path.name != "config.json" or not path.is_file():
        return None
    import json

    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    nested = config.get("dflash_config") if isinstance(config, dict) else None
    for table in (config, nested):
        if isinstance(table, dict):
            for key in DRAFTER_BLOCK:
                value = table.get(key)
                if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                    return value
    return None
