"""A run imports what it simulates with, and nothing of what tables, figures and sweeps need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from numasim.engine.simulate import ENGINES

PROGRAM = """\
import json, sys
from numasim.cli import main
status = main(sys.argv[1:])
modules = {name.split(".")[0] for name in sys.modules} | {"numpy.ma"} & sys.modules.keys()
print(json.dumps([status, sorted(modules)]), file=sys.stderr)
"""
SPEC = "machine: xeon-e5-2620-2s\nworkload: {name: fib, n: 5}\nstrategy: randomized\nworkers: 4\n"
NEEDLESS = {"concurrent", "matplotlib", "multiprocessing", "networkx", "numpy.ma", "pandas", "pyarrow", "scipy"}
OF_THE_REFERENCE = {"simpy"}


def loaded_by(*arguments: str) -> set[str]:
    """The top-level modules that a process has after a command that succeeds, and numpy's masked arrays."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True)
    status, modules = json.loads(done.stderr)
    assert status == 0
    return set(modules)


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    return str(path)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_imports_only_what_it_needs(spec: str, engine: str) -> None:
    loaded = loaded_by("run", spec, "--engine", engine)
    assert "numpy" in loaded
    assert not loaded & (NEEDLESS if engine == "reference" else NEEDLESS | OF_THE_REFERENCE)


def test_a_run_for_programs_needs_no_console(spec: str) -> None:
    assert "rich" in loaded_by("run", spec)
    assert "rich" not in loaded_by("run", spec, "--json")


def test_figures_are_imported_where_they_are_drawn(spec: str, tmp_path: Path) -> None:
    assert {"matplotlib", "pandas"} <= loaded_by("run", spec, "--plot", str(tmp_path / "figures"))
