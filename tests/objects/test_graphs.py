"""`ns.Graph`, a task graph as a Python object: sizes and makespans by hand, dependences, files, errors."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numasim as ns
from numasim.errors import InputError
from numasim.objects.graph_building import Task
from numasim.objects.graph_object import Graph
from numasim.spec.identity import run_id, spec_hash
from numasim.spec.one_run import load_run
from numasim.spec.sweep_spec import load_sweep
from numasim.workload.builder import ACCESS_TYPES, accesses_of
from numasim.workload.graph import Loop, Op
from numasim.workload.graph_rules import validate
from numasim.workload.json_form.graph_io import text_of, unchecked
from numasim.workload.json_form.to_json_form import to_file
from numasim.workload.sync_parameters import Role, SyncObject

BASE = {"machine": "opteron-8380-4s", "strategy": "randomized", "runtime": "bare"}


def makespan_ns(graph: Graph, workers: int) -> float:
    picoseconds: int = ns.run(BASE, workload=graph, workers=workers, check=True).row()["makespan_ps"]
    return picoseconds / 1000


def edges_of(graph: Graph) -> list[tuple[int, int]]:
    return [(a, b) for a, b, kind in graph.to_networkx().edges(data="kind") if kind == "dependence"]


# ---- graphs by hand ----


def fib(task: Task, n: int) -> None:
    if n < 2:
        return task.work(100, kernel="leaf")
    task.work(50, kernel="spawn")
    task.spawn(fib, n - 1)
    task.spawn(fib, n - 2)
    task.sync()
    task.work(50, kernel="join")


def test_fib_is_the_shipped_one() -> None:
    made, shipped = Graph.fork_join(fib, 10), Graph.shipped("fib", n=10)
    assert made.tasks == shipped.tasks == 177  # 2 fib(11) - 1
    assert (made.work_ns, made.span_ns) == (88 * 100 + 89 * 100, 10 * 100)
    columns = ("op_ptr", "op_code", "op_arg", "parent", "segment_compute_ps")
    assert all(np.array_equal(getattr(made.workload, name), getattr(shipped.workload, name)) for name in columns)
    rows = [ns.run(BASE, workload=graph, workers=8).row() for graph in (made, shipped)]
    assert rows[0]["trace_hash"] == rows[1]["trace_hash"]


def cholesky(tiles: int, cost_ns: float = 1) -> Graph:
    graph = Graph("cholesky")
    tile = graph.tiles("A", tiles, tiles, tile_bytes=4096)
    for k in range(tiles):
        graph.task(cost_ns, updates=tile[k, k], kernel="potrf")
        for i in range(k + 1, tiles):
            graph.task(cost_ns, reads=tile[k, k], updates=tile[i, k], kernel="trsm")
        for i in range(k + 1, tiles):
            for j in range(k + 1, i + 1):
                graph.task(cost_ns, reads={tile[i, k], tile[j, k]}, updates=tile[i, j], kernel="gemm")
    return graph


@pytest.mark.parametrize("tiles", [1, 2, 4, 7])
def test_tiled_cholesky(tiles: int) -> None:
    graph = cholesky(tiles)
    assert graph.tasks == tiles * (tiles + 1) * (tiles + 2) // 6
    assert graph.span_ns == 3 * tiles - 2
    shipped = Graph.shipped("cholesky", tiles=tiles).to_networkx()
    shipped.remove_node(0)  # the task that spawns the others
    assert {(a + 1, b + 1) for a, b in edges_of(graph)} == set(shipped.edges)


def test_dependences_that_follow_from_data() -> None:
    graph = Graph()
    a, b = graph.region("a", 64), graph.region("b", 64)
    write = graph.task(writes=a)
    read, other = graph.task(reads=a), graph.task(reads="a", writes=b)
    again = graph.task(writes=a)
    assert edges_of(graph) == [(0, 1), (0, 2), (1, 3), (2, 3)]  # two reads after a write; a write after two reads
    overwritten = graph.task(writes=[a, b])
    assert edges_of(graph)[4:] == [(2, 4), (3, 4)]  # write after write
    assert [write.number, read.number, other.number, again.number, overwritten.number] == [0, 1, 2, 3, 4]


def transfers(count: int) -> Graph:
    """Return transactions that read two of ten accounts and write an account."""
    graph = Graph("transfers", deal="cyclic")
    accounts = graph.objects("accounts", 10, skew=0.8, undo_ns=2.5)
    for _ in range(count):
        task = graph.task()
        with task.transaction(accounts) as attempt:
            task.work(30)
            attempt.load(2)
            task.work(20)
            attempt.store()
    return graph


def test_transactions_of_a_graph(tmp_path: Path) -> None:
    """The ops have the order of the block, and a file of the graph is the same program."""
    work = transfers(3).workload
    block = [Op.BEGIN, Op.RUN, Op.LOAD, Op.LOAD, Op.RUN, Op.STORE, Op.COMMIT]
    assert work.op_code.tolist() == block * 3
    assert work.words == (SyncObject("accounts", Role.OBJECTS, parties=10, skew_ppm=800_000, undo_ps=2500),)
    assert Graph.read(transfers(3).save(tmp_path / "graph.json")) == transfers(3)
    result = ns.run(BASE, workload=transfers(200), workers=8)
    assert result.counters["commits"] == 200
    assert result.counters["aborts"] == result.object_conflicts.sum() == result.node_conflicts.sum() > 0


Access = st.tuples(st.integers(0, 7), st.integers(1, 4), st.sampled_from(["reads", "writes", "updates"]))


@given(st.lists(st.lists(Access, min_size=1, max_size=2), min_size=1, max_size=12))
@settings(max_examples=60)
def test_dependences_order_what_conflicts_and_nothing_else(tasks: list[list[tuple[int, int, str]]]) -> None:
    """If two tasks access a byte and one task writes, the later task comes behind the earlier task; all edges join
    tasks that conflict in this way.
    """
    graph = Graph()
    region = graph.region("r", 16)
    for accesses in tasks:
        given_data: dict[str, list[Any]] = {"reads": [], "writes": [], "updates": []}
        for begin, size, how in accesses:
            given_data[how].append(region[begin : begin + size])
        graph.task(1, **given_data)

    def uses(accesses: list[tuple[int, int, str]], writing: bool) -> set[int]:
        chosen = [(begin, size) for begin, size, how in accesses if not writing or how != "reads"]
        return {byte for begin, size in chosen for byte in range(begin, begin + size)}

    conflicts = {
        (a, b)
        for b in range(len(tasks))
        for a in range(b)
        if uses(tasks[a], True) & uses(tasks[b], False) or uses(tasks[a], False) & uses(tasks[b], True)
    }
    found = nx.DiGraph(edges_of(graph))
    found.add_nodes_from(range(len(tasks)))
    assert set(found.edges) <= conflicts
    assert conflicts <= set(nx.transitive_closure_dag(found).edges)


def test_children_depend_on_their_siblings_alone() -> None:
    graph = Graph()
    region = graph.region("r", 8)
    graph.task(writes=region)
    with graph.task(10) as parent:
        parent.spawn(cost_ns=5, writes=region)
        parent.spawn(cost_ns=5, reads=region)
    assert edges_of(graph) == [(2, 3)]
    assert graph.span_ns == 20


def test_a_task_waits_at_the_end_of_its_block_unless_it_has() -> None:
    graph = Graph()
    with graph.task() as task:
        task.spawn(cost_ns=1)
        task.sync()
        task.sync()
        task.work(2)
    with graph.task() as task:
        task.spawn(cost_ns=1)
    loose = graph.task(3)
    loose.spawn(cost_ns=4)
    ops = [[op[0] for op in entry["ops"]] for entry in to_file(graph.workload)["tasks"]]
    assert ops == [["spawn", "wait", "run"], ["run"], ["spawn", "wait"], ["run"], ["run", "spawn"], ["run"]]


def test_children_that_are_made_late_are_numbered_depth_first() -> None:
    graph = Graph()
    first, second = graph.task(1), graph.task(2)
    first.spawn(cost_ns=3)
    second.spawn(cost_ns=4)
    third = first.spawn(cost_ns=5, after=second)
    assert third.number == 4
    validate(graph.workload)
    assert graph.workload.segment_compute_ps.tolist() == [1000, 3000, 5000, 2000, 4000]
    assert edges_of(graph) == [(3, 2)]


@pytest.mark.parametrize(("serial", "takes_ns"), [(True, 4 * 1000), (False, 2 * 1000)])
def test_in_a_serial_phase_one_worker_works(serial: bool, takes_ns: int) -> None:
    graph = Graph(deal="cyclic")
    graph.phase("together", serial=serial)
    for _ in range(4):
        graph.task(1000)
    assert makespan_ns(graph, 2) == takes_ns


def test_a_barrier_begins_a_phase() -> None:
    graph = Graph(deal="cyclic")
    region = graph.region("r", 8)
    graph.barrier()
    before = graph.task(10, writes=region)
    graph.task(30)
    graph.barrier()
    graph.task(5, reads=region, after=before)
    assert [len(phase.roots) for phase in graph.workload.phases] == [2, 1]
    assert graph.edges == 0
    assert graph.span_ns == 35
    assert makespan_ns(graph, 2) == 35


def double_buffered() -> Graph:
    graph = Graph("sweeps", deal="cyclic")
    old, new = (graph.tiles(name, 2, 1, tile_bytes=64) for name in ("old", "new"))
    graph.task(7)
    with graph.loop(5):
        there = graph.phase("there")
        for row in range(2):
            graph.task(10, reads=old[row, 0], writes=new[row, 0])
        with graph.loop(3):
            graph.phase("back", repeat=2)
            for row in range(2):
                graph.task(20, reads=new[row, 0], writes=old[row, 0])
    graph.again(there)
    return graph


def test_loops_and_phases_that_run_again() -> None:
    graph = double_buffered()
    work = graph.workload
    assert work.loops == (Loop(1, 3, 5), Loop(2, 3, 3))
    assert [(phase.roots, phase.repeat, phase.name) for phase in work.phases] == [
        ((0,), 1, ""),
        ((1, 2), 1, "there"),
        ((3, 4), 2, "back"),
        ((1, 2), 1, "there"),
    ]
    assert (graph.edges, graph.tasks) == (0, 1 + 5 * (2 + 3 * 2 * 2) + 2)
    assert graph.span_ns == makespan_ns(bare(graph), 2) == 7 + 5 * (10 + 3 * 2 * 20) + 10


def test_a_graph_in_an_open_loop_is_what_there_is() -> None:
    graph = Graph()
    with graph.loop(3):
        graph.task(1)
        graph.barrier()
        assert (graph.workload.loops, graph.tasks) == ((Loop(0, 1, 3),), 3)
        graph.task(1)
        assert (graph.workload.loops, graph.tasks) == ((Loop(0, 2, 3),), 6)


# ---- makespans by hand ----


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_chain_takes_its_span_on_any_number_of_workers(workers: int) -> None:
    chain = Graph.from_edges(list(pairwise(range(50))), np.full(50, 10))
    assert chain.work_ns == chain.span_ns == 500
    assert makespan_ns(chain, workers) == 500


@given(st.integers(1, 9), st.lists(st.tuples(st.integers(0, 99), st.booleans()), min_size=1, max_size=4))
@settings(max_examples=30)
def test_the_span_of_a_pipeline(items: int, stages: list[tuple[int, bool]]) -> None:
    """One item goes through all stages; each further item adds the time of the slowest serial stage."""
    graph = Graph.pipeline([ns.Stage(cost, serial) for cost, serial in stages], items)
    slowest = max([cost for cost, serial in stages if serial], default=0)
    assert graph.tasks == items * len(stages)
    assert graph.span_ns == sum(cost for cost, _ in stages) + (items - 1) * slowest
    alone = Graph.pipeline([ns.Stage(cost, serial) for cost, serial in stages], items, most_items=1)
    assert alone.span_ns == alone.work_ns == items * sum(cost for cost, _ in stages)


def test_items_of_a_pipeline_have_memory_and_stages_have_names() -> None:
    stages = [ns.Stage([1, 2, 3], serial=True, name="read"), ns.Stage(5, name="work")]
    graph = Graph.pipeline(stages, 3, item_bytes=100)
    assert graph.workload.kernels == ("read", "work")
    assert graph.workload.segment_compute_ps.tolist() == [1000, 5000, 2000, 5000, 3000, 5000]
    assert graph.workload.accesses.offset.tolist() == [0, 0, 100, 100, 200, 200]
    assert graph.workload.accesses.mode.tolist() == [2, 3] * 3
    validate(graph.workload)


# ---- written and read back ----


def some_graphs() -> list[Graph]:
    with_phases = Graph("phases", deal="block")
    with_phases.task(1)
    with_phases.barrier()
    with_phases.task(2)
    mixed = Graph("mixed")
    region = mixed.region("r", 64, initialised=False)
    first = mixed.task(1.5, writes=region[0:8], kernel="k")
    with mixed.task(2, after=first) as task:
        task.spawn(fib, 3)
        task.work(7, reads="r")
    families = {"fib": {"n": 5}, "sort": {"n": 512, "quicksort_cutoff": 128, "merge_cutoff": 128}}
    families |= {"sparselu-single": {"blocks": 3, "block_size": 8}, "spinlock": {"threads": 2, "acquisitions": 2}}
    shipped = [Graph.shipped(name, **parameters) for name, parameters in families.items()]
    built = [cholesky(3), double_buffered(), with_phases, mixed]
    return [*built, Graph.fork_join(fib, 5), Graph.pipeline([1, 2], 3), *shipped]


@pytest.mark.parametrize("graph", some_graphs(), ids=lambda graph: graph.name)
def test_there_and_back(graph: Graph, tmp_path: Path) -> None:
    validate(graph.workload)
    assert Graph.from_networkx(graph.to_networkx()) == graph
    for name in ("graph.json", "graph.npz"):
        assert Graph.read(graph.save(tmp_path / name)).contents == graph.contents == graph.workload.digest()
    assert text_of(graph.workload) == json.dumps(to_file(graph.workload), separators=(",", ":")) + "\n"


@given(st.integers(1, 12), st.data())
@settings(max_examples=60)
def test_any_dag_of_networkx_comes_back(count: int, data: st.DataObject) -> None:
    pairs = data.draw(st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=20))
    names = data.draw(st.permutations([f"task {number}" for number in range(count)]))
    graph: nx.DiGraph[Any] = nx.DiGraph(name="drawn")
    for name in names:
        graph.add_node(name, cost_ns=data.draw(st.integers(0, 10**6)) / 1000)
    graph.add_edges_from((names[a], names[b]) for a, b in pairs if a < b)
    made = Graph.from_networkx(graph)
    validate(made.workload)
    again = made.to_networkx()
    kinds = graph.copy()
    nx.set_edge_attributes(kinds, "dependence", "kind")
    named = nx.relabel_nodes(again, dict(enumerate(names)))
    assert nx.utils.graphs_equal(named.to_undirected(), kinds.to_undirected())
    ends: dict[Any, float] = {}
    for node in nx.topological_sort(graph):
        before = max((ends[each] for each in graph.predecessors(node)), default=0)
        ends[node] = before + graph.nodes[node]["cost_ns"]
    assert made.span_ns == pytest.approx(max(ends.values()), abs=1e-6)
    pairs_array = np.array([(names.index(a), names.index(b)) for a, b in graph.edges]).reshape(-1, 2)
    costs = [cost for _, cost in graph.nodes(data="cost_ns")]
    assert Graph.from_edges(pairs_array.astype(int), costs, name="drawn") == made


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 9)), max_size=15))
@settings(max_examples=60)
def test_what_was_built_in_any_order_comes_back(steps: list[tuple[int, int, int]]) -> None:
    """Random steps build a graph: roots, children of any task, waits, work, and dependences on earlier tasks."""
    graph = Graph("drawn")
    region = graph.region("r", 10)
    tasks = [graph.task(1)]
    for kind, which, other in steps:
        task, earlier = tasks[which % len(tasks)], tasks[other % len(tasks)]
        if kind == 0:
            tasks.append(graph.task(which, reads=region[other : other + 1], after=earlier))
        elif kind == 1:
            tasks.append(task.spawn(cost_ns=which, writes=region[which : which + 1]))
        elif kind == 2:
            task.sync()
        elif kind == 3:
            task.work(other, kernel="more")
        else:
            tasks.append(graph.task(other, updates=[region]))
    validate(graph.workload)
    assert Graph.from_networkx(graph.to_networkx()) == graph
    assert unchecked(to_file(graph.workload)).digest() == graph.workload.digest()
    assert text_of(graph.workload) == json.dumps(to_file(graph.workload), separators=(",", ":")) + "\n"
    if not graph.edges:
        assert makespan_ns(bare(graph), 1) == graph.work_ns


def bare(graph: Graph) -> Graph:
    """Return the same tasks without accesses."""
    workload = graph.workload
    none = accesses_of(**dict.fromkeys(ACCESS_TYPES, ()))
    return Graph._of(replace(workload, accesses=none, segment_accesses=0 * workload.segment_accesses, regions=()))


def test_spawns_of_a_networkx_graph() -> None:
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_node("child", cost_ns=3)
    graph.add_node("parent", cost_ns=2)
    graph.add_edge("parent", "child", kind="spawn")
    made = Graph.from_networkx(graph, name="tree")
    assert [entry["ops"] for entry in to_file(made.workload)["tasks"]] == [
        [["run", 0], ["spawn", 1], ["wait"]],
        [["run", 1]],
    ]
    assert made.span_ns == 5


# ---- in runs and sweeps ----


def test_a_graph_its_file_and_its_name_are_one_run(tmp_path: Path) -> None:
    graph = cholesky(3, 20)
    file = graph.save(tmp_path / "graph.json")
    specs = [load_run({**BASE, "workers": 2, "workload": each}) for each in (graph, {"file": str(file)})]
    assert run_id(specs[0], 1) == run_id(specs[1], 1)
    assert run_id(load_run({**BASE, "workers": 2, "workload": cholesky(3, 21)}), 1) != run_id(specs[0], 1)
    copy = pickle.loads(pickle.dumps(specs[0]))
    assert run_id(copy, 1) == run_id(specs[0], 1)
    assert copy.workload.workload.digest() == graph.workload.digest()
    graph.task(1)
    assert graph.contents != specs[0].workload.contents  # type: ignore[union-attr]


def test_graphs_are_an_axis_and_can_be_run_again(tmp_path: Path) -> None:
    axes = {"workload": [cholesky(2), cholesky(3), Graph.fork_join(fib, 4), {"name": "fib", "n": 4}]}
    sweep = {**BASE, "workers": 2, "sweep": axes}
    frame = ns.sweep(sweep, tmp_path / "a", jobs=1).to_frame()
    assert frame["workload"].tolist() == ["cholesky", "cholesky (2)", "fib", "fib n=4"]
    assert frame["tasks"].tolist() == [4, 10, 9, 9]
    again = load_sweep(tmp_path / "a" / "spec.yaml")
    assert spec_hash(again) == spec_hash(load_sweep(sweep))
    ids = [run_id(cell.spec, 1) for cell in again.cells]
    assert ids == [run_id(cell.spec, 1) for cell in load_sweep(sweep).cells]
    shards = len(list((tmp_path / "a" / "shards").iterdir()))
    ns.sweep(tmp_path / "a" / "spec.yaml", tmp_path / "b", jobs=1)
    assert len(load_sweep(tmp_path / "b" / "spec.yaml").cells) == 4  # the folder also has the graphs
    ns.sweep(tmp_path / "a" / "spec.yaml", tmp_path / "a", jobs=1)
    assert len(list((tmp_path / "a" / "shards").iterdir())) == shards


def test_what_it_says_of_itself() -> None:
    graph = cholesky(4)
    assert repr(graph) == "Graph('cholesky': 20 tasks, 30 dependences)"
    assert "20" in graph.describe()
    page = graph._repr_html_()
    assert page.count("<circle") == 20
    assert page.count("<line") == 30
    assert all(f">{kernel}</text>" in page for kernel in ("potrf", "trsm", "gemm"))


# ---- errors ----


def edge_back(graph: Graph) -> None:
    first, second = graph.task(1), graph.task(1)
    graph.edge(first, second)
    graph.edge(second, first)
    _ = graph.workload


def child_waits_for_its_parents_successor(graph: Graph) -> None:
    parent, other = graph.task(1), graph.task(1)
    graph.edge(parent, other)
    with parent:
        parent.spawn(cost_ns=1, after=other)
    _ = graph.workload


WEIGHTED: nx.DiGraph[int] = nx.DiGraph()
WEIGHTED.add_node(0, cost=7)


def spawn_without_end(task: Task) -> None:
    task.spawn(spawn_without_end)


def empty_loop(graph: Graph) -> None:
    with graph.loop(2):
        graph.barrier()


def too_many_passes(graph: Graph) -> None:
    with graph.loop(2**31), graph.loop(2):
        graph.task(1)


def too_deep(graph: Graph, levels: int = 0) -> None:
    with graph.loop(1):
        too_deep(graph, levels + 1)


REFUSED: dict[str, Any] = {
    r"'a' has 0 objects; expected 1 to 1048576": lambda graph: graph.objects("a", 0),
    r"the skew of 'a' is -1; expected 0 to 8": lambda graph: graph.objects("a", 1, skew=-1),
    r"the skew of 'a' is much; expected 0 to 8": lambda graph: graph.objects("a", 1, skew="much"),
    r"expected what this graph's objects": lambda graph: graph.task().transaction(Graph().objects("a", 1)),
    r"the loop is empty; expected at least one task": empty_loop,
    r"the phases would run 4,294,967,296 times; expected at most 4,294,967,295": too_many_passes,
    r"loops are nested too deep; expected at most 32": too_deep,
    r"got 0 as the number of repeats": lambda graph: graph.phase(repeat=0),
    r"got 'twice' as the number of repeats": lambda graph: graph.loop("twice").__enter__(),
    r"the phase 'p' has no tasks": lambda graph: graph.again(graph.phase("p")),
    r"got None to run again; expected what phase\(\) of this graph": lambda graph: graph.again(None),
    r"the tasks of 'spawn_without_end' are nested too deep; expected fewer levels": lambda _: Graph.fork_join(
        spawn_without_end
    ),
    r"tasks wait for each other in a cycle: (0 after 1 after 0|1 after 0 after 1); expected a graph without": edge_back,
    r"tasks wait for each other in a cycle": child_waits_for_its_parents_successor,
    r"the cost of a task is -1 ns; expected 0 to": lambda graph: graph.task(-1),
    r"the cost of a task is nan ns": lambda graph: graph.task(float("nan")),
    r"the cost of a task is None ns": lambda graph: graph.task(None),
    r"there is no region 'B'; expected a region that": lambda graph: graph.task(reads="B"),
    r"got 3 to read or write": lambda graph: graph.task(reads=[3]),
    r"the region 'x' is one of another graph": lambda graph: graph.task(reads=Graph().region("x", 8)),
    r"the bytes 4 to 9 are not in region 'x'": lambda graph: graph.region("x", 8)[4:9],
    r"there is no tile \[2, 0\] of 't'": lambda graph: graph.tiles("t", 2, 2, tile_bytes=8)[2, 0],
    r"the region 'r' is there already": lambda graph: [graph.region("r", 8) for _ in range(2)],
    r"the region 'r' has 0 bytes": lambda graph: graph.region("r", 0),
    r"got a task of another graph than 'graph' to wait for": lambda graph: graph.task(after=Graph().task()),
    r"got 5 to wait for": lambda graph: graph.task(after=[5]),
    r"the graph 'graph' has no tasks": lambda graph: graph.workload,
    r"the graph 'graph' is whole; expected a new ns.Graph": lambda _: Graph.from_edges([(0, 1)], [1, 1]).task(1),
    r"there is no deal 'cylcic'.*did you mean 'cyclic'": lambda _: Graph(deal="cylcic"),
    r"edge 1 leads from task 1 to task 2; expected tasks 0 to 1": lambda _: Graph.from_edges([(0, 1), (1, 2)], [1, 1]),
    r"the cost of task 1 is -1 ns": lambda _: Graph.from_edges([(0, 1)], [1, -1]),
    r"task 1 waits for itself": lambda _: Graph.from_edges([(1, 1)], [1, 1]),
    r"the edges are an array of float64": lambda _: Graph.from_edges([(0.5, 1)], [1, 1]),
    r"in a cycle: 2 after 1 after 2|in a cycle: 1 after 2 after 1": lambda _: Graph.from_edges(
        [(0, 1), (1, 2), (2, 1)], [1, 1, 1]
    ),
    r"got a Graph; expected a DiGraph": lambda _: Graph.from_networkx(nx.Graph()),
    r"the cost of task 0 is -2.0 ns": lambda _: Graph.from_networkx(nx.DiGraph({0: [1]}), usual_cost_ns=-2.0),
    r"no node has the attribute 'cost_ns'; expected .*; did you mean 'cost'": lambda _: Graph.from_networkx(WEIGHTED),
    r"no node has the attribute 'wieght'": lambda _: Graph.from_networkx(WEIGHTED, cost="wieght"),
    r"got 1 stages and 2.5 items; expected at least one": lambda _: Graph.pipeline([1], 2.5),  # type: ignore[arg-type]
    r"got 0 in 't'; expected a row and a column": lambda graph: graph.tiles("t", 2, 2, tile_bytes=8)[0],
    r"got 5; expected a function": lambda _: Graph.fork_join(5),  # type: ignore[arg-type]
    r"got 0 stages and 3 items": lambda _: Graph.pipeline([], 3),
    r"there is no field 'm'|'m'": lambda _: Graph.shipped("fib", m=3),
    r"has a range of tasks that are not written down": lambda _: Graph.shipped("matmul", n=2).to_networkx(),
    r"the value is the workload 'fork', which has no field 'n'": lambda _: ns.run(
        BASE, workers=1, workload=Graph.fork_join(fib, 3, name="fork"), **{"workload.n": 3}
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message: str) -> None:
    with pytest.raises(InputError, match=message):
        REFUSED[message](Graph())
