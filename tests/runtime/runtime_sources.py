"""The sources of the task runtime that tests compile, the runs of compiled programs, and the strategies of tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from compiling import RUNTIME, core_sources

from numasim.parts import catalog
from numasim.parts.models.strategy_model import MOVES
from numasim.plan.build_plan import build_plan
from numasim.runtime.fields_file import compile_plan, write_plan
from numasim.runtime.runtime_program import VIRTUAL_LIBRARY
from numasim.spec.run_spec import resolve
from numasim.spec.single_part import read_strategy

HERE = Path(__file__).parent
MACHINE = "xeon-e5-2620-2s"  # two nodes, each a socket
VIRTUAL_TIME, TURNS = RUNTIME / "source" / "virtual", RUNTIME / "source" / "turns"
LOCKS = ("locks_*.c", "numa_*.c", "mcs.c", "waiting.c")
STRATEGIES = catalog.names("strategies")
TUNED = ("cats", "laws")  # strategies with a controller
LONGEST_SECONDS = 1800  # time limit that ends a hanging program


def runs_on_threads(strategy: str) -> bool:
    """Return whether threads can run a shipped strategy: its full queues keep their tasks, and no level is polled."""
    found = read_strategy(strategy)
    return not (any(each.full in MOVES for each in found.queues.values()) or any(each.every for each in found.steal))


THREADED = tuple(name for name in STRATEGIES if runs_on_threads(name))


def sources(*patterns: str) -> list[Path]:
    """Return the files with these names in and below lib/runtime/source, sorted."""
    return [path for pattern in patterns for path in sorted((RUNTIME / "source").rglob(pattern))]


def library_sources() -> list[Path]:
    """Return the sources of the C library without the modes "virtual time", which needs C++, and "threads in turns"."""
    return [path for path in (*sources("*.c"), *core_sources()) if path.parent not in (VIRTUAL_TIME, TURNS)]


def library_with_virtual_time() -> list[Path]:
    """Return the C library's sources with virtual time, which call the C++ engine in the built library."""
    if not VIRTUAL_LIBRARY.is_file():
        pytest.fail(f"{VIRTUAL_LIBRARY} is not built: pip install . does it, or cmake with lib")
    return [*library_sources(), *sorted(VIRTUAL_TIME.glob("*.c")), VIRTUAL_LIBRARY]


def plan_file(
    folder: Path, strategy: str, join: str, workers: int, runtime: str = "ompi", machine: str = MACHINE, seed: int = 0
) -> Path:
    """Write the plan of a strategy (shipped, or a file) and a runtime preset with these joins. Return the file."""
    preset = folder / f"{runtime}-{join}.yaml"
    preset.write_text(f"name: {runtime}-{join}\nlike: {runtime}\njoin: {join}\n")
    path = folder / f"{Path(strategy).stem}-{runtime}-{join}-{workers}.plan"
    write_plan(compile_plan(strategy, machine, workers, str(preset)), seed, path)
    return path


def uncoupled_plan(folder: Path, name: str, **parts: Any) -> Path:
    """Write the plan of a run whose workers do not influence each other. Return the file."""
    pytest.importorskip("numasim.engine.native._engine", reason="plans are written by the native engine's Python side")
    model = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}
    base = {"machine": MACHINE, "strategy": "randomized", "workers": 2, "model": model}
    path = folder / name.replace(" ", "-")
    write_plan(build_plan(resolve({**base, **parts})), 7, path)
    return path


def strategy_file(folder: Path, name: str, keys: str, like: str = "randomized") -> str:
    """Write a strategy that differs from a shipped one in some keys. Return its file."""
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\nlike: {like}\n{keys}\n")
    return str(path)


def told(*command: object, **environment: str) -> str:
    """Return the output of the command; fail unless it ends with status 0 and writes nothing to standard error."""
    words, env = [str(word) for word in command], {**os.environ, **environment}
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False, env=env)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def refusal(program: Path, *arguments: object) -> str:
    """Return the sentence with which the program refuses arguments; fail unless its status is 2, its output empty."""
    words: Sequence[str] = [str(word) for word in (program, *arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    return done.stderr
