"""From the state of a finished run to its Result: sums over workers, tables per worker and node pair (model 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.engine.ledger import Ledger
from numasim.engine.plan import Plan
from numasim.engine.producer import Producer
from numasim.engine.result import LOCKS, TIME, Result, ratio
from numasim.engine.serial import serial_ps
from numasim.engine.worker import COUNTS, Worker
from numasim.machine.topology import Machine

Array = npt.NDArray[Any]

PS_PER_S = 10**12


def collect(
    plan: Plan,
    workers: Sequence[Worker],
    producers: Sequence[Producer],
    ledger: Ledger,
    makespan_ps: int,
    hashes: tuple[str, str | None],
    events: int,
) -> Result:
    """The Result of a run that ended at ``makespan_ps``."""
    table = worker_table(workers, producers)
    total = {name: int(table[name][: len(workers)].sum()) for name in (*COUNTS, *TIME)}
    counters: dict[str, Any] = {
        "makespan_ps": makespan_ps,
        "serial_ps": serial_ps(plan),
        "trace_hash": hashes[0],
        "event_hash": hashes[1],
        "span_ps": ledger.span_ps,
        "work_ps": total["work_local_ps"],
        **total,
        "steal_false": total["steal_attempts"] - total["steal_success"],
        "steal_false_remote": total["steal_attempts_remote"] - total["steal_success_remote"],
        **memory_counters(plan.machine, ledger, makespan_ps),
        **dict.fromkeys(LOCKS, 0),
        "events": events,
    }
    return Result(
        counters=counters,
        workers=table,
        node_bytes=ledger.node_bytes,
        node_attempts=np.array(ledger.node_attempts, np.int64),
        passed_items=sum(ledger.passed_items),
        node_success=np.array(ledger.node_success, np.int64),
    )


def worker_table(workers: Sequence[Worker], producers: Sequence[Producer]) -> dict[str, Array]:
    """Counters by name, one entry per worker, then one per producer that is not a worker itself."""
    actors: list[Worker | Producer] = [*workers, *producers]
    table: dict[str, Array] = {
        "role": np.array(["worker" if isinstance(a, Worker) else "producer" for a in actors]),
        "node": np.array([a.node for a in actors], np.int64),
    }
    for name in (*COUNTS, *TIME):
        table[name] = np.array([getattr(a, name, 0) for a in actors], np.int64)
    table["steal_false"] = table["steal_attempts"] - table["steal_success"]
    return table


def memory_counters(machine: Machine, ledger: Ledger, makespan_ps: int) -> dict[str, Any]:
    """Bytes by distance, and how busy the busiest memory controller and link were."""
    moved = ledger.node_bytes
    local = int(np.trace(moved))
    return {
        "bytes_local": local,
        "bytes_remote": int(moved.sum()) - local,
        "bytes_cache": 0,
        "bytes_c2c": 0,
        "page_faults": ledger.page_faults,
        "imc_busy_max": busiest(moved.sum(axis=0), machine.imc_bytes_per_s, makespan_ps),
        "link_busy_max": busiest(link_bytes(machine, moved), machine.links.bytes_per_s, makespan_ps),
    }


def busiest(moved: Array, bytes_per_s: Array, makespan_ps: int) -> float | None:
    """The largest ratio of bytes moved to the bytes that could have moved; above 1 where contention is `none`."""
    pairs = zip(moved.tolist(), bytes_per_s.tolist(), strict=True)
    ratios = [ratio(b * PS_PER_S, rate * makespan_ps) for b, rate in pairs]
    return max((r for r in ratios if r is not None), default=None)


def link_bytes(machine: Machine, moved: Array) -> Array:
    """[links] bytes that crossed each link: what a node moves from and to a home takes the route from the home."""
    links = machine.links
    carried = np.zeros(len(links.source), np.int64)
    for node, home in zip(*np.nonzero(moved), strict=True):
        at = home * machine.nodes + node
        carried[links.route[links.route_ptr[at] : links.route_ptr[at + 1]]] += moved[node, home]
    return carried
