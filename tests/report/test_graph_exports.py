"""Graphs and schedules for other tools, which find the nodes, edges and times that were worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numasim as ns
from numasim.engine.simulate import ENGINES
from numasim.errors import InputError
from numasim.workload.export.part_graph import part_graph
from numasim.workload.graph import Workload
from numasim.workload.graph_forms import export, read_graph
from numasim.workload.imports.import_graph import imported
from numasim.workload.imports.read_graph import Choices
from numasim.workload.json_form.graph_io import unchecked
from numasim.workload.span import span_ps

BASE = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "runtime": "bare", "workers": 4}
NODES = ("{}.graphml", "{}.dot", "{}.wf.json")

FAMILY = {  # a parent that computes, spawns two tasks, computes, waits, calls a task and computes
    "name": "family",
    "kernels": ["a", "b \"q\" <&>"],
    "regions": [{"name": "r", "bytes": 64}],
    "tasks": [
        {"ops": [["run", 0], ["spawn", 1], ["run", 1], ["spawn", 2], ["wait"], ["call", 3], ["run", 2]]},
        {"ops": [["run", 3]], "then": [2]},
        {"ops": [["run", 4]]},
        {"kind": "call", "ops": [["run", 5]]},
    ],
    "segments": [
        {"compute_ps": 1000, "kernel": "a"},
        {"compute_ps": 2000, "kernel": "a"},
        {"compute_ps": 4000, "kernel": "a"},
        {"compute_ps": 8001, "kernel": "b \"q\" <&>"},
        {"compute_ps": 16000, "kernel": "a", "accesses": [{"region": "r", "row_bytes": 8, "mode": "read-write"}]},
        {"compute_ps": 32000, "kernel": "a", "accesses": [{"region": "r", "row_bytes": 16, "passes": 2}]},
    ],
}  # fmt: skip
EDGES = {
    ("0.0", "0.1"): "continue",
    ("0.1", "0.2"): "continue",
    ("0.2", "0.3"): "continue",
    ("0.0", "1"): "spawn",
    ("0.1", "2"): "spawn",
    ("1", "0.2"): "join",
    ("2", "0.2"): "join",
    ("0.2", "3"): "call",
    ("3", "0.3"): "call",
    ("1", "2"): "dependence",
}
COSTS = {"0.0": 1, "0.1": 2, "0.2": 0, "0.3": 4, "1": 8.001, "2": 16, "3": 32}


def family() -> Workload:
    return unchecked(FAMILY)


def exported(work: Workload, folder: Path, form: str) -> tuple[Path, list[str]]:
    path = folder / form.format("g")
    return path, export(work, path)


def test_graphml_of_a_family_by_hand(tmp_path: Path) -> None:
    path, left_out = exported(family(), tmp_path, "{}.graphml")
    graph = nx.read_graphml(path)
    assert dict(graph.nodes(data="cost_ns")) == COSTS
    assert {(a, b): kind for a, b, kind in graph.edges(data="kind")} == EDGES
    assert graph.nodes["1"] == {"cost_ns": 8.001, "kernel": 'b "q" <&>', "task": 1}
    assert (graph.nodes["2"]["read_bytes"], graph.nodes["2"]["written_bytes"]) == (8, 8)
    assert graph.nodes["3"]["read_bytes"] == 32
    assert "written_bytes" not in graph.nodes["3"]
    assert len(left_out) == 2
    assert left_out[0].endswith("leaves out which memory is accessed, of which the bytes remain")


def test_dot_of_a_family_by_hand(tmp_path: Path) -> None:
    path, _ = exported(family(), tmp_path, "{}.dot")
    lines = path.read_text().splitlines()
    assert lines[0] == 'digraph "family" {'
    assert lines[-1] == "}"
    assert '  "1" [cost_ns="8.001", kernel="b \\"q\\" <&>", task="1"];' in lines
    assert {line for line in lines if " -> " in line} == {
        f'  "{a}" -> "{b}" [kind="{kind}"];' for (a, b), kind in EDGES.items()
    }


def test_wfformat_of_a_family_by_hand(tmp_path: Path) -> None:
    path, _ = exported(family(), tmp_path, "{}.wf.json")
    document = json.loads(path.read_text())
    assert document["schemaVersion"] == "1.5"
    tasks = {task["id"]: task for task in document["workflow"]["specification"]["tasks"]}
    assert {(parent, name) for name, task in tasks.items() for parent in task["parents"]} == set(EDGES)
    assert {(name, child) for name, task in tasks.items() for child in task["children"]} == set(EDGES)
    execution = document["workflow"]["execution"]
    seconds = {task["id"]: task["runtimeInSeconds"] for task in execution["tasks"]}
    assert seconds == {name: pytest.approx(cost * 1e-9, rel=1e-12) for name, cost in COSTS.items()}
    # The critical path: the parent computes 1 ns and spawns task 1 (8.001 ns); task 2 (16 ns) waits for task 1; the
    # parent waits for task 2, calls a task of 32 ns, and computes 4 ns.
    assert execution["makespanInSeconds"] == pytest.approx((1 + 8.001 + 16 + 0 + 32 + 4) * 1e-9, rel=1e-12)


@pytest.mark.parametrize(("name", "sizes"), [("fib", {"n": 9}), ("cholesky", {"tiles": 5}), ("nqueens", {"n": 5})])
def test_the_longest_chain_is_that_of_the_workload(name: str, sizes: dict[str, Any]) -> None:
    work = ns.Graph.shipped(name, **sizes).workload
    graph = part_graph(work)
    assert graph.span_ps() == span_ps(work, 0)
    assert sum(graph.compute_ps) == ns.Graph.shipped(name, **sizes).work_ns * 1000


@pytest.mark.parametrize("form", NODES)
def test_what_is_exported_is_imported_with_its_longest_chain(form: str, tmp_path: Path) -> None:
    work = ns.Graph.shipped("fib", n=7).workload
    path, _ = exported(work, tmp_path, form)
    back = imported(path, Choices()).workload
    assert (back.rows, len(back.successor)) == (len(part_graph(work)), len(part_graph(work).edges))
    assert span_ps(back, 0) == span_ps(work, 0)
    assert int(back.segment_compute_ps.sum()) == int(work.segment_compute_ps.sum())


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20), st.integers(1, 12))
@settings(max_examples=25)
def test_dependences_are_edges(pairs: list[tuple[int, int]], count: int) -> None:
    edges = sorted({(a, b) for a, b in pairs if a < b < count})
    work = ns.Graph.from_edges(np.array(edges).reshape(-1, 2).astype(int), range(1, count + 1)).workload
    graph = part_graph(work)
    assert sorted((a, b) for a, b, _ in graph.edges) == edges
    assert graph.compute_ps == [1000 * cost for cost in range(1, count + 1)]


def test_a_group_waits_for_all_descendants() -> None:
    tasks = [
        {"ops": [["group"], ["spawn", 1], ["end_group"], ["run", 0]]},
        {"ops": [["spawn", 2], ["run", 0]]},
        {"ops": [["run", 0]]},
    ]
    work = unchecked({"tasks": tasks, "segments": [{"compute_ps": 10, "kernel": ""}]})
    graph = part_graph(work)
    edges = {(graph.names[a], graph.names[b], kind) for a, b, kind in graph.edges}
    # the parent's second part waits for both tasks, although no task waits for task 2 alone
    assert edges == {
        ("0.0", "0.1", "continue"),
        ("0.0", "1.0", "spawn"),
        ("1.0", "1.1", "continue"),
        ("1.0", "2", "spawn"),
        ("1.1", "0.1", "join"),
        ("2", "0.1", "join"),
    }
    assert graph.span_ps() == span_ps(work, 0) == 20


def test_phases_are_kept_apart_by_a_node() -> None:
    segments = [{"compute_ps": 10, "kernel": ""}] * 3
    tasks = [{"ops": [["run", number]]} for number in range(3)]
    phases = [{"roots": [0, 1], "repeat": 2}, {"roots": [2], "deal": "cyclic"}]
    graph = part_graph(unchecked({"tasks": tasks, "segments": segments, "phases": phases}))
    assert graph.names == ["0", "1", "2", "phase.1"]
    assert {(graph.names[a], graph.names[b]) for a, b, _ in graph.edges} == {
        ("0", "phase.1"),
        ("1", "phase.1"),
        ("phase.1", "2"),
    }
    assert graph.remarks == ["repeats of phases", "to which workers tasks are dealt"]


def test_synchronisation_is_said_to_be_left_out() -> None:
    graph = part_graph(
        unchecked({"tasks": [{"ops": [["lock", 0], ["unlock", 0]]}], "words": [{"role": "lock"}]}),
    )
    assert graph.remarks == ["operations on synchronisation objects (1 lock, 1 unlock)"]


def test_ranges_have_no_nodes(tmp_path: Path) -> None:
    work = ns.Graph("r")
    work.range(10, 5)
    with pytest.raises(InputError, match="has a range of tasks that are not written down"):
        export(work.workload, tmp_path / "g.dot")
    assert list(tmp_path.iterdir()) == []
    assert export(work.workload, tmp_path / "g.npz") == []


# ---- schedules ----


@pytest.mark.parametrize("engine", ENGINES)
def test_a_schedule_by_hand(engine: str, tmp_path: Path) -> None:
    graph = ns.Graph("chain")
    first = graph.task(100)
    graph.task(50, after=first)
    ns.run({**BASE, "workers": 1}, workload=graph, engine=engine, schedule=tmp_path / "s.graphml")
    nodes = nx.read_graphml(tmp_path / "s.graphml").nodes
    assert [(nodes[name]["worker"], nodes[name]["begin_ns"], nodes[name]["end_ns"]) for name in "01"] == [
        (0, 0.0, 100.0),
        (0, 100.0, 150.0),
    ]


@pytest.mark.parametrize("workload", [{"name": "fib", "n": 8}, {"name": "cholesky", "tiles": 4}])
def test_a_schedule_keeps_the_order_of_edges_and_the_sums(workload: dict[str, Any], tmp_path: Path) -> None:
    results = [ns.run(BASE, workload=workload, schedule=tmp_path / form.format("s")) for form in (*NODES, "{}.npz")]
    assert len({result.counters["event_hash"] for result in results}) == 1
    graph = nx.read_graphml(tmp_path / "s.graphml")
    timed = {name for name, found in graph.nodes(data=True) if "begin_ns" in found}
    assert all(graph.nodes[a]["end_ns"] <= graph.nodes[b]["begin_ns"] for a, b in graph.edges if {a, b} <= timed)
    execution = json.loads((tmp_path / "s.wf.json").read_text())["workflow"]["execution"]
    makespan_ps = results[0].counters["makespan_ps"]
    assert execution["makespanInSeconds"] == makespan_ps / 1e12
    assert sum(machine["cpu"]["coreCount"] for machine in execution["machines"]) == 4
    starts = {task["id"]: task["startInSeconds"] for task in execution["tasks"] if "worker" in task}
    assert {name: graph.nodes[name]["begin_ns"] for name in timed} == pytest.approx(
        {name: start * 1e9 for name, start in starts.items()}
    )
    with np.load(tmp_path / "s.npz") as arrays:
        busy = np.bincount(arrays["executed_worker"], arrays["executed_end_ps"] - arrays["executed_begin_ps"])
        work = sum(results[0].per_worker[name] for name in ("work_local_ps", "inflation_numa_ps"))
        others = sum(results[0].per_worker[name] for name in ("inflation_contention_ps", "inflation_smt_ps"))
        assert busy.astype(np.int64).tolist() == (work + others)[:4].tolist()
    assert read_graph(tmp_path / "s.npz").digest() == ns.Graph.shipped(**_as_family(workload)).workload.digest()


def _as_family(workload: dict[str, Any]) -> dict[str, Any]:
    return {"family": workload["name"], **{key: value for key, value in workload.items() if key != "name"}}


def test_a_task_that_runs_again_has_its_first_time(tmp_path: Path) -> None:
    graph = ns.Graph("again")
    graph.phase("p", repeat=3)
    graph.task(10)
    ns.run({**BASE, "workers": 1}, workload=graph, schedule=tmp_path / "s.graphml")
    assert nx.read_graphml(tmp_path / "s.graphml").nodes["0"]["end_ns"] == 10.0


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("s.json", "'s.json' asks for no form of a schedule; expected a name that ends in .npz, .wf.json"), ("s", "'s'")],
)
def test_a_name_without_a_form_is_refused_before_the_run(name: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        ns.run(BASE, workload={"name": "fib", "n": 5}, schedule=tmp_path / name)
    with pytest.raises(InputError, match="for a schedule of its tasks"):
        ns.run(
            BASE, workload={"name": "independent", "tasks": 5, "low_ns": 1, "high_ns": 2}, schedule=tmp_path / "s.dot"
        )
    assert list(tmp_path.iterdir()) == []
