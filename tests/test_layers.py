"""Imports point one way: the core knows no file, device or terminal, and nothing knows the command line."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "metrale_plan"

EDGES = (
    "sources",
    "probes",
    "render",
    "cli",
    "catalog",
    "choice",
    "memory",
    "request",
    "assemble",
    "checking",
    "comparing",
    "doctor",
    "_entry",
    "__main__",
)
"""Everything else in the package is the core."""

HEAVY = {"pydantic", "rich", "numpy", "cupy", "cupy_backends", "yaml", "ruamel", "jsonschema", "importlib.metadata"}
"""Imported inside the function that needs them, never at the top of a module."""

SCHEMAS = {"model/schema.py", "config/schema.py", "sources/gate_schema.py"}
"""Modules of pydantic models, imported only when one of them is needed."""

FORBIDDEN_IN_CORE = {"os", "sys", "pathlib", "subprocess", "socket", "time", "typer", "tomli", "io", "random"}

CORE_READERS = {"model/toml_source.py", "model/load.py"}
"""The two modules of `model` that open a file and hand on what it says."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def is_edge(name: str) -> bool:
    return name.split("/")[0].removesuffix(".py") in EDGES


def imports(path: Path, *, top_only: bool) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
            if node.module == "metrale_plan":
                yield from ((node.lineno, f"metrale_plan.{alias.name}") for alias in node.names)


def test_the_core_imports_no_edge() -> None:
    edges = {f"metrale_plan.{edge}" for edge in EDGES}
    upward = [
        f"{name_of(path)}:{line} imports {module}"
        for path in modules()
        if not is_edge(name_of(path)) and name_of(path) != "__init__.py"
        for line, module in imports(path, top_only=False)
        if any(module == edge or module.startswith(f"{edge}.") for edge in edges)
    ]
    assert upward == []


def test_the_core_opens_nothing_and_asks_nobody() -> None:
    wrong = [
        f"{name_of(path)}:{line} imports {module}"
        for path in modules()
        if not is_edge(name_of(path)) and name_of(path) not in CORE_READERS
        for line, module in imports(path, top_only=False)
        if module.split(".")[0] in FORBIDDEN_IN_CORE
    ]
    assert wrong == []


def test_nothing_imports_the_command_line() -> None:
    wrong = [
        f"{name_of(path)}:{line} imports {module}"
        for path in modules()
        if name_of(path).split("/")[0] not in ("cli", "_entry.py")
        for line, module in imports(path, top_only=False)
        if module.startswith("metrale_plan.cli")
    ]
    assert wrong == []


@pytest.mark.parametrize("edge", ["sources", "probes", "render"])
def test_edges_do_not_know_each_other(edge: str) -> None:
    others = [f"metrale_plan.{other}" for other in ("sources", "probes", "render") if other != edge]
    wrong = [
        f"{name_of(path)}:{line} imports {module}"
        for path in modules()
        if name_of(path).split("/")[0] == edge
        for line, module in imports(path, top_only=False)
        if module.startswith(tuple(others))
    ]
    assert wrong == []


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    wrong = [
        f"{name_of(path)}:{line} imports {module} at its top"
        for path in modules()
        for line, module in imports(path, top_only=True)
        if (module in HEAVY or module.split(".")[0] in HEAVY) and name_of(path) not in SCHEMAS
    ]
    assert wrong == []


def test_a_plan_of_a_bundled_model_leaves_the_heavy_libraries_out() -> None:
    import subprocess

    program = (
        "import io, sys; from metrale_plan._entry import run; "
        "code = run(['plan', 'qwen3.8-27b'], {}, io.StringIO(), io.StringIO()); "
        "print(code, sorted({name.split('.')[0] for name in sys.modules} & {'pydantic', 'rich', 'numpy', 'cupy'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 []"
