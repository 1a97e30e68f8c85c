"""`python tests/check_console_script.py SCRIPT`: an installed console script plans the recorded boots to the byte."""

import json
import subprocess
import sys
import tempfile
from typing import Any

from boots import BOOTS, boot
from test_planned_boots import check_exact_bytes, check_logged_mib, serve_args


def planned(script: str, name: str) -> Any:
    """One boot's document, from a folder that has nothing to do with the project."""
    record = boot(name).record
    argv = [script, "plan", "--format", "json", "--device", "gb10", "--rules", record["date"], "--"]
    argv += ["met", "serve", record["checkpoint"], *serve_args(record)]
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=elsewhere)
    return json.loads(done.stdout)


def main() -> None:
    """Raise AssertionError where a boot differs."""
    for name in BOOTS:
        document = planned(sys.argv[1], name)
        check_logged_mib(name, document)
        check_exact_bytes(name, document)
        print(f"{name}: exact")


if __name__ == "__main__":
    main()
