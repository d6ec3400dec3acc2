"""Locks of every kind: the next holder, the time of a handoff, the counters (model 5.1 to 5.3; thesis Table 6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, get_args

import pytest
from engine_setup import (
    NS,
    Seen,
    found,
    observe,
    plan_of,
    run,
    runtime,
    shipped_machine,
    shipped_strategy,
    simulated,
    stealing,
    toy,
    toy_with,
)
from task_graphs import WAIT, Task, Use, body, graph, items, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.observe.trace_hash import Rank
from numasim.machine.topology import Machine
from numasim.parts.models.strategy_terms import BarrierName, LockName, LockSpec
from numasim.strategy.sync_places import place_words
from numasim.workload.graph import Deal, Op, Workload
from numasim.workload.sync_parameters import Role, SyncObject

KINDS, BARRIERS = get_args(LockName), get_args(BarrierName)
LOCK, UNLOCK = Use(Op.LOCK), Use(Op.UNLOCK)
DOOR = (SyncObject("door", Role.LOCK),)
CRITICAL_PS = 100 * NS


def bodies(*each: Task, words: tuple[SyncObject, ...] = DOOR) -> Workload:
    """Return a program with a body for each worker."""
    return graph(*each, deal=Deal.CYCLIC, words=words)


def contention(workers: int, sections: int, critical_ps: int = CRITICAL_PS) -> Workload:
    """Return a program in which every worker runs ``sections`` critical sections without a pause between them."""
    return bodies(*[body(*[LOCK, critical_ps, UNLOCK] * sections) for _ in range(workers)])


def locked(
    work: Workload, workers: int, machine: Machine, costs: Mapping[str, Any] | None = None, **locks: Any
) -> Seen:
    """Run ``work`` with workers in the order of cores and locks as given."""
    strategy = stealing(locks=locks, mapping="contiguous")
    return run(work, workers, strategy, runtime(costs=costs or {}, poll_ns=50), machine)


def grants(seen: Seen) -> list[tuple[int, int]]:
    """Return (time, worker) of every acquisition, in time order."""
    assert seen.result.held is not None
    return sorted((start, actor) for _, actor, start, _ in seen.result.held.tolist())


def handoffs_ps(seen: Seen) -> list[int]:
    """Return the time from each release to the next grant."""
    held = sorted(seen.result.held[:, 2:].tolist())
    return [after[0] - before[1] for before, after in pairwise(held)]


# ---- the cache line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mapping", "access_ps"), [("contiguous", 15_435), ("numa-even-cores-first", 38_428)])
@pytest.mark.parametrize("kind", ["mcs", "ticket", "ttas", "clh"])
def test_two_contending_threads_pay_table_6_2(mapping: str, access_ps: int, kind: str) -> None:
    work = contention(2, 50)
    plan = plan_of(work, 2, stealing(locks={"kind": kind}, mapping=mapping), "bare", shipped_machine("xeon-e5-2620-2s"))
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
    assert handoffs_ps(seen) == [200 * NS, 100 * NS] * 4 + [200 * NS]  # to worker 1 (other node), back


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


# ---- the next holder -------------------------------------------------------------------------------------------------


def queue_up(arrivals_ns: list[int], machine: Machine, **keys: Any) -> list[int]:
    """Return the workers in the order of their grants; workers 1 to n arrive at ``arrivals_ns`` while worker 0 has the
    lock.
    """
    others = [body(arrival * NS, LOCK, 10 * NS, UNLOCK) for arrival in arrivals_ns]
    work = bodies(body(LOCK, 1000 * NS, UNLOCK), *others)
    return [worker for _, worker in grants(locked(work, 1 + len(others), machine, **keys))[1:]]


@pytest.mark.parametrize("kind", ["ticket", "mcs", "mutex", "clh", "barging"])
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


# ---- how long it takes ---------------------------------------------------------------------------------------------

STORM = {  # handoffs with three waiters on the socket of the releaser, 20 ns away; the costs are in nanoseconds
    "tas": 20 + 40 // 2 + 2 * (20 * 20 // 40),
    "ttas": 20,
    "ticket": 20 + (20 + 20) // 2,
    "mcs": 20,
    "mutex": 20 + 900 + 2500,
    "cohort": 20,
    "clh": 20,
    "barging": 20 + 900 + 2500,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_time_of_a_handoff_to_one_of_three(kind: str) -> None:
    spin = {"spin_ns": 500} if kind in ("mutex", "barging") else {}
    work = bodies(body(LOCK, 1000 * NS, UNLOCK), *[body(LOCK, UNLOCK) for _ in range(3)])
    seen = locked(work, 4, toy(), {"pause_ns": 40, "futex_ns": 900, "wake_ns": 2500}, kind=kind, **spin)
    assert handoffs_ps(seen)[0] == STORM[kind] * NS


@pytest.mark.parametrize("kind", ["mcs", "clh", "ttas"])
def test_a_lock_moves_from_the_releasing_core_to_the_next_holder(kind: str) -> None:
    """A line takes 30 ns from core 0 to core 1, and 70 ns back."""
    seen = locked(contention(2, 3), 2, lopsided([[5, 30], [70, 6]]), kind=kind)
    assert [worker for _, worker in grants(seen)] == [0, 1, 0, 1, 0, 1]
    assert handoffs_ps(seen) == [30 * NS, 70 * NS, 30 * NS, 70 * NS, 30 * NS]


def test_the_waiter_to_which_the_line_is_fastest_wins_a_race() -> None:
    """The line goes from core 0 to worker 2 faster than to worker 1, but from worker 1 to core 0 faster than from 2."""
    machine = lopsided([[5, 40, 30], [20, 5, 50], [60, 50, 5]])
    seen = locked(contention(3, 1), 3, machine, kind="ttas")
    assert [worker for _, worker in grants(seen)] == [0, 2, 1]
    assert handoffs_ps(seen) == [30 * NS, 50 * NS]


def lopsided(times: list[list[int]]) -> Machine:
    """Return a machine of one socket with a core for each row of the matrix ``times`` of cache lines."""
    levels = dict.fromkeys(("same_core_ns", "same_socket_ns", "cross_socket_ns"))
    return toy_with({"sockets": 1, "cores": len(times)}, coherence={**levels, "cores_ns": times})


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("kind", KINDS)
def test_engines_agree_on_a_lopsided_machine(kind: str, barrier: str) -> None:
    times = [[5 if a == b else 10 + (17 * a + 5 * b) % 60 for b in range(6)] for a in range(6)]
    section = [LOCK, CRITICAL_PS, UNLOCK, Use(Op.BARRIER, 1)]
    words = (*DOOR, SyncObject("gate", Role.BARRIER, parties=6))
    work = bodies(*[body(*section * 3) for _ in range(6)], words=words)
    seen = locked(work, 6, lopsided(times), kind=kind, barrier=barrier)
    assert len(grants(seen)) == 18


@pytest.mark.parametrize(("kind", "lines"), [("mcs", 1), ("clh", 2)])
def test_who_finds_a_clh_lock_free_fetches_its_tail_and_then_the_last_place(kind: str, lines: int) -> None:
    """Memory is 100 ns away. A line takes 5 ns from the own core, 20 from a core of the socket, 40 from the other
    socket.
    """
    starts = [0, 1000, 2000, 3000, 4000]  # ns; worker 0 locks twice, then workers 1, 2 (on the other node) and 3 lock
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


def test_a_mutex_that_spins_longer_than_it_waits_is_not_parked() -> None:
    work = bodies(body(LOCK, 300 * NS, UNLOCK), body(200 * NS, LOCK, UNLOCK))
    for spin_ns, handoff_ns in ((200, 20), (199, 20 + 900 + 2500)):  # worker 1 has waited for 100 + 300 - 200 ns
        seen = locked(work, 2, toy(), {"futex_ns": 900, "wake_ns": 2500}, kind="mutex", spin_ns=spin_ns)
        assert handoffs_ps(seen) == [handoff_ns * NS]


@pytest.mark.parametrize(("owner", "home_node"), [(0, 0), (2, 1)])
def test_a_parked_waiter_is_as_far_away_as_the_lock_lives(owner: int, home_node: int) -> None:
    """Workers 1 and 2, on nodes 0 and 1, park while worker 0 has the lock. The wake-up takes the time from the lock's
    home node to the parked worker, whichever worker releases the lock.
    """
    words = (SyncObject("door", Role.LOCK, owner=owner),)
    waiters = [body(start * NS, LOCK, UNLOCK) for start in (300, 400)]
    work = bodies(body(LOCK, 1000 * NS, UNLOCK), *waiters, words=words)
    costs = {"futex_ns": 900, "wake_ns": 2500, "wake_remote_ns": 4000}
    seen = locked(work, 3, toy(sockets=2, cores=2), costs, kind="mutex", spin_ns=0, home="owner")
    near, far = 20 + 900, 40 + 900  # from core to core, on one socket and between them
    wake, other_wake = (2500, 4000) if home_node == 0 else (4000, 2500)
    assert [worker for _, worker in grants(seen)] == [0, 1, 2]
    assert handoffs_ps(seen) == [(near + wake) * NS, (far + other_wake) * NS]


# ---- locks that any actor may take while a sleeper wakes up --------------------------------------------------------

WAKE_UP = {"futex_ns": 900, "wake_ns": 2500}  # a woken waiter tries 3400 ns after the release
HELD_1000 = [LOCK, 1000 * NS, UNLOCK]  # worker 0 has the lock from 100 to 1100 ns


def barging(*bodies_ns: list[object], spin_ns: int = 0) -> list[tuple[int, int]]:
    """Return (ns, worker) of every grant of a barging lock: 5 ns from the own core, 20 ns from another one."""
    work = bodies(*[body(*steps) for steps in bodies_ns])
    seen = locked(work, len(bodies_ns), toy(), WAKE_UP, kind="barging", spin_ns=spin_ns)
    return [(at // NS, worker) for at, worker in grants(seen)]


SHORT: list[object] = [LOCK, 10 * NS, UNLOCK]


def test_who_comes_while_a_sleeper_wakes_up_takes_the_lock() -> None:
    """Worker 0 takes the lock again, and releases the lock again before worker 1 is awake at 4500 ns."""
    again = [*HELD_1000, 50 * NS, LOCK, 100 * NS, UNLOCK]
    assert barging(again, SHORT) == [(100, 0), (1155, 0), (1100 + 3400 + 20, 1)]


def test_a_woken_waiter_that_finds_the_lock_taken_sleeps_again() -> None:
    """Worker 0 has the lock again from 1155 to 6155 ns. Worker 1 tries in vain at 4500 ns."""
    again = [*HELD_1000, 50 * NS, LOCK, 5000 * NS, UNLOCK]
    assert barging(again, SHORT) == [(100, 0), (1155, 0), (6155 + 3400 + 20, 1)]


def test_a_waiter_that_sleeps_again_waits_behind_all_others() -> None:
    """Worker 1 tries in vain at 4500 ns, so that worker 2 is woken next. One wake-up is under way at a time."""
    again = [*HELD_1000, 50 * NS, LOCK, 5000 * NS, UNLOCK]
    late = [200 * NS, *SHORT]
    assert barging(again, SHORT, late) == [(100, 0), (1155, 0), (9575, 2), (9585 + 3400 + 20, 1)]


def test_a_waiter_that_spins_takes_the_lock_and_a_sleeper_is_woken_all_the_same() -> None:
    """At the first release worker 1 sleeps, and worker 2 has waited for 200 ns."""
    assert barging(HELD_1000, SHORT, [900 * NS, *SHORT], spin_ns=500) == [(100, 0), (1120, 2), (1100 + 3400 + 20, 1)]


@pytest.mark.parametrize(
    ("asks", "then"),
    [(4500, [(4520, 2), (4530 + 3400 + 20, 1)]), (4501, [(4520, 1), (4530 + 3400 + 20, 2)])],
    ids=["takes", "waits"],
)
def test_who_asks_at_the_instant_of_the_try_comes_first(asks: int, then: list[tuple[int, int]]) -> None:
    assert barging(HELD_1000, SHORT, [asks * NS, *SHORT]) == [(100, 0), *then]


def test_a_release_hands_the_lock_over_to_an_actor_that_has_waited_for_a_millisecond() -> None:
    """Worker 0 has the lock for 1000 of each 1015 ns, and releases it at 1100 + 1015 k ns. Worker 1, which waits from 0
    on, is woken at every fourth release and finds the lock taken. Release 985, at 1,000,875 ns, is the first one after
    1 ms. The wake-up of release 984 is then under way.
    """
    got = barging([LOCK, 1000 * NS, UNLOCK, 10 * NS] * 1200, SHORT)
    assert [at for at, worker in got if worker == 1] == [1100 + 984 * 1015 + 3400 + 20]


def test_a_waiter_is_overtaken_many_times_but_waits_once() -> None:
    """Workers 0 and 1 compete for 50 sections each; all waits end, and counters agree with the log."""
    sections = [LOCK, 700 * NS, UNLOCK, 10 * NS] * 50
    work = bodies(body(*sections), body(*sections), body(*sections))
    seen = locked(work, 3, toy(), WAKE_UP, kind="barging", spin_ns=0)
    assert seen["lock_acquisitions"] == 150
    assert seen["lock_wait_ps"] == seen["overhead_ps"]
    fair = locked(work, 3, toy(), WAKE_UP, kind="mutex", spin_ns=0)
    assert seen["makespan_ps"] < 0.4 * fair["makespan_ps"]


def test_a_list_of_the_whole_machine_under_locks_whose_waiters_sleep() -> None:
    """Eight workers take tasks of 1 us from one list. A mutex is handed over to a sleeper at each task: a wake-up of
    3400 ns, a probe of 100 ns and the line, 20 ns, pass for each task. A barging lock passes while sleepers wake up.
    """
    took = {}
    for kind in ("mutex", "barging"):
        strategy = shipped_strategy("worklist")
        strategy = strategy.model_copy(update={"locks": LockSpec(kind=kind, spin_ns=0, probe="lock-first")})
        seen = run(items(400, 1000 * NS), 8, strategy, runtime(costs={**WAKE_UP, **PROBE}, poll_ns=300), toy(cores=8))
        took[kind] = seen["makespan_ps"] / 400 / NS
    assert took["mutex"] == pytest.approx(3400 + 100 + 20, rel=0.05)
    assert took["barging"] < 700


def throughput(kind: str, workers: int) -> float:
    """Return the acquisitions per microsecond while ``workers`` contend on one socket."""
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


def test_a_lock_that_is_held_over_a_join_may_deadlock() -> None:
    work = graph(task(LOCK, task(LOCK, UNLOCK), WAIT, UNLOCK), words=DOOR)
    with pytest.raises(DeadlockError, match="no lock held over a join"):
        simulated(plan_of(work, 2, how="bare"))


# ---- locks that are held during a search ----------------------------------------------------------------------------

LEAVES = graph(task(*[task(1000 * NS) for _ in range(3)], 5000 * NS, WAIT))
PROBE = {"probe_ns": 100, "probe_remote_ns": 100}


def stolen(*levels: dict[str, Any], costs: dict[str, Any] | None = None, **keys: Any) -> Seen:
    """Run three thieves that rob worker 0 of three tasks, all on one node; a line takes 20 ns, memory 100 ns."""
    strategy = stealing(*levels, mapping="contiguous", **{"locks": {"kind": "mcs"}, **keys})
    return run(LEAVES, 4, strategy, runtime(costs={**PROBE, **(costs or {})}, poll_ns=9000), toy())


FROM_FIRST = {"from": "others", "pick": "in-order"}


def test_thieves_of_one_domain_search_one_after_the_other() -> None:
    seen = stolen({**FROM_FIRST, "lock": "node"})
    assert seen.steals == ((200 * NS, 1, 0, 1), (320 * NS, 2, 0, 1), (440 * NS, 3, 0, 1))  # 100 from memory, then 20
    assert seen.result.sync_objects["object"].tolist() == ["node 0"]
    assert sorted(seen.result.held.tolist(), key=lambda held: held[2])[:3] == [
        [0, 1, 100 * NS, 200 * NS],
        [0, 2, 220 * NS, 320 * NS],
        [0, 3, 340 * NS, 440 * NS],
    ]
    assert seen.of_worker("idle_steal_ps")[1:] == [200 * NS] * 3  # two probes each; waits for locks count as overhead
    assert seen.of_worker("overhead_ps")[1:] == [(100 + 20) * NS, (220 + 20) * NS, (340 + 20) * NS]


def test_what_a_steal_costs_is_paid_before_the_lock_is_let_go() -> None:
    seen = stolen({**FROM_FIRST, "lock": "node"}, costs={"take_ns": 30})
    assert seen.steals == ((200 * NS, 1, 0, 1), (350 * NS, 2, 0, 1), (500 * NS, 3, 0, 1))


LOCKED: dict[str, Any] = {"deque": {"per": "worker", "lock": "yes"}}
LOCK_FIRST = {"kind": "mcs", "probe": "lock-first"}


def test_a_lock_for_each_queue_that_is_taken_before_a_probe_looks() -> None:
    seen = stolen(FROM_FIRST, queues=LOCKED, locks=LOCK_FIRST)
    assert [t for t, *_ in seen.steals] == [200 * NS, 320 * NS, 440 * NS]
    assert seen.result.sync_objects["object"].tolist() == [f"deque of worker {worker}" for worker in range(4)]
    assert seen.result.sync_objects["acquisitions"].tolist()[0] >= 3


def test_a_probe_looks_before_it_locks_and_one_that_finds_the_lock_taken_fails() -> None:
    """All workers look at 100 ns. Worker 1 gets the lock from memory at 200 ns, later from its own core in 5 ns.
    Workers 2 and 3 back off until 9,100 ns.
    """
    seen = stolen(FROM_FIRST, queues=LOCKED)
    assert seen.steals == ((200 * NS, 1, 0, 1), (1305 * NS, 1, 0, 1), (2410 * NS, 1, 0, 1))
    assert seen.of_worker("steal_attempts")[2:] == [1, 1]
    assert seen.result.sync_objects["acquisitions"].tolist() == [3, 0, 0, 0]
    assert seen.of_worker("overhead_ps")[1] == (100 + 5 + 5) * NS  # of waiting for the line; looking is no overhead
    assert seen.of_worker("overhead_ps")[2:] == [0, 0]


def test_a_probe_looks_again_when_it_has_the_lock() -> None:
    """The thief sees the child at 100 ns and has the lock at 200 ns; the owner has begun the child at 150 ns."""
    strategy = stealing(FROM_FIRST, queues=LOCKED, locks={"kind": "mcs"})
    seen = run(graph(task(task(1000 * NS), 150 * NS, WAIT)), 2, strategy, runtime(costs=PROBE, poll_ns=9000), toy())
    assert seen.stretches == ((0, 0, 0, 150 * NS), (0, 1, 150 * NS, 1150 * NS))
    assert seen.of_worker("steal_attempts") == [0, 1]
    assert (seen["steal_success"], seen["lock_acquisitions"]) == (0, 1)
    assert seen.result.held.tolist() == [[0, 1, 200 * NS, 200 * NS]]


@pytest.mark.parametrize("workers", [4, 8])
def test_polling_an_empty_queue_takes_no_lock_and_costs_what_it_costs_without(workers: int) -> None:
    def polled(lock: str) -> Seen:
        pool = {"pool": {"per": "machine", "own": "fifo", "lock": lock}}
        strategy = stealing({"from": "own", "queue": "pool"}, queues=pool, dispatch=[{"to": "own", "queue": "pool"}])
        return run(graph(body(50_000 * NS)), workers, strategy, runtime(costs=PROBE), toy(1, 8))

    locked, unlocked = polled("yes"), polled("no")
    assert locked["lock_acquisitions"] == 0
    assert found(locked.result)["workers"] == found(unlocked.result)["workers"]


@pytest.mark.parametrize("lock", ["yes", "no"])
def test_tasks_put_into_the_queue_of_another_pass_its_lock(lock: str) -> None:
    strategy = stealing(
        {"from": "own", "queue": "pool"},
        queues={"pool": {"per": "machine", "lock": lock, "own": "fifo"}},
        dispatch=[{"to": "any"}],
        locks={"kind": "mcs"},
    )
    seen = run(graph(body(*[task(50 * NS) for _ in range(4)], WAIT)), 1, strategy, runtime(costs=PROBE), toy())
    puts = [t for t, *_ in seen.of_rank(4)]  # Rank.PUT
    assert puts == ([100 * NS, 105 * NS, 110 * NS, 115 * NS] if lock == "yes" else [0] * 4)


def test_a_producer_passes_the_locks_of_queues_too() -> None:
    work = items(40, 300 * NS, deal=Deal.MASTER)
    how = runtime(producer="extra", costs={"push_ns": 10, **PROBE}, capacity=5, on_full="next", poll_ns=500)
    seen = run(work, 2, stealing(queues=LOCKED, dispatch=[{"to": "any", "pick": "round-robin"}]), how, toy())
    assert seen["tasks"] == 40
    assert seen["lock_acquisitions"] >= 40
    assert seen.of_worker("overhead_ps")[2] > 40 * 10 * NS  # the producer waits for lines


def test_which_lock_a_level_takes() -> None:
    """`lock: node` is the lock of the probed queue's node: first the own node's, then that of each remote node."""
    plan = plan_of(LEAVES, 4, "affinity-locks", machine=toy(sockets=2, cores=2))
    node = plan.workers.node[plan.steal.queues["owner"]].tolist()
    for level in plan.words.level_lock.tolist():
        assert [plan.words.names[lock] for lock in level] == [f"node {n}" for n in node]
    assert plan.words.home.tolist() == [0, 1]
    master = plan_of(LEAVES, 4, "oblivious-locks", machine=toy(sockets=2, cores=2))
    assert master.words.home.tolist() == [0, 0]


def test_one_lock_for_all_remote_searches() -> None:
    """With `lock: machine` on the remote steal level, one lock serves all searches on other nodes (model 4.6)."""
    strategy = stealing({"from": "own-node", "lock": "node"}, {"from": "other-nodes", "by": "node", "lock": "machine"})
    plan = plan_of(LEAVES, 4, strategy, machine=toy(sockets=2, cores=2))
    names = [{plan.words.names[lock] for lock in level} for level in plan.words.level_lock.tolist()]
    assert names == [{"node 0", "node 1"}, {"machine 0"}]


def test_levels_without_a_lock_have_none() -> None:
    strategy = stealing({"from": "own-node"}, {"from": "other-nodes", "lock": "worker"})
    plan = plan_of(LEAVES, 2, strategy)
    assert plan.words.level_lock.tolist() == [[-1, -1], [0, 1]]
    assert place_words(shipped_strategy("randomized"), plan.steal, plan.machine, plan.workers).search is False


# ---- barriers of every kind and conditions --------------------------------------------------------------------------

MEET = Use(Op.BARRIER)


def meeting(*arrivals_ns: int, rounds: int = 1) -> Workload:
    """Return a body for each worker. A worker arrives at its own time, and at later barriers without delay."""
    bodies = [body(arrival * NS, *[MEET] * rounds) for arrival in arrivals_ns]
    words = (SyncObject("gate", Role.BARRIER, parties=len(bodies)),)
    return graph(*bodies, deal=Deal.CYCLIC, words=words)


def met(work: Workload, kind: str, sockets: int = 2, **locks: Any) -> Seen:
    """Run four workers, two a socket; a line takes 20 ns within a socket, 40 ns between sockets, and from memory 100 ns
    on the own node or 200 ns on the other.
    """
    strategy = stealing(locks={"barrier": kind, **locks}, mapping="contiguous")
    return run(work, 4, strategy, runtime(poll_ns=50), toy(sockets=sockets, cores=4 // sockets))


# Workers 0 and 1 are on one socket, 2 and 3 on the other; all arrive at 1000 ns, and words are on the node of worker 0,
# the master. Each entry has the time when the barrier opens and the times when workers 0 to 3 leave, in ns.
FIRST = {
    # the line goes from memory to 0 (100 ns), to 1 (20), 2 (40), 3 (20), which opens at 1180; to 0 (40), 1 (40), 2 (20)
    "central": (1180, [1220, 1260, 1280, 1180]),
    # flags are written at 1100, 1200, 1200; the master reads at 1120, 1240, 1280, and opens a word from memory
    "flag": (1380, [1380, 1400, 1440, 1480]),
    # workers 3 and 2 write at 1200; 1 reads 3's flag at 1240, writes at 1340; 0 reads 2's flag at 1240, 1's at 1360
    "tree": (1360, [1360, 1380, 1420, 1420]),
    # the line of node 0 takes 100 and 20 ns, that of node 1 200 and 20; worker 1 is at the barrier's word from 1120 to
    # 1220 ns, worker 3 from 1260 ns on
    "per-domain": (1260, [1320, 1300, 1280, 1260]),
}


@pytest.mark.parametrize("kind", BARRIERS)
def test_the_first_meeting(kind: str) -> None:
    seen = met(meeting(1000, 1000, 1000, 1000), kind)
    opens, leaves = FIRST[kind]
    assert seen.of_rank(Rank.RELEASE)[0] == (opens * NS, 1, 0, 0)
    left_ps = {actor: t for t, actor, _, _ in seen.of_rank(Rank.WAKE)}
    assert [left_ps[worker] for worker in range(4)] == [leave * NS for leave in leaves]
    assert seen["idle_barrier_ps"] == sum(leave - 1000 for leave in leaves) * NS


@pytest.mark.parametrize("kind", BARRIERS)
def test_nobody_leaves_before_the_last_has_come(kind: str) -> None:
    seen = met(meeting(10, 7000, 20, 30, rounds=3), kind)
    opened = [t for t, actor, _, _ in seen.of_rank(Rank.RELEASE) if actor]
    woken = sorted(t for t, _, _, _ in seen.of_rank(Rank.WAKE))
    assert len(opened) == 3
    assert len(woken) == 12
    for episode, opens in enumerate(opened):
        assert opens >= 7000 * NS
        assert all(opens <= t for t in woken[4 * episode : 4 * episode + 4])
        assert all(t <= opens for t in woken[: 4 * episode])


def test_more_parties_than_workers_are_a_deadlock() -> None:
    with pytest.raises(DeadlockError, match="a worker for each party of a barrier"):
        simulated(plan_of(meeting(0, 0, 0), 2, how="bare"))


# ---- conditions ----------------------------------------------------------------------------------------------------

COSTS = {"signal_ns": 80, "wake_ns": 2500, "wake_remote_ns": 4000}


def waiting(*arrivals_ns: int, owner: int = 0, home: str = "master") -> Seen:
    """Run worker 0, which signals at 1000 ns, and waiters from their arrivals on; ``owner`` owns the condition."""
    others = [body(arrival * NS, Use(Op.AWAIT)) for arrival in arrivals_ns]
    words = (SyncObject("go", Role.CONDITION, owner=owner, parties=len(others)),)
    work = bodies(body(1000 * NS, Use(Op.BROADCAST)), *others, words=words)
    strategy = stealing(mapping="contiguous", locks={"home": home})
    return run(work, 1 + len(others), strategy, runtime(costs=COSTS, poll_ns=50), toy(sockets=2, cores=2))


@pytest.mark.parametrize(("owner", "home", "home_node"), [(0, "owner", 0), (3, "owner", 1), (3, "master", 0)])
def test_a_sleeper_is_as_far_away_as_its_condition(owner: int, home: str, home_node: int) -> None:
    """Thesis section 6.3.1: the home of the condition decides, not the signaller; the signaller pays for the line."""
    seen = waiting(300, 100, 200, owner=owner, home=home)
    woken = {worker: t / NS for t, worker, _, _ in seen.of_rank(Rank.WAKE)}
    signalled = {2: 1000 + 80 + 40, 3: 1000 + 2 * 120, 1: 1000 + 2 * 120 + 80 + 20}  # woken worker: ns
    assert woken == {w: t + (2500 if w // 2 == home_node else 4000) for w, t in signalled.items()}
    arrivals = ((1, 300), (2, 100), (3, 200))
    assert seen.of_worker("parked_ps")[1:] == [int((woken[worker] - arrival) * NS) for worker, arrival in arrivals]
    assert seen.of_worker("overhead_ps")[0] == (2 * 120 + 100) * NS


def test_one_that_comes_later_need_not_wait() -> None:
    seen = waiting(2000, 100)
    assert [worker for _, worker, _, _ in seen.of_rank(Rank.WAKE)] == [2]
    assert seen.of_worker("parked_ps")[1] == 0
    assert seen.of_worker("overhead_ps")[1] == 20 * NS  # the line, from the signaller


def test_one_signal_lets_one_pass() -> None:
    work = bodies(body(Use(Op.SIGNAL)), *[body(Use(Op.AWAIT))] * 2, words=(SyncObject("go", Role.CONDITION),))
    with pytest.raises(DeadlockError, match="1 tasks are left"):
        simulated(plan_of(work, 3, how="bare"))


@pytest.mark.parametrize("parties", [1, 2])
@pytest.mark.parametrize("kind", BARRIERS)
def test_workers_come_to_a_barrier_that_is_about_to_open_for_others(kind: str, parties: int) -> None:
    """More workers use the barrier than the barrier has parties: later workers meet while the first ones are still
    leaving.
    """
    bodies = [body(start * NS, MEET, 50 * NS, MEET, 5 * NS, MEET, 7 * NS) for start in (0, 0, 1, 30)]
    words = (SyncObject("gate", Role.BARRIER, parties=parties),)
    work = graph(*bodies, deal=Deal.CYCLIC, words=words)
    strategy = stealing(locks={"barrier": kind}, mapping="contiguous")
    plan = plan_of(work, 4, strategy, "bare", toy(sockets=2, cores=2), skip=False)
    assert sum(actor == 1 for _, actor, _, _ in observe(plan).of_rank(Rank.RELEASE)) == 12 // parties
