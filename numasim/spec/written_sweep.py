"""A sweep as the text of a YAML file from which the sweep can be run again in any folder.

Machines and strategies that are Python objects or files of the user are written out as mappings. Task graphs and the
modules of controllers (a user's functions that a strategy names) become files beside the text, since a path leads to
another file from another folder. Assignments, which set single fields of the document, are written into the fields, or
into the values of axes (fields with a list of values), that they change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from numasim.files.reader import read_bytes
from numasim.parts import catalog
from numasim.parts.python_function import PythonFunction
from numasim.parts.yaml.document import yaml_text
from numasim.parts.yaml.nodes import Held, Node, from_python
from numasim.spec.overrides import Assignment, put_all, put_whole
from numasim.spec.part_reader import CATALOG, with_named_functions
from numasim.spec.run_spec import Resolver, workload_mapping
from numasim.spec.sweep_axes import SPECIAL
from numasim.strategy.control.loaded_controller import PATH
from numasim.workload.graph_forms import kind_of

GRAPHS = "graphs"  # the folder of task graphs beside the text
CONTROLLERS = "controllers"  # the folder of modules of controllers
HEADING = "A sweep as it was last requested. Run it again: numasim sweep THIS-FILE -o FOLDER"


def written(document: Node, assignments: Sequence[Assignment], resolver: Resolver) -> tuple[str, dict[str, bytes]]:
    """Return (``document`` after ``assignments`` as text, {path beside the text: contents} of files it names)."""
    writer = _Writer(resolver)
    sweep = document.child("sweep")
    changed, writer.of_axes = _changed(document.without("sweep"), assignments, resolver)
    fields = {key: writer.field(str(key), node) for key, node in changed.mapping().items()}
    if sweep:
        fields["sweep"] = writer.axes(sweep)
    plain = from_python({key: node.plain() for key, node in fields.items()}, document.place).plain()
    return yaml_text(plain, heading=HEADING, blocks=("sweep", *_long_axes(fields.get("sweep")))), writer.files


def _long_axes(sweep: Node | None) -> Iterator[str]:
    """Yield the dotted paths of axes with mappings among their values, which are written with a line for each value."""
    for key, node in (sweep.mapping() if sweep else {}).items():
        if isinstance(node.content, list) and any(isinstance(item.content, dict) for item in node.content):
            yield f"sweep.{key}"


def _changed(document: Node, assignments: Sequence[Assignment], resolver: Resolver) -> tuple[Node, list[Assignment]]:
    """Return (``document`` after ``assignments``, the assignments inside of fields that it does not have: axes)."""
    document, inner = put_whole(document, assignments)
    left = []
    for each in inner:
        top = each.path[0]
        node = document.child(top)
        if node is None and top != "model":
            left.append(each)
            continue
        whole = _whole(str(top), node, resolver) if node else Node({}, each.place)
        document = document.replaced(top, put_all(whole, [each], 1), each.place)
    return document, left


def _whole(field_name: str, node: Node, resolver: Resolver) -> Node:
    if field_name in CATALOG:
        return resolver.reader.expand(field_name, node)
    return workload_mapping(node) if field_name == "workload" else node


class _Writer:
    """Writes values in a form that can be read in any folder, and collects the files that the values need."""

    def __init__(self, resolver: Resolver) -> None:
        self.files: dict[str, bytes] = {}
        self.of_axes: list[Assignment] = []
        self._resolver = resolver

    def field(self, name: str, node: Node) -> Node:
        """Return the value of a field in a form that can be read in any folder."""
        for each in self.of_axes:
            if each.path[0] == name:
                node = put_all(_whole(name, node, self._resolver), [each], 1)
        if name in CATALOG:
            return self._with_controller(self._part(name, node))
        if name == "workload.file":
            return self._file(node)
        if name == ".".join(("strategy", *PATH)):
            return self._controller(node)
        return self._workload(node) if name == "workload" else node

    def axes(self, sweep: Node) -> Node:
        """Return the value of ``sweep:``, or of a group or cell in it, with each axis in a form for any folder."""
        if isinstance(sweep.content, list):
            return Node([self.axes(group) for group in sweep.content], sweep.place)
        content = {
            key: self.axes(node) if key in SPECIAL else self._values(str(key), node)
            for key, node in sweep.mapping().items()
        }
        return Node(content, sweep.place, sweep.keys)

    def _values(self, name: str, node: Node) -> Node:
        if isinstance(node.content, list):
            return Node([self.field(name, value) for value in node.content], node.place)
        return self.field(name, node)

    def _part(self, part: str, node: Node) -> Node:
        if isinstance(node.content, dict):
            like = node.content.get("like")
            named = like is None or _is_shipped(part, like)
            return with_named_functions(part, node) if named else self._resolver.reader.expand(part, node)
        return node if _is_shipped(part, node) else self._resolver.reader.expand(part, node)

    def _workload(self, node: Node) -> Node:
        if isinstance(node.content, Held):
            return from_python({"file": self._graph(node.content)}, node.place)
        if isinstance(node.content, str) and "file" in (mapping := workload_mapping(node)).mapping():
            node = mapping
        file = node.child("file")
        if file is None or not isinstance(file.content, str):
            return node
        return node.replaced("file", self._file(file), file.place)

    def _file(self, node: Node) -> Node:
        """Copy a task graph and return the path of the copy beside the text."""
        folder = node.place.source.folder.absolute()
        file = Path(os.path.abspath(folder / str(node.content)))
        content = read_bytes(file, kind_of(file))
        short = blake2b(content, digest_size=4).hexdigest()
        inside = file.is_relative_to(folder / GRAPHS)
        path = file.relative_to(folder).as_posix() if inside else f"{GRAPHS}/{short}/{file.name}"
        self.files[path] = content
        return Node(path, node.place)

    def _with_controller(self, part: Node) -> Node:
        node = part.follow(PATH)
        if node is None or not isinstance(node.content, str):
            return part
        tune = part.mapping()["tune"]
        return part.replaced("tune", tune.replaced("python", self._controller(node), node.place), tune.place)

    def _controller(self, node: Node) -> Node:
        """Copy the module of a controller and return the name of the controller in the copy."""
        function = PythonFunction.of(str(node.content), node.place.source.folder)
        path = f"{CONTROLLERS}/{function.source_hash()[:8]}/{function.file.name}"
        self.files[path] = function.source()
        return Node(f"{path}:{function.name}", node.place)

    def _graph(self, graph: Held) -> str:
        label = re.sub(r"[^A-Za-z0-9._-]+", "-", graph.name).strip("-.")[:60] or "graph"
        path = f"{GRAPHS}/{graph.contents[:8]}/{label}.json"
        self.files[path] = graph.written()
        return path


def _is_shipped(part: str, node: Node) -> bool:
    return isinstance(node.content, str) and not catalog.is_path(node.content)
