"""The search of idle workers, followed by hand (model 4.1, 4.3; thesis chapter 3).

A probe is one look at one queue; a round is the probes between two waits (back-offs); an amount is the number of tasks
that a steal takes. Unless a comment says otherwise, a probe on the own node takes 100 ns.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import log
from typing import Any

import pytest
from engine_setup import NS, SEED, event_by_event, observe, plan_of, run, runtime, stealing, toy, toy_with
from task_graphs import WAIT, Run, body, graph, items, phase, task

from numasim import draws
from numasim.engine.observe.trace_hash import Rank
from numasim.engine.reference.actors import priority
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.workload.graph import Deal

IN_ORDER = {"from": "others", "pick": "in-order"}


# ---- back-off ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("backoff", "looks", "waits_ns"),
    [
        # probes of 100 ns end at 100, 250, 450, 700, 950, ..., 1950 ns
        ({"first_ns": 50, "factor": 2, "max_ns": 150}, 9, 50 + 100 + 6 * 150 + 50),
        ({"first_ns": 10, "factor": 3}, 6, 10 + 30 + 90 + 270 + 810 + 190),  # 100, 210, 340, 530, 900, 1810 ns
    ],
)
def test_waits_grow_by_the_factor_up_to_the_longest(backoff: dict[str, int], looks: int, waits_ns: int) -> None:
    seen = run(graph(task(2000 * NS)), how=runtime(backoff=backoff))
    assert seen.of_worker("steal_attempts") == [0, looks]
    assert seen.of_worker("idle_steal_ps") == [0, looks * 100 * NS]
    assert seen.of_worker("idle_backoff_ps") == [0, waits_ns * NS]


def test_a_success_starts_the_waits_anew() -> None:
    # looks at 100, 300, 600, 1100 (found), 1300, 1500, 1800, 2300 (found), 2500, 2700, 3000 ns
    work = graph(task(1000 * NS, task(100 * NS), 1000 * NS, task(100 * NS), 1000 * NS))
    seen = run(work, how=runtime(backoff={"first_ns": 100, "factor": 2}))
    assert seen.steals == ((1100 * NS, 1, 0, 1), (2300 * NS, 1, 0, 1))
    assert seen["steal_attempts"] == 11


def test_polls_without_back_off_come_at_the_poll_time() -> None:
    # looks at 100, 470, 840 ns: a probe of 100 ns and a wait of 270 ns in turn
    seen = run(graph(task(1000 * NS)), how=runtime(poll_ns=270))
    assert seen.of_worker("steal_attempts") == [0, 3]
    assert seen.of_worker("idle_backoff_ps") == [0, (3 * 270 - 110) * NS]


def test_the_wait_follows_a_round_or_each_probe() -> None:
    # three victims a round: 100, 200, 300 ns, then a wait of 1000 ns; or a wait after each probe
    level = {"from": "others", "pick": "after-me", "tries": "all"}
    rounds = run(graph(task(2000 * NS)), 4, stealing(level, backoff={"first_ns": 1000, "factor": 1, "after": "round"}))
    probes = run(graph(task(2000 * NS)), 4, stealing(level, backoff={"first_ns": 1000, "factor": 1, "after": "probe"}))
    assert rounds.of_worker("steal_attempts")[1:] == [6] * 3  # 100, 200, 300, 1400, 1500, 1600
    assert probes.of_worker("steal_attempts")[1:] == [2] * 3  # 100, 1200


def test_a_round_goes_on_to_its_next_level_after_the_wait_that_follows_a_probe() -> None:
    # worker 1 asks worker 3 at 100 ns, waits 1000 ns, and asks worker 2 on the other node 300 ns later, at 1400 ns
    levels = ({"from": "own-node", "pick": "after-me"}, {"from": "other-nodes", "by": "node", "pick": "after-me"})
    strategy = stealing(*levels, backoff={"first_ns": 1000, "factor": 1, "after": "probe"})
    seen = run(graph(task(2000 * NS)), 4, strategy, machine=toy(sockets=2, cores=2))
    assert seen.of_worker("steal_attempts")[1:] == [2] * 3
    assert seen.of_worker("steal_attempts_remote")[1:] == [1] * 3


def test_a_round_goes_through_its_levels_in_each_pass() -> None:
    # A round has four passes over three victims and one more probe of worker 0. Then the worker sleeps without a look.
    level = {"from": "others", "pick": "permutation", "tries": "all"}
    again = {"from": "others", "pick": "in-order", "from_pass": 4}
    idle = {"phases": [{"rounds": 1, "pause_ns": 0}], "sleep": {"recheck": "none", "misses": "yes"}}
    seen = run(graph(task(5000 * NS)), 4, stealing(level, again, passes=4, idle=idle))
    # the round of the phase, and one more before the sleep
    assert seen.of_worker("steal_attempts")[1:] == [2 * (4 * 3 + 1)] * 3


@pytest.mark.parametrize(
    ("amount", "taken"),
    [
        ("half", [32, 16, 8, 4, 2, 1, 1]),  # floor(log2 64) + 1 = 7 steals empty the queue
        ({"share": 2, "most": 8}, [8] * 7 + [4, 2, 1, 1]),
        ({"share": 4, "most": 3}, [3] * 18 + [3, 2, 2, 1, 1, 1]),  # a fourth, rounded up, of the queue; 3 at most
        ({"share": 2, "round": "above"}, [33, 16, 8, 4, 2, 1]),  # half plus one of an even number
        ("one", [1] * 64),
    ],
)
def test_a_thief_takes_its_share_up_to_the_most(amount: Any, taken: list[int]) -> None:
    work = graph(task(*[task(1 * NS)] * 64, 100_000 * NS))
    seen = run(work, how=runtime(costs={"probe_ns": 100}), strategy=stealing({**IN_ORDER, "amount": amount}))
    assert [steal[3] for steal in seen.steals] == taken


def test_a_thief_stays_with_a_producer_and_forgets_a_victim_that_has_nothing() -> None:
    """Worker 0 has tasks of 1000 ns for the others. A thief that takes one comes back with one probe of 100 ns.

    From 60,000 ns on worker 1, which runs the last of these tasks, has the only tasks: thieves that kept worker 0 as
    their victim would not find these tasks.
    """
    levels = {"from": "last", "chance": 1, "forget": "yes"}, {"from": "others"}
    late = task(40_000 * NS, *[task(1000 * NS)] * 20, 100_000 * NS)
    work = graph(task(*[task(1000 * NS)] * 60, late, 50_000 * NS))
    seen = run(work, 4, stealing(*levels))
    for thief in (1, 2, 3):
        times = [t for t, w, q, _ in seen.steals if w == thief and q == 0]
        assert {after - before for before, after in pairwise(times[:-1])} == {1100 * NS}
    assert {(w, q) for t, w, q, _ in seen.steals if t > 60_000 * NS} == {(0, 1), (2, 1), (3, 1)}


def test_a_chance_learns_from_rounds_that_are_passed_over() -> None:
    """Failed probes raise the chance of the level `from: last` while no last victim is known: to 1 at 100,000 ns."""
    learns = {"first": 0, "most": 1, "elsewhere-miss": 0.01}
    levels = {"from": "last", "chance": learns}, {"from": "others"}
    seen = run(graph(task(100_000 * NS, *[task(1000 * NS)] * 20, 50_000 * NS)), 4, stealing(*levels))
    for thief in (1, 2, 3):
        times = [t for t, w, *_ in seen.steals if w == thief]
        assert {after - before for before, after in pairwise(times)} == {1100 * NS}


def test_workers_empty_a_shared_queue_in_batches() -> None:
    """Of L tasks each take gets L div 4 + 1, at most 128; of n tasks P workers make about P ln(n/P) + P takes."""
    batches = {"share": "workers", "round": "above", "most": 128}
    queues = {"pool": {"per": "machine"}, "deque": {"per": "worker"}}
    shared = {"queues": queues, "dispatch": [{"to": "any", "queue": "pool", "pick": "in-order"}]}
    level = {"from": "own", "queue": "pool", "amount": batches}
    seen = run(graph(task(*[task(1000 * NS)] * 400, 1_000_000 * NS)), 4, stealing(level, **shared))
    taken, left = [], 400
    while left:
        taken.append(min(left // 4 + 1, 128))
        left -= taken[-1]
    assert [tasks for *_, tasks in seen.steals] == [1, *taken]  # the root, then the other tasks
    assert len(taken) == pytest.approx(4 * log(400 / 4) + 4, rel=0.2)


@pytest.mark.parametrize("visit", ["random", "weighted"])
def test_a_round_visits_the_group_that_a_draw_chooses(visit: str) -> None:
    # worker 1 looks at 300, 600, ..., 1800 ns; the two other nodes are equally far, so that their weights are equal,
    # too
    level = {"from": "others", "by": "node", "visit": visit, "pick": "in-order"}
    seen = run(graph(task(2000 * NS)), 3, stealing(level), machine=toy(sockets=3, cores=1))
    stream = draws.base(SEED, draws.DrawClass.VICTIM, 1)
    chosen = [(0, 2)[draws.below(draws.draw(stream, k), 2)] for k in range(6)]
    assert seen.result.node_attempts[1].tolist() == [chosen.count(0), 0, chosen.count(2)]


# ---- rounds without a candidate ------------------------------------------------------------------------------------

NOBODY = {"from": "others", "if": {"length": 1000}}


@pytest.mark.parametrize(("empty", "attempts"), [("skip", [0, 0]), ("count", [1, 11])])
def test_a_round_without_a_candidate(empty: str, attempts: list[int]) -> None:
    # worker 1 has a round at 0, 100, ..., 1000 ns, after the time of each local probe; worker 0 has a round at its
    # task's end
    seen = run(graph(task(1000 * NS)), strategy=stealing(NOBODY, backoff={"empty": empty}))
    assert seen.of_worker("no_victim") == [1, 11]
    assert seen.of_worker("steal_attempts") == attempts
    assert seen["steal_false"] == sum(attempts)
    assert seen.of_worker("idle_backoff_ps") == [0, 1000 * NS]


# ---- amounts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "leave", "count"),
    [
        *(("one", 0, 1), ("half", 0, 4), ("all", 0, 7), ("all", 2, 5), ("half", 6, 1)),
        *(({"count": 3}, 0, 3), ({"count": 9}, 0, 7), ({"count": 6}, 2, 5)),
        *(({"share": 3}, 0, 3), ({"share": 7}, 0, 1), ({"share": "workers"}, 0, 4)),
    ],
)
def test_amount_of_a_queue_of_seven(amount: Any, leave: int, count: int) -> None:
    seen = run(items(8, 10_000 * NS), strategy=stealing({**IN_ORDER, "amount": amount, "leave": leave}))
    assert seen.steals[0] == (100 * NS, 1, 0, count)
    assert seen["tasks_stolen"] == sum(tasks for *_, tasks in seen.steals)


def test_a_queue_no_longer_than_what_is_left_is_not_robbed() -> None:
    seen = run(items(3, 1000 * NS), strategy=stealing({**IN_ORDER, "leave": 1}))
    assert seen.steals == ((100 * NS, 1, 0, 1),)  # a queue of 2 tasks gives one task; the last task stays
    assert seen["makespan_ps"] == 2000 * NS


def test_the_first_stolen_task_is_run_and_the_others_are_kept_in_order() -> None:
    # worker 0 executes item 0. Worker 1 takes items 1 to 3 from the front, runs item 1, pushes items 2 and 3, and pops
    # from the back of its queue
    seen = run(items(8, 1000 * NS), strategy=stealing({**IN_ORDER, "amount": {"count": 3}}))
    assert seen.order(1)[:3] == [1, 3, 2]
    assert seen.order(0)[:3] == [0, 7, 6]


def test_take_and_move_are_paid_before_the_first_stolen_task() -> None:
    how = runtime(costs={"take_ns": 60, "move_ns": 20})
    seen = run(items(8, 1000 * NS), strategy=stealing({**IN_ORDER, "amount": {"count": 3}}), how=how)
    assert (1, 1, (100 + 60 + 2 * 20) * NS, 1200 * NS) in seen.stretches


# ---- ends ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "own", "thief"), [("lifo-fifo", [0, 5, 4], [1, 2, 3]), ("fifo-lifo", [0, 1, 2], [5, 4, 3])]
)
def test_own_end_and_steal_end(order: str, own: list[int], thief: list[int]) -> None:
    # worker 1 looks at 100, 700 and 1300 ns, worker 0 starts its items at 0, 500 and 1000 ns
    seen = run(items(6, 500 * NS), how=runtime(queue_order=order))
    assert [seen.order(0), seen.order(1)] == [own, thief]


# ---- early stealing (A-10) -----------------------------------------------------------------------------------------


def test_refill_looks_for_work_before_the_own_queue_is_empty() -> None:
    # With `refill` 1 a worker that has one task looks for another. Worker 1 steals at 100 and 200 ns and runs. At 1000
    # ns worker 0 has one task left, and steals a task at 1100 ns. At 1200 ns worker 1 has no task, steals at 1300 ns,
    # looks again in vain at 1400 ns and runs its task. Worker 0 looks in vain at 2200, 2300 and 2400 ns.
    seen = run(items(4, 1000 * NS), strategy=stealing(IN_ORDER, refill=1))
    assert seen.steals == ((100 * NS, 1, 0, 1), (200 * NS, 1, 0, 1), (1100 * NS, 0, 1, 1), (1300 * NS, 1, 0, 1))
    assert (seen["steal_attempts"], seen["makespan_ps"]) == (8, 2400 * NS)


# ---- probes of near and far queues ---------------------------------------------------------------------------------


def test_probes_of_another_node_take_their_own_time_and_are_remote() -> None:
    machine = toy(sockets=2, cores=1)
    seen = run(items(2, 1000 * NS), machine=machine, how=runtime(costs={"probe_ns": 100, "probe_remote_ns": 300}))
    assert seen.steals == ((300 * NS, 1, 0, 1),)
    assert (seen["steal_attempts_remote"], seen["steal_success_remote"]) == (seen["steal_attempts"], 1)
    assert seen.result.node_success.tolist() == [[0, 0], [1, 0]]


def test_probes_and_takes_pay_for_the_cache_line() -> None:
    # 100 ns + the line of another socket 40 ns; the take 60 + 40 ns
    how = runtime(costs={"probe_ns": 100, "probe_remote_ns": 100, "take_ns": 60, "line": "latency"})
    seen = run(items(2, 1000 * NS), machine=toy(sockets=2, cores=1), how=how)
    assert seen.steals == ((140 * NS, 1, 0, 1),)
    assert (1, 1, 240 * NS, 1240 * NS) in seen.stretches


def test_a_thief_pays_for_the_direction_in_which_the_line_moves() -> None:
    """A line takes 30 ns from core 0 to core 1, and 70 ns back; worker 1 steals, and worker 0 is robbed.

    The thief pays 100 + 30 ns for the probe, 60 + 30 for the take. At its end, the stolen task counts itself off in the
    memory of worker 0: 20 + 30 ns.
    """
    one_way = {"cores_ns": [[5, 30], [70, 6]], "same_core_ns": None, "same_socket_ns": None, "cross_socket_ns": None}
    machine = toy_with({"sockets": 1, "cores": 2}, coherence=one_way)
    how = runtime(costs={"probe_ns": 100, "take_ns": 60, "join_ns": 20, "line": "latency"})
    work = graph(body(task(1000 * NS), 5000 * NS, WAIT))
    seen = run(work, machine=machine, how=how)
    assert seen.steals == ((130 * NS, 1, 0, 1),)
    assert (1, 1, 220 * NS, 1220 * NS) in seen.stretches
    assert seen.of_worker("overhead_ps")[1] == (60 + 30 + 20 + 30) * NS


def test_a_probe_takes_a_nanosecond_at_least() -> None:
    seen = run(items(1, 10 * NS), how=runtime(costs={"probe_ns": 0}))
    assert seen["steal_attempts"] == 10


def test_a_round_goes_on_after_a_failure() -> None:
    # worker 2 finds nothing at worker 0 at 100 ns, and finds the task that worker 1 has put into its queue at 200 ns
    bodies = graph(body(2000 * NS), body(50 * NS, task(1000 * NS), 1500 * NS), phases=(phase(0, 1, deal=Deal.BLOCK),))
    seen = run(bodies, 3, stealing({**IN_ORDER, "tries": "all"}))
    assert seen.steals == ((200 * NS, 2, 1, 1),)


# ---- draws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_a_victim_is_the_next_draw_of_the_thief_s_own_stream(seed: int) -> None:
    # workers 0 to 2 hold tasks, worker 3 has no task and looks at one of the workers at 100 ns
    shared = graph(*[body(task(NS), task(NS), 10_000 * NS) for _ in range(3)], deal=Deal.CYCLIC)
    seen = run(shared, 4, "randomized", seed=seed)
    first = draws.below(draws.draw(draws.base(seed, 1, 3), 0), 3)
    assert seen.steals[0] == (100 * NS, 3, first, 1)


def test_polls_are_passed_over_up_to_the_instant_of_the_next_change() -> None:
    # 49 probes fail, the 50th looks at 5000 ns, when the child has just been put
    seen = run(graph(task(5000 * NS, task(1000 * NS), 5000 * NS)))
    assert seen.steals == ((5000 * NS, 1, 0, 1),)
    assert seen.of_rank(Rank.POLL)[0] == (5000 * NS, 1, 49, 0)


# ---- the order of events at one instant -----------------------------------------------------------------------------


@pytest.mark.parametrize(("later_ps", "steals"), [(0, ()), (1, ((100 * NS, 1, 0, 1),))])
def test_work_ends_before_a_probe_looks(later_ps: int, steals: tuple[Any, ...]) -> None:
    # worker 0 has both items; worker 0 takes the second item when worker 1 looks, or a picosecond later
    seen = run(items(2, 100 * NS + later_ps))
    assert seen.steals == steals
    assert seen["makespan_ps"] == 200 * NS + later_ps
    assert seen["steal_attempts"] == 2  # the second probe, at the last instant, finds nothing
    assert seen["steal_false"] == 2 - len(steals)


@pytest.mark.parametrize(("later_ps", "stolen_ns"), [(0, 100), (1, 200)])
def test_a_put_is_visible_to_a_probe_of_its_instant(later_ps: int, stolen_ns: int) -> None:
    seen = run(graph(task(task(500 * NS), 900 * NS)), how=runtime(costs={"push_ns": 100 + later_ps / NS}))
    assert seen.of_rank(Rank.PUT) == ((100 * NS + later_ps, 0, 1, 0),)
    assert seen.steals == ((stolen_ns * NS, 1, 0, 1),)
    assert seen["makespan_ps"] == 1000 * NS + later_ps


def test_the_lower_worker_wins_a_task_for_which_two_look_at_once() -> None:
    seen = run(items(2, 1000 * NS), workers=3)
    assert seen.steals == ((100 * NS, 1, 0, 1),)


def test_probes_at_the_last_instant_count() -> None:
    seen = run(items(1, 300 * NS), workers=3)
    assert seen["steal_attempts"] == 6  # at 100, 200 and 300 ns, of workers 1 and 2


def test_priorities_order_by_rank_then_actor_and_spare_those_of_simpy() -> None:
    keys = [priority(rank, actor) for rank in Rank for actor in (0, 1, 2**31)]
    assert keys == sorted(set(keys))
    assert min(keys) == 2


# ---- full queues ----------------------------------------------------------------------------------------------------


def test_an_overflowed_queue_takes_tasks_again_below_the_resume_fill() -> None:
    # Worker 1 takes tasks 1, 2 and 3 at 100, 300 and 500 ns: the full queue of 4 tasks then holds 3, 2 and 1. The
    # queue takes new tasks only when it holds less than half of 4 tasks: worker 0 runs tasks 5 to 10 at once, and puts
    # tasks 11 and 12 at 600 ns.
    work = graph(task(*[task(100 * NS) for _ in range(12)], WAIT))
    seen = run(work, how=runtime(capacity=4, on_full="inline", resume=0.5))
    assert seen.order(0)[:6] == [5, 6, 7, 8, 9, 10]
    assert [(t, task_id) for t, _, task_id, _ in seen.of_rank(Rank.PUT)][4:] == [(600 * NS, 11), (600 * NS, 12)]


def test_a_new_task_runs_at_once_if_more_others_are_unfinished_than_the_bound() -> None:
    """One worker and a bound of one task: beside the root, task 1 finds one other task and is queued. Task 2 finds two
    others, and its children find three. After task 2 has ended, tasks 5 and 6 find the root and task 1.
    """
    work = graph(task(task(100 * NS), task(10 * NS, task(7 * NS), task(8 * NS)), task(20 * NS), task(30 * NS), WAIT))
    seen = run(work, workers=1, how=runtime(inline_above=1))
    assert [end - start for _, _, start, end in sorted(seen.stretches, key=lambda each: each[2])] == [
        length * NS for length in (10, 7, 8, 20, 30, 100)
    ]
    assert len(seen.of_rank(Rank.PUT)) == 1


def test_no_more_tasks_are_queued_or_under_way_than_the_bound() -> None:
    """Worker 0 spawns 200 tasks while three workers take some. With a bound of two tasks for each of four workers, a
    task is queued only if at most eight others are unfinished, the root among them.
    """
    work = graph(task(*[step for i in range(200) for step in (task((50 + 37 * i % 90) * NS), 9 * NS)], WAIT))
    seen = run(work, workers=4, how=runtime(inline_above=2, costs={"probe_ns": 5}), machine=toy(cores=4))
    ends = {each.task: each.end_ps for each in seen.log or () if each.task}
    put = {queued: at for at, _, queued, _ in seen.of_rank(Rank.PUT)}
    unfinished = [sum(at <= now < ends[queued] for queued, at in put.items()) for now in put.values()]
    assert max(unfinished) == 2 * 4
    assert len(put) < 200 == len(ends)


def test_items_that_the_master_makes_run_at_once_above_the_bound() -> None:
    """Items that worker 0 has not made yet do not count: it queues two, executes the third, then takes its own."""
    seen = run(items(5, 100 * NS), workers=1, how=runtime(inline_above=1, producer="master"))
    assert seen.order() == [2, 3, 4, 1, 0]


def test_a_worker_yields_after_each_task_of_a_wait_but_the_last() -> None:
    """One worker. The outer wait is for tasks 1 and 2: one yield. Task 2 waits for one child at a time, twice: none."""
    both_waits = task(10 * NS, task(7 * NS), WAIT, task(8 * NS), WAIT)
    work = graph(task(task(100 * NS), both_waits, WAIT))
    seen = run(work, workers=1, how=runtime(join="help", costs={"yield_ns": 5}))
    assert seen["makespan_ps"] == (10 + 7 + 8 + 5 + 100) * NS


def test_a_worker_yields_after_each_item_of_a_loop() -> None:
    """One worker, five items that an extra producer makes: the worker looks for an item after each of four others."""
    seen = run(items(5, 100 * NS), workers=1, how=runtime(costs={"yield_ns": 5}))
    assert seen["makespan_ps"] == (5 * 100 + 4 * 5) * NS


def test_a_growing_queue_has_no_bound() -> None:
    work = graph(task(*[task(100 * NS) for _ in range(6)], WAIT))
    seen = run(work, workers=1, how=runtime(on_full="grow"))
    assert seen.order() == [6, 5, 4, 3, 2, 1]


def test_an_extra_producer_deals_round_robin_and_waits_for_room() -> None:
    # puts at 10 to 40 ns fill both queues; both workers steal at 100 ns, and the puts at 110 and 120 ns follow
    how = runtime(producer="extra", on_full="next", capacity=2, costs={"push_ns": 10})
    seen = run(items(6, 1000 * NS), how=how)
    puts = [(t, queue) for t, _, _, queue in seen.of_rank(Rank.PUT)]
    assert puts == [(10 * NS, 0), (20 * NS, 1), (30 * NS, 0), (40 * NS, 1), (110 * NS, 0), (120 * NS, 1)]
    assert seen.steals == ((100 * NS, 0, 1, 1), (100 * NS, 1, 0, 1))
    assert [seen.order(0), seen.order(1)] == [[1, 4, 2], [0, 5, 3]]
    assert seen["makespan_ps"] == 3100 * NS
    # the producer is no worker
    assert seen.result.per_worker["role"].tolist() == ["worker", "worker", "producer"]
    assert seen.of_worker("overhead_ps") == [0, 0, 60 * NS]
    assert seen.of_worker("parked_ps") == [0, 0, 60 * NS]
    assert (seen["overhead_ps"], seen["parked_ps"]) == (0, 0)
    assert seen.result.row()["efficiency"] == seen["serial_ps"] / (2 * seen["makespan_ps"])


def test_the_master_produces_into_its_own_queue_and_executes_what_does_not_fit() -> None:
    how = runtime(producer="master", on_full="inline", capacity=2, join="help", costs={"push_ns": 10})
    seen = run(items(6, 100 * NS), workers=1, how=how)
    assert seen.order() == [2, 3, 4, 5, 1, 0]
    assert seen["makespan_ps"] == (2 * 10 + 6 * 100) * NS
    assert seen["overhead_ps"] == 20 * NS


# ---- several tasks that become ready at once ------------------------------------------------------------------------

LONG = 10_000 * NS
PUSH = 10 * NS


def room_for(tasks: int, push_ns: int = 0) -> RuntimeSpec:
    return runtime(join="help", capacity=tasks, on_full="inline", costs={"push_ns": push_ns})


@pytest.mark.parametrize("push_ps", [0, PUSH])
def test_a_worker_offers_what_it_has_released_again_once_it_has_executed_one_of_them(push_ps: int) -> None:
    """Worker 0 releases six tasks, and its queue has room for one task: worker 0 puts a task into the queue, executes
    the next task, puts another task, and so on.
    """
    names = [f"t{i}" for i in range(6)]
    tasks = [task(Run(LONG), name=name, after=("first",)) for name in names]
    work = graph(task(Run(LONG), name="first"), *tasks)
    seen = observe(event_by_event(plan_of(work, 2, how=room_for(1, push_ps // NS))))
    assert seen.of_worker("tasks") == [4, 3]  # worker 0 runs `first`, then each worker three of the six tasks
    lost = seen["makespan_ps"] - 4 * LONG
    assert 0 <= lost <= 6 * push_ps + 400 * NS  # pushes, and probes of the thief


def test_a_worker_that_is_dealt_more_than_its_queue_holds_offers_it_one_by_one() -> None:
    work = graph(*[task(Run(LONG)) for _ in range(100)])
    for workers in (1, 2, 4):
        seen = observe(event_by_event(plan_of(work, workers, "randomized", room_for(4))))
        assert sum(seen.of_worker("tasks")) == 100
        assert abs(max(seen.of_worker("tasks")) - 100 // workers) <= 1


def test_what_is_released_within_a_join_is_executed_within_it() -> None:
    """A body waits for children that depend on the first child. The queue has no room for these children:
    within the join the body's worker executes all of them.
    """
    children = [task(Run(LONG), name=f"c{i}", after=("first",)) for i in range(5)]
    work = graph(body(task(Run(LONG), name="first"), *children, WAIT, Run(LONG)))
    seen = observe(event_by_event(plan_of(work, 1, how=room_for(1))))
    assert seen["makespan_ps"] == 7 * LONG
    two = observe(event_by_event(plan_of(work, 2, how=room_for(1))))
    assert two["makespan_ps"] < 5 * LONG + 1000 * NS


@pytest.mark.parametrize("push_ns", [0, 10])
@pytest.mark.parametrize("workers", [1, 3, 4])
def test_engines_agree_on_what_waits_for_room(workers: int, push_ns: int) -> None:
    """Six layers of nine tasks; each task waits for up to two tasks of the layer before."""
    tasks = []
    for layer, i in product(range(6), range(9)):
        before = {f"{layer - 1}-{each}" for each in (i, (2 * i + layer) % 9) if layer}
        tasks.append(task(LONG + i * NS, name=f"{layer}-{i}", after=tuple(sorted(before))))
    observe(event_by_event(plan_of(graph(*tasks), workers, "randomized", room_for(3, push_ns))))
