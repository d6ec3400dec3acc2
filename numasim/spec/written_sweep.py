"""A sweep that was described in Python as the text of a YAML file, from which it can be run again.

Objects are written out: machines and strategies as mappings, task graphs as files beside the text. So are parts from
files of the user's, since their paths would lead elsewhere from another folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from numasim.files.bounded_bytes import read_bytes
from numasim.parts import catalog
from numasim.parts.yaml.nodes import Held, Key, Node, from_python
from numasim.parts.yaml.yaml_text import yaml_text
from numasim.spec.named_functions import with_named_functions
from numasim.spec.overrides import Assignment, put_all
from numasim.spec.part_reader import CATALOG
from numasim.spec.run_spec import Resolver, workload_mapping
from numasim.workload.graph_files.forms import kind_of
from numasim.workload.parameters import AnyWorkload, WorkloadFile

GRAPHS = "graphs"  # the folder of task graphs beside the text
HEADING = "A sweep that was described in Python. Run it again: numasim sweep THIS-FILE -o FOLDER"
CELLS = ("include", "exclude")


@dataclass
class WrittenSweep:
    """The text of a sweep, and the files that it refers to, by their paths beside it."""

    text: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


def written(document: Node, assignments: Iterable[Assignment], resolver: Resolver) -> WrittenSweep:
    """Write out ``document`` after ``assignments``, none of which is to an axis."""
    writer = _Writer(resolver)
    sweep = document.child("sweep")
    changed, left = _changed(document.without("sweep"), assignments, resolver)
    fields = {key: writer.field(str(key), node) for key, node in changed.mapping().items()}
    if sweep:
        fields["sweep"] = writer.axes(sweep)
    plain = from_python({key: node.plain() for key, node in fields.items()}, document.place).plain()
    text = yaml_text(plain, heading=HEADING, blocks=("sweep", *_long_axes(fields.get("sweep"))))
    writer.made.text = text + "".join(f"# --set {line}\n" for line in left)
    return writer.made


def graphs_beside(text: str, folder: Path, workloads: Iterable[AnyWorkload]) -> dict[str, bytes]:
    """The task graphs that stand beside ``text``, of which `written` made one, in ``folder``; none of other texts."""
    if not text.startswith(f"# {HEADING}"):
        return {}
    files = {Path(each.file) for each in workloads if isinstance(each, WorkloadFile)}
    inside = {file: file.relative_to(folder) for file in files if file.is_relative_to(folder / GRAPHS)}
    return {path.as_posix(): read_bytes(file, kind_of(file)) for file, path in sorted(inside.items())}


def _long_axes(sweep: Node | None) -> Iterator[str]:
    """The dotted paths of lists that have mappings, each of which gets a line."""
    for key, node in (sweep.mapping() if sweep else {}).items():
        if isinstance(node.content, list) and any(isinstance(item.content, dict) for item in node.content):
            yield f"sweep.{key}"


def _changed(document: Node, assignments: Iterable[Assignment], resolver: Resolver) -> tuple[Node, list[str]]:
    """``document`` after ``assignments``, and those as texts that change a field which is an axis in every cell."""
    assignments = list(assignments)
    document = put_all(document, (each for each in assignments if len(each.path) == 1))
    left = []
    for each in assignments:
        top = each.path[0]
        if len(each.path) == 1:
            continue
        node = document.child(top)
        if node is None and top != "model":
            left.append(f"{_dotted(each.path)}={json.dumps(each.value.plain(), default=str)}")
            continue
        whole = _whole(str(top), node, resolver) if node else Node({}, each.place)
        document = document.replaced(top, put_all(whole, [each], 1), each.place)
    return document, left


def _dotted(path: tuple[Key, ...]) -> str:
    return ".".join(map(str, path))


def _whole(field_name: str, node: Node, resolver: Resolver) -> Node:
    """The value of a field as a mapping whose fields can be set."""
    if field_name in CATALOG:
        return resolver.expand(field_name, node)
    return workload_mapping(node) if field_name == "workload" else node


class _Writer:
    """Writes values out, and keeps the files that they need."""

    def __init__(self, resolver: Resolver) -> None:
        self.made = WrittenSweep()
        self._resolver = resolver

    def field(self, name: str, node: Node) -> Node:
        """The value of a field in a form that can be read anywhere."""
        if name in CATALOG:
            return self._part(name, node)
        return self._workload(node) if name == "workload" else node

    def axes(self, sweep: Node) -> Node:
        """The value of ``sweep:``."""
        content: dict[Key, Node] = {}
        for key, node in sweep.mapping().items():
            if key == "zip":
                content[key] = self._zipped(node)
            elif key in CELLS and isinstance(node.content, list):
                content[key] = Node([self._cell(cell) for cell in node.content], node.place)
            else:
                content[key] = self._values(str(key), node)
        return Node(content, sweep.place, sweep.keys)

    def _zipped(self, node: Node) -> Node:
        if isinstance(node.content, list):
            return Node([self._zipped(group) for group in node.content], node.place)
        content = {key: self._values(str(key), values) for key, values in node.mapping().items()}
        return Node(content, node.place, node.keys)

    def _cell(self, cell: Node) -> Node:
        content = {key: self._values(str(key), value) for key, value in cell.mapping().items()}
        return Node(content, cell.place, cell.keys)

    def _values(self, name: str, node: Node) -> Node:
        if isinstance(node.content, list):
            return Node([self.field(name, value) for value in node.content], node.place)
        return self.field(name, node)

    def _part(self, part: str, node: Node) -> Node:
        if isinstance(node.content, dict):
            like = node.content.get("like")
            named = like is None or _is_shipped(part, like)
            return with_named_functions(part, node) if named else self._resolver.expand(part, node)
        return node if _is_shipped(part, node) else self._resolver.expand(part, node)

    def _workload(self, node: Node) -> Node:
        if isinstance(node.content, Held):
            return from_python({"file": self._graph(node.content)}, node.place)
        if isinstance(node.content, str) and "file" in (mapping := workload_mapping(node)).mapping():
            node = mapping
        file = node.child("file")
        if file is None or not isinstance(file.content, str):
            return node
        path = os.path.abspath(file.place.source.folder / file.content)
        return node.replaced("file", Node(path, file.place), file.place)

    def _graph(self, graph: Held) -> str:
        label = re.sub(r"[^A-Za-z0-9._-]+", "-", graph.name).strip("-.")[:60] or "graph"
        path = f"{GRAPHS}/{graph.contents[:8]}/{label}.json"
        self.made.files[path] = graph.written()
        return path


def _is_shipped(part: str, node: Node) -> bool:
    return isinstance(node.content, str) and not catalog.is_path(node.content)
