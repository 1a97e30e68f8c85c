"""`import`: its parameters, and where its answer goes."""

from pathlib import Path
from typing import Annotated, Any, Optional

from metrale_plan.cli.declare import Argument, Option
from metrale_plan.cli.invocation import Invocation

Source = Annotated[
    str,
    Argument(
        metavar="CONFIG_JSON_OR_DIR",
        help="A config.json, a checkpoint's folder, or the id of one in the local hub cache (ID@REVISION).",
        show_default=False,
    ),
]
Output = Annotated[
    Optional[str],
    Option("--output", "-o", metavar="FILE", help="Write the MODEL.toml to this file.", show_default=False),
]
Force = Annotated[bool, Option("--force", help="Replace the output file where there is one.")]


def import_(invocation: Invocation, source: Source, output: Output = None, force: Force = False) -> int:
    """Make a MODEL.toml from a checkpoint's config, and say what the checkpoint does not tell."""
    from metrale_plan.cli.output import write_json, write_problems
    from metrale_plan.importing import Imported, import_checkpoint
    from metrale_plan.render.catalog import dims_value
    from metrale_plan.render.json import envelope
    from metrale_plan.sources.checkpoint import read_checkpoint

    imported: Imported = import_checkpoint(read_checkpoint(source, invocation.environ))
    output = None if output == "-" else output
    if output is not None:
        _write(Path(output), imported.text, force=force)
    if invocation.json:
        config = imported.config
        answer: dict[str, Any] = {
            "name": config.name,
            "hf_id": config.hf_id,
            "model_type": config.model_type or None,
            "files": list(config.files),
            "output": output,
            "model_toml": imported.text,
            "complete": imported.dims is not None,
            "missing": list(imported.missing),
            "untold": [problem.message for problem in imported.untold],
            "dtype": config.dtype,
            "quantization": dict(config.quantization),
            "weight_bytes": config.weight_bytes,
            "dims": None if imported.dims is None else dims_value(imported.dims),
        }
        write_json(invocation, envelope("import", 0, list(imported.problems), None) | {"import": answer})
        return 0
    if output is None:
        out = invocation.stdout
        out.write(imported.text.encode(out.encoding or "utf-8", "replace").decode(out.encoding or "utf-8"))
        out.flush()
    else:
        invocation.stderr.write(f"wrote {output}\n")
    write_problems(invocation.stderr, imported.problems)
    return 0


def _write(path: Path, text: str, *, force: bool) -> None:
    """Write a file whole or not at all. A device or a pipe is written into, a link's target replaced: both stay.

    Raises:
        InputError: MP228 where the file is there and `--force` is not given; MP201 where it cannot be written.
    """
    import os

    from metrale_plan.errors import InputError

    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        if (path.exists() or path.is_symlink()) and not force:
            raise InputError("MP228", f"{path} is there already", where=str(path), accepted="another -o, or --force")
        target = path.resolve()
        temporary = target.with_name(f".metrale-plan.{os.getpid()}")
        try:
            temporary.write_text(text, encoding="utf-8", newline="\n")
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError("MP201", f"{path} cannot be written: {reason}", where=str(path)) from None
