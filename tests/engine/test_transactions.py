"""Transactions: the objects that an attempt opens, aborts and their costs (model 4.11), worked out by hand.

An attempt is one execution of a transaction. It aborts if it opens an object that another attempt has open for writing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, SEED, Seen, event_by_event, observe, plan_of, run, runtime, simulated, stealing, toy
from task_graphs import Access, Run, Task, Use, body, graph, task

from numasim.draws import DrawClass, base, below, draw, turn_seed
from numasim.engine.observe.trace_hash import Rank
from numasim.errors import InputError
from numasim.workload.graph import Deal, Op, Region, Workload
from numasim.workload.graph_rules import validate
from numasim.workload.sync_parameters import Role, SyncObject, running_weights

BEGIN, LOAD, STORE, COMMIT = (Use(op) for op in (Op.BEGIN, Op.LOAD, Op.STORE, Op.COMMIT))
UNDO_NS = 5
PARTS = ("work_local_ps", "overhead_ps", "wasted_ps")


def memory(objects: int = 1, skew_ppm: int = 0, undo_ns: int = UNDO_NS) -> tuple[SyncObject]:
    return (SyncObject("memory", Role.OBJECTS, parties=objects, skew_ppm=skew_ppm, undo_ps=undo_ns * NS),)


def bodies(*each: Task, words: tuple[SyncObject, ...] = memory(), **options: Any) -> Workload:
    """Return a program with one body for each worker."""
    work = graph(*each, deal=Deal.CYCLIC, words=words)
    return replace(work, phases=(replace(work.phases[0], **options),))


def ran(*each: Task, workers: int = 2, sockets: int = 1, words: tuple[SyncObject, ...] = memory(), **keys: Any) -> Seen:
    """Run one body on each worker, on every engine."""
    work = bodies(*each, words=words)
    validate(work)
    return run(work, workers, stealing(mapping="contiguous"), runtime(), toy(sockets=sockets, cores=4), **keys)


def times_ns(seen: Seen, worker: int) -> dict[str, int]:
    """Return the parts of a worker's time that are not zero, in ns."""
    columns = {name: int(seen.result.per_worker[name][worker]) for name in PARTS}
    return {name.removesuffix("_ps"): time // NS for name, time in columns.items() if time}


def aborts(seen: Seen) -> list[tuple[int, int, int, int]]:
    """Return (time in ns, worker, task, object) of every abort."""
    rows = seen.records.tolist()
    return sorted((t // NS, actor, a0, a1) for t, rank, actor, a0, a1 in rows if rank == Rank.ABORT)


# ---- one object ----------------------------------------------------------------------------------------------------


def test_who_meets_a_writer_aborts_there_and_begins_again() -> None:
    """Worker 0 writes the object from 10 to 60 ns. Worker 1 opens it at 30 ns, aborts, pays 5 ns, and opens it again at
    65 ns.
    """
    seen = ran(body(BEGIN, 10 * NS, STORE, 50 * NS, COMMIT), body(BEGIN, 30 * NS, STORE, 20 * NS, COMMIT))
    assert aborts(seen) == [(30, 1, 1, 0)]
    assert times_ns(seen, 0) == {"work_local": 60}
    assert times_ns(seen, 1) == {"work_local": 50, "wasted": 30, "overhead": 5}
    assert seen["makespan_ps"] == 85 * NS
    assert [seen.result.row()[name] for name in ("commits", "aborts", "abort_ratio")] == [2, 1, pytest.approx(1 / 3)]
    assert seen.result.object_conflicts.tolist() == [1]


@pytest.mark.parametrize(
    ("one", "other", "makespan_ns"),
    [
        # both read the object at the same time, and nobody writes
        (body(BEGIN, LOAD, 50 * NS, COMMIT), body(BEGIN, 30 * NS, LOAD, 20 * NS, COMMIT), 50),
        # an attempt writes the object that the attempt has read before, and opens the object again
        (body(BEGIN, LOAD, 10 * NS, STORE, LOAD, STORE, 10 * NS, COMMIT), body(20 * NS), 20),
        # worker 0 commits at 20 ns, before worker 1 opens the object at 20 ns
        (body(BEGIN, STORE, 20 * NS, COMMIT), body(BEGIN, 20 * NS, STORE, COMMIT), 20),
    ],
    ids=["readers", "one worker", "the end of an instant"],
)
def test_attempts_that_meet_nobody_commit(one: Task, other: Task, makespan_ns: int) -> None:
    seen = ran(one, other)
    assert not aborts(seen)
    assert seen["makespan_ps"] == makespan_ns * NS


def test_what_was_read_and_is_written_by_another_is_found_out_at_the_commit() -> None:
    """Worker 0 reads the object at 10 ns; worker 1 commits a write of it at 40 ns; so worker 0 aborts at 60 ns."""
    seen = ran(body(BEGIN, 10 * NS, LOAD, 50 * NS, COMMIT), body(BEGIN, 30 * NS, STORE, 10 * NS, COMMIT))
    assert aborts(seen) == [(60, 0, 0, 0)]
    assert times_ns(seen, 0) == {"work_local": 60, "wasted": 60, "overhead": 5}


def test_of_two_that_come_at_one_instant_the_lower_worker_is_first() -> None:
    seen = ran(body(BEGIN, 10 * NS, STORE, 10 * NS, COMMIT), body(BEGIN, 10 * NS, STORE, 10 * NS, COMMIT))
    assert aborts(seen)[0] == (10, 1, 1, 0)
    assert {worker for _, worker, _, _ in aborts(seen)} == {1}


def test_what_ends_at_an_instant_is_not_free_for_a_lower_worker() -> None:
    """Worker 0 opens the object at 20 ns, before worker 1 commits at 20 ns."""
    seen = ran(body(BEGIN, 20 * NS, STORE, COMMIT), body(BEGIN, STORE, 20 * NS, COMMIT))
    assert aborts(seen) == [(20, 0, 0, 0)]


@pytest.mark.parametrize("undo_ns", [0, 1, 7])
def test_an_abort_takes_a_nanosecond_at_least(undo_ns: int) -> None:
    """Worker 1 tries from 0 to 20 ns; each attempt aborts, and the next begins when the abort is undone."""
    seen = ran(body(BEGIN, STORE, 20 * NS, COMMIT), body(BEGIN, STORE, 5 * NS, COMMIT), words=memory(undo_ns=undo_ns))
    tries = range(0, 20, max(1, undo_ns))
    assert aborts(seen) == [(at, 1, 1, 0) for at in tries]
    assert times_ns(seen, 1)["overhead"] == len(tries) * max(1, undo_ns)


# ---- what an abort takes back --------------------------------------------------------------------------------------


def test_pages_and_bytes_of_a_wasted_attempt_stay() -> None:
    """Each of three attempts of worker 1 reads 6,400 bytes: all bytes count, and only the last attempt is work."""
    regions = (Region("data", 6400, True),)
    reads = Run(10 * NS, (Access(0, 0, 6400),))
    each = (body(BEGIN, STORE, 2500 * NS, COMMIT), body(BEGIN, reads, STORE, COMMIT))
    work = graph(*each, deal=Deal.CYCLIC, regions=regions, words=memory())
    seen = run(work, 2, stealing(mapping="contiguous"), runtime(), toy())
    each_ns = 100 * 100 // 10  # 100 lines of 100 ns each, ten at a time
    assert [at for at, *_ in aborts(seen)] == [each_ns, 2 * each_ns + UNDO_NS]
    assert int(seen.result.node_bytes.sum()) == 3 * 6400
    assert times_ns(seen, 1) == {"work_local": each_ns, "wasted": 2 * each_ns, "overhead": 2 * UNDO_NS}
    assert seen["span_ps"] == 2500 * NS


def test_what_is_owed_before_a_transaction_is_no_part_of_it() -> None:
    """Taking a task costs 40 ns; the attempt of the task then begins at 40 ns and aborts at 50 ns."""
    work = bodies(task(task(BEGIN, 10 * NS, STORE, 10 * NS, COMMIT)), body(BEGIN, STORE, 60 * NS, COMMIT))
    seen = run(work, 2, stealing(mapping="contiguous"), runtime(costs={"pop_ns": 40}), toy())
    assert aborts(seen)[0] == (50, 0, 1, 0)
    assert int(seen.result.per_worker["wasted_ps"][0]) == 10 * NS


def test_conflicts_are_told_by_pairs_of_nodes() -> None:
    """Workers 4 and 5 are on node 1 and meet an object that a worker of node 0 writes."""
    others = [body(1000 * NS)] * 3
    late = body(BEGIN, 900 * NS, STORE, COMMIT)
    seen = ran(body(BEGIN, STORE, 950 * NS, COMMIT), *others, late, late, workers=6, sockets=2)
    assert seen.result.node_conflicts.tolist() == [[0, 0], [seen["aborts"], 0]]
    assert seen["aborts"] >= 2


# ---- draws ---------------------------------------------------------------------------------------------------------


def test_an_object_is_the_draw_of_its_task_its_attempt_and_its_op() -> None:
    """The STORE of worker 0 is op 2 of task 0; turn 1 has another seed."""
    work = bodies(body(10 * NS, BEGIN, STORE, COMMIT), words=memory(1000), repeat=2)
    result = simulated(plan_of(work, 1))
    seeds = [SEED, turn_seed(SEED, 1)]
    expected = [below(draw(base(seed, DrawClass.CONFLICT, 0), 2), 1000) for seed in seeds]
    assert result.held is not None
    assert sorted(row[0] - 1 for row in result.held.tolist()) == sorted(expected)


def test_a_retry_draws_other_objects() -> None:
    """Task 0 has opened all objects, so that task 1 aborts. Each attempt of task 1 draws another object."""
    everything = body(BEGIN, *[STORE] * 40, 20 * NS, COMMIT)
    seen = ran(everything, body(BEGIN, STORE, COMMIT), words=memory(4, undo_ns=3))
    stream = base(SEED, DrawClass.CONFLICT, 1)
    expected = [below(draw(stream, attempt << 32 | 1), 4) for attempt in range(7)]
    assert [obj for *_, obj in aborts(seen)] == expected


def test_a_retry_of_a_memory_that_is_the_same_opens_the_same_objects() -> None:
    """Task 1 meets task 0 every 1 + 3 ns from 1 ns on, as long as task 0 has the object."""
    same = (replace(memory(4, undo_ns=3)[0], same=True),)
    seen = ran(body(BEGIN, *[STORE] * 40, 20 * NS, COMMIT), body(BEGIN, NS, STORE, COMMIT), words=same)
    expected = below(draw(base(SEED, DrawClass.CONFLICT, 1), 2), 4)
    assert aborts(seen) == [(at, 1, 1, expected) for at in range(1, 20, 4)]
    assert seen["makespan_ps"] == 21 * NS


def test_weights_follow_zipf() -> None:
    weights = np.diff(running_weights(4, 1_000_000), prepend=0)
    assert weights.tolist() == [2**28, 2**27, 89_478_485, 2**26]
    assert not len(running_weights(4, 0))


def test_skewed_objects_come_by_their_weights() -> None:
    """Of 20,000 draws from three objects, each object gets the part of its weight, within four deviations."""
    work = bodies(body(BEGIN, *[LOAD] * 20_000, COMMIT), words=memory(3, 2_000_000))
    result = simulated(plan_of(work, 1))
    assert result.held is not None
    found = np.bincount(-1 - result.held[:, 0], minlength=3)
    shares = np.array([1, 1 / 4, 1 / 9]) / (1 + 1 / 4 + 1 / 9)
    assert (abs(found - 20_000 * shares) < 4 * np.sqrt(20_000 * shares * (1 - shares))).all()


# ---- what is refused -----------------------------------------------------------------------------------------------

OTHER = Use(Op.STORE, 1)
BAD: dict[str, tuple[list[Any], str]] = {
    "no end": ([BEGIN, NS], "the task ends inside a transaction"),
    "no begin": ([STORE], "store stands outside of a transaction"),
    "a commit alone": ([NS, COMMIT], "commit stands outside of a transaction"),
    "one in another": ([BEGIN, BEGIN, COMMIT, COMMIT], "begin stands in a transaction"),
    "a spawn inside": ([BEGIN, task(), COMMIT], "spawn stands in a transaction"),
    "another memory": ([BEGIN, OTHER, COMMIT], "store is about memory 1, its transaction about 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_transactions_are_in_brackets(name: str) -> None:
    steps, sentence = BAD[name]
    with pytest.raises(InputError, match=sentence):
        validate(graph(task(*steps), words=memory() * 2))


def test_only_memories_of_objects_have_skew() -> None:
    sentence = r"words\[0\]\.skew_ppm: a synchronisation object of role lock has no skew_ppm"
    with pytest.raises(InputError, match=sentence):
        validate(graph(task(), words=(SyncObject("door", Role.LOCK, skew_ppm=1),)))


# ---- what always holds ---------------------------------------------------------------------------------------------


READS_AND_WRITES = (BEGIN, 5 * NS, LOAD, 5 * NS, STORE, 5 * NS, STORE, 5 * NS, COMMIT)
Opening = tuple[int, bool]  # an object, and whether it is written


def openings(task_id: int, attempt: int, objects: int, seed: int = SEED) -> list[Opening]:
    """Return the objects that an attempt of `READS_AND_WRITES` opens, by the definition of the draws."""
    stream = base(seed, DrawClass.CONFLICT, task_id)
    found = [(at, below(draw(stream, attempt << 32 | at), objects)) for at in (2, 4, 6)]
    return [(obj, at != 2) for at, obj in found]


def meet(one: Opening, other: Opening) -> bool:
    """Tell whether two attempts have the same object, and one of them writes it."""
    return one[0] == other[0] and (one[1] or other[1])


@pytest.mark.parametrize(("workers", "objects"), [(2, 4), (3, 8), (8, 8), (8, 40)])
def test_transactions_that_overlap_and_commit_never_conflict(workers: int, objects: int) -> None:
    """The ends of tasks and the numbers of aborts determine what was opened when: an attempt opens its three objects
    15, 10 and 5 ns before its commit.
    """
    work = graph(*[task(*READS_AND_WRITES)] * 80, deal=Deal.CYCLIC, words=memory(objects))
    plan = plan_of(work, workers, machine=toy(cores=8))
    seen = observe(event_by_event(plan))
    tries = Counter(task_id for _, _, task_id, _ in aborts(seen))
    ends = {task_id: (end_ps, worker) for worker, task_id, _, end_ps in sorted(seen.stretches, key=itemgetter(3))}
    assert len(ends) == 80
    assert len(tries) > 5
    had = [
        (end_ps - before_ns * NS, end_ps, worker, opening)
        for task_id, (end_ps, worker) in ends.items()
        for before_ns, opening in zip((15, 10, 5), openings(task_id, tries[task_id], objects), strict=True)
    ]
    overlap = [
        (one, other)
        for (start, end, on, one), (begin, stop, where, other) in combinations(had, 2)
        if on != where and start < stop and begin < end
    ]
    assert len(overlap) > 50
    assert not [pair for pair in overlap if meet(*pair)]


def test_who_writes_what_no_other_opens_never_aborts() -> None:
    """Three transactions open objects of one memory: one aborts only if two meet at an object."""
    work = bodies(*[body(*READS_AND_WRITES)] * 3, words=memory(20))
    plan, apart = plan_of(work, 3), []
    for seed in range(60):
        each = [openings(task_id, 0, 20, seed) for task_id in range(3)]
        disjoint = not any(meet(*pair) for one, other in combinations(each, 2) for pair in product(one, other))
        found = simulated(plan, seed).counters["aborts"]
        assert not (disjoint and found)
        apart.append((disjoint, found > 0))
    assert min(apart.count((True, False)), apart.count((False, True))) > 10
