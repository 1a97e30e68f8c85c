"""CUDA_VISIBLE_DEVICES in every spelling."""

import pytest

from metrale_plan.reading.visible import visible_devices

GPUS = (
    "GPU-a1b2c3d4-e5f6-0718-293a-4b5c6d7e8f90",
    "GPU-a1ffffff-e5f6-0718-293a-4b5c6d7e8f90",
    "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
)
SLICES = ("MIG-11223344-5566-7788-9900-aabbccddeeff",)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, [0, 1, 2]),
        ("0,1,2", [0, 1, 2]),
        ("1", [1]),
        ("2,0", [2, 0]),
        (" 1 , 0 ", [1, 0]),
        (GPUS[2], [2]),
        ("GPU-0f", [2]),
        ("gpu-A1B2", [0]),
        ("1,GPU-0f", [1, 2]),
        ("1gpu,0x2", [1, 0]),
    ],
)
def test_what_is_shown_in_which_order(text: str | None, shown: list[int]) -> None:
    found = visible_devices(text, GPUS, SLICES)
    assert found.shown is not None
    assert [gpu.index for gpu in found.shown] == shown
    assert [gpu.uuid for gpu in found.shown] == [GPUS[i] for i in shown]
    assert found.told is None


@pytest.mark.parametrize("text", [SLICES[0], "MIG-1122"])
def test_a_slice_by_its_uuid(text: str) -> None:
    found = visible_devices(text, GPUS, SLICES)
    assert found.shown is not None and [gpu.uuid for gpu in found.shown] == [SLICES[0]]


@pytest.mark.parametrize(
    ("text", "shown", "stopped_by", "hidden"),
    [
        ("-1", 0, "-1", ()),
        ("0,-1,1", 1, "-1", ("1",)),
        ("0,7,1", 1, "7", ("1",)),
        ("7", 0, "7", ()),
        ("GPU-a1", 0, "GPU-a1", ()),
        ("GPU-dead,0", 0, "GPU-dead", ("0",)),
        ("MIG-dead", 0, "MIG-dead", ()),
        ("NoDevFiles", 0, "NoDevFiles", ()),
        ("0,,1", 1, "", ("1",)),
        ("0,0", 0, "0", ()),
        ("0,1,00,2", 0, "00", ()),
        ("GPU-0f,gpu-0F1E,0", 0, "gpu-0F1E", ()),
        ("99999999999999999999,0", 0, "99999999999999999999", ("0",)),
    ],
)
def test_an_invalid_entry_hides_everything_after_it(
    text: str, shown: int, stopped_by: str, hidden: tuple[str, ...]
) -> None:
    found = visible_devices(text, GPUS, SLICES)
    assert found.shown is not None and len(found.shown) == shown
    assert (found.stopped_by, found.hidden) == (stopped_by, hidden)
    assert found.told is not None and repr(stopped_by) in found.told


def test_an_index_and_a_uuid_are_not_taken_for_the_same_gpu() -> None:
    """Indices count in CUDA's order, the list here may be in another."""
    assert visible_devices("0," + GPUS[0], GPUS).told is None


@pytest.mark.parametrize("text", ["", "  "])
def test_empty_hides_every_gpu(text: str) -> None:
    found = visible_devices(text, GPUS)
    assert found.shown == () and found.told is not None and "hides every GPU" in found.told


def test_unknown_gpus_are_taken_to_be_there() -> None:
    found = visible_devices("5,GPU-ab,MIG-cd,-1,0")
    assert found.shown is not None and [gpu.token for gpu in found.shown] == ["5", "GPU-ab", "MIG-cd"]
    assert found.stopped_by == "-1"
    assert visible_devices(None).shown is None
