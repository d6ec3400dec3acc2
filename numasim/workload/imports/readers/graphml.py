"""Graphs in GraphML: nodes are tasks, edges lead to tasks that wait; keys of nodes and edges are their attributes.

`parse_xml` makes the tree, with bounds, without entities, and with lines for errors; networkx's reader of GraphML
parses a text without bounds and lines, and with entities.
"""

from __future__ import annotations

from pathlib import Path

from numasim.files.bounded_xml import PlacedElement
from numasim.workload.imports.read_graph import Choices, ReadGraph, shortened
from numasim.workload.imports.readers.attributed import Attributed, Attributes, graph_of
from numasim.workload.imports.readers.dax import inside, local, own

FORMAT = "GraphML graph"
ROOT = "graphml"


def read_graphml(root: PlacedElement, path: str, choices: Choices) -> ReadGraph:
    """Return the graph of a document whose root is ``graphml``; raise InputError with the line for mistakes."""
    graphs = list(own(root, "graph"))
    frame = ReadGraph(path, FORMAT, "", None, "")
    if len(graphs) != 1:
        frame.refuse(f"there are {len(graphs)} graphs in this file", "one", root.line)
    reader = _Reader(frame, root)
    reader.graph(graphs[0])
    name = graphs[0].get("id") or Path(path).stem
    return graph_of(reader.found, path, FORMAT, reader.name or name, choices)


class _Reader:
    def __init__(self, frame: ReadGraph, root: PlacedElement) -> None:
        self._frame = frame
        self._names: dict[str, str] = {}
        self._defaults: dict[str, Attributes] = {"node": {}, "edge": {}}
        self.found = Attributed()
        self.name = ""
        for key in own(root, "key"):
            self._add_key(key)

    def _add_key(self, key: PlacedElement) -> None:
        name, of = key.get("attr.name") or key.get("id") or "", key.get("for") or "all"
        self._names[key.get("id") or ""] = name
        for default in own(key, "default"):
            for kind in self._defaults if of == "all" else [of]:
                if kind in self._defaults:
                    self._defaults[kind][name] = (default.text or "").strip()

    def graph(self, graph: PlacedElement) -> None:
        """Add the nodes and edges of a graph and of the graphs inside its nodes."""
        directed = graph.get("edgedefault") != "undirected"
        for each in inside(graph):
            kind = local(each)
            if kind == "node":
                self._node(each)
            elif kind == "edge":
                self._edge(each, directed)
            elif kind == "hyperedge":
                self._frame.refuse("this is an edge of several nodes", "edges from one node to another", each.line)
            elif kind == "data" and self._names.get(each.get("key") or "") == "name":
                self.name = (each.text or "").strip()

    def _node(self, node: PlacedElement) -> None:
        name = node.get("id")
        if name is None:
            self._frame.refuse("a node has no id", "the attribute id", node.line)
        if name in self.found.nodes:
            self._frame.refuse(f"the node {shortened(name)} is there twice", "a different id for each node", node.line)
        self.found.nodes[name] = (self._attributes(node, "node"), node.line)
        for inner in own(node, "graph"):
            self.graph(inner)

    def _edge(self, edge: PlacedElement, directed: bool) -> None:
        if edge.get("directed", "true" if directed else "false") == "false":
            self._frame.refuse("an edge is undirected", "edges that lead to tasks that wait", edge.line)
        ends = [edge.get(key) for key in ("source", "target")]
        if ends[0] is None or ends[1] is None:
            self._frame.refuse("an edge has no source, or no target", "both", edge.line)
        self.found.edges.append((ends[0], ends[1], self._attributes(edge, "edge"), edge.line))

    def _attributes(self, element: PlacedElement, kind: str) -> Attributes:
        given = {self._names.get(key := data.get("key") or "", key): data for data in own(element, "data")}
        return self._defaults[kind] | {name: (data.text or "").strip() for name, data in given.items()}
