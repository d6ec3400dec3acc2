"""Data goes one way: a module imports only from the packages before its own. And the command line starts at once."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from import_statements import import_statements

PACKAGE = Path(__file__).resolve().parents[2] / "numasim"
ORDER = (
    "errors",
    "files",
    "html",
    "draws",
    "schema",
    "parts",
    "machine",
    "workload",
    "strategy",
    "spec",
    "plan",
    "native",
    "engine",
    "runtime",
    "record",
    "sweep",
    "report",
    "objects",
    "sweep_report",
    "benchmark",
    "plot",
    "reproduce",
    "validate",
    "api",
    "cli",
)
MODULES = sorted(PACKAGE.rglob("*.py"))
ENTRANCES = ("__init__", "__main__")
HEAVY = {"numpy", "pandas", "scipy", "matplotlib", "simpy", "networkx", "pyarrow", "pydantic", "ruamel"}


def part(module: Path) -> str:
    """The first component below the package: a sub-package or a top module."""
    return module.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_parts(source: str) -> Iterator[str]:
    """The parts of numasim that a source imports, late imports included."""
    for node in import_statements(source):
        package = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        names = [package + alias.name for alias in node.names]
        parts = (name.split(".")[1] for name in names if name.startswith("numasim."))
        yield from (name for name in parts if name != "__version__")


def test_the_walk_sees_every_way_to_import() -> None:
    source = (
        "import numasim.spec.run_spec\n"
        "from numasim import draws\n"
        "from numasim.engine.simulate import simulate\n"
        "def f():\n    from numasim.api import run\n"
    )
    assert sorted(imported_parts(source)) == ["api", "draws", "engine", "spec"]


def test_every_part_has_its_place_in_the_order() -> None:
    assert {part(module) for module in MODULES} == {*ORDER, *ENTRANCES}


def test_a_module_imports_only_from_its_left() -> None:
    allowed = {own: {*ORDER[: place + 1]} for place, own in enumerate(ORDER)}
    wrong = {}
    for module in MODULES:
        source = module.read_text()
        assert "from ." not in source, f"{module}: imports are absolute, so that this test sees them"
        if part(module) not in ENTRANCES:
            wrong[str(module.relative_to(PACKAGE))] = set(imported_parts(source)) - allowed[part(module)]
    assert {module: parts for module, parts in wrong.items() if parts} == {}


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys, json; from numasim.cli import main; status = main(['--help']);"
        "print(json.dumps([status, sorted({name.split('.')[0] for name in sys.modules})]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    status, loaded = json.loads(done.stderr)
    assert status == 0
    assert "Simulate work stealing" in done.stdout
    assert not HEAVY & set(loaded)


def test_the_package_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "numasim", "strategy", "list"], capture_output=True, text=True, check=True
    )
    assert "topology-aware" in done.stdout.split()
