"""Cache lines of queues that serve one request after the other: times by hand and in closed form, on all engines
(model 5.6).

On the toy machine a line takes 20 ns within a socket and 40 ns between sockets.
"""

from __future__ import annotations

from typing import Any

import pytest
from engine_setup import NS, observe, plan_of, run, runtime, shipped_machine, stealing, toy
from task_graphs import WAIT, body, graph, items, task

from numasim.machine.routing import line_transfer_ps
from numasim.machine.topology import Machine
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.workload.graph import Deal

CENTRAL = {"queues": {"all": {"per": "machine"}}, "dispatch": [{"to": "any", "queue": "all"}]}
FROM_ALL = {"from": "own", "queue": "all"}
LOOKERS = stealing({"from": "others", "pick": "in-order", "leave": 9})  # thieves that look at worker 0 and take nothing


def served(line: str = "yes", **changes: Any) -> RuntimeSpec:
    """Return a runtime in which probes take the least time, and all else but lines is free."""
    costs = {"probe_ns": 1, "probe_remote_ns": 1, "line": line, **changes.pop("costs", {})}
    return runtime(costs=costs, **changes)


# ---- the owner of a queue, and those who look at it -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "machine", "transfer_ns", "looks_ns"),
    [
        (1, toy(), 0, 0),
        (2, toy(), 20, 20 + 20 + 20),
        (4, toy(), 20, (20 + 40 + 60) + 3 * 20 + 3 * 20),  # the first looks of three thieves come at 0 ns and queue up
        (2, toy(sockets=2, cores=1), 40, 40 + 40 + 40),
    ],
)
def test_the_first_operation_after_a_look_takes_one_transfer(
    workers: int, machine: Machine, transfer_ns: int, looks_ns: int
) -> None:
    # Three operations of the owner (two pushes, a pop) follow looks of thieves and take a transfer each, however many
    # thieves have looked. A second pop follows no look and takes no transfer.
    work = graph(task(1000 * NS, task(100 * NS), 1000 * NS, task(100 * NS), 1000 * NS))
    how = served(poll_ns=1000, costs={"probe_ns": 100, "probe_remote_ns": 100})
    seen = run(work, workers, LOOKERS, how, machine=machine)
    assert seen["line_owner_ps"] == 3 * transfer_ns * NS
    assert seen["makespan_ps"] == (3200 + 3 * transfer_ns) * NS
    assert seen["line_thief_ps"] == looks_ns * NS


def test_looking_at_an_unchanged_queue_is_free() -> None:
    seen = run(graph(task(1000 * NS)), 2, LOOKERS, served())
    assert seen["line_thief_ps"] == 20 * NS  # the first look
    assert seen["steal_attempts"] == 1000 - 20
    assert seen["line_owner_ps"] == 0


def test_who_looks_at_a_changed_line_is_served_one_after_the_other() -> None:
    # Worker 0 pushes at 900 ns. The others look every 500 ns, at first together.
    work = graph(task(900 * NS, task(1 * NS), 1000 * NS))
    seen = run(work, 8, LOOKERS, served(poll_ns=499), machine=toy(cores=8))
    first = [20 * i * NS for i in range(1, 8)]
    # The i-th thief waits 20 i ns at first, so that later looks do not meet. After the push each waits for one line.
    assert seen.of_worker("line_thief_ps")[1:] == [each + 20 * NS for each in first]


def test_rules_without_sleep_have_no_line_of_sleepers() -> None:
    work = graph(task(900 * NS, task(1 * NS), 1000 * NS))
    phases = [{"rounds": 1_000_000, "pause_ns": 499}]
    spins, waits = (
        run(work, 8, LOOKERS, served(**how), machine=toy(cores=8))
        for how in ({"idle": {"phases": phases}}, {"poll_ns": 499})
    )
    assert spins.of_worker("line_owner_ps") == waits.of_worker("line_owner_ps")
    assert spins["makespan_ps"] == waits["makespan_ps"]


def test_two_lines_keep_looks_and_pushes_apart() -> None:
    # Thieves read both ends of the queue. A push writes only the line of the back.
    work = graph(task(1000 * NS, task(100 * NS), 1000 * NS))
    how = served(poll_ns=1000, costs={"probe_ns": 100, "probe_remote_ns": 100})
    level = {"from": "others", "pick": "in-order", "leave": 9}
    strategies = (stealing(level, queues={"deque": {"per": "worker", "lines": lines}}) for lines in (1, 2))
    one, two = (run(work, 2, strategy, how) for strategy in strategies)
    # looks at 0 ns and after the push: one line each, or both at first and then the back alone
    assert (one["line_thief_ps"], two["line_thief_ps"]) == (40 * NS, 60 * NS)
    # the pop of the last task writes both ends, of which the thief has read both
    assert (one["line_owner_ps"], two["line_owner_ps"]) == (40 * NS, 60 * NS)


# ---- contended queues -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "workers"), [("xeon-e5-2620-2s", 4), ("xeon-e5-2620-2s", 12), ("epyc-9654-2s", 192)])
def test_contended_steals_take_the_mean_transfer(name: str, workers: int) -> None:
    # Worker 0 is busy; its deque holds tasks of no time. Thieves come round in the order of their ids.
    machine, tasks, thieves = shipped_machine(name), 3000, workers - 1
    mapped = stealing({"from": "others", "pick": "in-order"}, mapping="contiguous")
    work = graph(task(*(task(0) for _ in range(tasks)), 300 * tasks * NS))
    plan = plan_of(work, workers, mapped, served(poll_ns=100_000), machine=machine)
    times = line_transfer_ps(machine, plan.workers)
    mean_ps = sum(int(times[i, i % thieves + 1]) for i in range(1, workers)) / thieves
    seen = observe(plan)
    last_ps = max(row[0] for row in seen.steals)
    assert len(seen.steals) == tasks
    assert last_ps == pytest.approx(tasks * mean_ps, rel=0.01)


@pytest.mark.parametrize("workers", [1, 4, 6, 8, 12])
@pytest.mark.parametrize("task_ns", [0, 80])
def test_a_central_queue_is_saturated_at_one_transfer_a_task(workers: int, task_ns: int) -> None:
    # One queue for all. With a task of z ns the queue is saturated from 1 + z / x workers on: 5 for 80 ns.
    tasks = 3000
    seen = run(items(tasks, task_ns * NS), workers, stealing(FROM_ALL, **CENTRAL), served(), machine=toy(cores=12))
    cycle_ns = task_ns + 1 + (20 if workers > 1 else 0)  # the task, the probe, the transfer
    expected_ns = tasks * max(20 if workers > 1 else 1, cycle_ns / workers)
    assert seen["makespan_ps"] / NS == pytest.approx(expected_ns, rel=0.02)


def test_latency_alone_serves_everybody_at_once() -> None:
    tasks, plan = 3000, stealing(FROM_ALL, **CENTRAL)
    seen = run(items(tasks, 80 * NS), 12, plan, served("latency"), machine=toy(cores=12))
    # The queue's line is at the core of worker 0: a transfer takes worker 0 5 ns, the others 20 ns. Each task needs the
    # line twice.
    assert seen["makespan_ps"] / NS < tasks * (80 + 41) / 12 * 1.02


# ---- counters of joins ----------------------------------------------------------------------------------------------


def test_children_that_end_at_once_count_one_after_the_other() -> None:
    # Seven thieves end their children before worker 0 comes to its wait, which takes one more transfer.
    workers = 8
    work = graph(task(*(task(10_000 * NS) for _ in range(workers - 1)), 20_000 * NS, WAIT, 1 * NS))
    free, paid = (run(work, workers, how=served(line, poll_ns=1000), machine=toy(cores=8)) for line in ("no", "yes"))
    assert free["line_owner_ps"] == 0
    assert paid["line_owner_ps"] >= sum(20 * i for i in range(1, workers)) * NS - 7 * 20 * 7 * NS
    ends = sorted(end for _, worker, _, end in paid.stretches if worker)
    # the children end before the wait of worker 0, so that worker 0 pays for one transfer
    assert ends[-1] < 20_000 * NS
    assert paid["makespan_ps"] == 20_021 * NS


def test_bodies_that_share_nothing_pay_nothing() -> None:
    seen = run(graph(body(500 * NS), body(700 * NS), deal=Deal.BLOCK), 2, stealing({"from": "own"}), served())
    assert (seen["line_owner_ps"], seen["makespan_ps"]) == (0, 700 * NS)


def test_a_strategy_of_a_file_names_the_lines() -> None:
    spec = StrategySpec.model_validate({"name": "two", "queues": {"deque": {"per": "worker", "lines": 2}}, "steal": []})
    assert plan_of(items(1, NS), 2, spec).steal.lines.tolist() == [2, 2]
