"""Task graphs as networkx's directed graphs, and back.

A node is a task; ``cost_ns`` is the compute time of the task. An edge leads from a task to a task that waits
(``kind="dependence"``) or to a child (``kind="spawn"`` or ``"call"``). A task that does more than compute once has the
attribute ``steps`` with its ops in order: ``("work", {compute_ps, kernel, accesses})``, ``("spawn", node)``,
``("call", node)``, ``("wait",)``, ``("group",)``, ``("end_group",)`` and the synchronisation ops. ``graph.graph`` has
the name, regions, phases and other keys of the JSON form.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from numasim.errors import InputError
from numasim.objects.graph_arrays import costs_ps, plain_graph
from numasim.workload.export.part_graph import require_no_ranges
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.json_form.graph_io import unchecked
from numasim.workload.json_form.to_json_form import to_file
from numasim.workload.one_worker import by_task

if TYPE_CHECKING:
    import networkx as nx

FORKS = ("spawn", "call")
PLAIN = {"kernel": "", "accesses": []}
DEPENDENCE = "dependence"
HEAD = ("parameters", "kernels", "regions", "phases", "words", "facts")
ONE_PHASE = {"range": None, "deal": "master", "serial": False, "repeat": 1, "name": ""}


def to_networkx(workload: Workload) -> nx.DiGraph[Any]:
    """Return the graph of a workload's tasks; raise InputError for a workload with ranges."""
    import networkx as nx

    require_no_ranges(workload, "a graph without ranges")
    document = to_file(workload)
    graph: nx.DiGraph[Any] = nx.DiGraph(name=workload.name, **_head(document))
    costs = (by_task(workload, workload.segment_compute_ps) / 1000).tolist()
    for task, entry in enumerate(document["tasks"]):
        work = [("work", document["segments"][op[1]]) if op[0] == "run" else tuple(op) for op in entry["ops"]]
        attributes: dict[str, Any] = {"cost_ns": costs[task]}
        computes_once = len(work) == 1 and work[0][0] == "work"
        if not (computes_once and {key: work[0][1][key] for key in PLAIN} == PLAIN):  # more than the cost describes
            attributes["steps"] = work
        if entry["kind"] != "task":
            attributes["kind"] = entry["kind"]
        graph.add_node(task, **attributes)
    for task, entry in enumerate(document["tasks"]):
        graph.add_edges_from((task, op[1], {"kind": op[0]}) for op in entry["ops"] if op[0] in FORKS)
        graph.add_edges_from(((task, each) for each in entry["then"]), kind=DEPENDENCE)
    return graph


def _head(document: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of the graph, without defaults."""
    head = {key: document[key] for key in HEAD if document[key]}
    if head["kernels"] == [""]:
        del head["kernels"]
    if head["phases"] == [{**ONE_PHASE, "roots": head["phases"][0].get("roots")}]:
        del head["phases"]
    return head


def from_networkx(graph: nx.DiGraph[Any], cost: str, usual_cost_ns: Any, name: str | None) -> Workload:
    """Return the workload of a directed graph; raise InputError for wrong costs, edges and steps.

    Attributes of nodes without any cost are wrong, too: the name of the cost may be misspelt.
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise InputError(f"got a {type(graph).__name__}", expected="a DiGraph, whose edges lead to waiting tasks")
    said = dict.fromkeys(str(key) for _, found in graph.nodes(data=True) for key in found)
    if said and not {cost, "steps", "kind"} & said.keys() and isinstance(usual_cost_ns, int) and usual_cost_ns == 0:
        expected = "the cost of each task in ns, under the name that cost= gives, or usual_cost_ns for all"
        raise InputError(f"no node has the attribute {cost!r}", expected=expected, value=cost, known=said)
    called = str(graph.graph.get("name") or "graph") if name is None else name
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    has_steps = any("steps" in found or "kind" in found for _, found in graph.nodes(data=True))
    forks = any(found.get("kind") in FORKS for *_, found in graph.edges(data=True))
    if not (has_steps or forks or set(HEAD) & graph.graph.keys()):  # every task computes once and does nothing else
        costs = costs_ps([found.get(cost, usual_cost_ns) for _, found in graph.nodes(data=True)] or np.zeros(0))
        pairs = np.array([(numbers[a], numbers[b]) for a, b in graph.edges], np.int64).reshape(-1, 2)
        return plain_graph(called, costs, (pairs[:, 0], pairs[:, 1]))
    workload = unchecked(_document(graph, called, cost, usual_cost_ns))
    validate(workload)
    return workload


def _document(graph: nx.DiGraph[Any], name: str, cost: str, usual_cost_ns: Any) -> dict[str, Any]:
    """Return the JSON form of a graph whose tasks spawn tasks, or do more than compute once."""
    steps = {node: _steps(graph, node, cost, usual_cost_ns) for node in graph.nodes}
    order = _depth_first(graph, steps)
    numbers = {node: number for number, node in enumerate(order)}
    segments: list[dict[str, Any]] = []
    tasks = [_task(graph, node, steps[node], numbers, segments) for node in order]
    kernels = dict.fromkeys([*graph.graph.get("kernels", ()), *(segment["kernel"] for segment in segments)])
    head: dict[str, Any] = {key: graph.graph[key] for key in HEAD if key in graph.graph}
    if graph.graph.get("phases"):
        old = {number: numbers[node] for number, node in enumerate(graph.nodes)}
        head["phases"] = _renumbered(graph.graph["phases"], old)
    return {**head, "name": name, "kernels": list(kernels) or [""], "tasks": tasks, "segments": segments}


def _renumbered(entries: list[dict[str, Any]], numbers: dict[int, int]) -> list[dict[str, Any]]:
    """Return phases and loops with new numbers of roots."""
    return [
        {**entry, "loop": _renumbered(entry["loop"], numbers)}
        if "loop" in entry
        else {**entry, "roots": [numbers[root] for root in entry["roots"]]}
        for entry in entries
    ]


def _steps(graph: nx.DiGraph[Any], node: Hashable, cost: str, usual_cost_ns: Any) -> list[tuple[Any, ...]]:
    """Return the ops of a task. Default: the task computes, spawns its children, and waits for the children."""
    found = graph.nodes[node]
    if "steps" in found:
        return list(found["steps"])
    compute = int(costs_ps([found.get(cost, usual_cost_ns)])[0])
    edges = graph.out_edges(node, data=True)
    spawned = [(found["kind"], other) for _, other, found in edges if found.get("kind") in FORKS]
    return [("work", {"compute_ps": compute, **PLAIN}), *spawned, *([("wait",)] if spawned else [])]


def _depth_first(graph: nx.DiGraph[Any], steps: dict[Any, list[tuple[Any, ...]]]) -> list[Any]:
    """Return the tasks in the order of a workload's numbers: roots in the order of nodes, children behind parents."""
    below = {node: [step[1] for step in steps[node] if step[0] in FORKS] for node in graph.nodes}
    spawned = {child for some in below.values() for child in some}
    for child in spawned - set(graph.nodes):
        raise InputError(f"a task spawns {child!r}, which is no node", expected="a node of the graph")
    found: list[Any] = []
    left = [node for node in reversed(list(graph.nodes)) if node not in spawned]
    while left:
        node = left.pop()
        found.append(node)
        if len(found) > len(below):
            break  # a task spawned twice, which `validate` refuses
        left += reversed(below[node])
    seen = set(found)
    return [*dict.fromkeys(found), *(node for node in graph.nodes if node not in seen)]


def _task(
    graph: nx.DiGraph[Any],
    node: Hashable,
    steps: list[tuple[Any, ...]],
    numbers: dict[Any, int],
    segments: list[dict[str, Any]],
) -> dict[str, Any]:
    ops: list[list[Any]] = []
    for step in steps:
        if step[0] == "work":
            ops.append(["run", len(segments)])
            segments.append({"kernel": "", "accesses": [], **step[1]})
        else:
            ops.append([step[0], *(numbers[each] if step[0] in FORKS else each for each in step[1:])])
    edges = graph.out_edges(node, data=True)
    then = [numbers[other] for _, other, found in edges if found.get("kind") not in FORKS]
    return {"kind": graph.nodes[node].get("kind", "task"), "ops": ops, "then": sorted(then)}
