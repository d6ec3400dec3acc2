"""Groups of tasks: the end of a group waits for all tasks spawned in the group and all their descendants (model 3.1).

The times of programs whose tasks end before their children (leave children unjoined) are compared with closed forms.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, Seen, observe, plan_of, run, runtime, seeded, stealing
from random_graphs import graph_document, workload_of
from task_graphs import WAIT, Task, Use, body, call, graph, longest_path_ps, phase, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.native.native_engine import longest_chains_ps as native_chains_ps
from numasim.errors import InputError
from numasim.objects.graph_object import Graph
from numasim.workload.builder import frozen
from numasim.workload.graph import Deal, Op, Workload
from numasim.workload.graph_rules import validate
from numasim.workload.json_form.graph_io import read, write
from numasim.workload.span import longest_chains_ps, span_ps
from numasim.workload.unfold import unfolded

GROUP, END = Use(Op.GROUP), Use(Op.END_GROUP)
T = 1000 * NS
BEHIND = 50 * NS
JOINS = ("help", "own", "strict", "leapfrog", "continuation", "block")
ANY = stealing({"from": "thief"}, {"from": "others", "pick": "in-order"})


def free(join: str = "continuation", **costs: float) -> Any:
    """Return a runtime in which a probe and the wait after a failure take 1 ns each, and all else no time."""
    return runtime(join=join, poll_ns=1, costs={"probe_ns": 0, "probe_remote_ns": 0, **costs})


def on_both(work: Workload, workers: int, how: Any) -> Seen:
    validate(work)
    return run(work, workers, ANY, how)


def chain(length: int) -> Task:
    """Return a task that works, spawns the rest of the chain and ends at once."""
    return task(T, *([chain(length - 1)] if length > 1 else []))


def independent(count: int) -> Task:
    """Return a task that takes no time and leaves ``count`` children unjoined."""
    return task(*(task(T) for _ in range(count)))


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("join", JOINS)
def test_a_chain_of_tasks_that_end_at_once_takes_the_sum_of_their_times(join: str, workers: int) -> None:
    if join == "block" and workers == 1:
        return  # the worker sleeps, and nobody runs the chain
    seen = on_both(graph(task(GROUP, chain(7), END, BEHIND)), workers, free(join))
    assert seen["span_ps"] == seen["work_ps"] == 7 * T + BEHIND
    assert seen["makespan_ps"] == 7 * T + BEHIND + (NS if join == "block" else 0)  # `block`: a thief takes the chain


@pytest.mark.parametrize("join", ["help", "own", "strict", "leapfrog", "continuation"])
@pytest.mark.parametrize(("count", "workers"), [(1, 2), (7, 1), (7, 3), (9, 3), (8, 3), (13, 4)])
def test_independent_grandchildren_take_their_number_over_that_of_workers(join: str, count: int, workers: int) -> None:
    """Worker 0 has all children in its queue; a thief begins each stolen child 1 ns later than worker 0 would.

    So worker 0 has the last child if one child is left after all full rounds.
    """
    seen = on_both(graph(task(GROUP, independent(count), END, BEHIND)), workers, free(join))
    rounds = -(-count // workers)
    late_ps = rounds * NS if workers > 1 and count % workers != 1 else 0
    assert last_end_ps(seen) == rounds * T + late_ps
    assert seen["span_ps"] == T + BEHIND
    # the root goes on when the last descendant ends, or at most 2 ns later if its worker has to probe first
    (start,) = (start for _, ran, start, _ in seen.stretches if ran == 0)
    delay_ps = start - last_end_ps(seen)
    assert delay_ps == 0 if join == "continuation" else 0 <= delay_ps <= 2 * NS
    assert seen["makespan_ps"] == start + BEHIND


def test_a_worker_that_sleeps_in_a_group_is_woken_by_its_last_task() -> None:
    """Worker 1 takes the child at 1 ns and runs the child's four tasks; worker 0 wakes 500 ns after the last task."""
    seen = on_both(graph(task(GROUP, independent(4), END, BEHIND)), 2, free("block", wake_ns=500))
    assert last_end_ps(seen) == 4 * T + NS
    assert seen["makespan_ps"] == 4 * T + NS + 500 * NS + BEHIND
    assert seen.of_worker("parked_ps") == [4 * T + NS + 500 * NS, 0]


def last_end_ps(seen: Seen) -> int:
    """Return the time at which the last task except the root ends."""
    return max(end for _, ran, _, end in seen.stretches if ran != 0)


def test_without_a_group_nobody_waits_for_grandchildren() -> None:
    seen = on_both(graph(task(independent(4), WAIT, BEHIND)), 1, free())
    assert seen.order()[:1] == [0]
    assert seen["makespan_ps"] == 4 * T + BEHIND


def test_a_group_waits_for_what_was_spawned_in_it_only() -> None:
    """The thief takes the long task, spawned before the group, at 1 ns; the task of the group ends before it."""
    work = graph(task(task(9 * T), 1 * NS, GROUP, task(task(T)), END, BEHIND, name="root"))
    seen = on_both(work, 2, free())
    assert [row for row in seen.stretches if row[1] == 0] == [(0, 0, 0, NS), (0, 0, T + NS, T + NS + BEHIND)]
    assert seen["makespan_ps"] == 9 * T + NS


def test_a_wait_in_a_group_is_for_all_children_as_anywhere() -> None:
    work = graph(task(task(9 * T), NS, GROUP, task(task(T)), WAIT, BEHIND, END, BEHIND))
    seen = on_both(work, 2, free())
    assert [start for _, ran, start, _ in seen.stretches if ran == 0] == [0, 9 * T + NS, 9 * T + NS + BEHIND]


@pytest.mark.parametrize("join", ["help", "continuation"])
def test_nested_groups_end_from_the_inside(join: str) -> None:
    """One worker, last in, first out: the inner group's chain runs before the tasks that the outer group left."""
    work = graph(task(GROUP, task(task(2 * T)), GROUP, chain(3), END, BEHIND, END, BEHIND))
    seen = on_both(work, 1, free(join))
    assert [start for _, ran, start, _ in seen.stretches if ran == 0] == [3 * T, 5 * T + BEHIND]


@pytest.mark.parametrize("join", ["help", "continuation", "leapfrog"])
def test_groups_in_calls_bodies_and_other_tasks(join: str) -> None:
    """A call's children belong to the group around the call; the ops after a group begin when the group has ended."""
    inner = call(task(T), GROUP, chain(2), END, BEHIND)
    child = task(GROUP, independent(2), END, task(T))
    work = graph(body(GROUP, inner, child, END, BEHIND), body(GROUP, chain(2), END), phases=(
        phase(0, 10, deal=Deal.CYCLIC, repeat=3),))  # fmt: skip
    assert work.rows == 13
    for workers in (1, 2, 3):
        seen = on_both(work, workers, free(join, join_ns=3, wait_ns=7, resume_ns=11, push_ns=2, take_ns=5))
        assert seen["tasks"] == 3 * 10
        assert seen["work_ps"] == 3 * (8 * T + 2 * BEHIND)


def test_a_group_costs_what_a_wait_does() -> None:
    """The end of each of the three tasks costs join_ns. The end of the group costs wait_ns if the worker helped, and
    resume_ns if the waiting task had left its worker.
    """
    work = graph(task(GROUP, chain(3), END, BEHIND))
    helped = on_both(work, 1, free("help", join_ns=3, wait_ns=7, resume_ns=11))
    detached = on_both(work, 1, free(join_ns=3, wait_ns=7, resume_ns=11))
    assert helped["makespan_ps"] == 3 * T + BEHIND + 3 * 3 * NS + 7 * NS
    assert detached["makespan_ps"] == 3 * T + BEHIND + 3 * 3 * NS + 11 * NS


def test_a_blocked_worker_alone_is_a_deadlock_that_is_named() -> None:
    with pytest.raises(DeadlockError, match="2 tasks are left at 0 ps"):
        observe(plan_of(graph(task(GROUP, chain(2), END)), 1, ANY, free("block")))


@pytest.mark.parametrize("join", ["help", "continuation", "leapfrog"])
def test_folded_programs_have_groups(join: str) -> None:
    """The task of one row is spawned twelve times. Each of the twelve tasks leaves a child unjoined."""
    once = graph(task(GROUP, task(T, task(T)), END, BEHIND))
    times = 12
    folded = replace(
        once,
        folded=True,
        parent=frozen(np.full(3, -1)),
        op_ptr=frozen(once.op_ptr + (times - 1) * (np.arange(4) > 0)),
        op_code=frozen(np.insert(once.op_code, 1, [Op.SPAWN] * (times - 1))),
        op_arg=frozen(np.insert(once.op_arg, 1, [1] * (times - 1))),
    )
    seen = on_both(unfolded(folded), 3, free(join))
    assert seen["work_ps"] == 2 * times * T + BEHIND
    whole = observe(replace(plan_of(folded, 3, ANY, free(join)), skip=False), engine="native")
    assert (
        whole.result.counters
        == observe(replace(plan_of(unfolded(folded), 3, ANY, free(join)), skip=False), engine="native").result.counters
    )
    assert whole["span_ps"] == span_ps(folded, 0) == span_ps(unfolded(folded), 0) == 2 * T + BEHIND


# ---- in Python and JSON ----------------------------------------------------------------------------------------------


def written(*, nested: bool) -> Graph:
    """Return a graph whose root leaves one child unjoined, and waits for a group with other unjoined tasks."""
    drawn = Graph("groups")
    with drawn.task() as root:
        root.spawn(cost_ns=5)
        with root.group():
            root.spawn(cost_ns=1).spawn(cost_ns=7)
            if nested:
                with root.group():
                    root.spawn(cost_ns=2)
        root.work(3)
    return drawn


def test_groups_of_a_graph_in_python_and_what_they_leave_to_wait_for() -> None:
    """The group waits for all tasks that are spawned in the group. At the end of the root only the child that the root
    spawned before the group is left to wait for.
    """
    ops = [Op(code) for code in written(nested=True).workload.op_code[:10]]
    assert ops == [
        Op.SPAWN,
        Op.GROUP,
        Op.SPAWN,
        Op.GROUP,
        Op.SPAWN,
        Op.END_GROUP,
        Op.END_GROUP,
        Op.RUN,
        Op.WAIT,
        Op.RUN,
    ]
    alone = Graph("alone")
    with alone.task() as root, root.group():
        root.spawn(cost_ns=1)
    assert alone.workload.op_code.tolist() == [Op.GROUP, Op.SPAWN, Op.END_GROUP, Op.RUN]


def test_groups_survive_json_and_networkx(tmp_path: Path) -> None:
    work = written(nested=True).workload
    write(work, tmp_path / "graph.json")
    text = (tmp_path / "graph.json").read_text()
    assert '["group"],["spawn",2],["group"],["spawn",4],["end_group"],["end_group"]' in text
    assert read(tmp_path / "graph.json").digest() == work.digest()
    flat = written(nested=False)
    assert Graph.from_networkx(flat.to_networkx()).workload.digest() == flat.workload.digest()


@pytest.mark.parametrize("op", ['["group", 1]', '["endgroup"]', '["end_group", 0]', '["lock"]'])
def test_ops_that_are_not_written_so_are_refused(op: str, tmp_path: Path) -> None:
    text = f'{{"format": "numasim task graph 1", "name": "x", "tasks": [{{"ops": [{op}]}}], "segments": []}}'
    (tmp_path / "graph.json").write_text(text)
    with pytest.raises(InputError, match=r'an op is \["run", segment\], .*\["group"\], \["end_group"\]'):
        read(tmp_path / "graph.json")


# ---- what is refused -------------------------------------------------------------------------------------------------

UNBALANCED = {
    "ends": (task(T, END), "no group is open that this op could end", r"tasks[0].ops[1]"),
    "leaves": (task(task(GROUP, T), GROUP, END), "the task ends inside a group", "tasks[1].ops"),
    "across": (task(GROUP, task(END)), "the task ends inside a group|no group is open", "tasks"),
}


@pytest.mark.parametrize("name", UNBALANCED)
def test_unbalanced_groups_are_refused(name: str) -> None:
    program, problem, place = UNBALANCED[name]
    with pytest.raises(InputError, match=problem) as caught:
        validate(graph(program))
    assert place in str(caught.value)


@pytest.mark.parametrize(("codes", "problem"), [
    ([Op.END_GROUP, Op.GROUP], "op_code ends a group that the task has not begun"),
    ([Op.GROUP, Op.GROUP], "op_code leaves a group open"),
])  # fmt: skip
def test_the_plan_reader_refuses_them_too(codes: list[Op], problem: str) -> None:
    plan = plan_of(graph(task(GROUP, END)))
    broken = replace(plan, workload=replace(plan.workload, op_code=frozen(np.array(codes, np.uint8))))
    with pytest.raises(InputError, match=problem):
        observe(broken, engine="native")


def test_a_group_in_which_a_task_waits_for_one_behind_it_is_a_cycle() -> None:
    work = graph(task(task(GROUP, task(T, name="b", after=("a",)), END, task(T, name="a"))))
    with pytest.raises(InputError, match="tasks wait for each other in a cycle: 1 after 2 after 3 after 1"):
        validate(work)


# ---- spans -----------------------------------------------------------------------------------------------------------


BACKWARDS = graph(task(task(1, after=("b",)), task(8, name="b"), WAIT, 2))  # against the order of rows


def test_spans_are_longest_paths() -> None:
    """The programs are random; each program with groups is also tested without its dependences."""
    drawn = (workload_of(graph_document(Random(number))) for number in range(200))
    works = [BACKWARDS, *(work for work in drawn if work.rows and not work.ranges)]
    assert sum(work.groups for work in works) > 20
    for work in works:
        plain = replace(work, successor_ptr=0 * work.successor_ptr, successor=work.successor[:0])
        for each in (work, plain) if work.groups else (work,):
            longest = [longest_path_ps(each, phase.roots) if phase.roots else 0 for phase in each.phases]
            assert longest_chains_ps(each, each.segment_compute_ps) == longest
            plan = plan_of(each, 2, ANY, free())
            assert native_chains_ps(seeded(plan), each.segment_compute_ps) == longest
