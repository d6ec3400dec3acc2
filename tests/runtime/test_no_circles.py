"""No cycle of includes among the C and C++ files.

So a file can be read, tested and changed before the files that need it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import networkx as nx
from compiling import LIB

SUFFIXES = {".c", ".cpp", ".h", ".hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def files() -> list[Path]:
    """Return all sources and headers of the core, the engine and the runtime."""
    folders = (LIB / name for name in ("core", "engine", "runtime"))
    return [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES]


def included(path: Path, name: str, known: dict[str, list[Path]]) -> list[Path]:
    """Return the files that ``#include "name"`` in ``path`` can mean: a file beside ``path``, or all ending so."""
    beside = (path.parent / name).resolve()
    if beside.is_file():
        return [beside]
    return [each for each in known[Path(name).name] if each.as_posix().endswith(f"/{name}")]


def circles(graph: nx.DiGraph) -> list[list[str]]:
    """Return the paths of the files of each cycle."""
    found = [each for each in nx.strongly_connected_components(graph) if len(each) > 1]
    return [sorted(path.relative_to(LIB).as_posix() for path in each) for each in found]


def test_no_file_includes_itself_by_others() -> None:
    known: dict[str, list[Path]] = defaultdict(list)
    for path in files():
        known[path.name].append(path)
    graph = nx.DiGraph()
    for path in files():
        for name in INCLUDE.findall(path.read_text()):
            graph.add_edges_from((path, each) for each in included(path, name, known))
    assert graph.number_of_edges() > len(files()) / 2
    assert circles(graph) == []
