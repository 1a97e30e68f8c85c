"""--show-settings: every value, who gave it, what it won over, and which ones are defaults."""

import io
import json
from pathlib import Path

from metrale_plan._entry import run

RECIPE = Path(__file__).parent / "data" / "recipes" / "qwen3.8-27b-nvfp4-latency.yaml"
ENVIRON = {"METRALE_MTP_K_LADDER": "4:1", "COLUMNS": "2000"}
ARGV = ["plan", "--recipe", str(RECIPE), "--show-settings", "--max-batch-size", "4"]
AFTER = ["--", "met", "serve", "unsloth/Qwen3.8-27B-NVFP4", "--max-batch-size", "6", "--port", "9"]


def shown(*argv: str) -> str:
    out = io.StringIO()
    assert run([*ARGV, *argv, *AFTER], ENVIRON, out, io.StringIO()) == 0
    return out.getvalue()


def test_every_layer_is_named_with_what_it_won_over() -> None:
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in shown().splitlines()[3:] if line.strip()}
    assert rows["max_batch_size"].split(None, 1) == [
        "4",
        f"flag, over 6 (after --); 8 ({RECIPE}:11); 8 (engine default)",
    ]
    assert rows["port"].split(None, 1) == ["9", f"after --, over 8888 ({RECIPE}:8); 8888 (engine default)"]
    assert rows["num_drafts"].split(None, 1)[1].startswith(f"{RECIPE}:18, over 1 (engine default)")
    assert rows["mtp_k_ladder"].split(None, 1) == [
        "4:1",
        "variable, METRALE_MTP_K_LADDER, over 4:3,8:3,16:1,32:1 (engine default)",
    ]
    assert rows["kv_cache_dtype"].startswith("fp8")
    assert "model default" in rows["kv_cache_dtype"]
    assert rows["block_size"].split(None, 1) == ["16", "engine default"]


def test_the_same_as_json() -> None:
    document = json.loads(shown("--format", "json"))
    assert document["settings"]["max_batch_size"] == {
        "value": 4,
        "source": "flag",
        "where": None,
        "lost": [
            {"value": 6, "source": "command", "where": None},
            {"value": 8, "source": "recipe", "where": f"{RECIPE}:11"},
            {"value": 8, "source": "engine", "where": None},
        ],
    }


def test_what_was_given_comes_before_the_defaults() -> None:
    sources = [line for line in shown().splitlines()[3:] if line.strip()]
    first_default = next(i for i, line in enumerate(sources) if line.endswith("  engine default"))
    assert all(line.endswith(" default") for line in sources[first_default:])
    assert not any(line.endswith("  engine default") for line in sources[:first_default])
