"""The C runtime beside Lace (van Dijk and van de Pol, "Lace: non-blocking split deque for work-stealing", 2014): fib by
a spawn and a call, with the same types.

The unit is the processor time of all threads for a task, which is a call of fib here.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from numasim.benchmark.benchmark_findings import Ratio
from numasim.benchmark.compared import Comparisons, MissingError
from numasim.benchmark.comparisons.built_programs import (
    C,
    build,
    package_options,
    package_variable,
    printed_numbers,
)
from numasim.benchmark.effort import Effort
from numasim.benchmark.ratios import pair_probe
from numasim.benchmark.sampling import Probe
from numasim.errors import CheckError
from numasim.workload.families.fib import fib_calls

OURS, LACE = "numasim", "lace"  # packages of pkg-config
OF_LACE, OF_LACE_WITHOUT_COUNTERS = 1.5, 1.2
OF_OWN_THREAD = 1.1
THREADS, CROWD = (1, 2), 32
WHAT = "C runtime, fib by spawn and call"


def lace_comparisons(effort: Effort, folder: Path) -> Comparisons:
    """The probes of fib on both, and on many threads of ours to one; the programs are built in ``folder``."""
    try:
        ours = _built(OURS, folder)
    except MissingError as missing:
        return Comparisons((), (f"the C runtime with Lace and with its own one thread: {missing}",))
    cost = partial(ns_per_call, n=effort.runtime_fib)
    sides = partial(cost, ours, CROWD), partial(cost, ours, 1)
    crowd = pair_probe(f"{WHAT}, {CROWD} threads: to one", "at most", OF_OWN_THREAD, "ns/task", sides)
    try:
        lace = _built(LACE, folder)
    except MissingError as missing:
        return Comparisons((crowd,), (f"the C runtime with Lace: {missing}",))
    bound, how = _goal()
    return Comparisons((*(_probe(cost, ours, lace, threads, bound, how) for threads in THREADS), crowd), ())


def _probe(cost: partial[float], ours: Path, lace: Path, threads: int, bound: float, how: str) -> Probe[Ratio]:
    title = f"{WHAT}, {how}, {threads} thread{'s' * (threads > 1)}: to Lace"
    return pair_probe(title, "at most", bound, "ns/task", (partial(cost, ours, threads), partial(cost, lace, threads)))


def _goal() -> tuple[float, str]:
    """The bound, which depends on how the library was built, and how that was."""
    if package_variable(OURS, "counters") == "OFF":
        return OF_LACE_WITHOUT_COUNTERS, "no counters"
    return OF_LACE, "with counters"


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


def _built(package: str, folder: Path) -> Path:
    program = folder / f"fib_{package}"
    build(program, C, f"fib_{package}.c.txt", package_options(package), ("1", "1"))
    return program
