"""Predict two threads that contend for one deque from calibrated costs, and measure these threads.

    python verification/contended_pair.py            on an idle machine with two cores, about a minute

One thread spawns tasks and pushes them on its deque, the other thread steals tasks, and both execute tasks. After every
100 tasks the first thread waits until all have ended. `numasim calibrate` measures the costs of this machine: transfers
of cache lines, pushes, pops, probes, takes. Nothing is fitted to runs with two threads. A thread works by counting, and
takes longer for a piece of work than the program says. The work between spawns is therefore measured alone, with one
thread. If the program with one thread takes longer than this work and the calibrated costs, the difference is added to
the time of its tasks.

Samples with one and with two threads alternate; a row has the medians of all samples. A sample is the shortest of three
runs, since another process can only lengthen a run. Before and after a run the transfer of a cache line is measured.
The run does not count if a transfer takes more than 1.5 times or less than 1 / 1.5 of the calibrated time, since the
processors of a virtual machine may move. The prediction is made with served lines (`runtime.costs.line: yes`), and for
comparison with the two other values of `line`. Exit status 1 if a prediction with served lines is off by more than
15 %.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numasim as ns
from numasim.runtime.calibrated_machine import calibrate
from numasim.runtime.runtime_program import find_program

BOUND = 0.15
SHORTEST_OF, MOST_RUNS, MOVED = 3, 200, 1.5
SPAN_NS = 2_000_000  # approximate time of a run; the system interrupts longer runs more often
BATCH = 100  # tasks between two joins, so that few tasks are live at a time
LINES = ("yes", "latency", "no")
# rows of the table: ns of work between two spawns, ns of a task
CELLS = ((0, 0), (0, 100), (0, 500), (0, 1000), (100, 100), (300, 100), (1000, 100))


def program(tasks: int, between_ns: float, task_ns: float | None) -> ns.Graph:
    """Return a program of ``tasks`` tasks. If ``task_ns`` is None, only the work between the spawns remains."""

    def child(task: Any) -> None:
        task.work(task_ns)

    def root(task: Any) -> None:
        for number in range(1, tasks + 1):
            if between_ns:
                task.work(between_ns)
            if task_ns is not None:
                task.spawn(child)
                if number % BATCH == 0:
                    task.sync()

    return ns.Graph.fork_join(root, name="pair")


class Pair:
    """The calibrated machine, and a folder for the files of programs."""

    def __init__(self, folder: Path) -> None:
        found = calibrate(quick=False)
        self._folder, self._machine, self._runtime = folder, folder / "machine.yaml", folder / "runtime.yaml"
        self._machine.write_text(found.machine)
        self._runtime.write_text(found.runtime)
        self.line_ns = float(ns.Machine.read(self._machine).spec.coherence.same_socket_ns)

    def simulated_ns(self, graph: ns.Graph, workers: int, line: str) -> float:
        """Return the simulated time of all tasks, in ns."""
        runtime = {"like": str(self._runtime), "costs": {"line": line}}
        run = ns.run(
            machine=str(self._machine), runtime=runtime, workload=graph, strategy="randomized", workers=workers, seed=1
        )
        return float(run.makespan_ps) / 1000

    def plan(self, graph: ns.Graph, workers: int, name: str) -> Path:
        """Write the plan of a program for so many threads."""
        source, plan = self._folder / f"{name}.json", self._folder / f"{name}.plan"
        graph.save(source)
        command = ["-m", "numasim", "strategy", "compile", "randomized", "--workers", str(workers)]
        files = {"--machine": self._machine, "--runtime": self._runtime, "--graph": source, "-o": plan}
        named = [text for option, file in files.items() for text in (option, str(file))]
        subprocess.run([sys.executable, *command, *named], check=True, stdout=subprocess.DEVNULL)
        return plan

    def measured_ns(self, plan: Path, seed: int) -> float:
        """Return the measured time of all tasks, in ns: one sample."""
        command = [str(find_program()), "plan", str(plan), "--mode", "native", "--json", "--seed", str(seed)]
        times: list[float] = []
        for _ in range(MOST_RUNS):
            told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            hops_ns = [hop / 1000 for hop in told["hop_ps"] if hop]
            if all(self.line_ns / MOVED <= hop <= MOVED * self.line_ns for hop in hops_ns):
                times.append(float(told["makespan_ps"]) / 1000)
            if len(times) == SHORTEST_OF:
                return min(times)
        raise SystemExit(f"cache lines take other times than a moment ago, {MOST_RUNS} times one after the other")

    def cell(self, between_ns: int, task_ns: int, samples: int) -> tuple[float, float, list[float]]:
        """Return the measured times of a task with one and with two threads, and the predictions for two threads."""
        tasks = BATCH * (SPAN_NS // (BATCH * max(100, between_ns + task_ns)))
        graph, alone = program(tasks, between_ns, task_ns), program(tasks, between_ns, None)
        plans = [self.plan(alone, 1, "alone"), self.plan(graph, 1, "one"), self.plan(graph, 2, "two")]
        taken = [[self.measured_ns(plan, seed) for plan in plans] for seed in range(samples)]
        alone_ns, one_ns, two_ns = (statistics.median(times) for times in zip(*taken, strict=True))
        piece_ns = alone_ns / tasks if between_ns else 0
        costs_ns = self.simulated_ns(program(tasks, 0, 0), 1, "yes") / tasks
        whole = program(tasks, piece_ns, max(0, one_ns / tasks - piece_ns - costs_ns))
        return one_ns / tasks, two_ns / tasks, [self.simulated_ns(whole, 2, line) / tasks for line in LINES]


def main() -> int:
    """Print a row for each cell; return 1 if a prediction is outside the bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=15, help="of each cell, with one and with two threads")
    samples = parser.parse_args().samples
    outside = 0
    with TemporaryDirectory() as folder:
        pair = Pair(Path(folder))
        print(f"a cache line takes {pair.line_ns:.1f} ns from core to core; times of a task in ns")
        print(f"{'between':>8}{'task':>6}{'1 thread':>10}{'2 threads':>11}" + "".join(f"{n:>18}" for n in LINES))
        for between_ns, task_ns in CELLS:
            one_ns, two_ns, predictions = pair.cell(between_ns, task_ns, samples)
            off = [each / two_ns - 1 for each in predictions]
            outside += abs(off[0]) > BOUND
            told = "".join(f"{each:10.1f} ({100 * by:+4.0f}%)" for each, by in zip(predictions, off, strict=True))
            print(f"{between_ns:8}{task_ns:6}{one_ns:10.1f}{two_ns:11.1f}{told}", flush=True)
    print(f"{len(CELLS) - outside} of {len(CELLS)} predictions with served lines are within {100 * BOUND:.0f} %")
    return 1 if outside else 0


if __name__ == "__main__":
    raise SystemExit(main())
