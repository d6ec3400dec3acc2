"""Idle workers that wait, sleep and are woken, by hand; random plans lose no wake-up (model 4.15).

A round is all probes (looks at one queue) between two waits. A phase of ``idle`` is a number of rounds with one kind of
wait. A taker of a queue is a worker that may take a task from it; a searcher is a worker that searches and is awake.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random
from typing import Any, get_args

import pytest
from engine_setup import (
    FIRST,
    NS,
    Seen,
    observe,
    plan_of,
    run,
    runtime,
    shipped_machine,
    shipped_strategy,
    stealing,
    toy,
)
from random_grammar import idle_document
from registry_cells import workload
from task_graphs import WAIT, Task, Use, graph, phase, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.reference.actors import Sleep, Worker
from numasim.engine.reference.resting import Resting
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.parts import catalog
from numasim.parts.models.idle_model import IdleSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.plan.effects import Effects
from numasim.schema.enumerations import JoinKind, Reach
from numasim.strategy.idle import compile_idle
from numasim.workload.graph import Op

ALL = stealing({"from": "others", "pick": "rotate", "tries": "all"})  # a round comes to every queue
UNPARK, WAKE = 1000, 5000  # ns
HOUR = 3600 * 10**9


def resting(costs: dict[str, Any] | None = None, **idle: Any) -> RuntimeSpec:
    """Return a runtime with rules for idle workers. A wake-up costs the waker UNPARK and takes WAKE; a probe 100 ns."""
    usual = {"probe_ns": 100, "probe_remote_ns": 100, "unpark_ns": UNPARK, "wake_ns": WAKE, "wake_remote_ns": WAKE}
    return runtime(costs={**usual, **(costs or {})}, idle={"sleep": {}, **idle})


def spawner(times: int, gap_ns: float, task_ns: float, tail_ns: float = 0) -> Task:
    """Return a task that spawns ``times`` tasks, one after each gap, and then computes on."""
    steps: list[Any] = []
    for _ in range(times):
        steps += [int(gap_ns * NS), task(int(task_ns * NS))]
    return task(*steps, int(tail_ns * NS))


def wakeups(seen: Seen) -> list[int]:
    return seen.of_worker("wakeups")


# ---- phases, and a core that a sleeper leaves to others ------------------------------------------------------


def test_a_worker_sleeps_after_the_sum_of_its_phases() -> None:
    # Each round is one probe of 100 ns. A wait of 50 ns follows each of 3 rounds; then for 1000 ns a wait of 200 ns
    # follows each round; the last look before the sleep takes 100 ns.
    phases = [{"rounds": 3, "pause_ns": 50}, {"for_ns": 1000, "yield_ns": 200}]
    seen = run(graph(task(100_000 * NS)), how=resting(phases=phases))
    # The second phase begins with the fourth fruitless round; its rounds end 300 ns apart, at 0, ..., 900 and 1200 ns.
    assert seen.of_worker("idle_backoff_ps")[1] == (3 * 50 + 4 * 200) * NS
    assert seen.of_worker("steal_attempts")[1] == 3 + 4 + 1
    awake_ns = 8 * 100 + 3 * 50 + 4 * 200 + 100
    assert seen.of_worker("asleep_ps")[1] == (100_000 - awake_ns) * NS


@pytest.mark.parametrize("spins", [True, False])
def test_a_lone_task_has_the_machine_for_itself(spins: bool) -> None:
    # 32 cores have two threads each. A worker that spins slows its sibling thread to half and lowers the clock.
    how = runtime(poll_ns=1000) if spins else resting(phases=[{"rounds": 2, "yield_ns": 500}])
    effects = Effects(smt="compute", clock="turbo")
    machine = shipped_machine("xeon-6130-2s")
    seen = observe(plan_of(graph(task(10_000_000 * NS)), 64, "randomized", how, machine, effects=effects))
    beside = 2 * (100 + 500) + 100  # two rounds with their waits, and the first probe of the last look
    if spins:
        assert seen["makespan_ps"] > 12_000_000 * NS
    else:
        # the task is slower only while the 63 other workers search, which includes a last look at 63 queues
        assert 10_000_000 * NS < seen["makespan_ps"] < (10_000_000 + beside + 63 * 400) * NS


@pytest.mark.parametrize("recheck", ["each", "last", "events"])
def test_a_worker_beyond_the_cap_keeps_no_task_to_itself(recheck: str) -> None:
    """One worker searches at most. `threshold-early` leaves tasks in a queue whose owner takes them in the end."""
    how = resting(phases=[{"rounds": 2, "yield_ns": 200}], searchers={"count": 1}, sleep={"recheck": recheck})
    seen = run(graph(task(*[task(1000 * NS)] * 9, WAIT, 10)), 4, "threshold-early", how, machine=toy(cores=4))
    assert seen["tasks"] == 10


def test_naps_give_the_core_back_and_last_their_time() -> None:
    phases = [{"rounds": 4, "nap_ns": 25_000}]
    seen = run(graph(task(60_000 * NS)), how=runtime(costs={"probe_ns": 100}, idle={"phases": phases}))
    # two whole naps, and the part of the third before the end
    assert seen.of_worker("asleep_ps")[1] == (60_000 - 3 * 100) * NS
    assert seen.of_worker("steal_attempts")[1] == 3


def test_waits_grow_with_the_number_of_searchers() -> None:
    # with 15 searchers each wait is 15 div 3 = 5 times as long as the wait of a single searcher
    for workers, factor in ((2, 1), (16, 5)):
        phases = [{"rounds": 1, "pause_ns": 1000, "crowded": "yes"}]
        how, machine = runtime(costs={"probe_ns": 100}, idle={"phases": phases}), toy(cores=16)
        seen = run(graph(task(900 * NS)), workers, FIRST, how, machine)
        waits = seen.of_worker("idle_backoff_ps")[1:]
        assert waits == [(900 - 100) * NS] * (workers - 1)  # the end of the run cuts the wait short
        longer = run(graph(task(100_000 * NS)), workers, FIRST, how, machine)
        assert longer.of_worker("steal_attempts")[1] == -(-100_000 // (100 + factor * 1000))


# ---- a sleep that ends by itself --------------------------------------------------------------------------------


def test_timed_sleeps_double_up_to_their_bound() -> None:
    sleep = {"recheck": "none", "first_ns": 1000, "factor": 2, "max_ns": 4000}
    seen = run(graph(task(20_000 * NS)), how=resting(sleep=sleep))
    # looks at 100, 1200, 3300, 7400, 11500, 15600, 19700 ns
    assert seen.of_worker("steal_attempts")[1] == 7
    assert wakeups(seen) == [0, 0]


@pytest.mark.parametrize(("first_ns", "looks_ns"), [(1000, 100 + 1000), (10_000, 150 + UNPARK + WAKE)])
def test_a_timed_sleep_ends_by_itself_or_by_a_wake_up(first_ns: int, looks_ns: int) -> None:
    # The worker sleeps from 100 ns on. The worker looks when its sleep of `first_ns` ends or when the wake-up by the
    # push at 150 ns takes effect, whichever is earlier.
    sleep = {"recheck": "none", "first_ns": first_ns}
    work = graph(task(150 * NS, task(10 * NS), 100_000 * NS))
    seen = run(work, how=resting(sleep=sleep, wake={"at": "empty-queue", "chain": 1, "chain_by": "finder"}))
    assert seen.steals[0][0] == (looks_ns + 100) * NS
    assert wakeups(seen) == [0, 1]


# ---- the cap of searchers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cap", "workers", "searchers"),
    [({"share": 2}, 9, 5), ({"share": 2}, 8, 4), ({"count": 3}, 8, 3), ({"busy_share": 2}, 8, 3)],
)
def test_only_some_workers_search(cap: dict[str, int], workers: int, searchers: int) -> None:
    # A worker beyond the cap sleeps without a probe. Workers become idle one by one at the start. With busy_share 2 the
    # fourth may not search: 3 of 8 workers search already, 4 are not idle, and 2 * 3 is not below 4.
    how = resting(searchers=cap, sleep={"recheck": "last"})
    seen = run(graph(task(50_000 * NS)), workers, ALL, how, machine=toy(cores=9))
    assert sum(attempts > 0 for attempts in seen.of_worker("steal_attempts")) == searchers


# ---- whom a push wakes ----------------------------------------------------------------------------------------------


def test_the_newest_sleeper_is_woken_each_time() -> None:
    how = resting(wake={"at": "every-push", "chain": 0})
    seen = run(graph(spawner(5, 50_000, 1000, 50_000)), 6, ALL, how, toy(cores=6))
    assert sorted(wakeups(seen)) == [0, 0, 0, 0, 0, 5]


@pytest.mark.parametrize("look_ns", [0, 30])
def test_a_scan_for_the_lowest_sleeper_costs_a_look_for_each_place(look_ns: int) -> None:
    # Worker 1 sleeps: the waker looks at workers 0 and 1, and each look takes `look_ns`.
    how = resting(wake={"whom": "lowest", "at": "every-push", "chain": 0}, costs={"look_ns": look_ns})
    seen = run(graph(spawner(1, 50_000, 1000, 50_000)), 6, ALL, how, machine=toy(cores=6))
    assert wakeups(seen) == [0, 1, 0, 0, 0, 0]
    assert seen["makespan_ps"] == (100_000 + UNPARK + 2 * look_ns) * NS


def test_all_sleepers_are_woken_one_after_the_other() -> None:
    seen = run(graph(spawner(1, 50_000, 1000, 50_000)), 6, ALL, resting(wake={"whom": "all"}), machine=toy(cores=6))
    assert wakeups(seen) == [0, 1, 1, 1, 1, 1]
    assert seen["makespan_ps"] == (100_000 + 5 * UNPARK) * NS
    # The k-th sleeper to be woken looks at 50,000 ns + k * UNPARK + WAKE.
    asleep = seen.of_worker("asleep_ps")[1:]
    assert len(set(asleep)) > 1


# ---- at which push a sleeper is woken -------------------------------------------------------------------------------


@pytest.mark.parametrize("missed", [False, True])
def test_a_probe_that_fails_at_a_lock_wakes_a_sleeper(missed: bool) -> None:
    """Workers 1 and 2 look into queue 0 every 200 ns, worker 3 sleeps. Worker 0 puts three tasks there at 50,050 ns.

    At 50,100 ns worker 1 gets the lock of the queue, and holds the lock for 2000 ns; the probe of worker 2 fails.
    Worker 3 looks UNPARK + WAKE later, and takes the third task 100 ns after that. Without the rule nobody wakes it.
    """
    wake = {"chain": 0, "missed": missed}
    phases = [{"rounds": 10_000, "pause_ns": 100}]
    how = resting({"take_ns": 2000}, phases=phases, searchers={"count": 2}, sleep={"misses": "yes"}, wake=wake)
    locked = stealing({"from": "others", "pick": "in-order"}, queues={"deque": {"per": "worker", "lock": "yes"}})
    seen = run(graph(task(50_050 * NS, *[task(20_000 * NS)] * 3, 100_000 * NS)), 4, locked, how)
    assert wakeups(seen) == [0, 0, 0, int(missed)]
    times = {worker: time for time, worker, *_ in reversed(seen.steals)}
    assert (3 in times) == missed
    if missed:
        assert 0 <= times[3] - (50_100 + UNPARK + WAKE + 100) * NS < 100 * NS  # the lock's line comes to worker 3


@pytest.mark.parametrize(("condition", "victims"), [({}, 5), ({"if": "awake"}, 2)])
def test_a_pass_over_the_awake_probes_all_but_the_sleepers(condition: dict[str, str], victims: int) -> None:
    """Workers 1 and 2 make five rounds each; workers 3, 4 and 5 sleep from the start, and worker 0 is at work."""
    level = {"from": "others", "pick": "in-order", "tries": "all", **condition}
    how = resting(phases=[{"rounds": 4, "pause_ns": 100}], searchers={"count": 2})
    seen = run(graph(task(50_000 * NS)), 6, stealing(level), how, toy(cores=6))
    assert seen.of_worker("steal_attempts") == [0, 5 * victims, 5 * victims, 0, 0, 0]


def test_a_task_for_a_sleeping_worker_wakes_that_worker() -> None:
    """Worker 0 deals tasks to queues 1, 2, 3 and 0. Each sleeper takes the task from its own queue once it is awake.

    Worker 1 takes task 4 from queue 0 after its own task of 20,000 ns and one probe.
    """
    level = {"from": "others", "pick": "in-order", "tries": "all", "if": "awake"}
    dealing = stealing(level, dispatch=[{"to": "any", "pick": "round-robin"}])
    seen = run(graph(task(50_000 * NS, *[task(20_000 * NS)] * 4, 100_000 * NS)), 4, dealing, resting())
    assert wakeups(seen) == [0, 1, 1, 1]
    begun = {number: (worker, start) for worker, number, start, _ in seen.stretches_ns if number}
    woken = {sleeper: (sleeper, 50_000 + sleeper * UNPARK + WAKE) for sleeper in (1, 2, 3)}
    assert begun == {**woken, 4: (1, woken[1][1] + 20_000 + 100)}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"queues": {"pool": {"per": "node"}}}, "pool is shared"),
        ({"dispatch": [{"to": "own", "if": "awake"}, {"to": "any"}]}, "steal levels alone"),
    ],
)
def test_awake_needs_queues_of_the_workers(keys: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, ValueError), match=said):
        run(graph(task(1)), 2, stealing({"from": "others", "if": "awake"}, **keys), runtime(idle={"sleep": {}}))


def test_a_run_that_cannot_go_on_ends_although_sleeps_end_by_themselves() -> None:
    # The only task is in a queue from which a worker takes only if there are two tasks.
    queues = {"deque": {"per": "worker"}, "pool": {"per": "machine"}}
    level = {"from": "own", "queue": "pool", "if": {"length": 2}}
    stuck = stealing(level, queues=queues, dispatch=[{"to": "any", "queue": "pool"}])
    with pytest.raises(DeadlockError, match="1 tasks are left"):
        run(graph(task(1)), 2, stuck, runtime(idle={"sleep": {"first_ns": 700}}))


def test_awake_leaves_out_nothing_if_no_worker_sleeps() -> None:
    # Two idle workers, a probe each 100 ns until 1000 ns: the same with the condition and without it.
    level = {"from": "others", "pick": "in-order", "tries": "all"}
    with_it, without = (run(graph(task(1000 * NS)), 3, stealing({**level, **key})) for key in ({"if": "awake"}, {}))
    assert with_it.of_worker("steal_attempts") == without.of_worker("steal_attempts")


LAST = {"chain": 1, "chain_by": "last-searcher"}


@pytest.mark.parametrize(
    ("wake", "woken"),
    [
        *(({"at": "every-push", **LAST}, 4), ({"at": "no-searcher", **LAST}, 1), ({"at": "empty-queue", **LAST}, 1)),
        *(({"at": "uncovered", **LAST}, 4), ({"counted": "yes"}, 1), ({"counted": "no"}, 4)),
    ],
)
def test_which_of_several_pushes_wake(wake: dict[str, Any], woken: int) -> None:
    # Four tasks are put into an empty queue within 40 ns, long before a woken worker looks.
    how = resting(wake=wake, costs={"unpark_ns": 0})
    first = run(graph(task(50_000 * NS, *spawner(4, 10, 1, 4000).steps)), 9, ALL, how, machine=toy(cores=9))
    assert first["wakeups"] == woken


def test_without_sleepers_a_push_costs_nothing() -> None:
    seen = run(graph(spawner(4, 10, 1, 100)), 1, ALL, resting())
    assert seen["makespan_ps"] == (40 + 100 + 4) * NS


# ---- chains -----------------------------------------------------------------------------------------------------


def all_awake_ns(workers: int, **wake: Any) -> float:
    """Return when the last sleeper begins a task, after one push burst into a queue with plenty of tasks."""
    how = resting(wake=wake, costs={"probe_ns": 1, "probe_remote_ns": 1})
    steps = [task(10**8 * NS) for _ in range(workers)]
    seen = run(graph(task(10**6 * NS, *steps, 10**8 * NS)), workers, ALL, how, machine=toy(cores=workers))
    begins = (min(begin for _, w, begin, _ in seen.stretches if w == worker) for worker in range(1, workers))
    return max(begins) / NS - 10**6


def test_each_sleeper_takes_an_unpark_or_a_whole_wake_up() -> None:
    assert all_awake_ns(8, whom="all") == pytest.approx(7 * UNPARK + WAKE, rel=0.02)
    # A woken worker counts as a searcher at once: the burst wakes one worker, each worker that finds a task the next.
    assert all_awake_ns(8, at="no-searcher", chain=1) == pytest.approx(7 * (UNPARK + WAKE), rel=0.02)


def test_a_chain_of_two_takes_a_logarithm_of_them() -> None:
    # every awake worker wakes two more when it finds a task: levels of 1, 2 and 4 sleepers
    took = all_awake_ns(8, at="no-searcher", chain=2, chain_by="finder")
    assert took <= 3 * (2 * UNPARK + WAKE) * 1.02


# ---- called back ------------------------------------------------------------------------


@pytest.mark.parametrize(("cancel", "begins_ns"), [("yes", 200 + 100), ("no", 150 + UNPARK + WAKE + 100)])
def test_a_worker_that_looks_again_is_called_back_at_once(cancel: str, begins_ns: int) -> None:
    # Worker 1 probes until 100 ns, announces its sleep and looks once more until 200 ns; the task comes at 150 ns.
    work = graph(task(150 * NS, task(10 * NS), 100_000 * NS))
    seen = run(work, how=resting(wake={"cancel": cancel}))
    (begin,) = (begin for _, worker, begin, _ in seen.stretches if worker == 1)
    assert begin == begins_ns * NS
    assert wakeups(seen) == [0, 1]


# ---- joins and phases --------------------------------------------------------------------------------------


def test_who_sleeps_in_a_join_is_woken_by_the_last_child() -> None:
    # Worker 0 waits for the child that worker 1 has stolen, and sleeps; the child ends at 10,100 ns.
    how = resting(wake={"at": "every-push", "chain": 0}).model_copy(update={"join": "help"})
    seen = run(graph(task(task(10_000 * NS), 500 * NS, WAIT, 1000 * NS)), 2, FIRST, how)
    assert seen["makespan_ps"] == (100 + 10_000 + UNPARK + WAKE + 1000) * NS


GROUP, END_GROUP = Use(Op.GROUP), Use(Op.END_GROUP)
SHORT, LONG = 10_000 * NS, 30_000 * NS


@pytest.mark.parametrize(
    ("steps", "begins_ns"),
    [
        ((GROUP, task(task(LONG), SHORT), 500 * NS, END_GROUP), 200),  # a grandchild outlives the child
        ((task(LONG), GROUP, task(SHORT), 500 * NS, WAIT, END_GROUP), 100),  # a child outlives the group
    ],
)
def test_who_sleeps_in_a_join_sleeps_on_while_awaited_tasks_run(steps: tuple[Any, ...], begins_ns: int) -> None:
    # The others probe queue 0 first, at 100 ns: worker 1 takes the first task there; worker 2 the second, or at 200 ns
    # the grandchild from queue 1. Worker 0 sleeps from 900 ns on. When the short task ends, no child of the
    # task of worker 0 is left, but its group has a member; or its group is empty, but a child runs.
    how = resting(wake={"at": "every-push", "chain": 0}).model_copy(update={"join": "help"})
    in_order = stealing({"from": "others", "pick": "in-order", "tries": "all"})
    seen = run(graph(task(*steps, 1000 * NS)), 3, in_order, how, toy(cores=3))
    assert wakeups(seen)[0] == 1
    assert seen["makespan_ps"] == (begins_ns + UNPARK + WAKE + 1000) * NS + LONG


def test_sleepers_are_woken_for_the_next_phase_one_after_the_other() -> None:
    work = graph(task(50_000 * NS), task(20_000 * NS), phases=(phase(0), phase(1)))
    seen = run(work, 4, ALL, resting())
    assert wakeups(seen) == [0, 1, 1, 1]
    assert seen["makespan_ps"] == (70_000 + 3 * UNPARK) * NS


def test_workers_without_a_part_sleep_after_a_time() -> None:
    work = graph(task(50_000 * NS), task(20_000 * NS), phases=(phase(0, serial=True), phase(1)))
    for between, woken in (("never", 0), (10_000, 1), (60_000, 0)):
        how = runtime(costs={"unpark_ns": UNPARK, "wake_ns": WAKE}, idle={"between_ns": between, "phases": ONE_PHASE})
        seen = run(work, 2, ALL, how)
        assert (wakeups(seen), seen["makespan_ps"]) == ([0, woken], (70_000 + woken * UNPARK) * NS)
        # Worker 1 falls asleep after 10 us of the serial phase. The end of the phase wakes worker 1, which sleeps until
        # the wake-up takes effect.
        asleep_ns = 40_000 + UNPARK + WAKE if woken else 0
        assert seen.of_worker("asleep_ps") == [0, asleep_ns * NS]
        assert seen.of_worker("idle_barrier_ps") == [0, (10_000 if woken else 50_000) * NS]


def test_workers_that_sleep_sleep_through_serial_phases() -> None:
    """In the first and in the third phase worker 1 makes one round and looks again, with a probe of 100 ns each. All
    other time the worker sleeps: the serial phase, and until the wake-up at the begin of the third phase takes effect.
    """
    phases = (phase(0), phase(1, serial=True), phase(2))
    work = graph(task(50_000 * NS), task(30_000 * NS), task(20_000 * NS), phases=phases)
    seen = run(work, 2, ALL, resting(sleep={"recheck": "each"}))
    assert seen["makespan_ps"] == (50_000 + 30_000 + UNPARK + 20_000) * NS
    assert seen.of_worker("idle_barrier_ps") == [0, 0]
    assert seen.of_worker("asleep_ps") == [0, seen["makespan_ps"] - 4 * 100 * NS]


ONE_PHASE = [{"rounds": 1, "pause_ns": 100}]


# ---- wake-ups that may be missed, and those that may not --------------------------------------------------------


def test_a_missed_wake_up_leaves_the_task_to_its_owner() -> None:
    # The worker's last probe ends at 100 ns, and the push comes at that instant, before the worker sleeps: rank PUT
    # comes before LOOK. So the push at 100 ns is seen; the one that comes while a searcher looks elsewhere is not.
    sleep, wake = {"recheck": "none", "misses": "yes"}, {"at": "no-searcher", "chain": 0}
    two_looks = stealing({"from": "others", "pick": "in-order", "tries": "all"})
    # worker 2 looks at worker 0 at 100 ns and at worker 1 at 200 ns; the task comes to worker 0 at 150 ns
    work = graph(task(150 * NS, task(1000 * NS), 50_000 * NS))
    missed = run(work, 3, two_looks, resting(sleep=sleep, wake=wake))
    safe = run(work, 3, two_looks, resting())
    assert missed["makespan_ps"] == (150 + 50_000 + 1000) * NS  # worker 0, the owner, executes the task at the end
    assert safe["makespan_ps"] < 51_000 * NS
    assert missed["steal_success"] == 0


def promising(chance: Random) -> IdleSpec:
    """Draw rules for idle workers that lose no wake-up if every round of the strategy comes to every queue."""
    while True:
        document = {"sleep": {}, **idle_document(chance)}
        sleep, wake = document["sleep"], document.get("wake", {})
        if sleep.get("recheck") == "none" or "misses" in sleep or "first_ns" in sleep:
            continue
        try:
            return IdleSpec.model_validate(document)
        except ValueError:
            assert wake is not None


def tree(chance: Random, depth: int) -> Task:
    """Draw a task with children that it waits for."""
    steps: list[Any] = []
    for _ in range(chance.randint(1, 3)):
        steps.append(chance.choice((1, 100, 5000)) * NS)
        if depth:
            steps.append(tree(chance, depth - 1))
    return task(*steps, WAIT, chance.choice((0, 3000)) * NS)


@pytest.mark.parametrize("seed", range(60))
def test_no_task_waits_while_all_who_could_take_it_sleep(seed: int) -> None:
    chance = Random(seed)
    rules = promising(chance)
    how = resting().model_copy(update={"idle": rules, "join": chance.choice(("continuation", "help"))})
    work = graph(tree(chance, chance.randint(2, 4)))
    seen = run(work, chance.randint(2, 6), ALL, how, seed=seed, machine=toy(cores=6))
    assert seen["steal_success"] >= 0
    assert_somebody_is_awake(seen)


def assert_somebody_is_awake(seen: Seen) -> None:
    """Assert that the parts of each worker's time add up to the makespan; a run that lost a wake-up has deadlocked."""
    parts = seen.result.workers.filter(regex="_ps$").sum(axis=1)
    assert set(parts) == {seen["makespan_ps"]}


# ---- levels with conditions, and joins that bind a worker -----------------------------------------------------------

POOLS: dict[str, Any] = {"queues": {"pool": {"per": "node", "own": "fifo"}}}
OWN_POOL = {"from": "own", "queue": "pool"}


def test_a_worker_that_may_not_take_a_task_keeps_nobody_asleep() -> None:
    """Workers 0 and 2 share a pool, and 1 and 3 another pool. Worker 0 begins at 100 ns, after a probe, and puts a task
    into each pool at 10,100 ns. Worker 3, woken for the first task, may take from the pool of 0 and 2 only if it holds
    two tasks. So worker 2 is woken for the second task, one wake-up later.
    """
    levels = (OWN_POOL, {"from": "other-nodes", "queue": "pool", "if": {"length": 2}})
    by_turns = stealing(*levels, **POOLS, dispatch=[{"to": "any", "pick": "round-robin", "queue": "pool"}])
    how = resting(phases=[{"rounds": 1000, "pause_ns": 1000}], searchers={"count": 1}, sleep={"recheck": "last"})
    work = graph(task(10_000 * NS, task(NS), task(2000 * NS), 50_000 * NS))
    seen = run(work, 4, by_turns, how, toy(sockets=2, cores=2))
    assert wakeups(seen) == [0, 0, 1, 1]
    begins = {worker: begin for worker, _, begin, _ in seen.stretches if worker}
    first = 10_100 + UNPARK + WAKE + 100
    assert begins == {3: first * NS, 2: (first + UNPARK) * NS}


def test_a_task_that_thieves_may_not_take_yet_wakes_nobody() -> None:
    """Thieves take only from two or more tasks: the second push wakes worker 2, which probes worker 0 at 17,000 ns."""
    if_two = stealing({"from": "others", "pick": "in-order", "if": {"length": 2}})
    work = graph(task(10_000 * NS, task(NS), 1000 * NS, task(NS), 50_000 * NS))
    seen = run(work, 3, if_two, resting(wake={"at": "uncovered", "chain": 0}), toy(cores=3))
    assert wakeups(seen) == [0, 0, 1]
    assert seen.steals == (((11_000 + UNPARK + WAKE + 100) * NS, 2, 0, 1),)
    assert seen["makespan_ps"] == (10_000 + 1000 + UNPARK + 50_000) * NS + NS  # worker 0 takes the task that is left


def test_the_end_of_a_subtree_wakes_who_waits_at_the_gate() -> None:
    """Worker 0 alone takes subtrees from the pool, one at a time. The first begins at 1400 ns, after two rounds of two
    looks and 1000 ns of work. Worker 1 is woken for the inner task, which is put into a queue at 1401 ns and begins at
    7501 ns. Worker 0 sleeps when the subtree ends at 57,501 ns. Worker 1 cannot take the second subtree.
    """
    free, local = {"to": "own", "queue": "pool", "tier": ["free", "root"]}, {"to": "own", "queue": "deque"}
    one_at_a_time = stealing(
        {"from": "others", "queue": "deque"},
        {**OWN_POOL, "who": "head", "gated": True},
        queues={"deque": {"per": "worker"}, "pool": {"per": "socket", "own": "fifo"}},
        tiers={"depth": 1},
        live={"per": "socket", "most": 1},
        dispatch=[free, local],
    )
    subtree = task(NS, task(50_000 * NS), 10_000 * NS)
    seen = run(graph(task(1000 * NS, subtree, task(2000 * NS))), 2, one_at_a_time, resting(), toy(cores=2))
    ends = 1401 + UNPARK + WAKE + 100 + 50_000
    assert wakeups(seen) == [1, 1]
    assert seen["makespan_ps"] == (ends + UNPARK + WAKE + 2 * 100 + 2000) * NS


def test_a_worker_bound_to_a_join_keeps_nobody_asleep() -> None:
    """Worker 3 takes the first task and waits in its join, searching, for the inner task, which worker 2 has taken and
    executes for long. Worker 3 may take only tasks of its own queue. So worker 1 is woken for the last task.
    """
    inner = task(50 * NS, task(100_000 * NS), 20_000 * NS, WAIT)
    work = graph(task(10_000 * NS, inner, 60_000 * NS, task(3000 * NS), 200_000 * NS))
    how = resting(wake={"chain": 0, "at": "uncovered"}).model_copy(update={"join": "own"})
    seen = run(work, 4, ALL, how, toy(cores=4))
    ((worker, begin),) = ((worker, begin) for worker, number, begin, _ in seen.stretches if number == 3)
    woken = 10_000 + UNPARK + 60_000 + UNPARK + WAKE
    assert worker == 1
    assert woken < begin / NS <= woken + 3 * 100  # worker 1 looks at up to three queues


@pytest.mark.parametrize(
    ("level", "reach"),
    [
        ({"from": "others", "if": {"length": 2}}, Reach.SOMETIMES),
        ({"from": "others", "leave": 1}, Reach.SOMETIMES),
        ({"from": "others", "chance": 0.5}, Reach.SOMETIMES),
        ({"from": "last"}, Reach.SOMETIMES),
        ({"from": "others", "iterations": [1, "last"]}, Reach.ALWAYS),
        ({"from": "others", "pick": "in-order"}, Reach.SOMETIMES),
        ({"from": "others", "pick": "in-order", "tries": 2}, Reach.ALWAYS),
        ({"from": "others", "pick": "after-me"}, Reach.SOMETIMES),
        ({"from": "others", "pick": "shortest"}, Reach.SOMETIMES),
        ({"from": "others", "pick": "longest"}, Reach.ALWAYS),
    ],
)
def test_who_can_always_take_from_a_queue(level: dict[str, Any], reach: Reach) -> None:
    """``reach`` says how surely worker 2 takes from queue 1, the queue of another worker. The plan notes the reach only
    where it matters; under joins `own`, which bind workers to their own queues, it always does.
    """
    how = resting().model_copy(update={"join": "own"})
    rules = plan_of(graph(task(NS)), 3, stealing(level), how, toy(cores=3)).idle
    assert rules is not None
    own, others = rules.reach
    assert own.tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]
    assert others[1][2] == reach


def test_nothing_is_noted_if_all_workers_take_all_tasks() -> None:
    for join, parts in (("continuation", 0), ("own", 2)):
        rules = plan_of(graph(task(NS)), 3, ALL, resting().model_copy(update={"join": join}), toy(cores=3)).idle
        assert rules is not None
        assert len(rules.reach) == parts


CONDITIONS: tuple[dict[str, Any], ...] = (
    *({"if": condition} for condition in ({"length": 2}, {"length": 4}, {"below": 2}, "announced")),
    *({"leave": 1}, {"chance": 0.3}),
)


def conditional(chance: Random) -> dict[str, Any]:
    """Draw a strategy whose thieves take only under conditions. The owner of a deque, or the workers of the node of a
    pool, always take.
    """
    thieves = {**chance.choice(CONDITIONS), "tries": chance.choice((1, "all"))}
    pick = chance.choice(("random", "round-robin", "shortest"))
    if chance.random() < 0.5:
        dispatch = chance.choice(({"to": "own"}, {"to": "any", "pick": pick}))
        return {"steal": [{"from": "others", **thieves}], "dispatch": [dispatch]}
    return {
        **POOLS,
        "steal": [OWN_POOL, {"from": "other-nodes", "queue": "pool", **thieves}],
        "dispatch": [{"to": "any", "pick": pick, "queue": "pool"}],
    }


@pytest.mark.parametrize("seed", range(120))
def test_nor_if_most_levels_have_conditions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever a worker has fallen asleep, for each queue with tasks some worker is awake that may always take them.
    Joins may bind workers to their subtrees if the children are in the queues of the workers that wait for them.
    """
    chance = Random(seed)
    rules, document = promising(chance), conditional(chance)
    joins = get_args(JoinKind) if document["dispatch"] == [{"to": "own"}] else ("continuation", "help")
    join = chance.choice([kind for kind in joins if kind != "block"])
    how = resting().model_copy(update={"idle": rules, "join": join})
    workers, work = chance.randint(2, 6), graph(tree(chance, chance.randint(2, 4)))
    plan = plan_of(work, workers, stealing(*document.pop("steal"), **document), how, toy(sockets=2, cores=3))
    nodes = plan.steal.node[:workers].tolist()
    takers = [{w for w in range(workers) if nodes[w] == node} for node in dict.fromkeys(sorted(nodes))]
    fall_asleep = Resting._fall_asleep

    def watched(self: Resting, w: Worker) -> None:
        fall_asleep(self, w)
        asleep = {each.id for each in self._workers if each.sleep == Sleep.ASLEEP}
        filled = [q for q, length in enumerate(self._queues.length) if length]
        assert not [q for q in filled if (takers[q] if "queues" in document else {q}) <= asleep]

    monkeypatch.setattr(Resting, "_fall_asleep", watched)
    assert_somebody_is_awake(observe(plan, seed))


CAPPED = {
    "share": {"searchers": {"share": 2}, "sleep": {"recheck": "last"}},
    "count": {"searchers": {"count": 1}, "sleep": {"recheck": "last"}},
    "busy": {"searchers": {"busy_share": 2}, "wake": {"at": "uncovered"}},
    "events": {"searchers": {"busy_share": 2}, "sleep": {"recheck": "events"}, "wake": {"at": "every-push"}},
    "finder": {"searchers": {"count": 2}, "wake": {"at": "empty-queue", "chain_by": "finder"}},
}


@pytest.mark.parametrize("strategy", catalog.names("strategies"))
def test_a_cap_of_searchers_leaves_no_task_to_sleepers(strategy: str) -> None:
    """The strategy finishes a program with subtrees and one without, whichever rules bound the number of searchers."""
    for family, join in product(("ge", "uts"), ("continuation", "help")):
        how = resting().model_copy(update={"join": join})
        plan = plan_of(workload(family), 16, shipped_strategy(strategy), how, shipped_machine("xeon-6130-4s"))
        tasks = simulate(replace(plan, idle=None), 3).counters["tasks"]
        for rules in CAPPED.values():
            idle = IdleSpec.model_validate({"phases": [{"rounds": 2, "yield_ns": 200}], "sleep": {}, **rules})
            resting_plan = replace(plan, idle=compile_idle(idle, plan.steal, plan.join))
            assert simulate(resting_plan, 3).counters["tasks"] == tasks


# ---- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("idle", "says"),
    [
        ({"sleep": {"recheck": "none"}}, "can miss a wake-up"),
        ({"sleep": {}, "wake": {"chain": 0}}, "tasks may wait while workers sleep"),
        ({"searchers": {"share": 2}, "phases": ONE_PHASE}, "searchers goes with sleep"),
        ({"phases": [{"pause_ns": 3}]}, "either rounds or for_ns"),
        ({"phases": [{"rounds": 1}]}, "one of pause_ns, yield_ns and nap_ns"),
        ({"sleep": {}, "searchers": {"count": 1, "share": 2}}, "one of count, share and busy_share"),
        ({}, "idle says nothing"),
        ({"sleep": {"recheck": "none", "first_ns": 0}}, "first_ns"),
        ({"sleep": {"first_ns": 700, "max_ns": 100}}, "max_ns 100, is shorter than the first, first_ns 700"),
        ({"sleep": {"first_ns": 700, "factor": 2}}, "factor needs max_ns"),
    ],
)
def test_rules_that_cannot_hold_are_refused(idle: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        IdleSpec.model_validate(idle)


def test_a_lost_wake_up_ends_the_run_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    # Worker 0 puts its tasks into the queues of others, which nobody else takes from; seeded: nobody is ever woken.
    own = stealing({"from": "own"}, dispatch=[{"to": "any", "pick": "round-robin"}])
    plan = plan_of(graph(task(1000 * NS, task(NS), task(NS), task(NS), 10 * NS)), 3, own, resting(), toy(cores=3))
    assert observe(plan, engine="reference")["tasks"] == 4
    monkeypatch.setattr(Resting, "_wake_some", lambda *_: None)
    with pytest.raises(DeadlockError, match="tasks are left"):
        observe(plan, engine="reference")
