"""The rules of a memory reading, on recorded facts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import FOLDER, judged, raw

from metrale_plan.reading import judge_reading
from metrale_plan.reading.agreement import apart, contradiction
from metrale_plan.reading.free import UNIFIED_FLOOR
from metrale_plan.reading.host import group_room, host_room, hugepage_bytes, meminfo_bytes
from metrale_plan.reading.identity import plain_pci, whole_uuid
from metrale_plan.reading.raw import (
    CgroupLevel,
    CudaDevice,
    CudaRaw,
    Failure,
    HostRaw,
    NvmlDevice,
    NvmlProcess,
    NvmlRaw,
    RawReading,
    Sample,
)
from metrale_plan.units import GIB, MIB

MODULE = "cupy_backends.cuda.api.runtime"


def test_every_invented_recording_says_so() -> None:
    names = [path.name for path in FOLDER.iterdir()]
    assert names
    assert [name for name in names if not name.startswith("synthetic_")] == []


def test_page_cache_does_not_count_as_used_on_shared_memory() -> None:
    found = judged("gb10_page_cache")
    assert found.reading.free == 52 * GIB
    assert 40 * GIB <= found.reading.free < 53 * GIB
    assert found.reading.unified and found.reading.source == "recording"
    assert any(
        "2.77 GiB" in note and "52.00 GiB" in note and "MemAvailable counts" in note for note in found.reading.notes
    )
    assert found.reading.floor == UNIFIED_FLOOR == 8 * GIB


@pytest.mark.parametrize(
    ("name", "free"), [("gb10_cgroup_no_limit", 28), ("gb10_cgroup_limit", 13), ("gb10_cgroup_v1", 13)]
)
def test_a_control_group_lowers_only_with_a_limit(name: str, free: int) -> None:
    reading = judged(name).reading
    assert reading.free == free * GIB
    assert any("control group" in note for note in reading.notes) == (free == 13)


def test_the_driver_figure_is_not_lowered_by_a_control_group() -> None:
    """Device memory is not charged to the group on these machines, so its limit bounds the host's figure only."""
    one = raw("gb10_cgroup_limit")
    device = one.cuda.devices[0]
    more = replace(device, samples=tuple(replace(sample, free=20 * GIB) for sample in device.samples))
    reading = judge_reading(replace(one, cuda=replace(one.cuda, devices=(more,))), 0).reading
    assert reading.free == 20 * GIB


def test_host_memory_unknown_on_shared_memory_is_said() -> None:
    found = judged("gb10_no_meminfo")
    assert found.reading.free == 40 * GIB
    assert [problem.code for problem in found.problems] == ["MP318"]


def test_a_huge_page_pool_is_said() -> None:
    found = judged("gb10_hugepages")
    assert found.reading.free == 60 * GIB
    (problem,) = found.problems
    assert (problem.code, problem.severity) == ("MP319", "note")
    assert "32,768 MiB" in problem.message and "32,000 MiB" in problem.message


@pytest.mark.parametrize("name", ["two_numberings_one", "two_numberings_both"])
def test_ordinal_zero_is_the_gpu_that_cuda_says(name: str) -> None:
    found = judged(name)
    assert found.reading.device == "NVIDIA GeForce RTX 3080"
    assert found.reading.free == 10 * GIB < 12 * GIB
    assert found.reading.total == int(10.35 * GIB)
    assert found.reading.detail is not None and found.reading.detail.context_bytes == int(10.1 * GIB) - 10 * GIB
    assert "CUDA's ordinal 0 is the GPU that NVML numbers 1" in found.reading.notes


def test_a_cut_uuid_is_nobodys_and_the_pci_id_joins() -> None:
    found = judged("cut_uuid")
    detail = found.reading.detail
    assert detail is not None
    assert detail.uuid is None and detail.pci_bus_id == "0000:41:00.0"
    assert any("NVML numbers 1" in note for note in found.reading.notes)


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("h100_free_above_total", ("84929740801 B", "84929740800 B")),
        ("h100_zero_total", ("total is 0 B", "0 B (0 B) are free")),
        ("h100_does_not_add_up", ("4,096 MiB used", "71,680 MiB free", "84929740800 B")),
    ],
)
def test_a_reading_that_contradicts_itself_tells_nothing(name: str, figures: tuple[str, ...]) -> None:
    found = judged(name)
    assert found.failure is not None
    assert found.failure.exit_code == 3 and found.failure.problem.code == "MP310"
    assert all(figure in found.failure.problem.message for figure in figures)
    assert found.reading.free is None and found.reading.source == "none"


@pytest.mark.parametrize(
    ("off", "total", "contradicts"),
    [
        (256 * MIB, 8 * GIB, False),
        (256 * MIB + 1, 8 * GIB, True),
        (-256 * MIB - 1, 8 * GIB, True),
        (GIB, 100 * GIB, False),
        (GIB + 1, 100 * GIB, True),
    ],
)
def test_used_and_free_may_miss_the_total_by_one_percent_or_256_mib(off: int, total: int, contradicts: bool) -> None:
    free = total // 2
    assert (contradiction(free, total, used=total - free + off) is not None) == contradicts
    assert apart(total + off, total, total) == contradicts


def test_samples_that_move_are_said_and_the_lowest_counts() -> None:
    found = judged("h100_moving")
    assert found.reading.free == 68 * GIB == min(free for free, _ in found.reading.samples)
    (problem,) = found.problems
    assert problem.code == "MP308" and "69,632 MiB to 71,680 MiB" in problem.message


def test_a_full_gpu_has_nothing_free_and_is_no_riddle() -> None:
    found = judged("h100_full")
    assert found.failure is None
    assert found.reading.free == 0 and found.reading.total == 84_929_740_800
    assert [problem.code for problem in found.problems] == ["MP316"]
    assert found.reading.detail is not None and found.reading.detail.holders[0].name == "met"


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("h100_exclusive", "MP314", "status 46"),
        ("h100_prohibited", "MP314", "prohibits"),
    ],
)
def test_a_gpu_that_lets_no_context_in_still_has_a_total(name: str, code: str, word: str) -> None:
    found = judged(name)
    assert found.failure is not None and found.failure.problem.code == code and word in found.failure.problem.message
    assert found.reading.free is None and found.reading.total == 84_929_740_800
    assert found.device is not None and found.device.sm_count == 132


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("no_cupy", "MP301", "cupy is not installed"),
        ("no_driver", "MP302", "no NVIDIA driver is visible"),
        ("old_driver", "MP302", "too old, it supports CUDA 11.4, this cupy was built for 12.9"),
        ("hidden", "MP303", "CUDA_VISIBLE_DEVICES='' hides every GPU"),
    ],
)
def test_what_keeps_every_gpu_from_being_read(name: str, code: str, words: str) -> None:
    found = judged(name)
    assert found.failure is not None and found.device is None
    assert found.failure.exit_code == 3
    assert found.failure.problem.code == code and words in found.failure.problem.message


def failing(status: int | None, text: str, call: str = "getDeviceCount") -> RawReading:
    failure = Failure(call=call, text=text, status=status)
    return RawReading(cuda=CudaRaw(module=MODULE, driver_version=12090, runtime_version=12090, failure=failure))


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((2, "MP316"), (46, "MP314"), (100, "MP303"), (101, "MP303"), (709, "MP304"), (None, "MP304")),
        *((status, "MP315") for status in (3, 34, 103, 802, 803, 804, 999)),
    ],
)
def test_each_status_has_a_meaning(status: int | None, code: str) -> None:
    found = judge_reading(failing(status, "cudaErrorOfSomeKind: words"), 0)
    assert found.failure is not None and found.failure.exit_code == 3
    assert found.failure.problem.code == code
    if code not in ("MP303",):
        assert "cudaErrorOfSomeKind" in found.failure.problem.message


def test_an_ordinal_beyond_the_recorded_ones() -> None:
    found = judged("two_numberings_one", 1)
    assert found.failure is not None and found.failure.problem.code == "MP303"
    assert found.failure.problem.accepted == "0"
    unread = judged("two_numberings_both", 1)
    assert unread.failure is not None and "was not read; read were: 0" in unread.failure.problem.message


def test_cupy_that_is_there_and_does_not_import() -> None:
    broken = replace(raw("no_cupy"), packages=("cupy-cuda12x 14.2.0",))
    failure = judge_reading(broken, 0).failure
    assert failure is not None and "cupy-cuda12x 14.2.0 cannot be imported" in failure.problem.message


def test_two_cupy_packages_are_said_plainly() -> None:
    found = judged("h100_both_cupy")
    assert found.failure is None
    assert [problem.code for problem in found.problems] == ["MP307"]
    assert "cupy-cuda12x 14.2.0 and cupy-cuda13x 14.2.0" in found.problems[0].message


def test_a_child_that_did_not_end_is_the_failure() -> None:
    failure = judge_reading(
        RawReading(failure=Failure(call="child", text="the driver did not answer within 60 s")), 0
    ).failure
    assert failure is not None and failure.problem.code == "MP317" and "within 60 s" in failure.problem.message


def test_holders_leave_the_reader_out_and_come_largest_first() -> None:
    detail = judged("h100_held").reading.detail
    assert detail is not None
    assert [(holder.pid, holder.name, holder.bytes) for holder in detail.holders] == [
        (900, "met", 60 * GIB),
        (901, "Xorg", None),
    ]
    assert detail.context_bytes == 512 * MIB


def test_a_slice_takes_nothing_from_the_whole_gpus_figures() -> None:
    found = judged("h100_mig_slice")
    assert found.reading.total == int(9.75 * GIB) and found.failure is None
    detail = found.reading.detail
    assert detail is not None and detail.holders == () and detail.context_bytes is None
    assert any("MIG" in note for note in found.reading.notes)


def test_a_slice_that_nvml_lists_is_joined_by_its_own_uuid() -> None:
    one = raw("h100_mig_slice")
    uuid = one.environment["CUDA_VISIBLE_DEVICES"]
    held = NvmlProcess(pid=77, name="met", bytes=GIB)
    part = NvmlDevice(index=0, uuid=uuid, mig="slice", total=10 * GIB, free=9 * GIB, used=GIB, processes=(held,))
    nvml = replace(one.nvml, devices=(*one.nvml.devices, part))
    detail = judge_reading(replace(one, nvml=nvml), 0).reading.detail
    assert detail is not None and [holder.pid for holder in detail.holders] == [77]


def test_a_slice_is_known_by_its_name_where_nvml_lists_none() -> None:
    one = raw("h100_mig_slice")
    whole = replace(one.nvml.devices[0], mig=None)
    found = judge_reading(replace(one, nvml=replace(one.nvml, devices=(whole,))), 0)
    detail = found.reading.detail
    assert detail is not None and detail.holders == () and detail.context_bytes is None and found.failure is None
    assert detail.uuid == one.environment["CUDA_VISIBLE_DEVICES"]


def test_a_name_from_a_file_is_one_line() -> None:
    one = raw("h100_held")
    device = one.cuda.devices[0]
    named = replace(device, properties={**device.properties, "name": "NVIDIA\r\n H100\n"})
    found = judge_reading(replace(one, cuda=replace(one.cuda, devices=(named,))), 0)
    assert found.reading.device == "NVIDIA H100"


def test_wsl_is_recognised() -> None:
    assert any("WSL" in note for note in judged("h100_wsl").reading.notes)


def test_each_sources_answer_is_kept() -> None:
    detail = judged("h100_held").reading.detail
    assert detail is not None
    assert [(answer.source, answer.answered) for answer in detail.sources] == [
        ("cuda", True),
        ("nvml", True),
        ("host", True),
    ]
    failed = judged("no_driver").reading.detail
    assert failed is not None
    assert [(a.source, a.answered) for a in failed.sources] == [("cuda", False), ("nvml", False), ("host", True)]


def shared(free: int, total: int, host: HostRaw, *, integrated: int = 1) -> RawReading:
    facts: dict[str, int | str] = {"name": "NVIDIA GB10", "multiProcessorCount": 48, "integrated": integrated}
    device = CudaDevice(ordinal=0, properties=facts, samples=(Sample(free=free, total=total, host=host),))
    return RawReading(cuda=CudaRaw(module=MODULE, device_count=1, devices=(device,)))


sizes = st.integers(0, 2**40)


@given(free=sizes, total=st.integers(1, 2**40), available=sizes, limit=st.none() | sizes, current=sizes, inactive=sizes)
def test_shared_memory_lies_between_the_drivers_figure_and_the_total(
    free: int, total: int, available: int, limit: int | None, current: int, inactive: int
) -> None:
    free = min(free, total)
    level = CgroupLevel(
        version=2, limit="max" if limit is None else str(limit), current=str(current), inactive_file=str(inactive)
    )
    host = HostRaw(meminfo={"MemAvailable": f"{available // 1024} kB"}, cgroups=(level,))
    told = judge_reading(shared(free, total, host), 0).reading.free
    unlimited = judge_reading(shared(free, total, replace(host, cgroups=())), 0).reading.free
    own = judge_reading(shared(free, total, host, integrated=0), 0).reading.free
    assert told is not None and unlimited is not None
    assert free <= told <= unlimited <= total
    assert own == free


@given(one=sizes, other=sizes, total=st.integers(1, 2**40))
def test_more_memory_is_never_less_free(one: int, other: int, total: int) -> None:
    low, high = (HostRaw(meminfo={"MemAvailable": f"{n} kB"}) for n in sorted((one, other)))
    less, more = (judge_reading(shared(0, total, host), 0).reading.free for host in (low, high))
    assert less is not None and more is not None and less <= more


@pytest.mark.parametrize(
    ("limit", "current", "inactive", "room"),
    [
        ("max", "5", "0", None),
        ("9223372036854771712", "5", "0", None),
        ("100", "60", "20", 60),
        ("100", "60", None, 40),
        ("100", "160", "20", 0),
        ("100", "10", "20", 100),
        ("nonsense", "10", "20", None),
        ("100", "nonsense", "20", None),
    ],
)
def test_the_room_of_a_control_group(limit: str, current: str, inactive: str | None, room: int | None) -> None:
    assert group_room(CgroupLevel(version=2, limit=limit, current=current, inactive_file=inactive))[0] == room


def test_the_tightest_control_group_counts() -> None:
    levels = tuple(CgroupLevel(version=2, limit=limit, current="10") for limit in ("100", "50", "max"))
    assert host_room(HostRaw(cgroups=levels)).cgroup_room == 40


@pytest.mark.parametrize(
    ("text", "value"), [("127600748 kB", 127600748 * 1024), ("5", 5), ("", None), ("5 MB", None), ("-5 kB", None)]
)
def test_meminfo_values(text: str, value: int | None) -> None:
    assert meminfo_bytes(HostRaw(meminfo={"MemAvailable": text}), "MemAvailable") == value


def test_no_huge_page_pool_is_none() -> None:
    assert hugepage_bytes(HostRaw(meminfo={"HugePages_Total": "0", "Hugepagesize": "2048 kB"})) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("0000:01:00.0", "0000:01:00.0"),
        ("00000000:C1:00.0", "0000:c1:00.0"),
        ("00010000:01:00.0", "10000:01:00.0"),
        ("", None),
        (None, None),
        ("01:00.0", None),
    ],
)
def test_pci_ids_of_either_length(text: str | None, plain: str | None) -> None:
    assert plain_pci(text) == plain


@given(st.binary(min_size=0, max_size=20))
def test_only_sixteen_bytes_are_a_uuid(data: bytes) -> None:
    uuid = whole_uuid(data.hex())
    assert (uuid is not None) == (len(data) == 16)
    assert uuid is None or (len(uuid) == 40 and uuid.replace("-", "") == "GPU" + data.hex())


def test_nvml_that_fails_does_not_fail_the_reading() -> None:
    one = raw("h100_held")
    silent = replace(one, nvml=NvmlRaw(failure=Failure(call="nvmlInit", text="No permission", status=4)))
    found = judge_reading(silent, 0)
    assert found.failure is None and found.reading.free == judged("h100_held").reading.free
    assert found.reading.detail is not None and found.reading.detail.holders == ()


def test_a_reading_that_broke_off_is_no_reading() -> None:
    one = raw("h100_held")
    lost = Failure(call="memGetInfo", text="cudaErrorDeviceUnavailable: gone", status=709)
    device = replace(one.cuda.devices[0], failures=(lost,))
    found = judge_reading(replace(one, cuda=replace(one.cuda, devices=(device,))), 0)
    assert found.failure is not None and found.reading.free is None


@given(st.integers(-(2**64), 2**64), st.integers(-(2**64), 2**64), st.integers(-5, 200), st.booleans())
def test_no_figure_is_too_odd_to_judge(free: int, total: int, sm_count: int, integrated: bool) -> None:
    host = HostRaw(meminfo={"MemAvailable": f"{abs(free)} kB"})
    one = shared(free, total, host, integrated=int(integrated))
    facts = {**one.cuda.devices[0].properties, "multiProcessorCount": sm_count}
    device = replace(one.cuda.devices[0], properties=facts)
    found = judge_reading(replace(one, cuda=replace(one.cuda, devices=(device,))), 0)
    sane = 0 <= free <= total and total > 0
    assert (found.failure is None) == (sane and sm_count > 0)
    assert (found.device is not None) == (total > 0 and sm_count > 0)
