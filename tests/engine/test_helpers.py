"""Helper threads, which bring the data of a worker's next task into its cache (model 4.11), worked out by hand.

A unit is a task of a worklist, one queue for all workers. A worker with a helper holds the next unit already.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_setup import NS, plan_of, runtime, simulated, stealing, toy_with
from task_graphs import WAIT, Access, Run, Task, Use, graph, task

from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Mode, Op, Pattern, Region
from numasim.workload.sync_parameters import Role, SyncObject

CHUNK = 1 << 16
CACHES = {"llc": "1MiB", "llc_scope": "socket", "llc_hit_ns": 10, "llc_remote_hit_ns": 20}
ALONE = Effects(cache="share", overlap_ppm=0)
OBJECTS = (SyncObject("objects", Role.OBJECTS, parties=1, undo_ps=5 * NS),)


def reads(*places: int, size: int = 320, mode: Mode = Mode.READ) -> tuple[Access, ...]:
    """Return one access to each chunk; a line takes 100 ns from memory and 10 ns from the cache."""
    return tuple(Access(0, place * CHUNK, size, mode=mode, pattern=Pattern.CHASE) for place in places)


def helped(
    *units: Task, workers: int = 1, cores: int = 2, effects: Effects = ALONE, gbs: float = 10, **keys: Any
) -> Plan:
    """Return a plan of units in a worklist without a lock; a probe takes 1 ns. ``keys`` are keys of ``helpers``."""
    strategy = stealing(
        {"from": "own", "queue": "all"},
        queues={"all": {"per": "machine", "own": "fifo"}},
        dispatch=[{"to": "own", "queue": "all"}],
        mapping="contiguous",
        helpers={"lifespan": "1MiB", **keys} if keys.get("lifespan", 1) is not None else None,
    )
    work = graph(*units, deal=Deal.CYCLIC, regions=(Region("data", 64 * CHUNK, True),), words=OBJECTS)
    machine = toy_with({"sockets": 1, "cores": cores}, caches=CACHES, nodes={"imc_bandwidth_gbs": gbs})
    how = runtime(costs={"probe_ns": 0, "probe_remote_ns": 0})
    return plan_of(work, workers, strategy, how, machine, effects=effects)


def outcome(plan: Plan) -> tuple[int, int, int]:
    """Return the makespan in ns, the prefetched bytes, and the used part of the prefetched bytes."""
    counters = simulated(plan).counters
    assert counters["makespan_ps"] % NS == 0
    return counters["makespan_ps"] // NS, counters["bytes_prefetched"], counters["bytes_prefetched_used"]


# ---- one worker ----------------------------------------------------------------------------------------------------


def test_the_next_unit_finds_in_the_cache_what_its_helper_has_brought() -> None:
    """The worker takes two units from the worklist at 1 ns. While the worker runs the first unit, the helper fetches
    the ten lines of the second unit, in half of the time. So the second and the third unit find their lines in cache.
    """
    units = [task(Run(1000 * NS, reads(2 * n, 2 * n + 1))) for n in range(3)]
    assert outcome(helped(*units, lifespan=None)) == (1 + 2000 + 1 + 2000 + 1 + 2000, 0, 0)
    assert outcome(helped(*units)) == (1 + 2000 + 1 + 1100 + 1 + 1100, 1280, 1280)
    # the helper reads at most `lifespan` bytes of a unit: one of its two accesses
    assert outcome(helped(*units, lifespan=639)) == (1 + 2000 + 1 + 1550 + 1 + 1550, 640, 640)


def test_a_helper_gets_as_far_as_its_worker_lets_it() -> None:
    """While the second unit computes for 600 ns, the helper begins two accesses of 500 ns."""
    units = [task(1000 * NS), task(600 * NS), task(Run(0, reads(1, 2, 3, 4)))]
    assert outcome(helped(*units)) == (1 + 1000 + 1 + 600 + 1 + 100 + 1000, 640, 640)


def test_a_helper_computes_its_share() -> None:
    """The helper computes half of 1600 ns, in four parts of 200 ns: a part with its access takes 700 of 1400 ns."""
    units = [task(0), task(1400 * NS), task(Run(1600 * NS, reads(1, 2, 3, 4)))]
    assert outcome(helped(*units, work=0.5)) == (1 + 1 + 1400 + 1 + 1600 + 100 + 1000, 640, 640)


def test_a_helper_passes_over_what_is_only_written() -> None:
    units = [task(0), task(9000 * NS), task(Run(0, reads(1, 2, mode=Mode.WRITE)))]
    assert outcome(helped(*units))[1:] == (0, 0)


def test_a_helper_uses_bandwidth() -> None:
    """The helper demands 640 bytes within the 1 us of the second unit; the controller can deliver 320 bytes."""
    fluid = replace(ALONE, contention="fluid")
    units = [task(0), task(1000 * NS), task(Run(0, reads(1, 2)))]
    assert outcome(helped(*units, effects=fluid, gbs=0.64)) == (1 + 1 + 1000 + 1 + 100, 640, 640)
    assert outcome(helped(*units, effects=fluid, gbs=0.32)) == (1 + 1 + 2000 + 1 + 100, 640, 640)


def test_what_a_helper_gains_is_what_its_worker_finds() -> None:
    """Each prefetched line that the worker uses saves the worker 90 ns, for any lifespan and any share of computing."""
    units = [task(Run(300 * NS * (n % 3), reads(*range(3 * n, 3 * n + n % 4)))) for n in range(12)]
    plain, *_ = outcome(helped(*units, lifespan=None))
    for lifespan in (0, 320, 640, 10**6):
        for work in (0, 0.3, 1):
            time, _, used = outcome(helped(*units, lifespan=lifespan, work=work))
            assert plain - time == used // 64 * 90


# ---- workers with a helper -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "cores", "has"),
    [(1, 1, None), (1, 2, (True,)), (2, 3, (True, False)), (2, 4, (True, True)), (4, 4, None)],
)
def test_helpers_need_an_idle_core(workers: int, cores: int, has: tuple[bool, ...] | None) -> None:
    plan = helped(task(Run(0, reads(1))), workers=workers, cores=cores)
    assert (plan.helpers.has if plan.helpers else None) == has


def test_helpers_need_a_cache() -> None:
    assert helped(task(Run(0, reads(1))), effects=Effects(contention="fluid")).helpers is None


def test_units_are_executed_one_after_the_other() -> None:
    joins = helped(task(Run(0, reads(1)), task(NS), WAIT))
    assert (joins.helpers, len(joins.workload.accesses)) == (None, 1)


# ---- transactions --------------------------------------------------------------------------------------------------

BEGIN, STORE, COMMIT = Use(Op.BEGIN), Use(Op.STORE), Use(Op.COMMIT)


def test_a_worker_pays_for_its_helper_at_the_begin_and_after_an_abort() -> None:
    """Each worker finds two units at 4 ns. Worker 1 meets the object of worker 0 30 ns later, and pays 5 + 7 ns before
    the next attempt.
    """
    units = [task(BEGIN, 10 * NS, STORE, 50 * NS, COMMIT), task(BEGIN, 30 * NS, STORE, 20 * NS, COMMIT)]
    last = task(Run(0, reads(1)))
    result = simulated(helped(units[0], last, units[1], last, workers=2, cores=4, start_ns=3, restart_ns=7))
    assert result.counters["aborts"] == 1
    assert result.per_worker["overhead_ps"].tolist() == [3 * NS, (3 + 5 + 7) * NS]
    assert result.per_worker["wasted_ps"].tolist() == [0, 30 * NS]


def test_an_abort_lets_a_helper_begin_anew() -> None:
    """The attempt of worker 1 aborts while the helper is in its first access; the helper restarts, and leaves
    out the rest of this access.
    """
    long, short = task(BEGIN, STORE, 900 * NS, COMMIT), task(BEGIN, 100 * NS, STORE, 100 * NS, COMMIT)
    last = task(Run(0, reads(1, 2, 3)))
    counters = simulated(helped(long, task(0), short, last, workers=2, cores=4)).counters
    assert counters["aborts"] > 1
    assert counters["bytes_prefetched"] >= 640  # in each attempt the helper begins one access


# ---- memory that tasks allocate ------------------------------------------------------------------------------------


@pytest.mark.parametrize("adds", [False, True])
def test_fresh_memory_is_with_who_touches_it_first_where_tasks_add_tasks(adds: bool) -> None:
    """The policy deals pages to nodes in turn; if tasks add tasks, worker 0's page is on the node of worker 0."""
    write = Run(NS, (Access(0, 4096, 64, mode=Mode.WRITE),))
    work = graph(task(write, *([task(NS)] if adds else [])), regions=(Region("fresh", 8192, False),))
    placement = {"policy": "interleave", "adding": "first-touch"}
    machine = toy_with({"sockets": 2, "cores": 1})
    result = simulated(plan_of(work, 1, stealing(placement=placement), runtime(), machine))
    assert result.counters["bytes_remote"] == (0 if adds else 128)
