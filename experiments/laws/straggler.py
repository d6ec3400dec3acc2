"""The misses of the last-level cache of the straggler socket (LAWS, Chen and Guo 2015, section 6.2).

A miss is a line that a socket gets from memory or from the cache of another socket, to read the line or to own the line
before writing. A write-back is no miss. The straggler is the socket with the largest sum of the latencies of its lines.
In the words of the paper, the straggler "seldom accesses data from its local memory node because the tasks in the
straggler socket need the longest time to access their data".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from numasim.machine.build_machine import build
from numasim.parts.models.machine_model import MachineSpec
from numasim.reproduce.metrics import METRICS, Metric, mean_of
from numasim.reproduce.quantities import Outcome
from numasim.reproduce.study_tables import COMPARISONS, Comparison, ratio, reduction, time_ps
from numasim.reproduce.table_cells import TRUTH

LINE_BYTES = 64
FETCHED = ("bytes_read", "bytes_ownership")  # bytes that a socket gets from memory
MOVED = "bytes_cache"  # bytes that a socket gets from caches of other sockets


class Straggler(NamedTuple):
    """The number of lines that the straggler misses, and the number of these lines from the straggler's own memory."""

    misses: float
    local: float


def straggler(machine: MachineSpec, pairs: Sequence[Mapping[str, float]]) -> Straggler:
    """Return the straggler of a run on ``machine``; ``pairs`` are the run's rows of the table of node pairs."""
    built = build(machine)
    nodes = len(built.socket_of_node)
    memory, caches = np.zeros((nodes, nodes)), np.zeros((nodes, nodes))
    for row in pairs:
        at = int(row["node_from"]), int(row["node_to"])
        memory[at] = sum(row.get(kind) or 0 for kind in FETCHED)
        caches[at] = row.get(MOVED) or 0
    wait = (memory * built.latency_ps + caches * built.caches.llc_remote_hit_ps).sum(axis=1)
    sockets = np.unique(built.socket_of_node)
    of = [built.socket_of_node == socket for socket in sockets]
    slowest = of[int(np.argmax([wait[mine].sum() for mine in of]))]
    own = memory[np.ix_(slowest, slowest)].sum()
    return Straggler((memory + caches)[slowest].sum() / LINE_BYTES, own / LINE_BYTES)


def _misses(run: Outcome) -> float:
    return straggler(run.spec.machine, run.pairs).misses


def _local(run: Outcome) -> float:
    return straggler(run.spec.machine, run.pairs).local


COMPARED = COMPARISONS | {  # all quantities of two runs that tables of LAWS have
    "faster": Comparison(TRUTH, time_ps, lambda value, reference: float(value < reference)),
    "straggler_miss_ratio": Comparison("1", _misses, ratio),
    "straggler_miss_reduction": Comparison("%", _misses, reduction),
    "straggler_local_ratio": Comparison("1", _local, ratio),
    "straggler_local_increase": Comparison("%", _local, lambda value, reference: -reduction(value, reference)),
}

METRICS.update(
    {
        "mean-log-error": Metric(
            lambda posed: mean_of(np.abs(np.log(posed.said / posed.published))),
            "mean logarithmic error",
            "mean of |ln (simulated / published)|, of ratios",
            each_cell=True,
        ),
        "largest-relative-error": Metric(
            lambda posed: np.asarray(np.abs(posed.said / posed.published - 1).max(axis=-1)),
            "largest relative error",
            "the largest |simulated - published| / published",
            percent=True,
            each_cell=True,
        ),
    }
)
