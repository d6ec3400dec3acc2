"""Spans (times of critical paths) equal closed forms and longest paths through a graph of ops, the steps of tasks; the
serial time equals a sum over accesses.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workload_setup import SMALL, make, program, serial_segments, small

from numasim.draws import DrawClass, base, below, draw
from numasim.objects.graph_arrays import plain_graph
from numasim.workload.graph import Accesses, Op, Workload
from numasim.workload.one_worker import segment_ps, serial_ps
from numasim.workload.phases import steps
from numasim.workload.span import span_ps, span_tasks

# families with ranges of unequal items; tests/engine/test_ragged_ranges.py compares such ranges with the items as tasks
RAGGED = {"reduce", "map-reduce", "horizontal-tournament", "vertical-tournament"}
RANGES = RAGGED | {"matmul", "independent", "sparselu-for"}


def longest_path_ps(work: Workload, latency_ps: int) -> int:
    """Return the longest path through a graph with a node for each op and an edge for each order of the program."""
    times = segment_ps(work, latency_ps)
    total = 0
    for phase, runs in zip(work.phases, work.runs, strict=True):
        graph = nx.DiGraph()
        for root in phase.roots:
            add_task(graph, work, root, times)
        for task, successor in zip(work.predecessor.tolist(), work.successor.tolist(), strict=True):
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
    """Step k of the loop version takes the time of its diagonal block, its longest division and its longest update."""
    work = make("sparselu-for", blocks=6, block_size=8)
    times = segment_ps(work, 0)
    longest = [int(times[work.segment_kernel == kernel].max()) for kernel in range(4)]
    division = max(longest[1], longest[2])
    assert span_ps(work, 0) == 6 * longest[0] + 5 * (division + longest[3])
    assert span_tasks(work) == 5 * 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30), st.permutations(range(10)), st.data())
@settings(max_examples=30)
def test_span_of_tasks_without_children(pairs: list[tuple[int, int]], order: list[int], data: st.DataObject) -> None:
    """Dependences lead to tasks of higher and of lower numbers."""
    edges = np.array([(order[a], order[b]) for a, b in pairs if a < b], np.int64).reshape(-1, 2)
    costs = data.draw(st.lists(st.integers(0, 50), min_size=10, max_size=10))
    work = plain_graph("g", np.array(costs, np.int64), (edges[:, 0], edges[:, 1]))
    assert span_ps(work, 0) == longest_path_ps(work, 0)


# ---- the serial time, by the arithmetic of the model on Python's integers, one access at a time ----

OVERLAPPING = {0: 10_000, 1: 4_000, 2: 3_000, 3: 1_000}


def waiting_ps(accesses: Accesses, number: int, latency_ps: int) -> int:
    moved = int(accesses.row_bytes[number]) * int(accesses.rows[number]) * int(accesses.passes[number])
    moved *= 1 if accesses.mode[number] == 1 else 2
    lines = (moved + 63) // 64
    overlap = OVERLAPPING[int(accesses.pattern[number])]
    return (lines * latency_ps * 1000 + overlap - 1) // overlap


def literal_serial_ps(work: Workload, latency_ps: int, seed: int) -> int:
    total = 0
    for segment in serial_segments(work):
        at = range(work.segment_accesses[segment], work.segment_accesses[segment + 1])
        total += max(int(work.segment_compute_ps[segment]), sum(waiting_ps(work.accesses, i, latency_ps) for i in at))
    for step in steps(work.phases, work.loops):
        phase = work.phases[step.phase]
        if phase.range_family is not None:
            family = work.ranges[phase.range_family]
            wait = sum(waiting_ps(family.accesses, i, latency_ps) for i in range(len(family.accesses)))
            for item in range(family.count):
                choice = below(draw(base(seed, DrawClass.DURATION, item), 0), family.high_ps - family.low_ps + 1)
                total += max(family.low_ps + choice, wait)
    return total


@pytest.mark.parametrize("label", [label for label in SMALL if label not in RAGGED])
@pytest.mark.parametrize("latency_ps", [0, 77_300, 999_999])
def test_serial_time_is_the_sum_of_its_segments(label: str, latency_ps: int) -> None:
    work = small(label)
    assert serial_ps(work, latency_ps, seed=7) == literal_serial_ps(work, latency_ps, 7)


def test_matmul_waits_one_whole_miss_a_step() -> None:
    """With n = 8192, an element waits for 8192 misses of 77.3 ns down a column, one at a time, for a row of 1024 lines,
    ten at a time, and for the line of the result.
    """
    item_ps = 8192 * 77_300 + 1024 * 7_730 + 7_730
    assert serial_ps(make("matmul", n=8192), 77_300) == 67_108_864 * item_ps
