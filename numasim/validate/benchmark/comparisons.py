"""The engine and the C runtime beside other libraries that are installed: the same program on either, in pairs.

A program is built when the benchmark runs: pkg-config finds the library, a compiler builds the source, and a short run
shows that the program starts. What a program computes is checked. The sources in ``programs`` have another suffix than
C and C++, since wheels leave those out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from numasim.engine.simulate import ENGINES
from numasim.errors import CheckError
from numasim.validate.benchmark.benchmark_findings import Ratio
from numasim.validate.benchmark.effort import NATIVE, Effort, independent_tasks, plan_of
from numasim.validate.benchmark.ratios import FEW, FEW_NODES, events_per_second
from numasim.validate.benchmark.sampling import Comparisons, Probe, pair_probe
from numasim.workload.families.fib import fib_calls

PROGRAMS = Path(__file__).with_name("programs")


class MissingError(Exception):
    """Something is not installed, or too different to be used: the text says what."""


# ---- programs that are built ----


@dataclass(frozen=True)
class Language:
    """A language of programs: its name for people, for ``-x`` and the variable that names its compiler; compilers that
    are tried where that is not set; and options.
    """

    name: str
    option: str
    variable: str
    compilers: tuple[str, ...]
    options: tuple[str, ...] = ()


C = Language("C", "c", "CC", ("cc",))
CPP = Language("C++", "c++", "CXX", ("clang++", "c++"), ("-std=c++17",))  # clang++ has both libraries of OpenMP


def compiler_of(language: Language) -> str:
    """The path of the compiler. Raises MissingError where there is none."""
    named = os.environ.get(language.variable)
    found = filter(None, map(shutil.which, (named,) if named else language.compilers))
    if (compiler := next(found, None)) is None:
        raise MissingError(f"there is no {language.name} compiler{f' {named}' if named else ''}")
    return compiler


def package_options(package: str) -> list[str]:
    """The options for a compiler that build a program with a library, and let the program find it.

    Raises MissingError where pkg-config, or the package, is missing.
    """
    directory = package_variable(package, "libdir")
    found = _asked("--cflags", "--libs", package).split()
    return [*found, f"-Wl,-rpath,{directory}"] if directory else found


def package_variable(package: str, variable: str) -> str:
    """The value of a variable of a package, empty where it has none. Raises MissingError as `package_options` does."""
    return _asked(f"--variable={variable}", package).strip()


def _asked(*arguments: str) -> str:
    if shutil.which("pkg-config") is None:
        raise MissingError("there is no pkg-config")
    done = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(f"pkg-config finds no {arguments[-1]}")
    return done.stdout


def build(program: Path, language: Language, source: str, options: Sequence[str], trial: Sequence[str]) -> None:
    """Build ``program`` from a file of ``programs``, with further ``options`` for the compiler, and run it once with
    the arguments ``trial``.

    Raises MissingError with the first error where it cannot be built or cannot be run.
    """
    command = [compiler_of(language), "-O2", *language.options, "-x", language.option, str(PROGRAMS / source)]
    command += ["-x", "none", *options, "-pthread"]  # libraries stand behind what needs them
    for doing, each in (("built", [*command, "-o", str(program)]), ("run", [str(program), *trial])):
        done = subprocess.run(each, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingError(f"{source} cannot be {doing}{_first_error(done.stderr)}")


def _first_error(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = next((line for line in lines if "error" in line), lines[0] if lines else "")
    return f": {telling}" if telling else ""


def printed_numbers(program: Path, *arguments: str) -> list[int]:
    """The whole numbers that ``program`` prints in one line.

    Raises CheckError where it fails or prints anything else: it ran before, so that its result is wrong.
    """
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    named = " ".join([program.name, *arguments])
    if done.returncode:
        raise CheckError(f"{named} failed with status {done.returncode}{_first_error(done.stderr)}")
    try:
        return [int(word) for word in done.stdout.split()]
    except ValueError:
        raise CheckError(f"{named} printed {done.stdout.strip()!r}; whole numbers are expected") from None


def _threads(count: int) -> str:
    return f"{count} thread{'s' * (count > 1)}"


# ---- the native engine beside SimGrid (Casanova et al., 2014), with an actor a worker ----

STEALING = "stealing_simgrid.cpp.txt"


def simgrid_comparisons(effort: Effort, folder: Path) -> Comparisons:
    """The probe of independent tasks on both, event by event; SimGrid's program is built in ``folder``.

    In both, an event is the end of a task or of a probe, at which a worker decides what it does next. Both have as many
    tasks of as many units of time, 500 to 1,499, on as many workers of two nodes, and every worker has as many to begin
    with.
    """
    program = folder / "stealing_simgrid"
    try:
        if NATIVE not in ENGINES:
            raise MissingError("the native engine is not built")
        build(program, CPP, STEALING, package_options("simgrid"), ("10", "2", "1"))
    except MissingError as missing:
        return Comparisons(missing=(f"the native engine with SimGrid: {missing}",))
    ours = partial(events_per_second, plan_of(independent_tasks(effort.simgrid_tasks), FEW, "bare", "off"))
    simgrid = partial(simgrid_events_per_second, program, effort.simgrid_tasks, FEW, FEW_NODES)
    title = f"independent, event by event, {FEW} workers: to SimGrid"
    return Comparisons((pair_probe(title, "at least", None, "events/s", (ours, simgrid)),))


def simgrid_events_per_second(program: Path, tasks: int, workers: int, nodes: int) -> float:
    """The rate of SimGrid's program. Raises CheckError where it did not execute every task."""
    executed, events, _, took_ns = printed_numbers(program, str(tasks), str(workers), str(nodes))
    if executed != tasks:
        raise CheckError(f"{program.name} executed {executed} tasks of {tasks}")
    return events / (took_ns / 1e9)


# ---- the C runtime beside Lace (van Dijk and van de Pol, 2014): fib by a spawn and a call, with the same types ----

OURS, LACE = "numasim", "lace"  # packages of pkg-config
OF_LACE, OF_LACE_WITHOUT_COUNTERS = 1.5, 1.2
OF_OWN_THREAD = 1.1
THREADS, CROWD = (1, 2), 32
WHAT = "C runtime, fib by spawn and call"


def lace_comparisons(effort: Effort, folder: Path) -> Comparisons:
    """The probes of fib on both, and on many threads of ours to one; the programs are built in ``folder``.

    The unit is the processor time of all threads for a call of fib, which is a task.
    """
    try:
        ours = _fib_program(OURS, folder)
    except MissingError as missing:
        return Comparisons(missing=(f"the C runtime with Lace and with its own one thread: {missing}",))
    cost = partial(ns_per_call, n=effort.runtime_fib)
    sides = partial(cost, ours, CROWD), partial(cost, ours, 1)
    crowd = pair_probe(f"{WHAT}, {CROWD} threads: to one", "at most", OF_OWN_THREAD, "ns/task", sides)
    try:
        lace = _fib_program(LACE, folder)
    except MissingError as missing:
        return Comparisons((crowd,), (f"the C runtime with Lace: {missing}",))
    counted = package_variable(OURS, "counters") != "OFF"
    bound, how = (OF_LACE, "with counters") if counted else (OF_LACE_WITHOUT_COUNTERS, "no counters")
    pairs = []
    for threads in THREADS:
        sides = partial(cost, ours, threads), partial(cost, lace, threads)
        pairs.append(pair_probe(f"{WHAT}, {how}, {_threads(threads)}: to Lace", "at most", bound, "ns/task", sides))
    return Comparisons((*pairs, crowd))


def ns_per_call(program: Path, threads: int, n: int) -> float:
    """The processor time of a call in ``program``, in nanoseconds. Raises CheckError where its result is wrong."""
    result, took_ns = printed_numbers(program, str(n), str(threads))
    if result != (right := fib(n)):
        raise CheckError(f"{program.name} says that fib({n}) is {result}; it is {right}")
    return took_ns / fib_calls(n)[0]


def fib(n: int) -> int:
    """Fibonacci numbers, which begin with 0 and 1."""
    here, following = 0, 1
    for _ in range(n):
        here, following = following, here + following
    return here


def _fib_program(package: str, folder: Path) -> Path:
    program = folder / f"fib_{package}"
    build(program, C, f"fib_{package}.c.txt", package_options(package), ("1", "1"))
    return program


# ---- the C runtime beside oneTBB and LLVM's OpenMP: the same source with the same compiler on either ----

TITLES: Mapping[str, str] = {"nqueens": "n-queens", "sort": "sort", "strassen": "Strassen", "uts": "UTS"}
TRIAL = ("4", "1")  # a size that every kernel has, and threads


@dataclass(frozen=True)
class Library:
    """A library of tasks: how it is called, the header of ``programs`` that wraps it, and how a compiler finds it: by
    a package of pkg-config, or else by ``options``.
    """

    title: str
    header: str
    package: str | None = None
    options: tuple[str, ...] = ()

    def program(self, kernel: str, folder: Path) -> Path:
        """Build the program of ``kernel``. Raises MissingError where that fails."""
        found = package_options(self.package) if self.package else self.options
        program = folder / f"{kernel}_on_{self.header.split('.')[0].removeprefix('tasks_on_')}"
        build(program, CPP, f"{kernel}.cpp.txt", ["-include", str(PROGRAMS / self.header), *found], TRIAL)
        return program


C_RUNTIME = Library("the C runtime", "tasks_on_numasim.hpp.txt", package=OURS)
OTHERS = (
    Library("oneTBB", "tasks_on_tbb.hpp.txt", package="tbb"),
    Library("libomp", "tasks_on_openmp.hpp.txt", options=("-fopenmp=libomp",)),
)


def task_runtime_comparisons(effort: Effort, folder: Path) -> Comparisons:
    """The probes of all kernels on the C runtime and on the others; the programs are built in ``folder``.

    The unit is the processor time of all threads for a run. There are no goals: the ratios are published whatever they
    are.
    """
    try:
        ours = {kernel: C_RUNTIME.program(kernel, folder) for kernel in TITLES}
    except MissingError as missing:
        named = " and ".join(other.title for other in OTHERS)
        return Comparisons(missing=(f"the C runtime with {named}: {missing}",))
    probes: list[Probe[Ratio]] = []
    sentences = []
    for library in OTHERS:
        try:
            other = {kernel: library.program(kernel, folder) for kernel in TITLES}
        except MissingError as missing:
            sentences.append(f"the C runtime with {library.title}: {missing}")
            continue
        for kernel, size in effort.runtime_kernels.items():
            for threads in THREADS:
                title = f"C runtime, {TITLES[kernel]} of {size:,}, {_threads(threads)}: to {library.title}"
                sample = partial(seconds_of_pair, ours[kernel], other[kernel], size, threads)
                probes.append(Probe(sample, partial(Ratio, title, "at most", None, "s")))
    return Comparisons(tuple(probes), tuple(sentences))


def seconds_of_pair(ours: Path, other: Path, size: int, threads: int) -> tuple[float, float, float]:
    """The processor time of both programs and the ratio. Raises CheckError where their results differ."""
    first, second = (printed_numbers(program, str(size), str(threads)) for program in (ours, other))
    if first[0] != second[0]:
        raise CheckError(
            f"{ours.name} and {other.name} of size {size} on {threads} threads have the results {first[0]} and "
            f"{second[0]}; they are to be equal"
        )
    return first[1] / 1e9, second[1] / 1e9, first[1] / second[1]
