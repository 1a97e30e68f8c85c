"""Real cupy: that it is what the stand-ins pretend, and what it says of a driver that fails in each way.

The driver is a stub of five functions compiled here; it cannot succeed, only fail, which is all that is asked of it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeRuntime, fake_nvml

from metrale_plan.probes.base import ProbeRequest
from metrale_plan.probes.live import read_in_child
from metrale_plan.reading import judge_reading

STUB = """
#include <stdlib.h>
#include <string.h>
static int set(const char *name, int otherwise) { const char *t = getenv(name); return t ? atoi(t) : otherwise; }
static int not_supported(void) { return 801; }
int cuInit(unsigned flags) { return set("STUB_INIT", 0); }
int cuDriverGetVersion(int *version) { *version = set("STUB_VERSION", 13020); return 0; }
int cuGetExportTable(const void **table, const void *id) { return 500; }
int cuGetProcAddress(const char *symbol, void **found, int version, unsigned long long flags);
int cuGetProcAddress_v2(const char *symbol, void **found, int version, unsigned long long flags, int *status) {
    if (!strcmp(symbol, "cuInit")) *found = (void *)cuInit;
    else if (!strcmp(symbol, "cuDriverGetVersion")) *found = (void *)cuDriverGetVersion;
    else if (!strcmp(symbol, "cuGetExportTable")) *found = (void *)cuGetExportTable;
    else if (!strcmp(symbol, "cuGetProcAddress")) *found = (void *)cuGetProcAddress_v2;
    else *found = (void *)not_supported;
    if (status) *status = 0;
    return 0;
}
int cuGetProcAddress(const char *symbol, void **found, int version, unsigned long long flags) {
    return cuGetProcAddress_v2(symbol, found, version, flags, 0);
}
"""

pytestmark = pytest.mark.cupy


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a driver library that fails as STUB_INIT and STUB_VERSION say."""
    folder = tmp_path_factory.mktemp("driver")
    source = folder / "stub.c"
    source.write_text(STUB, encoding="utf-8")
    library = folder / "libcuda.so.1"
    command = ["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    return folder


def run(*argv: str, **environ: str) -> Any:
    """The document of a command in a process of its own."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
    }
    command = [sys.executable, "-m", "metrale_plan", *argv, "--format", "json"]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, env=kept | environ, capture_output=True, text=True, cwd=root, check=False)
    document = json.loads(done.stdout)
    assert document["exit_code"] == done.returncode
    return document


@pytest.mark.parametrize(
    ("status", "code", "name"),
    [
        (2, "MP316", "cudaErrorMemoryAllocation"),
        (3, "MP315", "cudaErrorInitializationError"),
        (34, "MP315", "cudaErrorStubLibrary"),
        (46, "MP314", "cudaErrorDevicesUnavailable"),
        (100, "MP303", "no GPU"),
        (101, "MP303", "ordinal 0"),
        (802, "MP315", "cudaErrorSystemNotReady"),
        (803, "MP315", "cudaErrorSystemDriverMismatch"),
        (804, "MP315", "cudaErrorCompatNotSupportedOnDevice"),
        (999, "MP315", "cudaErrorUnknown"),
    ],
)
def test_each_status_of_a_failing_driver(driver: Path, status: int, code: str, name: str) -> None:
    document = run("preflight", "qwen3.8-27b", LD_LIBRARY_PATH=str(driver), STUB_INIT=str(status))
    assert document["exit_code"] == 3
    assert document["error"]["code"] == code and name in document["error"]["message"]
    said = document["memory"]["sources"][0]
    assert said["source"] == "cuda" and not said["answered"] and f"(status {status})" in said["said"]


def test_a_driver_that_is_too_old(driver: Path) -> None:
    document = run("preflight", "qwen3.8-27b", LD_LIBRARY_PATH=str(driver), STUB_VERSION="11040")
    assert document["error"]["code"] == "MP302" and "supports CUDA 11.4" in document["error"]["message"]


def test_no_driver_at_all(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("not a library", encoding="utf-8")
    document = run("preflight", "qwen3.8-27b", LD_LIBRARY_PATH=str(tmp_path))
    assert document["error"]["code"] == "MP302" and "no NVIDIA driver is visible" in document["error"]["message"]


def test_a_variable_that_hides_every_gpu_is_named(driver: Path) -> None:
    document = run("preflight", "qwen3.8-27b", LD_LIBRARY_PATH=str(driver), STUB_INIT="100", CUDA_VISIBLE_DEVICES="-1")
    assert document["error"]["where"] == "CUDA_VISIBLE_DEVICES" and "'-1'" in document["error"]["message"]


def test_doctor_reads_in_a_child_and_reports(driver: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "recording.json")
    live = run("doctor", "--record", file, LD_LIBRARY_PATH=str(driver), STUB_INIT="999", STUB_VERSION="12090")
    assert live["exit_code"] == 3
    assert live["doctor"]["driver"]["cuda"] == 12090
    assert any(name.startswith("cupy-cuda1") for name in live["doctor"]["cupy"]["distributions"])
    replayed = run("doctor", "--probe", file)
    assert replayed["error"] == live["error"]
    assert replayed["doctor"] == {**live["doctor"], "source": "recording"}


def test_the_reading_imports_neither_cupy_nor_numpy() -> None:
    code = (
        "import sys\nfrom metrale_plan.probes.live import read_live\n"
        "from metrale_plan.probes.base import ProbeRequest\n"
        "raw = read_live(ProbeRequest(samples=1))\nassert raw.cuda.module == 'cupy_backends.cuda.api.runtime'\n"
        "print([name for name in ('cupy', 'numpy', 'pydantic', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_real_runtime_has_what_the_stand_in_has() -> None:
    from cupy_backends.cuda.api import runtime

    names = [name for name in vars(FakeRuntime) if callable(vars(FakeRuntime)[name]) and not name.startswith("_")]
    assert len(names) == 7
    assert [name for name in names if not callable(getattr(runtime, name, None))] == []
    assert issubclass(runtime.CUDARuntimeError, RuntimeError)


def test_the_real_error_carries_its_status(driver: Path) -> None:
    code = (
        "from cupy_backends.cuda.api import runtime\n"
        "try:\n    runtime.getDeviceCount()\nexcept RuntimeError as error:\n    print(type(error.status), error.status)"
    )
    environ = os.environ | {"LD_LIBRARY_PATH": str(driver), "STUB_INIT": "46"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "<class 'int'> 46\n"


def test_the_real_nvml_module_has_what_the_stand_in_has() -> None:
    import pynvml

    assert [name for name in vars(fake_nvml()) if not callable(getattr(pynvml, name, None))] == []
    error = pynvml.NVMLError(pynvml.NVML_ERROR_NO_PERMISSION)
    assert error.value == 4 and str(error)


@pytest.mark.gpu
def test_a_live_gpu_is_read_and_believed() -> None:
    raw = read_in_child(ProbeRequest())
    found = judge_reading(raw, 0)
    assert found.failure is None
    assert found.reading.source == "live" and len(found.reading.samples) in (1, 3)
    assert found.reading.free is not None and found.reading.total is not None
    assert 0 <= found.reading.free <= found.reading.total
