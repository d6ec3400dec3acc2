"""A command imports and starts only the modules that it needs, without those of tables, figures and sweeps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from numasim.__main__ import QUIET_LIBRARIES
from numasim.engine.simulate import ENGINES

ENTRANCE = """\
import json, os, sys
from numasim.__main__ import main
sys.argv[0] = "numasim"
status = main()
seen = [status, sorted(sys.modules), {name: os.environ.get(name) for name in %s}]
print(json.dumps(seen), file=sys.stderr)
"""
SPEC = "machine: xeon-e5-2620-2s\nworkload: {name: fib, n: 5}\nstrategy: randomized\nworkers: 4\n"
NEEDLESS = {"concurrent", "matplotlib", "multiprocessing", "networkx", "numpy.ma", "pandas", "pyarrow", "scipy"}
OF_THE_REFERENCE = {"simpy"}
LARGE = NEEDLESS | {"dask", "numpy", "pydantic", "rich", "ruamel", "typer"}  # modules that take long to import
OF_A_FILE = {"numasim.workload.json_form.graph_io", "numasim.workload.json_form.graph_models"}
OF_CHECKS = {"numasim.engine.check.invariants", "numasim.schema.plan_fields"}
FAMILY_FOLDER = "numasim.workload.families."


def seen_by(*arguments: str, **settings: str) -> tuple[set[str], dict[str, str]]:
    """Return the modules imported at the end of the command, and the settings of libraries in the environment."""
    environment = {name: value for name, value in os.environ.items() if name not in QUIET_LIBRARIES} | settings
    program = ENTRANCE % sorted(QUIET_LIBRARIES)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, env=environment
    )
    status, modules, found = json.loads(done.stderr)
    assert status == 0
    return set(modules), found


def loaded_by(*arguments: str) -> set[str]:
    """Return the top-level modules imported by a successful command, with numpy's masked arrays as `numpy.ma`."""
    modules, _ = seen_by(*arguments)
    return {name.split(".")[0] for name in modules} | {"numpy.ma"} & modules


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


def test_a_sweep_that_moves_nothing_draws_nothing(spec: str, tmp_path: Path) -> None:
    """Without traffic the page has no pictures of it, and the browser draws the plot: no figures are imported."""
    loaded = loaded_by("sweep", spec, "--jobs", "1", "--quiet", "-o", str(tmp_path / "out"))
    assert "pandas" in loaded
    assert "matplotlib" not in loaded


def test_help_imports_the_parser_of_the_command_line_alone() -> None:
    assert loaded_by("--help") & LARGE == {"typer"}


def test_a_run_imports_the_family_that_it_generates_alone(spec: str) -> None:
    modules, _ = seen_by("run", spec, "--json")
    assert {name.split(".")[0] for name in modules} & LARGE == {"numpy", "pydantic", "ruamel", "typer"}
    assert {name.removeprefix(FAMILY_FOLDER) for name in modules if name.startswith(FAMILY_FOLDER)} == {"fib"}
    assert not modules & (OF_A_FILE | OF_CHECKS)


def test_libraries_start_nothing_that_no_command_needs_unless_the_user_says_so(spec: str) -> None:
    assert seen_by("run", spec, "--json")[1] == QUIET_LIBRARIES
    chosen = dict.fromkeys(QUIET_LIBRARIES, "3")
    assert seen_by("run", spec, "--json", **chosen)[1] == chosen
