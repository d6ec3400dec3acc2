"""The C runtime beside oneTBB and LLVM's OpenMP: n-queens, merge sort, Strassen and unbalanced tree search, each the
same source with the same compiler on either.

The unit is the processor time of all threads for a run. What a program computes is compared with what it works out
without tasks, and with what the other library's program computes. There are no goals: the ratios are published whatever
they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from numasim.benchmark.benchmark_findings import Ratio
from numasim.benchmark.compared import Comparisons, MissingError
from numasim.benchmark.comparisons.built_programs import (
    CPP,
    PROGRAMS,
    build,
    package_options,
    printed_numbers,
)
from numasim.benchmark.effort import Effort
from numasim.benchmark.sampling import Probe
from numasim.errors import CheckError

THREADS = (1, 2)
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


OURS = Library("the C runtime", "tasks_on_numasim.hpp.txt", package="numasim")
OTHERS = (
    Library("oneTBB", "tasks_on_tbb.hpp.txt", package="tbb"),
    Library("libomp", "tasks_on_openmp.hpp.txt", options=("-fopenmp=libomp",)),
)


def task_runtime_comparisons(effort: Effort, folder: Path) -> Comparisons:
    """The probes of all kernels on the C runtime and on the others; the programs are built in ``folder``."""
    try:
        ours = _programs(OURS, folder)
    except MissingError as missing:
        named = " and ".join(other.title for other in OTHERS)
        return Comparisons((), (f"the C runtime with {named}: {missing}",))
    probes: list[Probe[Ratio]] = []
    sentences = []
    for library in OTHERS:
        try:
            other = _programs(library, folder)
        except MissingError as missing:
            sentences.append(f"the C runtime with {library.title}: {missing}")
            continue
        probes += [
            _probe(kernel, size, threads, library, (ours[kernel], other[kernel]))
            for kernel, size in effort.runtime_kernels.items()
            for threads in THREADS
        ]
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


def _programs(library: Library, folder: Path) -> dict[str, Path]:
    return {kernel: library.program(kernel, folder) for kernel in TITLES}


def _probe(kernel: str, size: int, threads: int, library: Library, programs: tuple[Path, Path]) -> Probe[Ratio]:
    title = f"C runtime, {TITLES[kernel]} of {size:,}, {threads} thread{'s' * (threads > 1)}: to {library.title}"
    sample = partial(seconds_of_pair, *programs, size, threads)
    return Probe(sample, partial(Ratio, title, "at most", None, "s"))
