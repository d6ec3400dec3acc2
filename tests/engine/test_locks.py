"""Locks of every kind: who is next, how long a handoff takes, what is counted (model 5.1 to 5.3; thesis Table 6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, get_args

import pytest
from engine_setup import NS, SEED, Seen, observe, plan_of, run, runtime, stealing, toy
from task_graphs import WAIT, Task, Use, body, graph, phase, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.simulate import ENGINES, simulate
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts.models.strategy_terms import LockName
from numasim.spec.run_spec import resolve
from numasim.workload.graph import Deal, Op, Workload
from numasim.workload.sync_parameters import Role, SyncObject

KINDS = get_args(LockName)
LOCK, UNLOCK = Use(Op.LOCK), Use(Op.UNLOCK)
DOOR = (SyncObject("door", Role.LOCK),)
CRITICAL_PS = 100 * NS


def bodies(*each: Task, words: tuple[SyncObject, ...] = DOOR) -> Workload:
    """A body for each worker."""
    return graph(*each, phases=(phase(*range(len(each)), deal=Deal.CYCLIC),), words=words)


def contention(workers: int, sections: int, critical_ps: int = CRITICAL_PS) -> Workload:
    """Everybody runs critical sections back to back."""
    return bodies(*[body(*[LOCK, critical_ps, UNLOCK] * sections) for _ in range(workers)])


def locked(
    work: Workload, workers: int, machine: Machine, costs: Mapping[str, Any] | None = None, **locks: Any
) -> Seen:
    """Workers in the order of cores, locks as given."""
    strategy = stealing(locks=locks, mapping="contiguous")
    return run(work, workers, strategy, runtime(costs=costs or {}, poll_ns=50), machine)


def grants(seen: Seen) -> list[tuple[int, int]]:
    """(time, worker) of every acquisition, in time order."""
    assert seen.result.held is not None
    return sorted((start, actor) for _, actor, start, _ in seen.result.held.tolist())


def handoffs_ps(seen: Seen) -> list[int]:
    """Time from each release to the next grant."""
    held = sorted(seen.result.held[:, 2:].tolist())
    return [after[0] - before[1] for before, after in pairwise(held)]


# ---- the cache line ------------------------------------------------------------------------------------------------


def thesis_machine() -> Machine:
    given = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 1}, "strategy": "ring", "workers": 1}
    return build(resolve(given).machine)


@pytest.mark.parametrize(("mapping", "access_ps"), [("contiguous", 15_435), ("numa-even-cores-first", 38_428)])
@pytest.mark.parametrize("kind", ["mcs", "ticket", "ttas", "clh"])
def test_two_contending_threads_pay_table_6_2(mapping: str, access_ps: int, kind: str) -> None:
    work = contention(2, 50)
    plan = plan_of(work, 2, stealing(locks={"kind": kind}, mapping=mapping), "bare", thesis_machine())
    seen = observe(plan)
    assert len(set(plan.workers.socket.tolist())) == (1 if mapping == "contiguous" else 2)
    assert handoffs_ps(seen) == [access_ps] * 99


def test_the_first_access_reads_the_memory_of_the_home() -> None:
    near, far = SyncObject("near", Role.ATOMIC, owner=0), SyncObject("far", Role.ATOMIC, owner=1)
    work = bodies(body(Use(Op.ATOMIC, 0)), body(Use(Op.ATOMIC, 1)), words=(near, far))
    for home, expected in (("owner", [100 * NS, 100 * NS]), ("master", [100 * NS, 200 * NS])):
        seen = locked(work, 2, toy(sockets=2, cores=1), kind="mcs", home=home)
        assert sorted(start for start, _ in grants(seen)) == sorted(expected)


def test_words_that_are_read_from_memory_every_time() -> None:
    work = contention(2, 5)
    seen = locked(work, 2, toy(sockets=2, cores=1), kind="mcs", words="memory")
    assert handoffs_ps(seen) == [200 * NS, 100 * NS] * 4 + [200 * NS]  # to worker 1 on the other node, and back


def test_a_hit_in_the_own_core_is_no_handoff() -> None:
    seen = locked(contention(1, 3), 1, toy(), kind="mcs")
    assert handoffs_ps(seen) == [5 * NS, 5 * NS]
    assert (seen["lock_acquisitions"], seen["lock_handoffs_local"], seen["lock_handoffs_remote"]) == (3, 0, 0)
    assert seen["lock_wait_ps"] == seen["overhead_ps"] == 110 * NS


def test_atomics_are_served_one_at_a_time_in_order_of_arrival() -> None:
    work = bodies(*[body(start * NS, Use(Op.ATOMIC)) for start in (0, 10, 5)], words=(SyncObject("sum", Role.ATOMIC),))
    seen = locked(work, 3, toy(), kind="mcs")
    assert grants(seen) == [(100 * NS, 0), (120 * NS, 2), (140 * NS, 1)]  # from memory, then from core to core
    assert seen.result.sync_objects["hold_ps"].tolist() == [0]


# ---- who is next ---------------------------------------------------------------------------------------------------


def queue_up(arrivals_ns: list[int], machine: Machine, **keys: Any) -> list[int]:
    """The workers in the order of their grants, where worker 0 holds the lock for long and the others arrive so."""
    others = [body(arrival * NS, LOCK, 10 * NS, UNLOCK) for arrival in arrivals_ns]
    work = bodies(body(LOCK, 1000 * NS, UNLOCK), *others)
    return [worker for _, worker in grants(locked(work, 1 + len(others), machine, **keys))[1:]]


@pytest.mark.parametrize("kind", ["ticket", "mcs", "mutex", "clh"])
def test_first_come_first_served(kind: str) -> None:
    assert queue_up([400, 100, 300, 200, 100], toy(sockets=2, cores=3), kind=kind) == [2, 5, 4, 3, 1]


@pytest.mark.parametrize("kind", ["tas", "ttas"])
def test_the_nearest_wins_the_race_unless_it_is_fair(kind: str) -> None:
    machine = toy(sockets=2, cores=3)
    assert queue_up([400, 300, 200, 100, 50], machine, kind=kind) == [2, 1, 5, 4, 3]
    assert queue_up([400, 300, 200, 100, 50], machine, kind=kind, fairness="fair") == [5, 4, 3, 2, 1]


def test_a_cohort_stays_on_its_node_for_a_batch() -> None:
    machine = toy(sockets=2, cores=4)
    assert queue_up([400, 300, 200, 150, 100, 50, 20], machine, kind="cohort", batch=2) == [3, 2, 7, 6, 5, 1, 4]
    assert queue_up([400, 300, 200, 150, 100, 50, 20], machine, kind="cohort", batch=64) == [3, 2, 1, 7, 6, 5, 4]


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_a_cohort_under_full_contention_crosses_nodes_once_a_batch(batch: int) -> None:
    seen = locked(contention(8, 60), 8, toy(sockets=2, cores=4), kind="cohort", batch=batch)
    first = [actor // 4 for _, actor in grants(seen)][: 8 * 40]  # while nobody has finished
    runs = "".join("l" if a == b else "r" for a, b in pairwise(first)).strip("l").split("r")
    assert {len(run) for run in runs[1:-1]} == {batch}
    assert seen["lock_handoffs_remote"] <= -(-(seen["lock_acquisitions"] - 1) // (batch + 1))


# ---- how long it takes ---------------------------------------------------------------------------------------------

STORM = {  # three wait on the socket of the releaser, 20 ns away; the costs are in nanoseconds
    "tas": 20 + 40 // 2 + 2 * (20 * 20 // 40),
    "ttas": 20,
    "ticket": 20 + (20 + 20) // 2,
    "mcs": 20,
    "mutex": 20 + 900 + 2500,
    "cohort": 20,
    "clh": 20,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_time_of_a_handoff_to_one_of_three(kind: str) -> None:
    spin = {"spin_ns": 500} if kind == "mutex" else {}
    work = bodies(body(LOCK, 1000 * NS, UNLOCK), *[body(LOCK, UNLOCK) for _ in range(3)])
    seen = locked(work, 4, toy(), {"pause_ns": 40, "futex_ns": 900, "wake_ns": 2500}, kind=kind, **spin)
    assert handoffs_ps(seen)[0] == STORM[kind] * NS


@pytest.mark.parametrize(("kind", "lines"), [("mcs", 1), ("clh", 2)])
def test_who_finds_a_clh_lock_free_fetches_its_tail_and_then_the_last_place(kind: str, lines: int) -> None:
    """Memory is 100 ns away; a line is 5 ns from its own core, 20 from one on its socket, 40 from the other socket."""
    starts = [0, 1000, 2000, 3000, 4000]  # of worker 0, twice, then of workers 1, 2 (on the other node) and 3
    first = body(LOCK, 10 * NS, UNLOCK, 1000 * NS, LOCK, 10 * NS, UNLOCK)
    work = bodies(first, *[body(start * NS, LOCK, 10 * NS, UNLOCK) for start in starts[2:]])
    seen = locked(work, 4, toy(sockets=2, cores=2), kind=kind)
    again = lines * 100 + 10 + 1000
    assert grants(seen) == [
        (lines * 100 * NS, 0),
        ((again + lines * 5) * NS, 0),
        ((2000 + lines * 20) * NS, 1),
        ((3000 + lines * 40) * NS, 2),
        ((4000 + lines * 20) * NS, 3),
    ]
    assert seen["lock_wait_ps"] == lines * (100 + 5 + 20 + 40 + 20) * NS
    assert (seen["lock_handoffs_local"], seen["lock_handoffs_remote"]) == (2, 1)


@pytest.mark.parametrize(("machine", "handoff_ns"), [(toy(cores=2), 20), (toy(sockets=2, cores=1), 40)])
def test_a_waiter_of_a_clh_lock_fetches_the_place_before_its_own_from_the_releaser(
    machine: Machine, handoff_ns: int
) -> None:
    seen = locked(contention(2, 3), 2, machine, kind="clh")
    assert grants(seen) == [(at * (100 + handoff_ns) * NS + 200 * NS, at % 2) for at in range(6)]


def test_three_waiters_of_a_clh_lock_get_it_in_the_order_of_arrival() -> None:
    """Workers 2 and 3 are on the other node: the places cross over from 0 to 2, from 2 to 1 and from 1 to 3."""
    others = [body(arrival * NS, LOCK, 10 * NS, UNLOCK) for arrival in (300, 250, 350)]
    seen = locked(bodies(body(LOCK, 1000 * NS, UNLOCK), *others), 4, toy(sockets=2, cores=2), kind="clh")
    assert grants(seen) == [(200 * NS, 0), (1240 * NS, 2), (1290 * NS, 1), (1340 * NS, 3)]


def test_a_mutex_that_spins_longer_than_it_waits_is_not_parked() -> None:
    work = bodies(body(LOCK, 300 * NS, UNLOCK), body(200 * NS, LOCK, UNLOCK))
    for spin_ns, handoff_ns in ((200, 20), (199, 20 + 900 + 2500)):  # it has waited for 100 + 300 - 200 ns
        seen = locked(work, 2, toy(), {"futex_ns": 900, "wake_ns": 2500}, kind="mutex", spin_ns=spin_ns)
        assert handoffs_ps(seen) == [handoff_ns * NS]


@pytest.mark.parametrize(("owner", "home_node"), [(0, 0), (2, 1)])
def test_a_parked_waiter_is_as_far_away_as_the_lock_lives(owner: int, home_node: int) -> None:
    """Workers 1 and 2, on nodes 0 and 1, park while worker 0 has the lock; who wakes them does not count."""
    words = (SyncObject("door", Role.LOCK, owner=owner),)
    waiters = [body(start * NS, LOCK, UNLOCK) for start in (300, 400)]
    work = bodies(body(LOCK, 1000 * NS, UNLOCK), *waiters, words=words)
    costs = {"futex_ns": 900, "wake_ns": 2500, "wake_remote_ns": 4000}
    seen = locked(work, 3, toy(sockets=2, cores=2), costs, kind="mutex", spin_ns=0, home="owner")
    near, far = 20 + 900, 40 + 900  # from core to core, on one socket and between them
    assert [worker for _, worker in grants(seen)] == [0, 1, 2]
    assert handoffs_ps(seen) == [
        (near + (2500 if home_node == 0 else 4000)) * NS,
        (far + (2500 if home_node == 1 else 4000)) * NS,
    ]


def throughput(kind: str, workers: int) -> float:
    """Acquisitions a microsecond while ``workers`` contend on one socket."""
    seen = locked(contention(workers, 200, 0), workers, toy(cores=8), {"pause_ns": 40}, kind=kind)
    return seen["lock_acquisitions"] / (seen["makespan_ps"] / 1e6)  # type: ignore[no-any-return]


def test_test_and_set_suffers_from_contenders_and_a_queue_does_not() -> None:
    tas = [throughput("tas", workers) for workers in (2, 4, 8)]
    mcs = [throughput("mcs", workers) for workers in (2, 4, 8)]
    assert tas[0] > 1.2 * tas[1] > 1.2**2 * tas[2]
    assert mcs == pytest.approx([mcs[0]] * 3, rel=0.02)


# ---- the program ---------------------------------------------------------------------------------------------------


def test_what_is_owed_is_paid_before_the_lock_is_asked_for() -> None:
    work = graph(task(task(LOCK, UNLOCK), WAIT), words=DOOR)
    seen = run(work, 1, stealing(), runtime(costs={"pop_ns": 7}), toy())
    assert grants(seen) == [((7 + 100) * NS, 0)]
    assert seen["lock_wait_ps"] == 100 * NS


def test_nested_critical_sections() -> None:
    words = (*DOOR, SyncObject("inner", Role.LOCK))
    nested = [LOCK, 10 * NS, Use(Op.LOCK, 1), 10 * NS, Use(Op.UNLOCK, 1), UNLOCK]
    seen = locked(bodies(body(*nested), body(*nested), words=words), 2, toy(), kind="mcs")
    assert seen.result.sync_objects["acquisitions"].tolist() == [2, 2]
    assert seen.result.sync_objects["hold_ps"].tolist() == [2 * (10 + 10) * NS + 100 * NS + 20 * NS, 2 * 10 * NS]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lock_that_is_held_over_a_join_may_deadlock(engine: str) -> None:
    work = graph(task(LOCK, task(LOCK, UNLOCK), WAIT, UNLOCK), words=DOOR)
    with pytest.raises(DeadlockError, match="no lock held over a join"):
        simulate(plan_of(work, 2, how="bare"), SEED, engine)
