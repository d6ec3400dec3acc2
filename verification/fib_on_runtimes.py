"""Predict the processor time of fib on two threads under LLVM OpenMP and oneTBB, and measure these runtimes.

    python verification/fib_on_runtimes.py --tbb FOLDER        on an idle machine with two cores, about two minutes

The program is `other_libraries/fib.cpp.txt`, built with g++: a task for each call, no other work. The wheel of
cmeel-libomp brings LLVM's runtime, which also runs programs of g++; FOLDER has `include` and `lib` of oneTBB, as the
wheel of tbb-devel brings them. The simulation takes the shipped strategy and runtime of the same name, the transfer of
a cache line that `numasim calibrate` measures, and these costs:

- LLVM OpenMP: the costs that `numasim calibrate --openmp libomp` measures (spawn, take, yield, wait, steal). LLVM makes
  no tasks in a team of one thread, so that one thread tells nothing of two.
- oneTBB: one number is fitted, on one thread alone: `pop_ns`, the time of a task that no other cost covers.

The prediction for two threads is printed beside the measured value, and beside the null model: the sum of the costs of
a task without steals and transfers. Exit status 1 if fewer than two predictions are within 30 %.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import yaml  # type: ignore[import-untyped]

import numasim as ns
from numasim.workload.families.fib import fib_calls

PROGRAMS = Path(__file__).with_name("other_libraries")
BOUND = 0.30
NUMASIM = (sys.executable, "-m", "numasim")
N, SIMULATED, SAMPLES = 24, 20, 15


def built(folder: Path, name: str, *flags: str) -> Path:
    """Return the program of fib on the library ``name``, built in ``folder``."""
    program, tasks = folder / name, {"libomp": "openmp", "onetbb": "tbb"}[name]
    given = ["-include", str(PROGRAMS / f"tasks_on_{tasks}.hpp.txt"), str(PROGRAMS / "fib.cpp.txt")]
    command = ["g++", "-O3", "-std=c++17", "-x", "c++", f"-I{PROGRAMS}", *given, "-x", "none"]
    subprocess.run([*command, *flags, "-o", str(program)], check=True)
    return program


def measured(program: Path, libraries: Path) -> tuple[float, float]:
    """Return the processor time of a task in ns on one thread and on two: medians of alternating runs."""
    seen: dict[int, list[float]] = {1: [], 2: []}
    where = {**os.environ, "LD_LIBRARY_PATH": str(libraries), "OMP_PROC_BIND": "true"}
    for threads in (1, 2) * SAMPLES:
        words = [str(program), str(N), str(threads)]
        done = subprocess.run(words, env=where, check=True, capture_output=True, text=True)
        seen[threads].append(int(done.stdout.split()[1]) / fib_calls(N)[0])
    return statistics.median(seen[1]), statistics.median(seen[2])


def openmp_costs(folder: Path) -> dict[str, float]:
    """Return the costs of LLVM's runtime that `numasim calibrate` measures on this machine."""
    file = folder / "libomp.yaml"
    subprocess.run([*NUMASIM, "calibrate", "--openmp", "libomp", "-o", file], check=True, stdout=subprocess.DEVNULL)
    given = yaml.safe_load(file.read_text("utf-8"))["costs"]
    return {name: given[name] for name in ("push_ns", "pop_ns", "yield_ns", "join_ns", "wait_ns", "take_ns")}


def simulated(machine: Path, name: str, workers: int, costs: Mapping[str, float]) -> float:
    """Return the simulated processor time of a task in ns."""
    work = {"name": "fib", "n": SIMULATED, "spawn_ns": 0, "leaf_ns": 0, "join_ns": 0}
    runtime = {"like": name, "costs": dict(costs)}
    run = ns.run({"machine": str(machine), "workload": work, "strategy": name, "runtime": runtime, "workers": workers,
                  "seed": 1})  # fmt: skip
    return float(run.cpu_ps) / 1000 / float(run.tasks)


def main() -> int:
    """Measure, predict, and print a row for each runtime."""
    parser = argparse.ArgumentParser(description="Predict fib on two threads of real runtimes.")
    parser.add_argument("--tbb", type=Path, required=True, help="a folder with include and lib of oneTBB")
    tbb = parser.parse_args().tbb.resolve()
    llvm = Path(next(iter(find_spec("cmeel").submodule_search_locations or ()))).parent / "cmeel.prefix" / "lib"  # type: ignore[union-attr]
    good = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        machine = folder / "machine.yaml"
        subprocess.run(
            [sys.executable, "-m", "numasim", "calibrate", "-o", machine], check=True, stdout=subprocess.DEVNULL
        )
        programs = {
            "libomp": (built(folder, "libomp", "-fopenmp"), llvm),
            "onetbb": (built(folder, "onetbb", f"-I{tbb}/include", f"-L{tbb}/lib", "-ltbb"), tbb / "lib"),
        }
        for name, (program, libraries) in programs.items():
            one, two = measured(program, libraries)
            if name == "libomp":
                costs = openmp_costs(folder)
            else:
                costs = {"pop_ns": round(max(0.0, one - simulated(machine, name, 1, {"pop_ns": 0})), 3)}
            null, predicted = (simulated(machine, name, workers, costs) for workers in (1, 2))
            good += abs(predicted / two - 1) <= BOUND
            given = ", ".join(f"{cost} {value:g}" for cost, value in costs.items())
            print(
                f"{name} ({given}): {one:.1f} ns a task on one thread; on two {predicted:.1f} predicted, {two:.1f} "
                f"measured, {predicted / two - 1:+.0%}; null model {null:.1f}, {null / two - 1:+.0%}"
            )
    return 0 if good >= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
