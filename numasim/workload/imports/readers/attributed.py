"""Graphs whose nodes (tasks) and edges have attributes: an attribute of nodes is the time, one of edges the bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from numasim.errors import InputError
from numasim.workload.imports.read_graph import UNITS_PS, Choices, ReadGraph, number, shortened

Attributes = dict[str, str]
COST_NS = "cost_ns"  # the attribute of a task's time in graphs that numasim wrote, in ns
COSTS = ("cost", "weight", "runtime", "time", "duration", "exec_time", "execution_time", "computation", "work", "size")
KINDS = ("kind", "kernel", "category", "type")
BYTES = "bytes"
OTHER_BYTES = ("size", "data", "weight", "volume", "communication", "comm", "cost")
UNIT_MEANS = "what one unit of the attribute is"
LABEL, SHAPE, STYLE = "label", "shape", "style"
PICTURES = ("plaintext", "plain", "none")  # shapes of nodes that are only text, such as a legend
POINTS = ("sync", "synchro", "synchronization", "synchronisation", "barrier", "taskwait")  # compared in lower case
_TAG = re.compile(r"<[^>]*>")
_FIRST_LINE = re.compile(r"\\[nlr]|\n|[(\[]")  # the end of the kernel's name in a label
_NUMBERED = re.compile(r"[\s_\-.,:#0-9]+$")


@dataclass
class Attributed:
    """The graph in a file: nodes in the order of first mention, each with the number of its line.

    ``legend`` are the nodes of subgraphs with the word legend in their names.
    """

    name: str = ""
    strict: bool = False
    nodes: dict[str, tuple[Attributes, int]] = field(default_factory=dict)
    edges: list[tuple[str, str, Attributes, int]] = field(default_factory=list)
    legend: set[str] = field(default_factory=set)


def graph_of(found: Attributed, path: str, format_name: str, name: str, choices: Choices) -> ReadGraph:
    """Return a task for each node, with the edges as dependences; raise InputError for ambiguous attributes.

    Nodes of a legend, text nodes without edges to tasks, and invisible edges are left out. Points of synchronisation
    without a time take no time.
    """
    cost = _cost_name(found, path, choices)
    unit_ps = Decimal(UNITS_PS["ns"]) if cost == COST_NS else None
    not_known = "which memory tasks access beside the bytes of edges"
    graph = ReadGraph(path, format_name, name, unit_ps, f"what one unit of {cost or 'time'} is", not_known)
    invisible = _leave_out_pictures(graph, found)
    used = {cost or "", *KINDS, LABEL, choices.bytes or BYTES}
    silent = 0
    for node, (attributes, line) in found.nodes.items():
        label = _plain(attributes.get(LABEL, ""), node)
        kind = next((attributes[key] for key in KINDS if attributes.get(key)), "") or _kernel_of(label)
        time = attributes.get(cost) if cost else None
        silent += bool(cost and not attributes)
        task = graph.add_task(node, 0 if cost and not attributes else time, line, kind, label=label)
        graph.take(attributes, used)
        if time is None and _is_point(node, attributes, kind):
            graph.still.add(task)
    if cost:
        graph.remarks.append(f"the attribute {cost} is the time of a task")
    if silent:
        graph.remarks.append(f"nothing is said of {silent:,} tasks, which take no time")
    if graph.still:
        graph.remarks.append(f"{len(graph.still):,} points of synchronisation take no time")
    for source, target, attributes, line in found.edges:
        numbers = [graph.task(end, "an edge", line) for end in (source, target)]
        graph.add_edge(numbers[0], numbers[1], line)
        graph.take((f"{key} of an edge" for key in attributes), {f"{choices.bytes or BYTES} of an edge"})
    if invisible:
        graph.left_out["edges of style invis"] = invisible
    _add_bytes(graph, found, choices)
    return graph.finish()


def _leave_out_pictures(graph: ReadGraph, found: Attributed) -> int:
    """Remove nodes of legends, text nodes and invisible edges from ``found``; return the number of these edges."""
    seen = [edge for edge in found.edges if "invis" not in edge[2].get(STYLE, "")]
    invisible, found.edges = len(found.edges) - len(seen), seen
    drawn = {
        node
        for node, (attributes, _) in found.nodes.items()
        if node in found.legend or attributes.get(SHAPE) in PICTURES or "invis" in attributes.get(STYLE, "")
    }
    beside: dict[str, list[str]] = {}
    for source, target, *_ in seen:
        beside.setdefault(source, []).append(target)
        beside.setdefault(target, []).append(source)
    waiting = [node for node in found.nodes if node not in drawn]
    if not waiting:
        return invisible  # a graph of nothing but text
    while waiting:
        for other in beside.pop(waiting.pop(), ()):
            if other in drawn:
                drawn.remove(other)
                waiting.append(other)
    if drawn:
        several = f"{len(drawn):,} nodes are a legend or text and lead to no task: they are left out"
        one = "1 node is a legend or text and leads to no task: it is left out"
        graph.remarks.append(one if len(drawn) == 1 else several)
        found.nodes = {node: each for node, each in found.nodes.items() if node not in drawn}
        found.edges = [edge for edge in found.edges if edge[0] not in drawn]
    return invisible


def _plain(label: str, node: str) -> str:
    """Return the text of a label without HTML tags; an empty text if the label is the name of the node."""
    html = label.startswith("<") and label.endswith(">")
    text = (_TAG.sub(" ", label[1:-1]) if html else label).strip()
    return "" if text == "\\N" else text.replace("\\N", node)


def _kernel_of(label: str) -> str:
    """Return the kernel in a label: its first line, up to a bracket and without digits at the end."""
    first = _FIRST_LINE.split(label, maxsplit=1)[0].strip()
    return _NUMBERED.sub("", first) or first


def _is_point(node: str, attributes: Attributes, kind: str) -> bool:
    """Return whether a node's shape, kernel or name says that it is a point of synchronisation, not work."""
    named = (kind, _NUMBERED.sub("", node))
    return attributes.get(SHAPE) == "point" or any(name.lower() in POINTS for name in named)


def _cost_name(found: Attributed, path: str, choices: Choices) -> str | None:
    """Return the attribute with the costs of nodes: the chosen attribute, or the only attribute of a usual name."""
    said = dict.fromkeys(key for attributes, _ in found.nodes.values() for key in attributes)
    if choices.cost is not None:
        if choices.cost not in said:
            expected = "an attribute of nodes that is the time of a task"
            problem = f"no node has the attribute {choices.cost!r}"
            raise InputError(problem, place=path, expected=expected, value=choices.cost, known=said)
        return choices.cost
    if COST_NS in said:
        return COST_NS
    values = [attributes for attributes, _ in found.nodes.values()]
    likely = [key for key in COSTS if key in said and any(number(each.get(key)) is not None for each in values)]
    if len(likely) > 1:
        expected = f"--cost with the one that is the time of a task, such as --cost {likely[0]}"
        raise InputError(f"nodes have the attributes {' and '.join(likely)}", place=path, expected=expected)
    return likely[0] if likely else None


def _add_bytes(graph: ReadGraph, found: Attributed, choices: Choices) -> None:
    """Add a file for each edge with bytes; the edge's first task writes the file, its second task reads the file."""
    said = dict.fromkeys(key for *_, attributes, _ in found.edges for key in attributes)
    key = choices.bytes or BYTES
    if choices.bytes is not None and key not in said:
        expected = "an attribute of edges that is a number of bytes"
        graph.refuse(f"no edge has the attribute {key!r}", expected, value=key, known=said)
    if key not in said:
        for other in OTHER_BYTES:
            if other in said:
                graph.remarks.append(f"the attribute {other} of edges is left out; --bytes {other} takes it for bytes")
        return
    sizes: dict[tuple[str, str], int] = {}
    for source, target, attributes, line in found.edges:
        size = graph.size(attributes.get(key), f"the edge from {shortened(source)} to {shortened(target)}", line)
        sizes[source, target] = size + (0 if found.strict else sizes.get((source, target), 0))
    for (source, target), size in sizes.items():
        file = graph.file(f"{source} -> {target}", size)
        file.writers.append(graph.numbers[source])
        file.readers.append(graph.numbers[target])
