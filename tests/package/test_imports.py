"""A module imports only from its own package and packages before it in `ORDER`; no two modules import each other."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx

import numasim.engine.reference

PACKAGE = Path(__file__).resolve().parents[2] / "numasim"
ORDER = (
    *("frozen", "errors", "files", "html", "draws", "schema", "parts", "machine", "workload", "strategy", "spec"),
    "plan",
    *("engine", "runtime", "sweep", "report", "objects", "plot"),
    *("reproduce", "validate", "api", "cli"),
)
ENTRANCES = ("__init__", "__main__")


def module_name(path: Path) -> str:
    """Return the dotted name of a module; for an ``__init__`` the name of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Return the package's modules that a module imports: at the top, inside functions, and for type checking."""

    def found() -> Iterator[str]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from [name for name in inner if name in MODULES] or [str(node.module)]

    return tuple(name for name in found() if name in MODULES)


def part(name: str) -> str:
    """Return the first component below the package: a sub-package or a top module."""
    return name.split(".")[1] if "." in name else "__init__"


def test_every_part_has_its_place_in_the_order() -> None:
    assert {part(name) for name in MODULES} == {*ORDER, *ENTRANCES}


def test_a_module_imports_only_from_its_left() -> None:
    rank = {own: place for place, own in enumerate(ORDER)}
    wrong = [
        (name, other)
        for name, path in MODULES.items()
        for other in imported(path)
        if part(name) not in ENTRANCES and rank.get(part(other), -1) > rank[part(name)]
    ]
    assert wrong == []


def test_no_module_imports_itself_in_a_circle() -> None:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from((name, other) for name, path in MODULES.items() for other in imported(path) if other != name)
    assert [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1] == []


def test_no_module_name_means_two_modules() -> None:
    names = Counter(path.stem for path in MODULES.values() if path.stem != "__init__")
    assert [name for name, count in names.items() if count > 1] == []


# ---- the reference engine --------------------------------------------------------------------------------------------
# Ruff checks two other rules: no component uses private parts of another, and only the clock and actors import SimPy.


def steps() -> dict[str, int]:
    """Return module -> number of the first step in the package's docstring that names the module."""
    page = numasim.engine.reference.__doc__
    assert page is not None
    numbered = page[page.index("1. ") : page.index("Three calls")]
    found: dict[str, int] = {}
    for number, text in enumerate(re.split(r"^\d+\. ", numbered, flags=re.MULTILINE)[1:]):
        for name in re.findall(r"`([a-z_/]+)`", text):
            found.setdefault(f"{numasim.engine.reference.__name__}.{name.replace('/', '.')}", number)
    return found


def test_modules_of_the_reference_engine_import_only_from_steps_that_are_read_before() -> None:
    step, package = steps(), numasim.engine.reference.__name__
    inside = {name: path for name, path in MODULES.items() if name.startswith(f"{package}.")}
    modules = {name: path for name, path in inside.items() if path.stem != "__init__"}
    assert sorted(step) == sorted(modules)
    assert [
        (name, other) for name, path in modules.items() for other in imported(path) if step.get(other, 0) > step[name]
    ] == []
