"""Measure rates of numasim and of other programs that do the same work, in pairs: ``python verification/pairs.py``.

The two sides of a pair are sampled one right after the other, so that a change of the machine's speed affects both
sides. The ratio of a row is the median of the pairs' ratios. This command builds the programs of ``other_libraries``:
pkg-config finds the library, a compiler builds the source, and a short run checks that the program starts. Results of
programs are checked. If a library is missing, a line names the library. Exit status 1 if a goal is missed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numasim.engine.result import Result
from numasim.engine.simulate import simulate, simulate_spec
from numasim.plan.plan import Plan
from numasim.spec.run_spec import RunSpec
from numasim.validate.benchmark.sampling import AT_LEAST, AT_MOST, Goal, Probe, print_findings, take
from numasim.validate.benchmark.simulation_rates import (
    NATIVE,
    REFERENCE,
    SEED,
    Parameters,
    independent_tasks,
    plan_of,
    swept,
    timeouts_per_second,
)
from numasim.workload.families.fib import fib_calls

PROGRAMS = Path(__file__).with_name("other_libraries")
SAMPLES = 5
WORKERS, NODES = 24, 2
INDEPENDENT, FIB = 2_000_000, 27  # sizes of simulations
SIMGRID_TASKS = 200_000
RUNTIME_FIB = 36
KERNELS = {"nqueens": 12, "sort": 2_000_000, "strassen": 1024, "uts": 20_000}
THREADS, CROWD = (1, 2), 32
SWEEP_RUNS, SWEEP_WORKLOAD = 2000, {"name": "fib", "n": 20}
TRIAL = ("4", "1")  # arguments of a trial run: a size that every program can run, and the number of threads
C = ("cc", "-x", "c")
CPP = ("clang++", "-std=c++17", "-x", "c++")  # clang++ can use both OpenMP libraries

Side = Callable[[], float]


class MissingError(Exception):
    """Raised if something is not installed, or is too different to be used. The text names it."""


def pair_probe(row: str, goal: Goal | None, one: Side, other: Side) -> Probe:
    """Return the probe of two sides and of the ratio of each pair."""

    def pair() -> tuple[float, float, float]:
        values = one(), other()
        return *values, values[0] / values[1]

    return Probe("ratios of pairs", row, {"one": None, "other": None, "ratio": goal}, pair)


# ---- engines: bare SimPy timeouts, the bare loop, SimGrid (Casanova et al., 2014) with an actor for each worker ------


def engine_pairs(folder: Path) -> Iterator[Probe]:
    """Yield the pairs of the reference engine with bare timeouts, and of the native engine with the bare loop."""
    for workload, share in ((independent_tasks(30_000), 1 / 4), ({"name": "fib", "n": 19}, 1 / 8)):
        tasks = partial(rate, "tasks", plan_of(workload), REFERENCE)
        bare = partial(timeouts_per_second, 300_000)
        row = f"{workload['name']}, reference engine: to bare SimPy timeouts, per second"
        yield pair_probe(row, Goal(AT_LEAST, share), tasks, bare)
    program = built(folder / "bare_loop", C, "bare_loop.c", [], ("fib", "4", "2", "1"))
    sizes: list[tuple[Parameters, int]] = [
        (independent_tasks(INDEPENDENT), INDEPENDENT),
        ({"name": "fib", "n": FIB}, FIB),
    ]
    for workload, size in sizes:
        bare = partial(bare_loop_rate, program, str(workload["name"]), size)
        row = f"{workload['name']}, native engine: to the bare loop, events/s"
        yield pair_probe(row, Goal(AT_LEAST, 0.5), partial(rate, "events", plan_of(workload), NATIVE), bare)


def rate(counted: str, plan: Plan, engine: str) -> float:
    """Return the tasks or events (``counted``) per second of a run for which the arrays of ``plan`` are prepared."""
    simulate(plan, SEED, engine)
    result = simulate(plan, SEED, engine)
    return float(result.row()[counted] / result.engine_s)


def bare_loop_rate(program: Path, workload: str, size: int) -> float:
    """Return the events per second of the bare loop, which simulates stealing without any options."""
    events, _, _, _, took_ns = printed_numbers(program, workload, size, WORKERS, NODES)
    return events / (took_ns / 1e9)


def simgrid_pairs(folder: Path) -> Iterator[Probe]:
    """Yield the pair with SimGrid. On both sides an event is the end of a task or of a probe."""
    program = built(folder / "stealing_simgrid", CPP, "stealing_simgrid.cpp", package("simgrid"), ("10", "2", "1"))

    def simgrid() -> float:
        executed, events, _, took_ns = printed_numbers(program, SIMGRID_TASKS, WORKERS, NODES)
        require(executed == SIMGRID_TASKS, f"{program.name} executed {executed} tasks of {SIMGRID_TASKS}")
        return events / (took_ns / 1e9)

    ours = partial(rate, "events", plan_of(independent_tasks(SIMGRID_TASKS)), NATIVE)
    yield pair_probe("independent, native engine: to SimGrid, events/s", None, ours, simgrid)


# ---- the C runtime: Lace (van Dijk and van de Pol, 2014), oneTBB and LLVM's OpenMP -----------------------------------


def lace_pairs(folder: Path) -> Iterator[Probe]:
    """Return pairs of fib by a spawn and a call, with the same types: many threads against one thread, and against
    Lace.
    """
    ours, lace = (partial(ns_per_call, fib_program(name, folder)) for name in ("numasim", "lace"))
    counters = asked("--variable=counters", "numasim") != "OFF"
    goal, how = (1.5, "with counters") if counters else (1.2, "no counters")
    for threads in THREADS:
        row = f"C runtime, fib, {how}, {threads} threads: to Lace, ns/task"
        yield pair_probe(row, Goal(AT_MOST, goal), partial(ours, threads), partial(lace, threads))


def crowd_pairs(folder: Path) -> Iterator[Probe]:
    """Yield the pair of fib on many threads and on one."""
    ours = partial(ns_per_call, fib_program("numasim", folder))
    row = f"C runtime, fib, {CROWD} threads: to one, ns/task"
    yield pair_probe(row, Goal(AT_MOST, 1.1), partial(ours, CROWD), partial(ours, 1))


def fib_program(name: str, folder: Path) -> Path:
    """Return the program of fib on a library. Build the program if it does not exist."""
    program = folder / f"fib_{name}"
    return program if program.exists() else built(program, C, f"fib_{name}.c", package(name), ("1", "1"))


def ns_per_call(program: Path, threads: int) -> float:
    """Return the processor time of all threads for a call of fib, in nanoseconds."""
    result, took_ns = printed_numbers(program, RUNTIME_FIB, threads)
    here, following = 0, 1
    for _ in range(RUNTIME_FIB):
        here, following = following, here + following
    require(result == here, f"{program.name} says that fib({RUNTIME_FIB}) is {result}; it is {here}")
    return took_ns / fib_calls(RUNTIME_FIB)[0]


def kernel_pairs(library: str, options: Callable[[], list[str]], folder: Path) -> Iterator[Probe]:
    """Yield the pairs of all kernels, the same C++ on the C runtime and on ``library``; there are no goals."""
    for kernel, size in KERNELS.items():
        sides = []
        for name, found in (("numasim", package("numasim")), (library, options())):
            header = ["-include", str(PROGRAMS / f"tasks_on_{name}.hpp.txt")]
            sides.append(built(folder / f"{kernel}_on_{name}", CPP, f"{kernel}.cpp", [*header, *found], TRIAL))
        for threads in THREADS:
            results: dict[Path, int] = {}
            one, other = (partial(kernel_s, program, size, threads, results) for program in sides)
            row = f"C runtime, {kernel} of {size:,}, {threads} threads: to {library}, s"
            yield pair_probe(row, None, one, other)


def kernel_s(program: Path, size: int, threads: int, results: dict[Path, int]) -> float:
    """Return the processor time of all threads, in seconds. The results of both sides are stored in ``results`` and
    must be equal.
    """
    results[program], took_ns = printed_numbers(program, size, threads)
    require(len(set(results.values())) == 1, f"results differ at size {size} on {threads} threads: {results}")
    return took_ns / 1e9


# ---- programs that are built -----------------------------------------------------------------------------------------


def asked(*arguments: str) -> str:
    """Return what pkg-config says. Raise MissingError if pkg-config, or the package, is missing."""
    if shutil.which("pkg-config") is None:
        raise MissingError("there is no pkg-config")
    done = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(f"pkg-config finds no {arguments[-1]}")
    return done.stdout.strip()


def package(name: str) -> list[str]:
    """Return the compiler options for a package, with which the program also finds the package's library."""
    return [*asked("--cflags", "--libs", name).split(), f"-Wl,-rpath,{asked('--variable=libdir', name)}"]


def built(program: Path, compiler: Sequence[str], source: str, options: Sequence[str], trial: Sequence[str]) -> Path:
    """Build ``program`` and run it once. If building or running fails, raise MissingError with the first error."""
    command = [
        *compiler,
        "-O2",
        str(PROGRAMS / f"{source}.txt"),
        "-x",
        "none",
        *options,
        "-pthread",
        "-o",
        str(program),
    ]
    for each in (command, [str(program), *trial]):
        if shutil.which(each[0]) is None:
            raise MissingError(f"there is no {each[0]}")
        done = subprocess.run(each, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]
            raise MissingError(f"{source} cannot be built or run: {errors[0].strip()}")
    return program


def printed_numbers(program: Path, *arguments: int | str) -> list[int]:
    """Return the whole numbers that ``program`` prints in one line."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    require(not done.returncode, f"{program.name} failed with status {done.returncode}: {done.stderr.strip()}")
    return [int(word) for word in done.stdout.split()]


def require(right: bool, sentence: str) -> None:
    """End the command with ``sentence`` unless ``right``."""
    if not right:
        sys.exit(sentence)


# ---- sweeps of short runs that share a graph -------------------------------------------------------------------------


def sweep_pairs(where: dict[str, Any], title: str) -> Iterator[Probe]:
    """Yield the pair of the throughput of a sweep on the workers ``where``, and the throughput in one process."""
    one = partial(runs_per_second, jobs=1)
    row = f"sweep of {SWEEP_RUNS:,} short runs, {title}: to one process, runs/s"
    yield pair_probe(row, Goal(AT_LEAST, 1.9), partial(runs_per_second, **where), one)


def cluster_pairs() -> Iterator[Probe]:
    """Yield the pair of a Dask cluster of two workers on this machine."""
    if find_spec("distributed") is None:
        raise MissingError("there is no package distributed")
    yield from sweep_pairs({"cluster": "local:2"}, "a Dask cluster of two")


def ending(spec: RunSpec, seed: int, engine: str, check: bool) -> Result:
    """Run ``spec`` as in every sweep, but record the time of the run's end in place of the engine's duration."""
    result = simulate_spec(spec, seed, engine, check)
    result.engine_s = time.time()
    return result


def runs_per_second(**where: Any) -> float:
    """Return the throughput between the ends of the first and of the last tenth of the runs.

    So neither the start of processes counts, nor the time in which only the last process works.
    """
    ends = sorted(swept(SWEEP_WORKLOAD, SWEEP_RUNS, ending, **where)[1])
    first, last = len(ends) // 10, len(ends) - 1 - len(ends) // 10
    return (last - first) / (ends[last] - ends[first])


def main() -> int:
    """Measure every pair, and print the tables."""
    probes: list[Probe] = []
    sentences = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        sources: dict[str, Iterator[Probe]] = {
            "engines": engine_pairs(folder),
            "SimGrid": simgrid_pairs(folder),
            "many threads of the C runtime": crowd_pairs(folder),
            "Lace": lace_pairs(folder),
            "oneTBB": kernel_pairs("tbb", partial(package, "tbb"), folder),
            "libomp": kernel_pairs("openmp", lambda: ["-fopenmp=libomp"], folder),
            "two processes": sweep_pairs({"jobs": 2}, "two processes"),
            "a Dask cluster": cluster_pairs(),
        }
        for what, pairs in sources.items():
            try:
                probes += pairs
            except MissingError as missing:
                sentences.append(f"not compared: {what}: {missing}")
        found = take(probes, SAMPLES, progress=True)
    print_findings(found, sentences, as_json=False)
    return int(any(each.met is False for each in found))


if __name__ == "__main__":
    sys.exit(main())
