"""No cycle among the C and C++ files, neither of includes nor of calls from one source to another.

So a file can be read, tested and changed before the files that need it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import networkx as nx
import pytest
from compiling import ADDRESSES, LIB, PLAIN, compile_objects
from runtime_sources import VIRTUAL_TIME, library_sources

SUFFIXES = {".c", ".cpp", ".h", ".hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
DEFINED, UNDEFINED = set("TDBRVWC"), {"U"}  # classes of symbols in the output of nm


def files() -> list[Path]:
    """Return all sources and headers of the core, the engine and the runtime."""
    folders = (LIB / name for name in ("core", "engine", "runtime"))
    return [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES]


def included(path: Path, name: str, known: dict[str, list[Path]]) -> list[Path]:
    """Return the files that ``#include "name"`` in ``path`` can mean: a file beside ``path``, or all paths with this
    end.
    """
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


def symbols(made: Path) -> tuple[set[str], set[str]]:
    """Return the external functions and variables that an object defines, and those that it uses."""
    listed = subprocess.run(["nm", "-P", str(made)], check=True, capture_output=True, text=True).stdout
    kinds = {name: letter for name, letter, *_ in map(str.split, listed.splitlines())}
    defined = {name for name, letter in kinds.items() if letter in DEFINED}
    return defined, {name for name, letter in kinds.items() if letter in UNDEFINED}


def test_no_source_calls_itself_by_others(c_compiler: str) -> None:
    """The use of a table of functions counts, too: the user depends on the file that defines the table."""
    if shutil.which("nm") is None:
        pytest.skip("no nm here, which reads the symbols of objects")
    sources = [path for path in files() if path.suffix == ".c" and path.parent.name != "example"]
    library = {*library_sources(), *VIRTUAL_TIME.glob("*.c")}
    found = {
        path: symbols(made)
        for path in sources
        for made in compile_objects(c_compiler, [path], ADDRESSES if path in library else PLAIN)
    }
    definer = {name: path for path, (defined, _) in found.items() for name in defined}
    graph = nx.DiGraph()
    for path, (_, used) in found.items():
        graph.add_edges_from((path, definer[name]) for name in used if name in definer)
    assert graph.number_of_edges() > len(sources)
    assert circles(graph) == []
