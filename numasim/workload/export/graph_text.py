"""Task graphs as text for other tools: DOT, GraphML and WfFormat 1.5, with the times of a run if given.

A part is a piece of a task that runs without a break. It is a node of the graph; an edge leads to a part that waits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from numasim.workload.export.part_graph import Executed, PartGraph, PartTimes

PS_PER_NS, PS_PER_S, HZ_PER_MHZ = 1000, 10**12, 10**6
KEYS = {  # by the name of an attribute: the element and the type that GraphML declares for it
    "cost": ("node", "cost_ns", "double"),
    "kernel": ("node", "kernel", "string"),
    "task": ("node", "task", "long"),
    "read": ("node", "read_bytes", "long"),
    "written": ("node", "written_bytes", "long"),
    "worker": ("node", "worker", "int"),
    "begin": ("node", "begin_ns", "double"),
    "end": ("node", "end_ns", "double"),
    "edge": ("edge", "kind", "string"),
}
NAMES = {name: key for key, (where, name, _) in KEYS.items() if where == "node"}
SIMULATED = "1970-01-01T00:00:00+00:00"  # simulated time has no date
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Times = list[PartTimes | None]


def attributes(graph: PartGraph, part: int, times: Times | None) -> dict[str, str | int]:
    """Return the attributes of the node ``part``; times are exact decimal numbers of nanoseconds."""
    found: dict[str, str | int] = {"cost_ns": nanoseconds(graph.compute_ps[part])}
    if graph.kernels[part]:
        found["kernel"] = graph.kernels[part]
    if graph.task[part] >= 0:
        found["task"] = graph.task[part]
    for name, column in (("read_bytes", graph.read_bytes), ("written_bytes", graph.written_bytes)):
        if column[part]:
            found[name] = column[part]
    known = times[part] if times else None
    if known:
        found |= {"worker": known.worker, "begin_ns": nanoseconds(known.begin_ps), "end_ns": nanoseconds(known.end_ps)}
    return found


def nanoseconds(time_ps: int) -> str:
    """Return a time as a decimal number of nanoseconds, exactly."""
    return f"{time_ps // PS_PER_NS}.{time_ps % PS_PER_NS:03d}".rstrip("0").rstrip(".")


def dot(graph: PartGraph, times: Times | None) -> Iterator[str]:
    """Yield the lines of a graph in the DOT language of Graphviz."""
    yield f"digraph {_in_dot(graph.name)} {{"
    for part, name in enumerate(graph.names):
        said = ", ".join(f"{key}={_in_dot(value)}" for key, value in attributes(graph, part, times).items())
        yield f"  {_in_dot(name)} [{said}];"
    for source, target, kind in graph.edges:
        yield f"  {_in_dot(graph.names[source])} -> {_in_dot(graph.names[target])} [kind={_in_dot(kind)}];"
    yield "}"


def _in_dot(value: str | int) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{text}"'


def graphml(graph: PartGraph, times: Times | None) -> Iterator[str]:
    """Yield the lines of a graph in GraphML."""
    from xml.sax.saxutils import escape, quoteattr  # imported here because it imports much: clients of HTTP

    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for key, (where, name, kind) in KEYS.items():
        yield f'<key id="{key}" for="{where}" attr.name="{name}" attr.type="{kind}"/>'
    yield f'<graph id={quoteattr(_in_xml(graph.name) or "graph")} edgedefault="directed">'
    for part, name in enumerate(graph.names):
        said = attributes(graph, part, times).items()
        data = "".join(f'<data key="{NAMES[each]}">{escape(_in_xml(str(value)))}</data>' for each, value in said)
        yield f'<node id="{name}">{data}</node>'
    for source, target, kind in graph.edges:
        ends = f'source="{graph.names[source]}" target="{graph.names[target]}"'
        yield f'<edge {ends}><data key="edge">{kind}</data></edge>'
    yield "</graph>"
    yield "</graphml>"


def _in_xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def wfformat(graph: PartGraph, times: Times | None, executed: Executed | None, version: str) -> Iterator[str]:
    """Yield the lines of a WfFormat 1.5 document: the specification and, if ``times`` are given, the execution."""
    parents, children = graph.neighbours()
    tasks = [
        {
            "name": graph.kernels[part] or "task",
            "id": name,
            "parents": [graph.names[each] for each in parents[part]],
            "children": [graph.names[each] for each in children[part]],
        }
        for part, name in enumerate(graph.names)
    ]
    how = "as a simulated run executed them" if executed else "as long as they compute, on as many workers as they want"
    document: dict[str, Any] = {
        "name": graph.name or "graph",
        "description": f"The tasks of {graph.name or 'a graph'}, {how}.",
        "schemaVersion": "1.5",
        "runtimeSystem": {"name": "numasim", "version": version},
        "workflow": {"specification": {"tasks": tasks}, "execution": _execution(graph, times, executed)},
    }
    yield json.dumps(document, indent=1)


def _execution(graph: PartGraph, times: Times | None, executed: Executed | None) -> dict[str, Any]:
    makespan_ps = executed.makespan_ps if executed else graph.span_ps()
    found: dict[str, Any] = {
        "makespanInSeconds": makespan_ps / PS_PER_S,
        "executedAt": SIMULATED,
        "tasks": [_task_execution(graph, part, times, executed) for part in range(len(graph))],
    }
    if executed:
        cores = executed.node.tolist()
        mhz = max(1, executed.clock_hz // HZ_PER_MHZ)
        found["machines"] = [
            {"nodeName": f"node{node}", "cpu": {"coreCount": cores.count(node), "speedInMHz": mhz}}
            for node in sorted(set(cores))
        ]
    return found


def _task_execution(graph: PartGraph, part: int, times: Times | None, executed: Executed | None) -> dict[str, Any]:
    """Return the entry of a part under ``execution``; ``startInSeconds`` and ``worker`` are numasim's own keys."""
    found: dict[str, Any] = {"id": graph.names[part], "runtimeInSeconds": graph.compute_ps[part] / PS_PER_S}
    found |= {"coreCount": 1, "readBytes": graph.read_bytes[part], "writtenBytes": graph.written_bytes[part]}
    known = times[part] if times else None
    if executed:
        found["runtimeInSeconds"] = (known.end_ps - known.begin_ps) / PS_PER_S if known else 0.0
    if executed and known:
        found["executedAt"] = datetime.fromtimestamp(known.begin_ps / PS_PER_S, UTC).isoformat(timespec="microseconds")
        found |= {"startInSeconds": known.begin_ps / PS_PER_S, "worker": known.worker}
        found["machine"] = f"node{int(executed.node[known.worker])}"
    return found
