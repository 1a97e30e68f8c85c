"""Every example prints what its folder says; `python tests/examples.py` writes the folders anew."""

from pathlib import Path

import pytest

import examples

FOLDERS = examples.folders()


def test_there_are_examples() -> None:
    assert len(FOLDERS) >= 10


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_it_prints_what_its_folder_says(folder: Path) -> None:
    outcome = examples.run(folder)
    assert outcome.out == (folder / "stdout").read_text("utf-8")
    assert outcome.err == (folder / "stderr").read_text("utf-8")
    assert outcome.code == examples.exit_code(folder)
