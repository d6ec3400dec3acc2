"""Compare thieves that ask the workers of their own cache first with thieves that ask any worker, on an EPYC.

    python verification/cluster_first.py

Cores of the machine `epyc-9654-2s` that share a last-level cache pass a cache line on in 27 ns, other cores of the
socket in 99 ns, cores of two sockets in 192 ns (measured). The runtime `ompi` lets a thief pay for the cache line of
every queue that the thief asks or robs. The program searches an unbalanced tree with tasks of 1 us and more that use no
memory, so that nothing but these lines makes a near victim better than a far victim. In a round, a thief asks two
queues before it waits: under `cluster-first` a random queue of its own cache and a random queue of all, under `random`
two random queues of all. Both strategies run with the same seeds, once on this machine, and once on the same machine
with one time for all cores of a socket. For each machine a line has the median change of the makespan by asking the own
cache first, and the 95 % interval of this median over the pairs of runs with one seed (order statistics). Exit status 1
unless asking the own cache first is surely faster on the measured machine, and not surely faster with one time for the
socket.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
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
    "runtime": "ompi",
    "workers": 96,
    "seed": 1,
}


def change(machine: Any, seeds: int) -> Estimate:
    """Return the change of the makespan in percent by the strategy that asks the own cache first."""
    with tempfile.TemporaryDirectory() as folder:
        axes = {"strategy": [RANDOM, CLUSTER]}
        document = {**RUN, "machine": machine, "strategy": RANDOM, "repeat": seeds, "sweep": axes}
        frame = ns.sweep(document, Path(folder) / "runs", jobs=1, progress=False).to_frame()
    table = frame.pivot(index="repeat", columns="strategy", values="makespan_ps")
    ratio = (table["cluster-first"] / table["random"]).to_numpy(np.float64)
    return median_estimate(100 * (ratio - 1))


def main() -> int:
    """Print the interval of each machine; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=40)
    seeds = parser.parse_args().seeds
    found = {name: change(machine, seeds) for name, machine in MACHINES.items()}
    for name, each in found.items():
        print(f"{name:24} {each.value:+.2f} %, 95 % interval {each.low:+.2f} to {each.high:+.2f} ({each.count} pairs)")
    measured, flat = found.values()
    return 0 if measured.high < 0 <= flat.high else 1


if __name__ == "__main__":
    sys.exit(main())
