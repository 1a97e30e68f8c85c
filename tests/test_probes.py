"""The adapters behind the door, over stand-ins for the machine."""

import inspect
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from fakes import DISCRETE, FakeCudaError, FakeRuntime, fake_nvml, process, refusing

from metrale_plan.memory import MemoryRequest, live_reader
from metrale_plan.probes.base import ProbeRequest, RuntimeLike, without_folders
from metrale_plan.probes.child import read_in_child
from metrale_plan.probes.cuda import MODULES, read_cuda, runtime_module
from metrale_plan.probes.host import read_host
from metrale_plan.probes.live import read_live
from metrale_plan.probes.nvml import Nvml
from metrale_plan.probes.packages import cupy_distributions
from metrale_plan.probes.recording import dumped, parsed
from metrale_plan.reading import judge_reading
from metrale_plan.reading.raw import CudaRaw, Failure, HostRaw, RawReading

HOST = HostRaw(meminfo={"MemAvailable": "1024 kB"})


def read(runtime: RuntimeLike, request: ProbeRequest | None = None, slept: list[float] | None = None) -> CudaRaw:
    pauses = [] if slept is None else slept
    return read_cuda(MODULES[0], runtime, request or ProbeRequest(), lambda: HOST, pauses.append)


def test_the_stand_in_has_just_the_names_of_the_protocol() -> None:
    def public(kind: type) -> set[str]:
        return {name for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_")}

    assert public(FakeRuntime) == public(RuntimeLike)


def test_a_gpu_is_read_three_times_back_to_back() -> None:
    slept: list[float] = []
    runtime = FakeRuntime(memory=[(5, 10), (3, 10), (4, 10)])
    (device,) = read(runtime, slept=slept).devices
    assert [(sample.free, sample.total, sample.host) for sample in device.samples] == [
        (5, 10, None),
        (3, 10, None),
        (4, 10, None),
    ]
    assert slept == []
    assert device.properties["name"] == "NVIDIA H100 80GB HBM3"
    assert device.properties["uuid"] == bytes(range(1, 17)).hex()
    assert "luid" not in device.properties and "maxGridSize" not in device.properties
    assert device.pci_bus_id == "0000:01:00.0"


def test_samples_spread_over_a_duration() -> None:
    slept: list[float] = []
    (device,) = read(FakeRuntime(), ProbeRequest(samples=5, over=8.0), slept).devices
    assert len(device.samples) == 5 and slept == [2.0] * 4


def test_an_integrated_gpu_has_the_hosts_figures_beside_each_sample() -> None:
    (device,) = read(FakeRuntime(devices=[{**DISCRETE, "integrated": 1}])).devices
    assert [sample.host for sample in device.samples] == [HOST] * 3


def test_only_the_gpu_asked_for_gets_a_context() -> None:
    runtime = FakeRuntime(devices=[DISCRETE, DISCRETE])
    assert [device.ordinal for device in read(runtime, ProbeRequest(ordinal=1)).devices] == [1]
    assert [call for call in runtime.calls if call.startswith("setDevice")] == ["setDevice 1"]
    assert [device.ordinal for device in read(runtime, ProbeRequest(ordinal=None)).devices] == [0, 1]


def test_a_prohibited_gpu_is_not_touched_and_an_exclusive_one_briefly() -> None:
    prohibited = FakeRuntime(devices=[{**DISCRETE, "computeMode": 2}])
    (device,) = read(prohibited).devices
    assert device.samples == () and device.failures[0].call == "memGetInfo"
    assert not {"memGetInfo", "setDevice 0"} & set(prohibited.calls)
    (device,) = read(FakeRuntime(devices=[{**DISCRETE, "computeMode": 3}])).devices
    assert len(device.samples) == 1


@pytest.mark.parametrize(
    "call", ["driverGetVersion", "getDeviceCount", "getDeviceProperties", "setDevice", "memGetInfo"]
)
def test_a_failing_call_is_recorded_with_its_status(call: str) -> None:
    found = read(FakeRuntime(failing={call: FakeCudaError(46, "busy")}))
    failure = found.failure or found.devices[0].failures[0]
    assert (failure.call, failure.status, failure.text) == (call, 46, "busy")


def test_a_pci_id_that_fails_does_not_fail_the_reading() -> None:
    (device,) = read(FakeRuntime(failing={"deviceGetPCIBusId": FakeCudaError(1, "no")})).devices
    assert device.pci_bus_id is None and len(device.samples) == 3


def test_a_reading_that_breaks_off_keeps_what_it_had() -> None:
    (device,) = read(FakeRuntime(failing={"memGetInfo after one": FakeCudaError(709, "gone")})).devices
    assert len(device.samples) == 1 and device.failures[0].status == 709


@pytest.mark.parametrize("ordinal", [1, 7, 2**40])
def test_an_ordinal_that_is_not_there(ordinal: int) -> None:
    raw = RawReading(cuda=read(FakeRuntime(), ProbeRequest(ordinal=ordinal)))
    failure = judge_reading(raw, ordinal).failure
    assert failure is not None and failure.problem.code == "MP303" and failure.problem.accepted == "0"


def test_the_documented_module_is_the_second_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cupy_backends", *MODULES, "cupy", "cupy.cuda"):
        monkeypatch.setitem(sys.modules, name, None)
    found = runtime_module()
    assert isinstance(found, Failure) and "cupy_backends" in found.text and "cupy.cuda" in found.text
    documented = ModuleType(MODULES[1])
    for name in ("cupy", "cupy.cuda"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, MODULES[1], documented)
    assert runtime_module() == (MODULES[1], documented)


def test_nvml_tells_who_holds_the_memory() -> None:
    session = Nvml.over(fake_nvml())
    assert isinstance(session, Nvml)
    assert session.free_now() == {0: 60}
    raw = session.read({0: 75})
    session.close()
    (device,) = raw.devices
    assert raw.driver_version == "575.57.08" and raw.failure is None
    assert (device.total, device.used, device.free, device.free_before) == (100, 40, 60, 75)
    assert (device.name, device.pci_bus_id) == ("NVIDIA H100 80GB HBM3", "00000000:01:00.0")
    assert [(p.pid, p.name, p.bytes) for p in device.processes] == [
        (5, "serve-5", 30),
        (6, "serve-6", None),
        (7, "serve-7", None),
    ]


def test_nvml_functions_that_fail_cost_only_their_own_answer() -> None:
    module = fake_nvml(
        nvmlDeviceGetMemoryInfo=refusing(3, "Not Supported"),
        nvmlDeviceGetComputeRunningProcesses=lambda _: [process(5, 30)],
        nvmlDeviceGetGraphicsRunningProcesses=refusing(4, "No Permission"),
        nvmlSystemGetProcessName=refusing(4, "No Permission"),
    )
    session = Nvml.over(module)
    assert isinstance(session, Nvml) and session.free_now() == {}
    (device,) = session.read({}).devices
    assert device.total is None
    assert [(p.pid, p.name) for p in device.processes] == [(5, None)]
    assert {failure.status for failure in device.failures} == {3, 4}


def test_nvml_that_does_not_start_is_a_reason() -> None:
    found = Nvml.over(fake_nvml(nvmlInit=refusing(9, "Driver Not Loaded")))
    assert found == Failure(call="nvmlInit", text="Driver Not Loaded", status=9)


def test_nvml_of_another_age_lacks_functions() -> None:
    module = fake_nvml()
    del module.nvmlDeviceGetGraphicsRunningProcesses, module.nvmlDeviceGetMigMode
    session = Nvml.over(module)
    assert isinstance(session, Nvml)
    assert [p.pid for p in session.read({}).devices[0].processes] == [5, 6]


def test_slices_are_listed_beside_their_gpu() -> None:
    module = fake_nvml(
        nvmlDeviceGetMigMode=lambda _: (1, 1),
        nvmlDeviceGetMaxMigDeviceCount=lambda _: 2,
        nvmlDeviceGetMigDeviceHandleByIndex=lambda _, n: "slice" if n == 0 else refusing(6, "Not Found")(),
        nvmlDeviceGetUUID=lambda handle: "MIG-1" if handle == "slice" else "GPU-1",
        nvmlDeviceGetMemoryInfo=lambda _: SimpleNamespace(total=10, used=4, free=6),
    )
    session = Nvml.over(module)
    assert isinstance(session, Nvml)
    assert [(d.uuid, d.mig) for d in session.read({}).devices] == [("GPU-1", "parent"), ("MIG-1", "slice")]


def test_a_cut_gpu_is_cut_though_its_slices_cannot_be_listed() -> None:
    module = fake_nvml(
        nvmlDeviceGetMigMode=lambda _: (1, 1), nvmlDeviceGetMaxMigDeviceCount=refusing(4, "No Permission")
    )
    session = Nvml.over(module)
    assert isinstance(session, Nvml)
    assert [device.mig for device in session.read({}).devices] == ["parent"]


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


MEMINFO = "MemTotal:       127600748 kB\nMemAvailable:   54525952 kB\nActive(anon):  12 kB\nHugePages_Total:       0\n"


def test_the_hosts_files_with_the_unified_hierarchy(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/system.slice/serve.scope"
    root = write(
        tmp_path,
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "0::/system.slice/serve.scope\n",
            "proc/sys/kernel/osrelease": "6.8.0-generic\n",
            f"{group}/memory.max": "17179869184\n",
            f"{group}/memory.current": "12884901888\n",
            f"{group}/memory.stat": "anon 5\ninactive_file 9663676416\nactive_file 1\n",
            "sys/fs/cgroup/system.slice/memory.max": "max\n",
            "sys/fs/cgroup/system.slice/memory.current": "5\n",
        },
    )
    host = read_host(root)
    assert dict(host.meminfo) == {"MemTotal": "127600748 kB", "MemAvailable": "54525952 kB", "HugePages_Total": "0"}
    assert [(g.version, g.limit, g.inactive_file) for g in host.cgroups] == [
        (2, "17179869184", "9663676416"),
        (2, "max", None),
    ]
    assert host.failures == () and not host.wsl


def test_the_hosts_files_with_the_older_hierarchy_in_a_container(tmp_path: Path) -> None:
    """There /proc/self/cgroup names the host's path, and only the mount itself is there."""
    root = write(
        tmp_path,
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "5:cpu,cpuacct:/docker/ab\n4:memory:/docker/ab\n1:name=systemd:/docker/ab\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "100\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "60\n",
            "sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 20\n",
        },
    )
    (group,) = read_host(root).cgroups
    assert (group.version, group.limit, group.current, group.inactive_file) == (1, "100", "60", "20")


def test_a_limit_whose_use_cannot_be_read_is_said(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/a"
    root = write(
        tmp_path, {"proc/meminfo": MEMINFO, "proc/self/cgroup": "0::/a\n", f"{group}/memory.max": "17179869184\n"}
    )
    host = read_host(root)
    assert host.cgroups == () and [failure.call for failure in host.failures] == ["memory.current"]
    answers = judge_reading(RawReading(host=host), 0).reading.detail
    assert answers is not None
    (said,) = [answer.said for answer in answers.sources if answer.source == "host"]
    assert "53,248 MiB available" in said.replace("52.00 GiB", "53,248 MiB") and "memory.current" in said


def test_wsl_by_its_kernel_and_files_that_are_missing(tmp_path: Path) -> None:
    host = read_host(write(tmp_path, {"proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n"}))
    assert host.wsl
    assert [failure.call for failure in host.failures] == ["meminfo", "cgroup"]


def test_cupy_distributions_by_their_folders(tmp_path: Path) -> None:
    for name in (
        "cupy_cuda12x-14.2.0.dist-info",
        "cupy_cuda13x-14.2.0.dist-info",
        "cupy",
        "cupy_helper.py",
        "numpy-2.4.0.dist-info",
    ):
        (tmp_path / name).mkdir()
    assert cupy_distributions([str(tmp_path), str(tmp_path / "none")]) == ("cupy-cuda12x 14.2.0", "cupy-cuda13x 14.2.0")


def test_messages_lose_their_folders() -> None:
    said = without_folders("/home/alice/venv/lib/runtime.so: undefined symbol; No module named 'cupy'")
    assert said == "runtime.so: undefined symbol; No module named 'cupy'"
    assert without_folders(r"C:\Users\alice\cupy\x.dll failed") == "x.dll failed"


@pytest.mark.parametrize("home", ["/home/alice", "/home/Alice Smith", "/home/o'hara (old)"])
def test_messages_lose_a_home_whatever_it_is_called(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    monkeypatch.setattr(sys, "path", [f"{home}/my libs/site-packages", *sys.path])
    assert without_folders(f"{home}/my libs/site-packages/cupy/x.so: broken") == "x.so: broken"
    assert without_folders(f"Permission denied: '{home}'") == "Permission denied: '~'"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("/opt/met/bin/met serve", "met"),
        ("/home/alice/bin/met", "met"),
        ("/home/alice smith/bin/met", None),
        (r"C:\Users\Alice Smith\met.exe", None),
        ("VLLM::EngineCore", "VLLM::EngineCore"),
        ("", None),
    ],
)
def test_a_process_is_named_without_its_user(said: str, name: str | None) -> None:
    session = Nvml.over(fake_nvml(nvmlSystemGetProcessName=lambda _: said))
    assert isinstance(session, Nvml)
    assert {p.name for p in session.read({}).devices[0].processes} == {name}


def undecodable(*_: object) -> str:
    return b"\xff".decode()


@pytest.mark.parametrize("call", ["nvmlSystemGetProcessName", "nvmlDeviceGetName", "nvmlDeviceGetMemoryInfo"])
def test_nvml_that_trips_over_itself_costs_only_its_own_answer(call: str) -> None:
    """nvidia-ml-py decodes names itself, and a process may be called by any bytes."""
    session = Nvml.over(fake_nvml(**{call: undecodable}))
    assert isinstance(session, Nvml)
    raw = session.read(session.free_now())
    assert raw.failure is None and raw.devices[0].uuid is not None
    broken = Nvml.over(fake_nvml(nvmlInit=undecodable))
    assert isinstance(broken, Failure) and "UnicodeDecodeError" in broken.text


def test_a_runtime_that_lacks_a_function_is_a_reason() -> None:
    runtime = FakeRuntime()
    runtime.memGetInfo = None  # type: ignore[assignment,method-assign]
    (failure,) = read(runtime).devices[0].failures
    assert failure.call == "memGetInfo" and failure.text.startswith("TypeError: ")


def test_a_child_reads_and_leaves_no_context_here() -> None:
    raw = read_in_child(ProbeRequest(samples=1), 60)
    assert raw.failure is None and raw.origin == "live"
    assert raw.own_pid is not None and raw.read_at is not None
    assert parsed(dumped(raw), "it").cuda == raw.cuda


def test_a_command_that_goes_on_reads_in_a_child() -> None:
    here = live_reader(MemoryRequest())(0)
    away = live_reader(MemoryRequest(), in_child=True)(0)
    assert here.own_pid == os.getpid() != away.own_pid
    assert here.cuda == away.cuda


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import time; time.sleep(60)", "did not answer within 0.3 s"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended with signal 11"),
        ("raise SystemExit('/home/alice/x.so: broken')", "ended with exit code 1: x.so: broken"),
        ("print('nothing')", "is not readable JSON"),
    ],
)
def test_a_child_that_goes_wrong_is_the_readings_failure(code: str, words: str) -> None:
    limit = 0.3 if "sleep" in code else 60
    raw = read_in_child(ProbeRequest(), limit, code)
    assert raw.failure is not None and words in raw.failure.text
    failure = judge_reading(raw, 0).failure
    assert failure is not None and failure.problem.code == "MP317"


def test_the_environment_kept_is_only_what_numbers_gpus() -> None:
    raw = read_live(ProbeRequest(samples=1), {"CUDA_VISIBLE_DEVICES": "0", "USER": "alice"})
    assert dict(raw.environment) == {"CUDA_VISIBLE_DEVICES": "0"}
