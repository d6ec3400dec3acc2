"""From the state of a finished run to its Result: sums over workers, tables per worker and node pair (model 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.engine.check.deadlock import require_sums
from numasim.engine.reference.sync.cache_lines import SyncCounts
from numasim.engine.result import COUNTS, TIME, Result, mode_of, ratio
from numasim.frozen import Frozen
from numasim.machine.topology import Machine
from numasim.parts.unit_factors import PS_PER_S
from numasim.plan.plan import Plan, Run
from numasim.plan.resources import OnLinks, fetched, written
from numasim.plan.serial_time import Makespan, serial_ps
from numasim.workload.builder import frozen
from numasim.workload.one_worker import LINE_BYTES
from numasim.workload.sync_parameters import Role

Array = npt.NDArray[Any]
COUNTED = (*COUNTS, *TIME)
UNCHANGED = (  # fields of `Finished` that are fields of `Result`, too
    *("node_bytes", "node_attempts", "node_success", "node_conflicts", "object_conflicts", "traffic"),
    *("passed_items", "phase_table", "held"),
)


class Finished(Frozen):
    """The counts of an engine in a finished run.

    ``workers`` has an array [workers] for each counter of COUNTS and each time of TIME that the engine knows.
    ``producers`` has such arrays [producers], and the ``node`` of each producer. The matrices are [thief or accessing
    node, victim or home node]. ``traffic`` is as in `Result`. ``node_pages`` [nodes] are the pages of dynamic regions.
    """

    workers: Mapping[str, Array]
    producers: Mapping[str, Array]
    node_attempts: Array
    node_success: Array
    node_conflicts: Array
    object_conflicts: Array  # [objects of all memories]
    node_bytes: Array
    traffic: Mapping[str, Array]
    cached_bytes: int
    prefetched_bytes: int
    used_bytes: int
    makespan_ps: int
    span_ps: int
    page_faults: int
    pages_unmapped: int
    pages_migrated: int
    node_pages: Array
    phase_table: Array  # [the first runs of phases, phase_rows.COLUMNS]
    passed_items: int
    hashes: tuple[str, str | None]
    events: int
    sync_counts: Array  # [synchronisation objects, SyncCounts]
    held: Array | None = None  # [holdings, Held]


def collect(run: Run, finished: Finished, makespan_ps: Makespan) -> Result:
    """Return the Result of a finished run; ``makespan_ps`` simulates the serial run, for the serial time."""
    plan = run.plan
    require_sums(finished.makespan_ps, plan.workers.workers + len(finished.producers["node"]))
    counts = _counts(plan, finished)
    total = dict(zip(COUNTED, counts[:, : plan.workers.workers].sum(axis=1).tolist(), strict=True))
    locks = dict(zip(SyncCounts._fields, finished.sync_counts.sum(axis=0).tolist(), strict=True))
    counters: dict[str, Any] = {
        "makespan_ps": finished.makespan_ps,
        "serial_ps": serial_ps(run, total["work_local_ps"], makespan_ps),
        "trace_hash": finished.hashes[0],
        "event_hash": finished.hashes[1],
        "span_ps": finished.span_ps,
        "work_ps": total["work_local_ps"],
        **total,
        "steal_false": total["steal_attempts"] - total["steal_success"],
        "steal_false_remote": total["steal_attempts_remote"] - total["steal_success_remote"],
        **memory_counters(plan.machine, finished),
        **{f"lock_{name}": count for name, count in locks.items() if name != "hold_ps"},
        "cpu_ps": sum(total[name] for name in TIME) - total["parked_ps"] - total["asleep_ps"],
        "mode": mode_of(plan, finished.passed_items),
        "events": finished.events,
    }
    return Result(
        counters=counters,
        per_worker=worker_table(plan, finished, counts),
        node_pages=run.placement.settled_pages + finished.node_pages,
        sync_objects={**_named_objects(plan), **dict(zip(SyncCounts._fields, finished.sync_counts.T, strict=True))},
        phase_names=_phase_names(plan),
        phases_run=sum(plan.workload.runs),
        **{name: getattr(finished, name) for name in UNCHANGED},
    )


@lru_cache(maxsize=2)
def _phase_names(plan: Plan) -> tuple[str, ...]:
    return tuple(phase.name for phase in plan.workload.phases)


@lru_cache(maxsize=2)
def _named_objects(plan: Plan) -> dict[str, Array]:
    """Return the names, roles and nodes of the synchronisation objects of a plan, the same in all its runs."""
    return {
        "object": frozen(np.array(plan.words.names, object)),
        "role": frozen(np.array([Role(role).name.lower() for role in plan.words.role.tolist()], object)),
        "node": frozen(plan.words.home.astype(np.int64)),
    }


def _counts(plan: Plan, finished: Finished) -> Array:
    """Return [COUNTED, actors] the counters; the actors are the workers and then the producers."""
    workers = plan.workers.workers
    counts = np.zeros((len(COUNTED), workers + len(finished.producers["node"])), np.int64)
    for row, name in zip(counts, COUNTED, strict=True):
        if name in finished.workers:
            row[:workers] = finished.workers[name]
        if name in finished.producers:
            row[workers:] = finished.producers[name]
    return counts


def worker_table(plan: Plan, finished: Finished, counts: Array) -> dict[str, Array]:
    """Return the columns by name; a column has an entry for each worker, then for each producer that is no worker."""
    workers, producers = plan.workers.workers, len(finished.producers["node"])
    table: dict[str, Array] = {
        "role": _roles(workers, producers),
        "node": np.concatenate([plan.workers.node, finished.producers["node"]]).astype(np.int64),
        **dict(zip(COUNTED, counts, strict=True)),
    }
    table["steal_false"] = table["steal_attempts"] - table["steal_success"]
    return table


@lru_cache(maxsize=2)
def _roles(workers: int, producers: int) -> Array:
    return frozen(np.array(["worker"] * workers + ["producer"] * producers))


def memory_counters(machine: Machine, finished: Finished) -> dict[str, Any]:
    """Return the bytes by distance, and the utilisation of the busiest memory controller and link."""
    moved, makespan_ps = finished.node_bytes, finished.makespan_ps
    local = int(np.trace(moved))
    return {
        "bytes_local": local,
        "bytes_remote": int(moved.sum()) - local,
        "bytes_cache": finished.cached_bytes,
        "bytes_c2c": int(finished.traffic["cache"].sum()) if finished.traffic else 0,
        "bytes_prefetched": finished.prefetched_bytes,
        "bytes_prefetched_used": finished.used_bytes,
        "page_faults": finished.page_faults,
        "pages_unmapped": finished.pages_unmapped,
        "pages_migrated": finished.pages_migrated,
        "imc_busy_max": busiest(moved.sum(axis=0), machine.imc_bytes_per_s, makespan_ps),
        "link_busy_max": busiest(link_bytes(machine, finished), machine.links.bytes_per_s, makespan_ps),
    }


def busiest(moved: Array, bytes_per_s: Array, makespan_ps: int) -> float | None:
    """Return the largest ratio of bytes moved to bytes that could have moved, or None; above 1 without contention."""
    pairs = zip(moved.tolist(), bytes_per_s.tolist(), strict=True)
    ratios = [ratio(b * PS_PER_S, rate * makespan_ps) for b, rate in pairs]
    return max((r for r in ratios if r is not None), default=None)


def link_bytes(machine: Machine, run: Finished | Result) -> Array:
    """Return [links] the bytes that crossed each link, messages of coherence included.

    Bytes that a node reads take the route from their home. Bytes that a node writes take the route to their home. If a
    result does not distinguish reads and writes, both are counted on the route from the home.
    """
    traffic = run.traffic
    towards = traffic["read"] + traffic["ownership"] + traffic["cache"] if traffic else run.node_bytes
    carried = np.zeros(len(machine.links.source), np.int64)
    _carry(machine, towards, fetched, carried)
    if traffic:
        _carry(machine, traffic["written"], written, carried)
    return carried


def _carry(machine: Machine, moved: Array, on_links: Callable[[Machine, int, int], OnLinks], carried: Array) -> None:
    """Add the bytes that ``moved`` [node, home] puts on links."""
    for node, home in np.argwhere(moved).tolist():
        for link, per_line in on_links(machine, node, home).items():
            carried[link] += -(-int(moved[node, home]) * per_line // LINE_BYTES)
