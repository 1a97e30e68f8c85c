"""Recordings: what is written comes back, and what is none is refused by key."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import FOLDER

from metrale_plan.errors import InputError
from metrale_plan.probes.recording import dumped, load, parsed, save
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

text = st.text(max_size=8)
whole = st.integers(-(2**64), 2**64)
failures = st.builds(Failure, call=text, text=text, status=st.none() | whole)
hosts = st.builds(
    HostRaw,
    meminfo=st.dictionaries(text, text, max_size=2),
    cgroups=st.lists(
        st.builds(CgroupLevel, version=whole, limit=text, current=text, inactive_file=st.none() | text), max_size=2
    ).map(tuple),
    wsl=st.booleans(),
)
devices = st.builds(
    CudaDevice,
    ordinal=whole,
    properties=st.dictionaries(text, text | whole, max_size=2),
    pci_bus_id=st.none() | text,
    samples=st.lists(st.builds(Sample, free=whole, total=whole, host=st.none() | hosts), max_size=2).map(tuple),
    failures=st.lists(failures, max_size=2).map(tuple),
)
gpus = st.builds(
    NvmlDevice,
    index=whole,
    mig=st.sampled_from(["slice", "parent", None]),
    free=st.none() | whole,
    processes=st.lists(
        st.builds(NvmlProcess, pid=whole, name=st.none() | text, bytes=st.none() | whole), max_size=2
    ).map(tuple),
)
readings = st.builds(
    RawReading,
    origin=st.just("recording"),
    environment=st.dictionaries(text, text, max_size=2),
    packages=st.lists(text, max_size=2).map(tuple),
    cuda=st.builds(CudaRaw, devices=st.lists(devices, max_size=2).map(tuple), failure=st.none() | failures),
    nvml=st.builds(NvmlRaw, devices=st.lists(gpus, max_size=2).map(tuple), failure=st.none() | failures),
    host=hosts,
)


@given(readings)
def test_a_recording_comes_back_as_it_was(raw: RawReading) -> None:
    assert parsed(dumped(raw), "file") == raw


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_the_bundled_recordings_are_as_the_program_writes_them(path: Path) -> None:
    written = json.loads(path.read_text(encoding="utf-8"))
    assert json.loads(dumped(load(str(path)))) == {**written, "origin": "recording"}


def good() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((FOLDER / "synthetic_h100_held.json").read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["format"], "metrale-plan-probe/9", "its format is 'metrale-plan-probe/9'"),
        (["cuda", "devices", 0, "samples", 0, "free"], "5", "cuda.devices[0].samples[0].free is '5'"),
        (["cuda", "devices", 0, "samples", 0, "free"], True, "is True"),
        (["cuda", "devices", 0, "samples", 0, "total"], 10**400, "samples[0].total is 1000"),
        (["cuda", "devices", 0, "properties", "integrated"], 2**65, "properties.integrated is 3689"),
        (["cuda", "devices", 0, "samples", 0, "free"], None, "is None"),
        (["cuda", "devices"], {}, "cuda.devices is {}"),
        (["cuda", "devices", 0, "properties"], [], "cuda.devices[0].properties is []"),
        (["cuda", "devices", 0, "properties", "name"], 1.5, "cuda.devices[0].properties.name is 1.5"),
        (["cuda", "devices", 0], "gpu", "cuda.devices[0] is 'gpu'"),
        (["nvml", "devices", 0, "mig"], "half", "nvml.devices[0].mig is 'half'"),
        (["host", "wsl"], 1, "host.wsl is 1"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(path: list[str | int], value: object, words: str) -> None:
    data = good()
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError) as caught:
        parsed(json.dumps(data), "file.json")
    assert caught.value.problem.code == "MP309" and caught.value.exit_code == 2
    assert words in caught.value.problem.message


def test_a_misspelt_or_missing_key_is_named() -> None:
    data = good()
    sample = data["cuda"]["devices"][0]["samples"][0]
    sample["toatl"] = sample.pop("total")
    with pytest.raises(InputError, match=r"no key cuda\.devices\[0\]\.samples\[0\]\.toatl") as caught:
        parsed(json.dumps(data), "file.json")
    assert caught.value.problem.nearest == ("total",)
    del sample["toatl"]
    with pytest.raises(InputError, match=r"cuda\.devices\[0\]\.samples\[0\]\.total is missing"):
        parsed(json.dumps(data), "file.json")


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "{}", "[" * 100_000, '{"format": NaN}'])
def test_what_is_no_recording_at_all(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert caught.value.problem.code == "MP309"


def test_a_key_twice_is_no_figure() -> None:
    text = (FOLDER / "synthetic_h100_held.json").read_text(encoding="utf-8")
    assert text.count('"own_pid":') == 1
    with pytest.raises(InputError, match="the key 'own_pid' is there twice") as caught:
        parsed(text.replace('"own_pid":', '"own_pid": 1, "own_pid":'), "file.json")
    assert caught.value.problem.code == "MP309"


def test_a_message_is_no_place_for_a_document() -> None:
    with pytest.raises(InputError) as caught:
        parsed(json.dumps({"format": "x" * 5000}), "file.json")
    assert len(caught.value.problem.message) < 200


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (str(tmp_path / "none"), str(tmp_path), str(binary), "nul\0"):
        with pytest.raises(InputError) as caught:
            load(path)
        assert caught.value.problem.code == "MP201"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    save(RawReading(), str(path))
    before = path.read_bytes()
    for place in (path, tmp_path / "no" / "x.json"):
        with pytest.raises(InputError) as caught:
            save(RawReading(read_at="later"), str(place))
        assert caught.value.problem.code == "MP321"
    assert path.read_bytes() == before
