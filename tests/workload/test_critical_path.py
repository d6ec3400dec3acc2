"""Spans against closed forms and against the longest path through a graph of ops."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workload_setup import SMALL, make, program, small

from numasim.objects.graph_arrays import plain_graph
from numasim.workload.dataflow import Dataflow
from numasim.workload.graph import Op, Workload
from numasim.workload.one_worker import segment_ps
from numasim.workload.span import forward_finish, is_forward, span_ps, span_tasks

RANGES = {"matmul", "independent", "sparselu-for", "reduce", "map-reduce"}
RANGES |= {"horizontal-tournament", "vertical-tournament"}


def longest_path_ps(work: Workload, latency_ps: int) -> int:
    """Return the longest path through a graph with a node for each op and an edge for each order of the program."""
    times = segment_ps(work, latency_ps)
    total = 0
    for phase, runs in zip(work.phases, work.runs, strict=True):
        graph = nx.DiGraph()
        for root in phase.roots:
            add_task(graph, work, root, times)
        for task in range(work.rows):
            for successor in work.successor[work.successor_ptr[task] : work.successor_ptr[task + 1]].tolist():
                if (task, "end") in graph:
                    graph.add_edge((task, "end"), (successor, "begin"), weight=0)
        total += runs * nx.dag_longest_path_length(graph)
    return total


def add_task(graph: nx.DiGraph, work: Workload, task: int, times: np.ndarray) -> None:
    before = (task, "begin")
    graph.add_node(before)
    children = []
    for number, (code, arg) in enumerate(program(work, task)):
        here = (task, number)
        graph.add_edge(before, here, weight=int(times[arg]) if code == Op.RUN else 0)
        if code in (Op.SPAWN, Op.CALL):
            graph.add_edge(here, (arg, "begin"), weight=0)
            add_task(graph, work, arg, times)
            children.append(arg)
        if code == Op.CALL:
            graph.add_edge((arg, "end"), here := (task, number, "back"), weight=0)
        if code == Op.WAIT:
            for child in children:
                graph.add_edge((child, "end"), here, weight=0)
        before = here
    graph.add_edge(before, (task, "end"), weight=0)


@pytest.mark.parametrize("label", [label for label in SMALL if label not in RANGES])
@pytest.mark.parametrize("latency_ps", [0, 77_300])
def test_span_is_the_longest_path(label: str, latency_ps: int) -> None:
    work = small(label)
    assert span_ps(work, latency_ps) == longest_path_ps(work, latency_ps)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**64 - 1))
@settings(max_examples=30)
def test_span_of_layered_graphs(layers: int, width: int, degree: int, seed: int) -> None:
    work = make("random-layered", layers=layers, width=width, degree=degree, low_ns=0, high_ns=9, graph_seed=seed)
    assert span_ps(work, 0) == longest_path_ps(work, 0)
    assert span_tasks(work) == 1 + layers


def test_a_serial_phase_counts_all_its_work() -> None:
    """Step k of the loop version: its diagonal block alone, then its longest division, then its longest update."""
    work = make("sparselu-for", blocks=6, block_size=8)
    times = segment_ps(work, 0)
    longest = [int(times[work.segment_kernel == kernel].max()) for kernel in range(4)]
    division = max(longest[1], longest[2])
    assert span_ps(work, 0) == 6 * longest[0] + 5 * (division + longest[3])
    assert span_tasks(work) == 5 * 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30), st.integers(1, 10), st.data())
@settings(max_examples=30)
def test_tasks_that_wait_for_lower_numbers_end_as_in_the_general_case(
    pairs: list[tuple[int, int]], count: int, data: st.DataObject
) -> None:
    edges = np.array([(a, b) for a, b in pairs if a < b < count], np.int64).reshape(-1, 2)
    costs = data.draw(st.lists(st.integers(0, 50), min_size=count, max_size=count))
    work = plain_graph("g", np.array(costs, np.int64), (edges[:, 0], edges[:, 1]))
    assert is_forward(work)
    starts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)), np.int64)
    flow = Dataflow(work, work.segment_compute_ps, starts)
    for phase in work.phases:
        flow.run(phase)
    assert forward_finish(work, work.segment_compute_ps, starts) == flow.finish


def test_who_spawns_or_waits_for_a_higher_number_is_the_general_case() -> None:
    back = plain_graph("g", np.ones(2, np.int64), (np.array([1]), np.array([0])))
    assert not is_forward(back)
    assert not is_forward(make("fib", n=3))
