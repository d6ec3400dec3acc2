"""Nodes and edges with attributes: which attribute says what a task costs, and which how many bytes an edge carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from numasim.errors import InputError
from numasim.workload.imports.import_choices import Choices
from numasim.workload.imports.read_graph import ReadGraph, shortened
from numasim.workload.imports.time_units import UNITS_PS, number

Attributes = dict[str, str]
COST_NS = "cost_ns"  # what numasim's own graphs in networkx call it: the one name that says its unit
COSTS = ("cost", "weight", "runtime", "time", "duration", "exec_time", "execution_time", "computation", "work", "size")
KINDS = ("kind", "kernel", "category", "type")
BYTES = "bytes"
OTHER_BYTES = ("size", "data", "weight", "volume", "communication", "comm", "cost")
UNIT_MEANS = "what one unit of the attribute is"


@dataclass
class Attributed:
    """A graph as a file has it; nodes in the order in which they are first named, with their lines."""

    name: str = ""
    strict: bool = False
    nodes: dict[str, tuple[Attributes, int]] = field(default_factory=dict)
    edges: list[tuple[str, str, Attributes, int]] = field(default_factory=list)


def graph_of(found: Attributed, path: str, format_name: str, name: str, choices: Choices) -> ReadGraph:
    """Tasks for the nodes, which wait for each other by the edges; InputError for attributes that are not clear."""
    cost = _cost_name(found, path, choices)
    unit_ps = Decimal(UNITS_PS["ns"]) if cost == COST_NS else None
    graph = ReadGraph(path, format_name, name, unit_ps, f"what one unit of {cost or 'time'} is")
    for node, (attributes, line) in found.nodes.items():
        kind = next((attributes[key] for key in KINDS if attributes.get(key)), "")
        time = attributes.get(cost) if cost else None
        graph.add_task(node, 0 if cost and not attributes else time, line, kind)
    if cost:
        graph.remarks.append(f"the attribute {cost} is the time of a task")
        silent = sum(not attributes for attributes, _ in found.nodes.values())
        if silent:
            graph.remarks.append(f"nothing is said of {silent:,} tasks, which take no time")
    for source, target, _, line in found.edges:
        numbers = [graph.task(end, "an edge", line) for end in (source, target)]
        graph.add_edge(numbers[0], numbers[1], line)
    _add_bytes(graph, found, choices)
    return graph.finish()


def _cost_name(found: Attributed, path: str, choices: Choices) -> str | None:
    """The attribute of nodes that says their costs; the chosen one, or the only one of the usual names."""
    said = dict.fromkeys(key for attributes, _ in found.nodes.values() for key in attributes)
    if choices.cost is not None:
        if choices.cost not in said:
            raise InputError(
                f"no node has the attribute {choices.cost!r}",
                place=path,
                expected="an attribute of nodes that is the time of a task",
                value=choices.cost,
                known=said,
            )
        return choices.cost
    if COST_NS in said:
        return COST_NS
    likely = [key for key in COSTS if key in said and _some_number(found, key)]
    if len(likely) > 1:
        raise InputError(
            f"nodes have the attributes {' and '.join(likely)}",
            place=path,
            expected=f"--cost with the one that is the time of a task, such as --cost {likely[0]}",
        )
    return likely[0] if likely else None


def _some_number(found: Attributed, key: str) -> bool:
    return any(number(attributes.get(key)) is not None for attributes, _ in found.nodes.values())


def _add_bytes(graph: ReadGraph, found: Attributed, choices: Choices) -> None:
    """Memory behind edges that say their bytes: the task before writes it, the one after reads it."""
    said = dict.fromkeys(key for *_, attributes, _ in found.edges for key in attributes)
    key = choices.bytes or BYTES
    if choices.bytes is not None and key not in said:
        raise InputError(
            f"no edge has the attribute {key!r}",
            place=graph.path,
            expected="an attribute of edges that is a number of bytes",
            value=key,
            known=said,
        )
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
