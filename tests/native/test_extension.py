"""The tests reach an engine that is compiled from the current sources. The stub file lists the engine's functions."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from nanobind.stubgen import StubGen

import numasim
from numasim.engine import native

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "numasim" / "engine" / "native"
LIB = ROOT / "lib"
SOURCES = [
    path
    for folder in ("core", "engine")
    for path in (LIB / folder).rglob("*")
    if path.suffix in {".c", ".cpp", ".h", ".hpp"}
]


@pytest.fixture(scope="module")
def engine(compiler: str) -> ModuleType:
    if importlib.util.find_spec("numasim.engine.native._engine") is None:
        pytest.fail(
            f"the native engine is not built in {Path(numasim.__file__).parent}, so that no test reaches it, though "
            f"{compiler} is there; see lib/CMakeLists.txt"
        )
    return importlib.import_module("numasim.engine.native._engine")


def test_an_engine_built_in_place_is_newer_than_its_sources(engine: ModuleType) -> None:
    extension = Path(str(engine.__file__))
    if extension.parent != NATIVE:
        pytest.skip("numasim is installed")
    stale = [path.name for path in SOURCES if path.stat().st_mtime > extension.stat().st_mtime]
    assert not stale, "build it again: see lib/CMakeLists.txt"


def test_a_new_interpreter_imports_the_same_package_wherever_it_starts() -> None:
    program = "import numasim; print(numasim.__file__)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == Path(numasim.__file__)


def signatures(stub: str) -> dict[str, list[str]]:
    """Return the names of the arguments of every function and method, by the name of the function."""
    functions = (node for node in ast.walk(ast.parse(stub)) if isinstance(node, ast.FunctionDef))
    return {node.name: [argument.arg for argument in node.args.args] for node in functions}


def test_the_stub_has_the_functions_of_the_engine_with_their_arguments(engine: ModuleType) -> None:
    generator = StubGen(engine)
    generator.put(engine)
    (stub,) = (Path(folder) / "_engine.pyi" for folder in native.__path__)
    assert signatures(generator.get())
    assert signatures(stub.read_text()) == signatures(generator.get())
