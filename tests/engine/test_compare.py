"""The comparison of two engines finds an engine with a planted defect and names the first wrong event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_difference import Record, difference, disagreements, events, outcome
from engine_setup import NS, event_by_event, observe, plan_of, run, runtime, seeded
from hypothesis import given
from hypothesis import strategies as st
from task_graphs import WAIT, body, graph, items, task

from numasim.engine.observe.trace_hash import Rank, RecordSet, hash_sum, pack
from numasim.engine.simulate import ENGINES
from numasim.plan.plan import Run

WORK = graph(task(*[task(300 * NS) for _ in range(6)], WAIT, 50 * NS))
RUN = seeded(plan_of(WORK, 3, "randomized", runtime(join="help", costs={"push_ns": 10})))


@pytest.fixture
def register() -> Iterator[dict[str, Any]]:
    """Return the registry of engines; tests may put an engine of their own into the registry."""
    before = dict(ENGINES)
    yield ENGINES
    ENGINES.clear()
    ENGINES.update(before)


def test_a_wrong_engine_is_caught_at_its_first_wrong_event(register: dict[str, Any]) -> None:
    register["wrong"] = lambda run, *rest: ENGINES["reference"](Run(run.plan, run.seed + 1), *rest)
    report = difference(RUN, "reference", "wrong")
    assert report is not None
    left, right = events(RUN, "reference"), events(Run(RUN.plan, RUN.seed + 1), "reference")
    first = min([*(left - right), *(right - left)])
    by, other, there = ("reference", "wrong", right) if first in left else ("wrong", "reference", left)
    instead = min((each for each in there if each.actor == first.actor and each >= first), default=None)
    assert f"{first} on {by!r} alone; the next of this actor on {other!r}: {instead}" in report
    assert "trace_hash" in report
    assert "seed 1" in report


def test_a_deadlock_differs_from_a_result_and_from_another_deadlock(register: dict[str, Any]) -> None:
    stuck = "1 tasks are left"
    result = outcome(RUN, "reference")
    assert not list(disagreements(stuck, stuck))
    assert [name for name, *_ in disagreements(stuck, "2 tasks are left")] == ["refused"]
    assert "refused" in {name for name, *_ in disagreements(stuck, result)}


def test_costs_of_the_run_are_no_difference() -> None:
    plan = plan_of(items(1, 30_000 * NS), 2, "steal-half")  # with shortcuts, failed probes are no events
    fast, slow = outcome(seeded(plan), "reference"), outcome(seeded(event_by_event(plan)), "reference")
    assert not isinstance(fast, str)
    assert not isinstance(slow, str)
    assert fast.counters["events"] < slow.counters["events"]
    assert not list(disagreements(fast, slow))


def test_every_table_and_every_counter_of_every_worker_counts() -> None:
    one = outcome(RUN, "reference")
    assert not isinstance(one, str)
    for table in ("node_bytes", "node_attempts", "node_success"):
        changed = getattr(one, table).copy()
        changed[0, 0] += 1
        assert [name for name, *_ in disagreements(one, replace(one, **{table: changed}))] == [f"{table}[0, 0]"]
    for name, column in one.per_worker.items():
        changed = column.copy()
        changed[1] = "other" if name == "role" else changed[1] + 1
        other = replace(one, per_worker={**one.per_worker, name: changed})
        assert [name for name, *_ in disagreements(one, other)] == [f"workers.{name}[1]"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_listener_has_heard_everything_when_a_run_ends_in_a_deadlock(engine: str) -> None:
    # the body runs 30 ns, puts its child into a queue in which the join does not look, and waits
    plan = plan_of(graph(body(30 * NS, task(10 * NS), WAIT)), 1, "breadth-first", runtime(join="own"))
    heard = sorted(events(seeded(plan), engine))
    assert heard == [Record(30 * NS, Rank.SEG_END, 0, 0, 0), Record(30 * NS, Rank.PUT, 0, 1, 0)]


# ---- the hashes of a run --------------------------------------------------------------------------------------------

WORD = st.integers(0, 2**64 - 1)
RECORDS = st.lists(st.tuples(WORD, WORD, WORD, WORD, WORD), max_size=8)


def by_definition(record: tuple[int, ...]) -> int:
    """Compute h = mix((h + 0x9E37...) ^ word) over the five words, step by step."""
    h = 0
    for word in record:
        h = (h + 0x9E3779B97F4A7C15) % 2**64 ^ word
        h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        h = (h ^ h >> 27) * 0x94D049BB133111EB % 2**64
        h ^= h >> 31
    return h


@given(RECORDS)
def test_the_hash_of_a_set_is_the_sum_over_its_records(records: list[tuple[int, ...]]) -> None:
    assert hash_sum(np.array(records, np.uint64).reshape(-1, 5)) == sum(map(by_definition, records)) % 2**64


def test_batches_do_not_change_the_hash() -> None:
    records = [(i, i + 1, i + 2, i + 3, i + 4) for i in range(10)]
    at_once, one_by_one = RecordSet(), RecordSet()
    for record in records:
        at_once.rows.append(pack(*record))
        one_by_one.rows.append(pack(*record))
        one_by_one.flush()
    at_once.flush()
    assert at_once.total == one_by_one.total == sum(map(by_definition, records)) % 2**64
    assert at_once.count == one_by_one.count == 10


TRACED = {Rank.LOOK, Rank.WAKE, Rank.RELEASE, Rank.POLL}


@pytest.mark.parametrize("join", ["help", "continuation", "block"])
def test_the_hashes_of_a_run_are_those_of_its_records(join: str) -> None:
    work = graph(task(*[task(300 * NS) for _ in range(5)], WAIT, 50 * NS))
    seen = run(work, how=runtime(join=join, costs={"push_ns": 10}))
    records = [tuple(int(word) for word in row) for row in seen.records]
    traced = [record for record in records if record[1] in TRACED]
    assert {record[1] for record in records} >= {Rank.SEG_END, Rank.PUT, Rank.LOOK, Rank.POLL, Rank.RELEASE}
    assert seen["trace_hash"] == f"{sum(map(by_definition, traced)) % 2**64:016x}"
    assert seen["event_hash"] == f"{sum(map(by_definition, records)) % 2**64:016x}"


def test_an_idle_episode_is_one_record_with_its_failures() -> None:
    # worker 1 looks at 100, 200 and 300 ns in vain; the end of the phase ends the idle episode of worker 1
    plan = plan_of(items(1, 300 * NS))
    for seen in (observe(plan), observe(event_by_event(plan))):
        assert seen.of_rank(Rank.POLL) == ((300 * NS, 0, 0, 0), (300 * NS, 1, 3, 0))


def test_the_release_of_each_phase_is_recorded() -> None:
    seen = run(items(2, 100 * NS, repeat=3))
    assert seen.of_rank(Rank.RELEASE) == tuple((200 * NS * (i + 1), 0, i, 0) for i in range(3))
