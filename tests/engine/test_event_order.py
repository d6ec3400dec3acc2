"""The order of events at one instant: work ends, tasks become visible, probes look, polls decide (model 1.2)."""

from __future__ import annotations

import pytest
from engine_setup import FIRST, NS, run, runtime
from task_graphs import graph, items, task

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.reference.actors import priority
from numasim.workload.graph import Deal


def test_work_ends_before_a_probe_looks() -> None:
    # both items are worker 0's; it takes the second one at the very instant at which worker 1 looks for it
    seen = run(items(2, 100 * NS))
    assert seen.steals == ()
    assert seen["makespan_ps"] == 200 * NS
    assert (seen["steal_attempts"], seen["steal_false"]) == (2, 2)


def test_a_probe_one_picosecond_before_the_end_of_work_succeeds() -> None:
    seen = run(items(2, 100 * NS + 1))
    assert seen.steals == ((100 * NS, 1, 0, 1),)
    assert seen["makespan_ps"] == 200 * NS + 1
    assert seen["steal_attempts"] == 2  # worker 0 looks at the last instant, in vain


def test_a_put_is_visible_to_a_probe_of_its_instant() -> None:
    seen = run(graph(task(task(500 * NS), 900 * NS)), how=runtime(costs={"push_ns": 100}))
    assert seen.of_rank(Rank.PUT) == ((100 * NS, 0, 1, 0),)
    assert seen.steals == ((100 * NS, 1, 0, 1),)
    assert seen["makespan_ps"] == 1000 * NS


def test_a_put_one_picosecond_after_the_probe_is_not_seen() -> None:
    seen = run(graph(task(task(500 * NS), 900 * NS)), how=runtime(costs={"push_ns": 100.001}))
    assert seen.steals == ((200 * NS, 1, 0, 1),)


def test_the_lower_worker_wins_a_task_for_which_two_look_at_once() -> None:
    seen = run(items(2, 1000 * NS), workers=3)
    assert seen.steals == ((100 * NS, 1, 0, 1),)


def test_probes_at_the_last_instant_count() -> None:
    seen = run(items(1, 300 * NS), workers=3)
    assert seen["steal_attempts"] == 6  # at 100, 200 and 300 ns, of workers 1 and 2


def test_ranks_ascend_in_the_order_of_the_model() -> None:
    names = ["SEG_END", "GRANT", "RELEASE", "WAKE", "PUT", "LOOK", "POLL", "ABORT"]
    assert [rank.name for rank in sorted(Rank)][:8] == names
    assert [int(Rank[name]) for name in names] == list(range(8))


def test_priorities_order_by_rank_then_actor_and_spare_those_of_simpy() -> None:
    keys = [priority(rank, actor) for rank in Rank for actor in (0, 1, 2**31)]
    assert keys == sorted(set(keys))
    assert min(keys) == 2


@pytest.mark.parametrize("deal", list(Deal))
def test_dealt_items_of_equal_length_end_together(deal: Deal) -> None:
    seen = run(items(6, 100 * NS, deal=deal), workers=3, strategy=FIRST, how=runtime(costs={"probe_ns": 1000}))
    per_worker = {Deal.MASTER: (6, 0, 0), Deal.BLOCK: (2, 2, 2), Deal.CYCLIC: (2, 2, 2)}[deal]
    assert tuple(seen.of_worker("tasks")) == per_worker
    assert seen["makespan_ps"] == max(per_worker) * 100 * NS
