"""The hashes of a run against a scalar computation of their definition (model 1.3)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from engine_setup import NS, Seen, event_by_event, observe, plan_of, run, runtime
from hypothesis import given
from hypothesis import strategies as st
from task_graphs import WAIT, graph, items, task

from numasim.engine.observe.trace_hash import Rank, RecordSet, Trace, hash_sum, pack, record_hash

WORD = st.integers(0, 2**64 - 1)
RECORDS = st.lists(st.tuples(WORD, WORD, WORD, WORD, WORD), max_size=8)


def by_definition(record: tuple[int, ...]) -> int:
    """h = mix((h + 0x9E37...) ^ word) over the five words, spelt out."""
    h = 0
    for word in record:
        h = (h + 0x9E3779B97F4A7C15) % 2**64 ^ word
        h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        h = (h ^ h >> 27) * 0x94D049BB133111EB % 2**64
        h ^= h >> 31
    return h


def rows(records: list[tuple[int, ...]]) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    return np.array(records, np.uint64).reshape(-1, 5)


@given(RECORDS)
def test_the_hash_of_a_set_is_the_sum_over_its_records(records: list[tuple[int, ...]]) -> None:
    assert [record_hash(record) for record in records] == [by_definition(record) for record in records]
    assert hash_sum(rows(records)) == sum(map(by_definition, records)) % 2**64


@given(RECORDS, st.randoms(use_true_random=False))
def test_the_order_of_emission_does_not_matter(records: list[tuple[int, ...]], chance: random.Random) -> None:
    shuffled = records.copy()
    chance.shuffle(shuffled)
    assert hash_sum(rows(records)) == hash_sum(rows(shuffled))


def test_every_word_of_a_record_counts_and_so_does_its_place() -> None:
    record = (1, 2, 3, 4, 5)
    changed = [(*record[:i], record[i] + 1, *record[i + 1 :]) for i in range(5)] + [(2, 1, 3, 4, 5), (1, 2, 3, 5, 4)]
    assert len({record_hash(each) for each in [record, *changed]}) == 8


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


def test_the_event_hash_covers_steps_and_details() -> None:
    trace = Trace()
    trace.steps.rows.append(pack(1, 2, 3, 4, 5))
    trace.details.rows.append(pack(6, 7, 8, 9, 10))
    first = by_definition((1, 2, 3, 4, 5))
    assert trace.hashes() == (f"{first:016x}", f"{(first + by_definition((6, 7, 8, 9, 10))) % 2**64:016x}")


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


def episodes(seen: Seen) -> tuple[tuple[int, ...], ...]:
    return seen.of_rank(Rank.POLL)


def test_an_idle_episode_is_one_record_with_its_failures() -> None:
    # worker 1 looks at 100, 200 and 300 ns in vain; its episode is closed with the phase
    plan = plan_of(items(1, 300 * NS))
    for seen in (observe(plan), observe(event_by_event(plan))):
        assert episodes(seen) == ((300 * NS, 0, 0, 0), (300 * NS, 1, 3, 0))


def test_an_idle_episode_ends_with_a_steal() -> None:
    # the child is there at 250 ns: two probes fail, the third one succeeds, and with it the episode ends
    seen = run(graph(task(250 * NS, task(500 * NS), 1000 * NS)))
    assert episodes(seen)[0] == (300 * NS, 1, 2, 0)


def test_the_release_of_each_phase_is_recorded() -> None:
    seen = run(items(2, 100 * NS, repeat=3))
    assert seen.of_rank(Rank.RELEASE) == tuple((200 * NS * (i + 1), 0, i, 0) for i in range(3))
