"""Locks that are held during a search, and locks of queues, worked out by hand (thesis Algorithm 5; model 4.1, 4.6)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_setup import NS, Seen, found, plan_of, run, runtime, shipped_strategy, stealing, toy
from task_graphs import WAIT, body, graph, items, task

from numasim.strategy.sync_places import place_words
from numasim.workload.graph import Deal

LEAVES = graph(task(*[task(1000 * NS) for _ in range(3)], 5000 * NS, WAIT))
PROBE = {"probe_ns": 100, "probe_remote_ns": 100}


def stolen(*levels: dict[str, Any], costs: dict[str, Any] | None = None, **keys: Any) -> Seen:
    """Three thieves of one node rob worker 0, which holds three tasks from 0 on; lines take 20 ns, memory 100."""
    strategy = stealing(*levels, mapping="contiguous", **{"locks": {"kind": "mcs"}, **keys})
    return run(LEAVES, 4, strategy, runtime(costs={**PROBE, **(costs or {})}, poll_ns=9000), toy())


FROM_FIRST = {"from": "others", "pick": "in-order"}


def test_without_locks_the_thieves_probe_at_once() -> None:
    assert [t for t, *_ in stolen(FROM_FIRST).steals] == [100 * NS] * 3


def test_thieves_of_one_domain_search_one_after_the_other() -> None:
    seen = stolen({**FROM_FIRST, "lock": "node"})
    assert seen.steals == ((200 * NS, 1, 0, 1), (320 * NS, 2, 0, 1), (440 * NS, 3, 0, 1))  # 100 from memory, then 20
    assert seen.result.sync_objects["object"].tolist() == ["node 0"]
    assert sorted(seen.result.held.tolist(), key=lambda held: held[2])[:3] == [
        [0, 1, 100 * NS, 200 * NS],
        [0, 2, 220 * NS, 320 * NS],
        [0, 3, 340 * NS, 440 * NS],
    ]
    assert seen.of_worker("idle_steal_ps")[1:] == [200 * NS] * 3  # two probes each; the wait for the lock is overhead
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


def test_both_locks_are_taken_one_after_the_other() -> None:
    seen = stolen({**FROM_FIRST, "lock": "node"}, queues=LOCKED, locks=LOCK_FIRST)
    assert seen.steals[0] == (300 * NS, 1, 0, 1)  # two first accesses and a probe
    assert seen.steals[1] == ((300 + 20 + 20 + 100) * NS, 2, 0, 1)


def test_a_probe_looks_before_it_locks_and_one_that_finds_the_lock_taken_fails() -> None:
    """All look at 100 ns. Worker 1 gets the lock from memory at 200; later from its own core, in 5 ns. The others back
    off until 9,100 ns.
    """
    seen = stolen(FROM_FIRST, queues=LOCKED)
    assert seen.steals == ((200 * NS, 1, 0, 1), (1305 * NS, 1, 0, 1), (2410 * NS, 1, 0, 1))
    assert seen.of_worker("steal_attempts")[2:] == [1, 1]
    assert seen.result.sync_objects["acquisitions"].tolist() == [3, 0, 0, 0]
    assert seen.of_worker("overhead_ps")[1] == (100 + 5 + 5) * NS  # of waiting for the line; looking is no overhead
    assert seen.of_worker("overhead_ps")[2:] == [0, 0]


def test_a_probe_looks_again_when_it_has_the_lock() -> None:
    """The thief sees the child at 100 ns and has the lock at 200; its owner has begun it at 150."""
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
    locked = stealing(
        queues={"deque": {"per": "worker", "lock": "yes"}}, dispatch=[{"to": "any", "pick": "round-robin"}]
    )
    seen = run(work, 2, locked, how, toy())
    assert seen["tasks"] == 40
    assert seen["lock_acquisitions"] >= 40
    assert seen.of_worker("overhead_ps")[2] > 40 * 10 * NS  # the producer waits for lines


def test_which_lock_a_level_takes() -> None:
    """`lock: node` is the lock of the node of the queue that is probed: of the own domain, then of domain i."""
    plan = plan_of(LEAVES, 4, "affinity-locks", machine=toy(sockets=2, cores=2))
    node = plan.workers.node[plan.steal.queues["owner"]].tolist()
    for level in plan.words.level_lock.tolist():
        assert [plan.words.names[lock] for lock in level] == [f"node {n}" for n in node]
    assert plan.words.home.tolist() == [0, 1]
    master = plan_of(LEAVES, 4, "oblivious-locks", machine=toy(sockets=2, cores=2))
    assert master.words.home.tolist() == [0, 0]


def test_one_lock_for_all_remote_searches() -> None:
    """`lock: machine` on the remote level is the other reading of the global lock G (model 4.6)."""
    strategy = stealing({"from": "own-node", "lock": "node"}, {"from": "other-nodes", "by": "node", "lock": "machine"})
    plan = plan_of(LEAVES, 4, strategy, machine=toy(sockets=2, cores=2))
    names = [{plan.words.names[lock] for lock in level} for level in plan.words.level_lock.tolist()]
    assert names == [{"node 0", "node 1"}, {"machine 0"}]


def test_levels_without_a_lock_have_none() -> None:
    strategy = stealing({"from": "own-node"}, {"from": "other-nodes", "lock": "worker"})
    plan = plan_of(LEAVES, 2, strategy)
    assert plan.words.level_lock.tolist() == [[-1, -1], [0, 1]]
    assert place_words(shipped_strategy("randomized"), plan.steal, plan.machine, plan.workers).search is False
