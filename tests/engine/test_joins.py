"""Joins (actions of a worker that waits for children), spawn orders, calls, dependences, by hand (model 3.1 to 3.3).

Unless a comment says otherwise, a probe, one look of an idle worker into a queue, takes 100 ns on the own node.
"""

from __future__ import annotations

import pytest
from engine_setup import NS, Seen, observe, plan_of, run, runtime, shipped_strategy, stealing, toy
from task_graphs import WAIT, body, call, graph, phase, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.observe.trace_hash import Rank
from numasim.errors import InputError
from numasim.parts.models.strategy_model import StrategySpec
from numasim.workload.graph import Deal, Workload
from numasim.workload.graph_rules import validate

# task ids are preorder: 0 the root, 1 = A, 2 = B
FORK = graph(task(task(2030 * NS), task(1000 * NS), WAIT, 50 * NS))


def joined(join: str, **costs: float) -> Seen:
    """Run FORK on two workers: worker 1 steals A at 100 ns and ends A at 2130 ns, worker 0 runs B until 1000 ns."""
    return run(FORK, how=runtime(join=join, costs=costs))


def test_continuation_goes_on_where_the_last_child_ended() -> None:
    seen = joined("continuation")
    assert seen.stretches_ns == ((0, 2, 0, 1000), (1, 0, 2130, 2180), (1, 1, 100, 2130))
    assert seen["makespan_ps"] == 2180 * NS


def test_help_goes_on_where_the_join_is_at_the_next_probe() -> None:
    # worker 0 probes at 1100, ..., 2100, 2200 ns; the last of these finds the join over
    seen = joined("help")
    assert seen.stretches_ns == ((0, 0, 2200, 2250), (0, 2, 0, 1000), (1, 1, 100, 2130))
    # worker 0 probes 12 times, from 1100 to 2200 ns, always in vain; worker 1 at 100 ns (a success) and 2230 ns
    assert (seen["steal_attempts"], seen["steal_success"]) == (12 + 2, 1)


def test_block_sleeps_until_the_last_child_wakes_it() -> None:
    # worker 1 runs A from 100 to 2130 ns and B from 2230 to 3230 ns; the wake-up takes 500 ns
    seen = joined("block", wake_ns=500)
    assert seen.stretches_ns == ((0, 0, 3730, 3780), (1, 1, 100, 2130), (1, 2, 2230, 3230))
    assert seen.of_rank(Rank.WAKE) == ((3730 * NS, 0, 0, 0),)
    assert seen.of_worker("parked_ps") == [3730 * NS, 0]


def test_block_pays_what_is_owed_before_it_sleeps() -> None:
    # worker 1 steals task 1 at 100 ns, pops task 2 and waits there, owing 1000 + 500 ns; worker 0 steals task 3 at
    # 250 ns, pays 1000 ns and ends it at 1250 ns, when worker 1 has not even fallen asleep
    work = graph(task(task(task(task(0), WAIT, 50 * NS)), 150 * NS))
    seen = observe(plan_of(work, how=runtime(join="block", costs={"take_ns": 1000, "pop_ns": 500})))
    assert seen.stretches_ns == ((0, 0, 0, 150), (0, 3, 1250, 1250), (1, 2, 1600, 1650))
    assert seen.of_rank(Rank.WAKE) == ((1600 * NS, 1, 2, 0),)
    assert seen.of_worker("parked_ps") == [0, 0]


@pytest.mark.parametrize(("sockets", "ends_ns"), [(1, 100 + 1000 + 500 + 10), (2, 300 + 1000 + 1300 + 10)])
def test_block_is_woken_over_the_distance_between_the_two_workers(sockets: int, ends_ns: int) -> None:
    """A thief finds the only child after one probe. The end of the child wakes the parent, which works for 10 ns."""
    work = graph(task(task(1000 * NS), WAIT, 10 * NS))
    how = runtime(join="block", costs={"wake_ns": 500, "wake_remote_ns": 1300})
    seen = run(work, how=how, machine=toy(sockets, 2 // sockets))
    assert seen["makespan_ps"] == ends_ns * NS


def test_block_on_one_worker_is_a_deadlock_that_is_named() -> None:
    with pytest.raises(DeadlockError, match=r"3 tasks are left at 0 ps .*join 'block', 1 workers"):
        run(FORK, workers=1, how=runtime(join="block"))


def test_a_join_without_children_costs_the_check_alone() -> None:
    seen = run(graph(task(10 * NS, WAIT, 10 * NS)), workers=1, how=runtime(costs={"wait_ns": 7, "resume_ns": 1000}))
    assert seen["makespan_ps"] == 27 * NS


@pytest.mark.parametrize(
    ("join", "last_ns"), [("help", 1000), ("own", 1000), ("strict", 1000), ("continuation", 10000)]
)
def test_every_cost_of_a_join_is_paid_once(join: str, last_ns: int) -> None:
    overhead_ns = 2 * 1 + 2 * 10 + 2 * 100 + last_ns  # pushes, pops, ends of children; last, `wait_ns` or `resume_ns`
    costs = {"push_ns": 1, "pop_ns": 10, "join_ns": 100, "wait_ns": 1000, "resume_ns": 10000}
    work = graph(task(task(100 * NS), task(100 * NS), WAIT, 50 * NS))
    seen = run(work, workers=1, how=runtime(join=join, costs=costs))
    assert seen["overhead_ps"] == overhead_ns * NS
    assert seen["makespan_ps"] == (250 + overhead_ns) * NS
    assert seen.order() == [2, 1, 0]


# A runs for 2030 ns, B for 100 and 1000 ns with three children of 1000 ns between them, the root for 300 and 50 ns
TWO_THIEVES = graph(task(task(2030 * NS), task(100 * NS, *[task(1000 * NS)] * 3, 1000 * NS), 300 * NS, WAIT, 50 * NS))


def test_leapfrog_steals_from_whoever_has_begun_a_child_last_and_from_nobody_else() -> None:
    """At 100 ns worker 1 steals A (task 1) and worker 2 steals B (2), whose children (3, 4, 5) are queued at 200 ns.

    At 300 ns worker 0 waits and probes worker 2, which began its child of the root last. Worker 0 runs task 3 from 400
    to 1400 ns. B ends at 1200 ns; the remaining thief is worker 1, with an empty queue: worker 0 probes it at 1500,
    ..., 2100, 2200 ns, when A has ended (2130 ns). Worker 2 runs task 5 until 2200 ns, and only then task 4. With
    `help` worker 0 takes task 4 earlier.
    """
    levels = {"from": "thief"}, {"from": "others", "pick": "in-order", "tries": "all"}
    seen = run(TWO_THIEVES, 3, stealing(*levels, join="leapfrog"), runtime())
    assert seen.stretches_ns == (
        (0, 0, 0, 300),
        (0, 0, 2200, 2250),
        (0, 3, 400, 1400),
        (1, 1, 100, 2130),
        (2, 2, 100, 200),
        (2, 2, 200, 1200),
        (2, 4, 2200, 3200),
        (2, 5, 1200, 2200),
    )
    helping = run(TWO_THIEVES, 3, stealing(levels[1], join="help"), runtime())
    assert (0, 4, 1700 * NS, 2700 * NS) in helping.stretches  # the probe of worker 1 at 1600 ns has failed


@pytest.mark.parametrize(
    ("after", "begun_ns"),
    [
        (1, 1800),  # round 2 looks at queue 1 (1600), again at queue 1 (1700) and at queue 2 (1800)
        (3, 2000),  # rounds 1 to 3 end at 1500, 1600, 1700; round 4 looks at queue 1 (1800), 1 (1900) and 2 (2000)
        (4, 2100),
        (5, None),  # worker 1 ends A at 2130 ns: the join is over before the probe of queue 2 at 2200 ns
    ],
)
def test_a_leapfrogging_worker_looks_elsewhere_after_some_fruitless_rounds(after: int, begun_ns: int | None) -> None:
    """As in the test above worker 0 searches from 1400 ns on; task 4 waits in queue 2 until 2200 ns."""
    others = {"from": "others", "pick": "in-order", "tries": "all", "leap_after": after}
    seen = run(TWO_THIEVES, 3, stealing({"from": "thief"}, others, join="leapfrog"), runtime())
    assert [begun for worker, number, begun, _ in seen.stretches_ns if (worker, number) == (0, 4)] == (
        [begun_ns] if begun_ns else []
    )


def test_only_one_round_in_so_many_leaves_the_thief() -> None:
    """Worker 0 waits for A from 150 to 100,100 ns, and makes a probe each 100 ns, of worker 1 on its own node.

    Rounds 5, 9, ... have three probes, the third of worker 2 on the other node: one of six probes after the first 4.
    """
    others = {"from": "others", "pick": "in-order", "tries": "all", "leap_after": 4}
    how = stealing({"from": "thief"}, others, join="leapfrog", mapping="contiguous")
    work = graph(task(task(100_000 * NS), 150 * NS, WAIT))
    seen = run(work, 3, how, runtime(costs={"probe_remote_ns": 100}), machine=toy(sockets=2, cores=2))
    assert seen.of_worker("steal_attempts")[0] == 1000
    assert seen.of_worker("steal_attempts_remote")[0] == (1000 - 4) // 6


def test_a_call_that_has_ended_is_no_child_to_leap_after() -> None:
    """Task 1 is a call. Worker 1 steals its continuation, ends it, goes on with the root, and begins task 3 at once.

    Worker 0 then takes the root from worker 1 and waits for task 3. No thief took task 3 from a queue.
    """
    work = graph(task(call(task(2000 * NS), 500 * NS), task(5000 * NS), WAIT))
    how = stealing({"from": "thief"}, {"from": "others"}, join="leapfrog", spawn="work-first")
    seen = run(work, 2, how, runtime())
    assert {(worker, task) for worker, task, _, _ in seen.stretches} == {(0, 2), (1, 1), (1, 3)}
    assert seen.of_worker("steal_attempts")[0] == 1


# ---- spawn orders that adapt ---------------------------------------------------------------------------------------


def adaptive(**rule: object) -> StrategySpec:
    return stealing({"from": "others", "pick": "in-order"}, spawn={"adaptive": rule})


@pytest.mark.parametrize(
    ("rule", "begins_ns"),
    [
        # to put a child or continuation into the queue takes 1 ns, to take a child from the queue 10 ns
        ({"first": "work-first", "stack": 9}, [0, 11, 22, 33, 44]),
        ({"first": "work-first", "stack": 2}, [0, 11, 22, 43, 54]),  # task 2 is two calls deep, task 3 at the bottom
        ({"first": "help-first", "every": 2}, [0, 21, 32, 43, 54]),  # no thief has stolen in the last two spawns
    ],
)
def test_a_chain_of_tasks_is_as_deep_as_the_stack_may_be(rule: dict[str, object], begins_ns: list[int]) -> None:
    chain = task(10 * NS)
    for _ in range(4):
        chain = task(10 * NS, chain, WAIT)
    seen = run(graph(chain), 1, adaptive(**rule), runtime(costs={"push_ns": 1, "pop_ns": 10}))
    assert [start for _, _, start, _ in seen.stretches] == [at * NS for at in begins_ns]


@pytest.mark.parametrize(
    ("workers", "stretches"),
    [
        (1, ((0, 0, 0, 300), (0, 0, 350, 360), (0, 1, 360, 1360), (0, 2, 300, 350))),  # nobody steals: the child first
        (2, ((0, 0, 0, 300), (0, 0, 300, 310), (0, 2, 310, 360), (1, 1, 100, 1100))),  # task 1 is stolen at 100 ns
    ],
)
def test_a_worker_that_is_stolen_from_goes_on_with_the_parent(
    workers: int, stretches: tuple[tuple[int, int, int, int], ...]
) -> None:
    work = graph(task(task(1000 * NS), 300 * NS, task(50 * NS), 10 * NS))
    seen = run(work, workers, adaptive(every=2, steals=1))
    assert seen.stretches_ns == stretches


# ---- copies of tasks -----------------------------------------------------------------------------------------------


def test_whoever_takes_an_entry_first_has_the_task() -> None:
    """Tasks 1, 2 and 3 go to the deque of worker 0, each with a copy in the inbox of worker (number mod 2).

    Worker 1 takes task 1 from its inbox at 100 ns. Worker 0 takes task 3 from its deque at 150 ns, 2 at 1150 ns.
    Worker 1 probes its inbox at 1200 ns and drops the copy of 3; at 1300 ns it drops the entry of task 1 in worker 0's
    deque, a false steal. Four more probes, 200 ns apart, find queues empty, until worker 0 goes on at 2150 ns.
    """
    mailboxes = stealing(
        {"from": "own", "queue": "inbox"},
        {"from": "others", "pick": "in-order"},
        queues={"deque": {"per": "worker"}, "inbox": {"per": "worker", "own": "fifo"}},
        dispatch=[{"to": "any", "queue": "inbox", "pick": "cyclic", "copy": True}, {"to": "own"}],
    )
    work = graph(task(*[task(1000 * NS)] * 3, 150 * NS, WAIT, 50 * NS))
    seen = run(work, 2, mailboxes, runtime())
    assert seen.stretches_ns == (
        (0, 0, 0, 150),
        (0, 0, 2150, 2200),
        (0, 2, 1150, 2150),
        (0, 3, 150, 1150),
        (1, 1, 100, 1100),
    )
    assert (seen["steal_attempts"], seen["steal_success"]) == (5, 0)


# ---- what a waiting worker may run ---------------------------------------------------------------------------------

# Worker 1 steals A at 100 ns. The three children of A are in worker 1's queue from 200 ns on, and worker 1 starts one
# of them. Worker 0 ends B at 150 ns and waits for A, which ends at 200 ns.
NESTED = graph(task(task(100 * NS, *[task(1000 * NS)] * 3), task(150 * NS), WAIT, 50 * NS))


def test_help_runs_any_task_and_is_held_up_by_it() -> None:
    seen = run(NESTED, how=runtime(join="help"))
    assert seen.stretches[:3] == ((0, 0, 1250 * NS, 1300 * NS), (0, 2, 250 * NS, 1250 * NS), (0, 5, 0, 150 * NS))


def test_own_steals_nothing_while_it_waits() -> None:
    # a worker without a victim decides again after the time of a local probe, at 250 ns; the join is over by then
    seen = run(NESTED, how=runtime(join="own"))
    assert seen.stretches[0] == (0, 0, 250 * NS, 300 * NS)
    assert [steal for steal in seen.steals if steal[1] == 0] == [(400 * NS, 0, 1, 1)]  # no longer in the join


def test_strict_runs_descendants() -> None:
    assert run(NESTED, how=runtime(join="strict")).stretches == run(NESTED, how=runtime(join="help")).stretches


# Worker 0 waits for A, which worker 2 stole at 100 ns and ends at 600 ns; worker 1 holds C1 and C2, of another tree.
FOREIGN = graph(
    task(task(500 * NS), task(150 * NS), WAIT, 50 * NS),
    task(120 * NS, *[task(1000 * NS)] * 3),
    phases=(phase(0, 3, deal=Deal.BLOCK),),
)


def test_strict_leaves_foreign_tasks_alone() -> None:
    # the probes at 250, ..., 550 ns see foreign tasks; at 650 ns the join is over
    seen = run(FOREIGN, workers=3, how=runtime(join="strict"))
    assert max(end for _, row, _, end in seen.stretches if row == 0) == 700 * NS
    assert all(thief != 0 for t, thief, _, _ in seen.steals if t < 700 * NS)
    failed = [record for record in seen.of_rank(Rank.POLL) if record[1] == 0]
    assert failed[0] == (650 * NS, 0, 5, 0)


# ---- spawn order ---------------------------------------------------------------------------------------------------

SPAWN = graph(task(task(300 * NS), 100 * NS, WAIT, 10 * NS))


def test_help_first_goes_on_and_work_first_runs_the_child() -> None:
    assert run(SPAWN, workers=1).order() == [0, 1, 0]
    assert run(SPAWN, workers=1, strategy=stealing(spawn="work-first")).order() == [1, 0, 0]


def test_work_first_leaves_the_continuation_to_thieves() -> None:
    # worker 1 steals the root at 100 ns, runs one segment and leaves the root at the join; worker 0 resumes the root at
    # 300 ns
    seen = run(SPAWN, strategy=stealing(spawn="work-first"), how=runtime(costs={"resume_ns": 7}))
    assert seen.steals == ((100 * NS, 1, 0, 1),)
    assert seen.stretches_ns == ((0, 0, 307, 317), (0, 1, 0, 300), (1, 0, 107, 207))


# ---- calls and implicit bodies -------------------------------------------------------------------------------------


def test_a_call_runs_at_once_and_is_no_task() -> None:
    seen = run(graph(task(5 * NS, call(100 * NS, task(50 * NS), WAIT, 20 * NS), 5 * NS)), workers=1)
    assert seen.order() == [0, 1, 2, 1, 0]
    assert (seen["makespan_ps"], seen["span_ps"], seen["tasks"]) == (180 * NS, 180 * NS, 2)


def test_the_caller_goes_on_where_the_callee_ended() -> None:
    # the callee's join is completed by worker 1 at 2130 ns, and there the caller goes on
    seen = run(graph(task(call(task(2030 * NS), task(1000 * NS), WAIT), 50 * NS)))
    assert (1, 0, 2130 * NS, 2180 * NS) in seen.stretches


def test_implicit_bodies_run_on_the_workers_that_they_were_given_to() -> None:
    bodies = graph(*[body(100 * NS) for _ in range(5)], deal=Deal.CYCLIC)
    seen = run(bodies, workers=2)
    assert [seen.order(0), seen.order(1)] == [[0, 2, 4], [1, 3]]
    assert (seen["tasks"], seen["steal_success"]) == (0, 0)
    assert seen["makespan_ps"] == 300 * NS


# ---- dependences ---------------------------------------------------------------------------------------------------


def test_a_diamond_on_two_workers() -> None:
    parts = (
        task(100 * NS, name="a"),
        task(200 * NS, name="b", after=("a",)),
        task(300 * NS, name="c", after=("a",)),
        task(100 * NS, name="d", after=("b", "c")),
    )
    # at 100 ns worker 0 ends task a, puts b and c into its queue and starts c; a probe of worker 1 at 100 ns finds b
    seen = run(graph(task(*parts, WAIT)))
    assert seen.stretches_ns == ((0, 1, 0, 100), (0, 3, 100, 400), (0, 4, 400, 500), (1, 2, 100, 300))
    assert (seen["makespan_ps"], seen["span_ps"], seen["work_ps"]) == (500 * NS, 500 * NS, 700 * NS)


# ---- deadlocks -----------------------------------------------------------------------------------------------------

TWO_LEVELS = graph(task(task(task(10 * NS), task(10 * NS), WAIT), task(task(10 * NS), WAIT), WAIT))


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(
    ("join", "strategy", "workers"),
    [
        ("block", "topology-aware", 2),  # worker 1 is on another node; worker 0's queue never reaches the threshold S
        ("block", "static-block", 2),  # nobody steals what the sleeper holds
        ("own", "breadth-first", 1),  # a waiting worker has no queue of its own
        ("strict", "breadth-first", 1),  # the front of the global queue is a task of another subtree
    ],
)
def test_a_program_that_cannot_go_on_is_named(join: str, strategy: str, workers: int, skip: bool) -> None:
    given = shipped_strategy(strategy).model_copy(update={"join": join})
    how = runtime(join=join, s_rule="literal", capacity=100)
    with pytest.raises(DeadlockError, match=f"tasks are left at .* no worker can run them .*{strategy}"):
        run(TWO_LEVELS, workers, given, how, toy(sockets=2, cores=1), skip=skip)


def test_a_nested_join_above_its_own_child_waits_for_itself() -> None:
    # worker 1 steals the child at 100 ns, waits in the child, and steals the continuation of the parent at 200 ns. The
    # parent waits for the child, and the child cannot go on before the parent, above it on the stack, has ended
    work = graph(task(task(task(3000 * NS), WAIT), WAIT))
    how = runtime(join="help", queue_order="fifo-lifo")
    with pytest.raises(DeadlockError, match=r"2 tasks are left .*join 'help', 2 workers"):
        run(work, 2, stealing(spawn="work-first"), how)
    assert run(work, 2, stealing(spawn="work-first"), runtime(queue_order="fifo-lifo"))["makespan_ps"] == 3000 * NS


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("first_ns", [0, 500])  # back-offs that double up to weeks still fit 63 bits
def test_who_stands_at_the_barrier_of_a_serial_phase_can_find_nothing(skip: bool, first_ns: int) -> None:
    # worker 0 waits in the root and its join leaves the one queue alone; worker 1 has no part in the phase
    work = graph(task(task(10 * NS), WAIT), phases=(phase(0, serial=True),))
    how = runtime(join="own", backoff={"first_ns": first_ns})
    plan = plan_of(work, 2, "breadth-first", how, skip=skip)
    with pytest.raises(DeadlockError, match=r"2 tasks are left .*join 'own', 2 workers"):
        observe(plan)


def test_a_task_in_the_queue_of_a_worker_that_waits_to_poll_is_no_deadlock() -> None:
    # Nobody steals. Workers poll every 1000 ns from 0 on; the child of the root comes into the queue of worker 2 at
    # 254,500 ns, and worker 1 has failed for the 256th time at 255,000 ns, just before worker 2 looks again.
    work = graph(task(254_500 * NS, task(10 * NS), WAIT))
    rules = [{"to": "any", "pick": "block"}]  # task 1 of 2 among 4 queues
    nobody = stealing({"from": {"vicinity": 1}}, dispatch=rules)
    seen = run(work, 4, nobody, runtime(poll_ns=1000))
    assert seen.stretches_ns == ((0, 0, 0, 254_500), (2, 1, 255_000, 255_010))


# ---- roots ----------------------------------------------------------------------------------------------------------


CHAIN = graph(task(5000 * NS, name="first"), task(1000 * NS, after=("first",)))
FORK_PLAIN_DAGS = graph(task(1000 * NS, name="a"), task(1000 * NS, after=("a",)), task(1000 * NS, after=("a",)))
THREE = graph(*[task(1000 * NS) for _ in range(3)])


def test_a_worker_begins_its_first_root_and_others_steal_the_rest() -> None:
    # worker 1 looks at 100 ns; worker 0 goes on with the last root, which is at the own end of the queue
    seen = run(THREE)
    assert seen.stretches_ns == ((0, 0, 0, 1000), (0, 2, 1000, 2000), (1, 1, 100, 1100))
    assert seen.steals == ((100 * NS, 1, 0, 1),)


def test_nobody_steals_implicit_bodies_nor_the_roots_of_a_serial_phase() -> None:
    serial = graph(task(1000 * NS), task(1000 * NS), phases=(phase(0, 1, serial=True),))
    for work in (graph(body(1000 * NS), body(1000 * NS)), serial):
        seen = run(work)
        assert seen.stretches_ns == ((0, 0, 0, 1000), (0, 1, 1000, 2000))
        assert seen["steal_success"] == 0


def test_only_roots_that_wait_for_nobody_are_dealt() -> None:
    roots = (task(1000 * NS, name="a"), task(1000 * NS, after=("a",)), task(1000 * NS))
    seen = run(graph(*roots, phases=(phase(0, 1, 2, deal=Deal.CYCLIC),)))
    assert seen.stretches_ns == ((0, 0, 0, 1000), (0, 1, 1000, 2000), (1, 2, 0, 1000))


@pytest.mark.parametrize(("release", "others"), [("queue", (2, 1)), ("begin", (1, 2))])
def test_whoever_finishes_the_last_predecessor_queues_tasks_or_begins_the_first(
    release: str, others: tuple[int, int]
) -> None:
    """At 1000 ns worker 0 ends the last predecessor of two tasks. With `queue` worker 0 puts both into its queue, and
    worker 1 takes the front one at once. With `begin`, the rule of Arora, Blumofe and Plaxton (1998), worker 0 begins
    the first of the two tasks itself.
    """
    seen = run(FORK_PLAIN_DAGS, how=runtime(release=release))
    second, third = others
    assert seen.stretches_ns == ((0, 0, 0, 1000), (0, second, 1000, 2000), (1, third, 1000, 2000))


def test_a_task_that_is_begun_at_once_is_neither_pushed_nor_popped() -> None:
    costs = {"push_ns": 7, "pop_ns": 10}
    queued, begun = (run(CHAIN, 1, how=runtime(costs=costs, release=rule)) for rule in ("queue", "begin"))
    assert (queued["makespan_ps"], begun["makespan_ps"]) == (6017 * NS, 6000 * NS)


@pytest.mark.parametrize(
    ("work", "what"),
    [(graph(task(1, name="a"), task(call(1))), "a call"), (graph(task(1, name="a"), body(1)), "an implicit body")],
)
def test_calls_and_bodies_wait_for_nobody(work: Workload, what: str) -> None:
    work.successor_ptr[1:] = 1
    object.__setattr__(work, "successor", work.successor.__class__((1,), work.successor.dtype))
    work.successor[0] = work.rows - 1
    with pytest.raises(InputError, match=f"task {work.rows - 1} is {what}, which waits for no other task"):
        validate(work)
