"""The shape of the package: no circle of imports, and no name that means two modules."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from import_statements import import_statements

PACKAGE = Path(__file__).resolve().parents[2] / "numasim"


def module_name(path: Path) -> str:
    """The dotted name of a module; that of a package for its ``__init__``."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(source: str, modules: frozenset[str]) -> Iterator[str]:
    """The modules that a source imports: at the top, inside functions and for type checking alike."""
    for node in import_statements(source):
        module = node.module if isinstance(node, ast.ImportFrom) else None
        names = [f"{module}.{alias.name}" if module else alias.name for alias in node.names]
        # importing a module of a package says nothing of what the package itself imports
        found = [name for name in (module, *names) if name in modules]
        yield from found[1:] if len(found) > 1 and found[0] == module else found


def circles(sources: dict[str, str]) -> list[list[str]]:
    """Modules that import each other, each circle sorted."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    known = frozenset(sources)
    for name, source in sources.items():
        graph.add_edges_from((name, other) for other in imported(source, known) if other != name)
    return [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]


def test_a_circle_is_found_wherever_the_import_stands() -> None:
    one = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.two import B\n"
    two = "def late():\n    import p.three\n"
    three = "from p import one\n"
    assert circles({"p": "", "p.one": one, "p.two": two, "p.three": three}) == [["p.one", "p.three", "p.two"]]
    assert circles({"p": "", "p.one": one, "p.two": "", "p.three": three}) == []


def test_no_module_imports_itself_in_a_circle() -> None:
    assert circles({name: path.read_text() for name, path in MODULES.items()}) == []


def test_no_module_name_means_two_modules() -> None:
    names = Counter(path.stem for path in MODULES.values() if path.stem != "__init__")
    assert [name for name, count in names.items() if count > 1] == []
