"""Serve configs as a git commit has them, laid out in a folder of their own."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from metrale_plan.errors import InputError
from metrale_plan.sources.config_files import looks_like_one

NO_ANSWER = "MP276"


def lay_out(folder: str, ref: str, paths: Iterable[str], target: Path) -> None:
    """Write the configs that `paths` hold at a commit below `target`, under the paths they have from `folder`.

    Args:
        folder: where git runs; the paths are relative to it.
        ref: a branch, tag or commit.

    Raises:
        InputError: MP276 where git is missing, this is no repository, or it knows no such commit.
    """
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").decode().strip()
    for path in paths:
        if Path(path).is_absolute() or ".." in Path(path).parts:
            raise InputError(
                NO_ANSWER, f"{path} cannot be looked up at {ref}", where=path, accepted="a path below this folder"
            )
        listed = _git(folder, "ls-tree", "-r", "-z", "--name-only", commit, "--", path).split(b"\0")
        for name in (Path(raw.decode("utf-8", "surrogateescape")) for raw in listed if raw):
            if looks_like_one(name) or str(name) == str(Path(path)):
                copy = target / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(_git(folder, "show", f"{commit}:./{name.as_posix()}"))


def _git(folder: str, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False)
    except OSError as error:
        raise InputError(NO_ANSWER, f"git cannot be run: {error.strerror or error}", where="git") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        what = said[-1] if said else "no such commit"
        raise InputError(
            NO_ANSWER,
            f"git {arguments[0]}: {what}",
            where="--base",
            accepted="a commit, branch or tag that this repository has",
        )
    return done.stdout
