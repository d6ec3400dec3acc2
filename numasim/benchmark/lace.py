"""The C runtime beside Lace (van Dijk and van de Pol, "Lace: non-blocking split deque for work-stealing", 2014), where
both are installed: pkg-config finds `numasim` and `lace`, and a C compiler builds the same program on either.

The unit is the processor time of all threads for a task, which is a call of fib here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from numasim.benchmark.benchmark_findings import Ratio
from numasim.benchmark.effort import Effort
from numasim.benchmark.ratios import pair_probe
from numasim.benchmark.sampling import Probe
from numasim.workload.families.fib import fib_calls

PROGRAMS = Path(__file__).with_name("programs")  # C by another suffix, since wheels leave sources out
OURS, LACE = "numasim", "lace"  # packages of pkg-config
OF_LACE = 1.5  # with counters; without them, 1.2
OF_OWN_THREAD = 1.1
THREADS, CROWD = (1, 2), 32


@dataclass(frozen=True)
class Comparisons:
    """Probes of what can be compared, and sentences about what cannot."""

    probes: tuple[Probe[Ratio], ...]
    missing: tuple[str, ...]


def lace_comparisons(effort: Effort, folder: Path) -> Comparisons:
    """The probes of fib on both; the programs are built in ``folder``."""
    try:
        ours, lace = _built(OURS, folder), _built(LACE, folder)
    except MissingError as missing:
        return Comparisons((), (f"the C runtime with Lace: {missing}",))
    cost = partial(ns_per_call, n=effort.runtime_fib)
    probes = [
        pair_probe(
            f"C runtime, fib by spawn and call, {threads} thread{'s' * (threads > 1)}: to Lace",
            *("at most", OF_LACE, "ns/task"),
            (partial(cost, ours, threads), partial(cost, lace, threads)),
        )
        for threads in THREADS
    ]
    crowd = (partial(cost, ours, CROWD), partial(cost, ours, 1))
    name = f"C runtime, fib by spawn and call, {CROWD} threads: to one"
    return Comparisons((*probes, pair_probe(name, "at most", OF_OWN_THREAD, "ns/task", crowd)), ())


def ns_per_call(program: Path, threads: int, n: int) -> float:
    """The processor time of a call in ``program``, in nanoseconds."""
    done = subprocess.run([program, str(n), str(threads)], stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout.split()[1]) / fib_calls(n)[0]


class MissingError(Exception):
    """What is not installed."""


def _built(package: str, folder: Path) -> Path:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise MissingError("there is no C compiler")
    if shutil.which("pkg-config") is None:
        raise MissingError("there is no pkg-config")
    asked = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
    if asked.returncode:
        raise MissingError(f"pkg-config finds no {package}")
    program = folder / f"fib_{package}"
    command = [compiler, "-O2", "-x", "c", str(PROGRAMS / f"fib_{package}.c.txt"), "-x", "none"]
    command += [*asked.stdout.split(), "-pthread"]
    if subprocess.run([*command, "-o", str(program)], capture_output=True, check=False).returncode:
        raise MissingError(f"its program cannot be built with the {package} that pkg-config finds")
    if subprocess.run([str(program), "1", "1"], capture_output=True, check=False).returncode:
        raise MissingError(f"its program cannot be run with the {package} that pkg-config finds")
    return program
