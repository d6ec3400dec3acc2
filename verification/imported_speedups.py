"""What task graphs of others gain from twelve workers, and how long it takes to find out.

    python verification/imported_speedups.py [--unit 1us] [--machine epyc-9654-2s-nps4] FILE ...

Each file, in any format that `numasim workload import` reads, is simulated under `randomized` with the runtimes `bare`
and `ompi`. A file that is refused, or whose parallelism is below twice the number of workers, is named and left out.
The command fails for a speedup below 8, for a run without a successful steal, and for one that takes more than 10 s of
processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numasim as ns
from numasim.errors import InputError

WORKERS = 12
LEAST_SPEEDUP, MOST_S = 8.0, 10.0


def graphs(files: list[Path], unit: str | None) -> Iterator[tuple[str, ns.Graph]]:
    """(name, graph) of the files with enough parallelism."""
    for file in files:
        try:
            graph = _read(file, unit)
        except InputError as error:
            print(f"refused    {error}")
            continue
        if graph.parallelism >= 2 * WORKERS:
            yield file.name, graph
        else:
            print(f"left out   {file.name}: parallelism {graph.parallelism:.1f}")


def _read(file: Path, unit: str | None) -> ns.Graph:
    """The unit is for files that do not say one."""
    try:
        return ns.Graph.imported(file)
    except InputError:
        if unit is None:
            raise
        return ns.Graph.imported(file, unit=unit)


def is_fine(name: str, graph: ns.Graph, runtime: str, machine: str) -> bool:
    """Print a line for a run, and say whether it keeps all bounds."""
    begin = time.process_time()
    result = ns.run(workload=graph, machine=machine, strategy="randomized", runtime=runtime, workers=WORKERS)
    seconds = time.process_time() - begin
    speedup = graph.work_ns * 1000 / result.counters["makespan_ps"]
    steals = result.counters["steal_success"]
    print(
        f"{runtime:<5} {speedup:6.2f} {steals:>7,} steals {seconds:6.2f} s  {graph.tasks:>7,} tasks  "
        f"{graph.work_ns / 1e9:>11,.3f} s of work  {name}",
        flush=True,
    )
    return speedup >= LEAST_SPEEDUP and steals > 0 and seconds <= MOST_S


def main() -> int:
    """Print a line for each run, and how many keep all bounds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--unit", help="of the times of files that do not say one")
    parser.add_argument("--machine", default="epyc-9654-2s-nps4")
    asked = parser.parse_args()
    fine = [
        is_fine(name, graph, runtime, asked.machine)
        for name, graph in graphs(asked.files, asked.unit)
        for runtime in ("bare", "ompi")
    ]
    print(f"{sum(fine)} of {len(fine)} runs keep all bounds")
    return int(not fine or not all(fine))


if __name__ == "__main__":
    raise SystemExit(main())
