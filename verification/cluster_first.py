"""Compare thieves that ask the workers of their own cache first with thieves that ask any worker, on an EPYC.

    python verification/cluster_first.py

Cores of the machine `epyc-9654-2s` that share a last-level cache pass a cache line on in 27 ns, other cores of the
socket in 99 ns, cores of two sockets in 192 ns (measured). The program searches an unbalanced tree. Its tasks take 1 us
or more and use no memory, so that only the lines of queues make a near victim better than a far victim. In a round, a
thief asks two queues before it waits: under `cluster-first` a random queue of a worker that shares the thief's cache
and then a random queue of any worker, under `random` two random queues of any worker. Both strategies run with the same
seeds on two machines: the measured machine, and the same machine with one transfer time for all cores of a socket. On
each machine they run under both interpretations of a queue's line (reading A-78). Under `latency` a thief pays a
transfer of the line for every queue that it asks or steals from. Under `yes` the line serves one worker after another,
and a look at a queue that has not changed since the thief's last look is free. A thief that mostly asks the seven other
queues of its cache then fetches fewer lines, so that `cluster-first` is faster with one time for the socket, too.

For each machine and reading a row of the output has the median change of the makespan from `random` to `cluster-first`,
and the 95 % interval of this median over pairs of runs with the same seed (order statistics). Under `yes` the row also
has the time for which thieves waited for lines in the runs with the first seed. Exit status 1 unless `cluster-first` is
surely faster on the measured machine under both readings, and not surely faster under `latency` with one time for the
socket.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import numasim as ns
from numasim.report.answers.statistics import Estimate, median_estimate

SOCKET_NS = 99.3
MACHINES: dict[str, Any] = {
    "measured levels": "epyc-9654-2s",
    "one time for the socket": {"like": "epyc-9654-2s", "name": "flat", "coherence": {"same_llc_ns": SOCKET_NS}},
}
RANDOM = {"name": "random", "steal": [{"from": "others"}, {"from": "others"}]}
CLUSTER = {"name": "cluster-first", "steal": [{"from": "own-llc"}, {"from": "others"}]}
RUN = {
    "workload": {"name": "uts", "root_children": 500, "node_ns": 1000},
    "workers": 96,
    "seed": 1,
}


def change(machine: Any, line: str, seeds: int) -> tuple[Estimate, list[float]]:
    """Return the change of the makespan in percent from ``random`` to ``cluster-first``, and for each strategy the ms
    for which thieves waited for cache lines in the run with the first seed.
    """
    runtime = {"like": "ompi", "costs": {"line": line}}
    with tempfile.TemporaryDirectory() as folder:
        axes = {"strategy": [RANDOM, CLUSTER]}
        document = {**RUN, "machine": machine, "runtime": runtime, "strategy": RANDOM, "repeat": seeds}
        frame = ns.sweep({**document, "sweep": axes}, Path(folder) / "runs", jobs=1, progress=False).to_frame()
    table = frame.pivot(index="repeat", columns="strategy", values="makespan_ps")
    ratio = (table["cluster-first"] / table["random"]).to_numpy(np.float64)
    waits = [
        float(ns.run({**RUN, "machine": machine, "runtime": runtime, "strategy": strategy}).workers.line_thief_ps.sum())
        for strategy in (RANDOM, CLUSTER)
    ]
    return median_estimate(100 * (ratio - 1)), [ps / 1e9 for ps in waits]


def main() -> int:
    """Print the interval of each machine under each reading; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=40)
    seeds = parser.parse_args().seeds
    found = {}
    for line, (name, machine) in product(("latency", "yes"), MACHINES.items()):
        found[line, name], (random, cluster) = each, _ = change(machine, line, seeds)
        interval = f"{each.value:+.2f} %, 95 % interval {each.low:+.2f} to {each.high:+.2f} ({each.count} pairs)"
        waits = f"; thieves wait {random:.1f} ms, cluster-first {cluster:.1f} ms" if line == "yes" else ""
        print(f"line: {line:8} {name:24} {interval}{waits}")
    measured, flat = MACHINES
    faster = found["latency", measured].high < 0 and found["yes", measured].high < 0
    return 0 if faster and found["latency", flat].high >= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
