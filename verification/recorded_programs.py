"""Measure the cost of recording, the accuracy of simulations of recorded programs, and the effect of a busy machine.

    python verification/recorded_programs.py [--quick] [--openmp libomp.so] [--compiler gcc]

Programs with tasks of known lengths (verification/recorded_programs.c) are compiled, run and recorded. A table has
these rows:

- recording: nanoseconds and bytes that the recorder takes for each task of a program of empty tasks;
- one thread and two threads: the time of the parallel region, measured without a recorder; the time in a simulation of
  the recording of one thread, with runtime costs measured by `numasim calibrate --openmp`; and their difference;
- beside a busy loop on every processor: the recorded work, compared with the previous recording on an idle machine.

Nothing is fitted. Exit status 1 if a bound is missed: 150 ns and 64 bytes a task; at one thread 5 % for tasks of 10 us
and 15 % for tasks of 1 us; at two threads 10 % for four programs of five; 5 % beside busy loops. The machine should be
idle.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from numasim.engine.simulate import simulate_spec
from numasim.files.writer import write_text
from numasim.runtime.record.openmp_costs import calibrate_openmp
from numasim.runtime.record.program_runs import OpenmpLibrary, environment, find_openmp
from numasim.runtime.record.recording import Order, Recording, record
from numasim.schema.enumerations import Kind
from numasim.spec.run_spec import resolve
from numasim.workload.json_form.graph_io import write

SOURCE = Path(__file__).with_suffix(".c")
PROGRAMS = ("tree", "flat", "wavefront", "loop", "queens")
MACHINE = "xeon-6130-2s"  # any machine with two cores on one node would do
MOST_NS, MOST_BYTES = 150, 64
PAIRS = 20
RECORDED_ROUNDS = 3
FLAT_UNITS = 210 + 30 * (0 + 1 + 2 + 3 + 4 + 5 + 6) / 4  # the work of all tasks of the program `flat`, in units
CLOSE_AT_TWO = 4  # least number of the five programs that must be within the bound at two threads
US_PER_PS = 1e-6


@dataclass(frozen=True)
class Line:
    """A measurement: its name, its figures as text, and whether it is within its bound."""

    what: str
    figures: str
    within: bool

    def __str__(self) -> str:
        """Return the line of the table."""
        return f"{self.what:<34} {self.figures:<64} {'' if self.within else 'MISSED'}".rstrip()


@dataclass(frozen=True)
class Bench:
    """The common data of all measurements."""

    program: Path
    openmp: OpenmpLibrary
    folder: Path
    rounds: int

    def command(self, name: str, units: int, rounds: int) -> tuple[str, ...]:
        """Return the command of one of the programs."""
        return (str(self.program), name, str(units), str(rounds))

    def measured_us(self, name: str, units: int, threads: int, folder: Path | None = None) -> float:
        """Return the time of the program's parallel region; if ``folder`` is given, record the program into it.

        For one thread, the time is the lower quartile over rounds of the thread's processor time, which a busy machine
        does not lengthen. For several threads, the time is the least time of a round by the clock.
        """
        command = self.command(name, units, self.rounds)
        variables = environment(self.openmp, threads, folder)
        said = subprocess.run(command, env=variables, check=True, capture_output=True, text=True).stdout
        by_clock, of_processor = map(float, said.split())
        return of_processor if threads == 1 else by_clock

    def recorded(self, name: str, units: int) -> Recording:
        """Return the recording of a few rounds at one thread. In the first round the runtime is still starting."""
        return record(Order(self.command(name, units, RECORDED_ROUNDS), openmp=self.openmp.path, quiet=True))


def recording_costs(bench: Bench) -> Iterator[Line]:
    """Yield the costs of recording empty tasks, from pairs of runs without and with the recorder."""
    name, units = "tree", 0
    found = bench.recorded(name, units)
    tasks = int((found.workload.kind == Kind.TASK).sum()) // RECORDED_ROUNDS
    costs = []
    for pair in range(PAIRS):
        with TemporaryDirectory(dir=bench.folder) as folder:
            order = (None, Path(folder)) if pair % 2 else (Path(folder), None)
            each = [bench.measured_us(name, units, 1, recorded) for recorded in order]
        plain, with_recorder = each if pair % 2 else each[::-1]
        costs.append(1000 * (with_recorder - plain) / tasks)
    ns, size = statistics.median(costs), found.bytes / tasks / RECORDED_ROUNDS
    yield Line(
        "recording, each task",
        f"{ns:.0f} ns (median of {len(costs)} pairs), {size:.0f} bytes",
        ns <= MOST_NS and size <= MOST_BYTES,
    )


def predictions(bench: Bench, unit_ns: float, runtimes: dict[int, Path]) -> Iterator[Line]:
    """Yield simulated and measured times at one thread and at two threads."""
    close = 0
    for length_ns, bound in ((20_000, 5), (1_500, 15)):
        units = round(length_ns / unit_ns)
        for name in PROGRAMS:
            graph = bench.folder / f"{name}-{length_ns}.json"
            found = bench.recorded(name, units)
            write(found.workload, graph)
            for threads in (1, 2) if length_ns > 10_000 else (1,):
                measured = bench.measured_us(name, units, threads)
                simulated = simulated_us(graph, threads, runtimes[threads])
                error = 100 * (simulated / measured - 1)
                limit = bound if threads == 1 else 10
                close += threads == 2 and abs(error) <= limit
                spread = f"spread {100 * (found.spread or 0):.1f} % of {found.runs} runs"
                figures = f"measured {measured:9.0f} us, simulated {simulated:9.0f} us, {error:+6.1f} %, {spread}"
                what = f"{name}, {length_ns / 1000:g} us, {threads} thread{'s' if threads > 1 else ''}"
                yield Line(what, figures, abs(error) <= limit or threads == 2)
    yield Line("two threads within 10 %", f"{close} of {len(PROGRAMS)} programs", close >= CLOSE_AT_TWO)


def simulated_us(graph: Path, workers: int, runtime: Path) -> float:
    """Return the least time of a parallel region; the measured time is also the least over the program's rounds."""
    spec = resolve(
        {
            "machine": MACHINE,
            "workload": {"file": str(graph)},
            "strategy": "randomized",
            "runtime": str(runtime),
            "workers": workers,
        }
    )
    result = simulate_spec(spec, 1)
    regions: dict[str, int] = {}
    rows = result.phase_rows
    for phase, time in zip(rows["phase"].tolist(), rows["time_ps"].tolist(), strict=True):
        region, _, part = result.phase_names[phase].partition(",")
        if part:
            regions[region] = regions.get(region, 0) + time
    return US_PER_PS * min(regions.values())


def busy_recordings(bench: Bench, unit_ns: float) -> Iterator[Line]:
    """Yield the work of recordings beside a busy loop on every processor, compared with the previous recordings."""
    units = round(20_000 / unit_ns)
    for name in PROGRAMS:
        before = bench.recorded(name, units)
        with busy_loops():
            beside = bench.recorded(name, units)
        works = [int(each.workload.segment_compute_ps.sum()) for each in (before, beside)]
        change = 100 * (works[1] / works[0] - 1)
        figures = f"work {change:+.1f} %, {beside.runs} runs beside busy loops, {before.runs} before"
        yield Line(f"{name}, busy machine", figures, abs(change) <= 5)


@contextmanager
def busy_loops() -> Iterator[None]:
    """Run a process with an endless computation for each processor."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for each in loops:
            each.kill()
            each.wait()


def main() -> int:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--openmp", type=Path, help="LLVM's OpenMP runtime")
    parser.add_argument("--compiler", default="gcc", help="the C compiler")
    asked = parser.parse_args()
    openmp = find_openmp(asked.openmp)
    lines = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "recorded_programs"
        flags = ["-fopenmp=libomp", f"-L{openmp.path.parent}"] if "clang" in asked.compiler else ["-fopenmp"]
        subprocess.run([asked.compiler, "-O2", *flags, str(SOURCE), "-o", str(program)], check=True)
        bench = Bench(program, openmp, folder, 30 if asked.quick else 300)
        runtimes = {threads: folder / f"{threads}.yaml" for threads in (1, 2)}
        for threads, file in runtimes.items():
            write_text(file, calibrate_openmp(str(openmp.path), serial=threads == 1))
        unit_ns = bench.measured_us("flat", 1000, 1) / FLAT_UNITS
        print(f"{openmp}; programs of {asked.compiler}; a unit of work takes {unit_ns:.2f} ns")
        for line in (*recording_costs(bench), *predictions(bench, unit_ns, runtimes), *busy_recordings(bench, unit_ns)):
            print(line, flush=True)
            lines.append(line)
    missed = sum(not line.within for line in lines)
    print(f"{missed} of {len(lines)} bounds missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
