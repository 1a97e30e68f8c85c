"""A small repository of serve configs for the gate's tests."""

from pathlib import Path
from typing import Any

MODELS = Path(__file__).parent.parent / "models"

GOOD = """recipe_version: "2"
model: Qwen/Qwen3.6-35B-A3B-FP8
runtime: metrale
container: example/serve:1
defaults:
  max_batch_size: 8
  gpu_memory_utilization: 0.85
"""

REFUSED = """recipe_version: "2"
model: unsloth/Qwen3.8-27B-NVFP4
runtime: metrale
container: example/serve:1
defaults:
  speculative: true
  num_drafts: 3
  enable_prefix_caching: true
  max_batch_size: 128
  ssm_cache_slots: 400
"""

EXCLUDING = """recipe_version: "2"
model: unsloth/Qwen3.8-27B-NVFP4
runtime: metrale
container: example/serve:1
defaults:
  speculative: true
  dflash: true
  dflash_gamma: 8
"""

UNTOLD = """recipe_version: "2"
model: Qwen/Qwen3.6-35B-A3B-FP8
runtime: metrale
container: example/serve:1
defaults:
  forward: circuit
"""

WARNED = """recipe_version: "2"
model: Qwen/Qwen3.6-35B-A3B-FP8
runtime: metrale
container: example/serve:1
defaults:
  max_batch_size: 8
env:
  METRALE_NO_MTP_K_LADDER: "0"
"""

OTHER = """recipe_version: "2"
model: some/model
runtime: vllm
container: example/vllm:1
defaults:
  max_model_len: 4096
"""

BROKEN = "[model\n"


def write(folder: Path, **files: str) -> None:
    """Files by name; `__` in a name stands for a slash and the suffix is .yaml where there is none."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ("" if "." in name else ".yaml"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def model_file(name: str = "qwen3.8-27b") -> str:
    """A bundled model's text."""
    return (MODELS / name / "MODEL.toml").read_text(encoding="utf-8")


def statuses(document: Any) -> list[tuple[str, str | None, str, int]]:
    """Path, device, status and exit code of every result."""
    return [(r["path"], r["device"], r["status"], r["exit_code"]) for r in document["results"]]
