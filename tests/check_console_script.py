"""`python tests/check_console_script.py SCRIPT`: an installed console script plans the recorded boots to the byte."""

import json
import subprocess
import sys
import tempfile
from typing import Any

from boots import BOOTS, boot
from test_planned_boots import SECTION_20, serve_args


def planned(script: str, name: str) -> Any:
    """One boot's document, from a folder that has nothing to do with the project."""
    record = boot(name).record
    argv = [script, "plan", "--format", "json", "--device", "gb10", "--rules", record["date"], "--"]
    argv += ["met", "serve", record["checkpoint"], *serve_args(record)]
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=elsewhere)
    return json.loads(done.stdout)


def main() -> int:
    """Exit 0 when every boot agrees."""
    failed = 0
    for name in BOOTS:
        reserve, expected = planned(sys.argv[1], name)["reserve"], SECTION_20[name]
        wrong = [term for term in ("ssm_pool", "inference_reserve", "buffer_arena") if reserve[term] != expected[term]]
        failed += bool(wrong)
        print(f"{name}: {'differs in ' + ', '.join(wrong) if wrong else 'exact'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
