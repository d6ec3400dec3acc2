"""Ranges (many similar tasks, their items) of graphs made in Python: the values of items, and refused arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import numasim as ns
from numasim.errors import InputError
from numasim.workload.graph import Mode, Pattern

Made = Callable[[ns.Graph], object]
RUN = {"machine": "xeon-e5-2620-2s", "strategy": "randomized"}


def graph_of(*arguments: object, **keys: object) -> ns.Graph:
    graph = ns.Graph("ragged", deal="block")
    graph.range(*arguments, **keys)  # type: ignore[arg-type]
    return graph


def test_items_with_arrays_of_times_and_bytes() -> None:
    graph = graph_of(3, [1, 2.5, 0], reads={0: [10, 20, 30]}, updates={(1, 2, 1): 9}, pattern="random", kernel="sum")
    work = graph.workload
    (family,) = work.ranges
    assert (work.tasks, work.phases[0].range_family, work.kernels) == (3, 0, ("sum",))
    assert family.compute is not None
    assert family.compute.items.tolist() == [1000, 2500, 0]
    first, second = family.node_accesses
    assert (first.nodes, first.mode, first.amounts.items.tolist()) == ((0,), Mode.READ, [10, 20, 30])
    assert (second.nodes, second.shares, second.mode, second.amounts.mean) == ((1, 2), (2, 1), Mode.READ_WRITE, 9)
    assert {access.pattern for access in family.node_accesses} == {Pattern.RANDOM}
    assert graph.work_ns == 3.5


def test_ranges_and_tasks_of_several_phases() -> None:
    graph = ns.Graph()
    graph.range(5, 10)
    graph.phase("between")
    graph.task(7)
    graph.range(2, 3)
    graph.barrier()
    graph.task(1)
    work = graph.workload
    assert [(phase.roots, phase.range_family) for phase in work.phases] == [((), 0), ((0,), 1), ((1,), None)]
    assert graph.work_ns == 50 + 7 + 6 + 1


def test_a_range_is_run_and_comes_back_from_its_file(tmp_path: Path) -> None:
    slow = ns.Distribution.pareto(100, 1.5, most=10_000)
    graph = graph_of(200, slow, reads={0: ns.Distribution.zipf(50, unit=64), 1: list(range(200))})
    assert ns.Graph.read(graph.save(tmp_path / "ragged.json")) == graph
    results = [ns.run(RUN, workload=graph, workers=8, engine=engine) for engine in ("reference", "native")]
    first, second = ({**result.counters, "events": 0} for result in results)  # one of the engines skips some events
    assert first == second
    assert int(results[0].node_bytes[:, 1].sum()) == sum(range(200))


MISTAKES: dict[str, Made] = {
    r"2 of the bytes' memory are given back; expected a part from 0 to 1": lambda graph: graph.range(1, returned=2),
    r"nan of the bytes' memory are given back": lambda graph: graph.range(1, returned=math.nan),
    r"the range has 0 items; expected 1 to": lambda graph: graph.range(0),
    r"the costs have the shape \(2,\); expected 3 costs": lambda graph: graph.range(3, [1, 2]),
    r"the cost of task 1 is -1 ns": lambda graph: graph.range(2, [1, -1]),
    r"the bytes on 0 have the shape \(2,\)": lambda graph: graph.range(3, reads={0: [1, 2]}),
    r"the bytes on 0: the amount is -5; expected 0 to": lambda graph: graph.range(2, reads={0: [1, -5]}),
    r"the bytes on 1 have the shape \(\) and the type float64": lambda graph: graph.range(2, reads={1: 1.5}),
    r"the bytes on 0: the amount is 274877906945": lambda graph: graph.range(1, reads={0: 2**38 + 1}),
    r"the bytes on 0: 33554432 items of the highest amount add up": lambda graph: graph.range(2**25, reads={0: 2**38}),
    r"the fresh bytes have the shape \(2,\) .*expected a whole number, 3 of them": lambda graph: graph.range(
        3, fresh=[1, 2]
    ),
    r"the freed bytes: the amount is -5; expected 0 to": lambda graph: graph.range(2, freed=[1, -5]),
    r"got 'a' as a node": lambda graph: graph.range(2, reads={"a": 1}),
    r"got no node": lambda graph: graph.range(2, reads={(): 1}),
    r"no pattern 'randm'.*did you mean 'random'": lambda graph: graph.range(2, pattern="randm", reads={0: 1}),
    r"the phase has a range already": lambda graph: [graph.range(2), graph.range(2)],
    r"goes up to .*; expected at most": lambda graph: graph.range(2, ns.Distribution.pareto(1, 0.5)),
    r"a part of pareto\(1, 0.01\) is from": lambda graph: ns.Distribution.pareto(1, 0.01),
    r"the highest number of pareto\(5, 1\) is 4; expected more than 5": lambda graph: ns.Distribution.pareto(
        5, 1, most=4
    ),
    r"the mean is 0; expected more than 0": lambda graph: ns.Distribution.exponential(0),
    r"2 values and 1 weights": lambda graph: ns.Distribution.of([1, 2], [1]),
}  # fmt: skip


@pytest.mark.parametrize("sentence", MISTAKES)
def test_what_no_item_can_have_is_refused(sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        MISTAKES[sentence](ns.Graph())


def test_bytes_on_a_node_that_the_machine_does_not_have() -> None:
    sentence = r"node_accesses\[0\].nodes\[1\]: there is no node 5 on .*expected a node below 2"
    with pytest.raises(InputError, match=sentence):
        ns.run(RUN, workload=graph_of(2, reads={(0, 5): 64}), workers=2)


def test_items_that_touch_memory_first_and_give_it_back() -> None:
    graph = graph_of(10, 5, fresh=8192, freed=[4096] * 9 + [1])
    counters = ns.run(RUN, workload=graph, workers=2).counters
    assert (counters["page_faults"], counters["pages_unmapped"]) == (20, 10)


def test_items_that_give_back_the_memory_of_what_they_read() -> None:
    """To give back a page of the other node takes longer, by the ratio of remote to local latency (model 2.5)."""
    costs = {"like": "bare", "costs": {"unmap_ns": 1000}}

    def makespan_ps(node: int, returned: float) -> int:
        graph = graph_of(10, 5000, reads={node: 16_384}, returned=returned)
        result = ns.run(RUN, workload=graph, workers=1, runtime=costs)
        assert result.counters["pages_unmapped"] == 10 * 4 * returned
        return int(result.counters["makespan_ps"])

    near, far = ns.Machine.shipped(RUN["machine"]).built.latency_ps[0].tolist()
    assert makespan_ps(0, 0.5) - makespan_ps(0, 0) == 10 * 2 * 10**6
    assert makespan_ps(1, 1) - makespan_ps(1, 0) == 10 * 4 * (10**6 * far // near)


def test_pages_that_take_longer_than_a_run_may() -> None:
    costs = {"like": "bare", "costs": {"unmap_ns": 8_000_000_000}}
    with pytest.raises(InputError, match=r"ranges\[0\].freed: the pages of an item take .* ps; expected at most"):
        ns.run(RUN, workload=graph_of(1, freed=2**38), workers=2, runtime=costs)


CLOSED_FORMS = {
    "uniform": (ns.Distribution.uniform(10, 30), 20, 20),
    "exponential": (ns.Distribution.exponential(100), 100, 100 * math.log(2)),
    "lognormal": (ns.Distribution.lognormal(100, 0.5), 100 * math.exp(0.125), 100),
    "pareto": (ns.Distribution.pareto(100, 3), 150, 100 * 2 ** (1 / 3)),
    "zipf": (ns.Distribution.zipf(3, unit=5), 5 * 3 / (1 + 1 / 2 + 1 / 3), 5),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_tables_have_the_means_and_medians_of_their_distributions(name: str) -> None:
    distribution, mean, median = CLOSED_FORMS[name]
    assert distribution.mean == pytest.approx(mean, rel=1e-3)
    table = distribution.amounts(1000)
    assert table.mean == pytest.approx(1000 * mean, rel=1e-3)
    drawn = np.sort(table.of(np.arange(100_000), seed=3, number=2))
    assert drawn.mean() == pytest.approx(1000 * mean, rel=0.02)
    assert drawn[50_000] == pytest.approx(1000 * median, rel=0.02)
