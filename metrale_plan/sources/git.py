"""Serve configs as a git commit has them, laid out in a folder of their own, and what has been renamed since."""

import os
import subprocess
from collections.abc import Iterable, Iterator
from glob import has_magic
from pathlib import Path

from metrale_plan.errors import InputError
from metrale_plan.sources.config_files import looks_like_one

NO_ANSWER = "MP276"


def commit_of(folder: str, ref: str) -> str:
    """The commit that a branch, tag or commit means in the repository around a folder.

    Raises:
        InputError: MP276 where git is missing, this is no repository, or it knows no such commit.
    """
    found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return found.decode().strip()


def lay_out(folder: str, commit: str, paths: Iterable[str], target: Path) -> None:
    """Write the configs that `paths` lead to at a commit below `target`, under the paths they have from `folder`.

    Args:
        folder: where git runs; the paths are relative to it.
        paths: files, folders and patterns; of a pattern, everything that it might match.

    Raises:
        InputError: MP276 for a path outside of the folder.
    """
    names: dict[str, None] = {}
    for path in paths:
        if Path(path).is_absolute() or ".." in Path(path).parts:
            raise InputError(
                NO_ANSWER, f"{path} cannot be looked up at the commit", where=path, accepted="a path below this folder"
            )
        for place in (path, _fixed_part(path)) if has_magic(path) else (path,):
            listed = _git(folder, "ls-tree", "-r", "-z", "--name-only", commit, "--", place).split(b"\0")
            found = (os.fsdecode(raw) for raw in listed if raw)
            names |= dict.fromkeys(name for name in found if looks_like_one(Path(name)) or Path(name) == Path(path))
    for name, content in _contents(folder, commit, list(names)):
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)


def renamed_since(folder: str, commit: str) -> dict[str, str]:
    """Names now -> names at the commit, of the tracked files below a folder that git takes for renamed."""
    told = _git(folder, "diff-index", "-z", "-M", "--diff-filter=R", "--name-status", "--relative", commit)
    words = [os.fsdecode(raw) for raw in told.split(b"\0")]
    return {new: old for _status, old, new in zip(words[::3], words[1::3], words[2::3], strict=False)}


def _fixed_part(pattern: str) -> str:
    """The folder above the first part with a wildcard."""
    parts: list[str] = []
    for part in Path(pattern).parts:
        if has_magic(part):
            break
        parts.append(part)
    return str(Path(*parts))


def _contents(folder: str, commit: str, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Each file's bytes; a link is what it leads to, and one that leads nowhere in the commit is no file."""
    plain = [name for name in names if "\n" not in name]
    prefix = os.fsdecode(_git(folder, "rev-parse", "--show-prefix").removesuffix(b"\n"))
    asked = "".join(f"{commit}:{prefix}{name}\n" for name in plain)
    answer = _git(folder, "cat-file", "--batch", "--follow-symlinks", given=os.fsencode(asked))
    at = 0
    for name in plain:
        end = answer.index(b"\n", at)
        words = answer[at:end].split()
        at = end + 1
        if words[-1] in (b"missing", b"ambiguous"):
            continue
        size = int(words[-1])
        if len(words) == 3 and words[1] == b"blob":
            yield name, answer[at : at + size]
        at += size + 1
    for name in names:
        if "\n" in name:
            yield name, _git(folder, "show", f"{commit}:./{name}")


def _git(folder: str, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["git", "-C", folder, "--literal-pathspecs", *arguments]
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False)
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
