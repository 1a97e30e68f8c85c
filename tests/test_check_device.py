"""The script for a machine with a GPU, run over a stand-in for one: a runtime and an nvidia-smi that share a folder."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

RUNTIME = """
import atexit, os, pathlib
STATE, MIB = pathlib.Path(os.environ["STATE"]), 2**20
TOTAL, OFF = 80_000 * MIB, int(os.environ.get("OFF", 0)) * MIB
def _mine(): return STATE / str(os.getpid())
def _free(): return TOTAL - sum(int(file.read_text()) for file in STATE.iterdir())
def _hold(size): _mine().write_text(str(size + (int(_mine().read_text()) if _mine().exists() else 0)))
def _context():
    if not _mine().exists(): _hold(500 * MIB)
def driverGetVersion(): return 13000
def runtimeGetVersion(): return 13000
def getDeviceCount(): return 1
def getDeviceProperties(i):
    return dict(name=b"NVIDIA H100 80GB HBM3", uuid=bytes(range(1, 17)), totalGlobalMem=TOTAL, major=9, minor=0,
                multiProcessorCount=132, integrated=0, computeMode=0)
def deviceGetPCIBusId(i): return "0000:01:00.0"
def setDevice(i): _context()
def memGetInfo():
    free = _free()
    return free + (OFF if free < TOTAL // 2 + 5000 * MIB else 0), TOTAL
def malloc(size):
    if size > _free(): raise RuntimeError("out of memory")
    _hold(size)
atexit.register(lambda: _mine().unlink(missing_ok=True))
"""

SMI = """#!/usr/bin/env bash
used=0
for file in "$STATE"/*; do if [ -e "$file" ]; then used=$((used + $(<"$file"))); fi; done
echo $((81559 - used / 1048576))
"""


def check(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    package, state = folder / "cupy_backends" / "cuda" / "api", folder / "state"
    package.mkdir(parents=True)
    state.mkdir()
    for part in (package, package.parent, package.parent.parent):
        (part / "__init__.py").touch()
    (package / "runtime.py").write_text(RUNTIME, encoding="utf-8")
    smi = folder / "nvidia-smi"
    smi.write_text(SMI, encoding="utf-8")
    smi.chmod(0o755)
    kept = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "PYTHONPATH": f"{folder}:{ROOT}",
        "STATE": str(state),
    }
    command = ["bash", str(ROOT / "scripts" / "check_device.sh"), "0", str(folder / "recording.json")]
    return subprocess.run(command, env=os.environ | kept | environ, capture_output=True, text=True, check=False)


def test_a_reading_that_agrees(tmp_path: Path) -> None:
    done = check(tmp_path)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(line.startswith("ok ") for line in lines) == 8
    assert not any(line.startswith(("WRONG", "left out")) for line in lines)
    assert list((tmp_path / "state").iterdir()) == []
    assert '"NVIDIA H100 80GB HBM3"' in (tmp_path / "recording.json").read_text(encoding="utf-8")


def test_a_reading_that_is_off_where_half_is_held(tmp_path: Path) -> None:
    done = check(tmp_path, OFF="2000")
    assert done.returncode == 1
    assert sum(line.startswith("WRONG 50 %") for line in done.stdout.splitlines()) == 2


def test_no_reading_is_said() -> None:
    command = ["bash", str(ROOT / "scripts" / "check_device.sh"), "70"]
    environ = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "there is no reading to check" in done.stderr
