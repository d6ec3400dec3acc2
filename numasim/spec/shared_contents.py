"""What all cells of a sweep have in common, however it was said: the contents of which the hash of a sweep is made.

A machine has the same contents whether it is named, written out or an object, and with or without its defaults. What is
no whole part without the axes counts as it was written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.parts.base import canonical_json
from numasim.parts.yaml.nodes import Node
from numasim.spec.overrides import Assignment, put_all
from numasim.spec.part_reader import CATALOG
from numasim.spec.run_spec import Resolver, workload_mapping
from numasim.workload.graph import Workload
from numasim.workload.graph_forms import digest_of_file, read_graph
from numasim.workload.parameters import AnyWorkload, WorkloadFile, WorkloadGraph
from numasim.workload.recording.recorded import Recorded

# ---- The contents of a workload as text, what it is called in tables, and where it was recorded ----------------------


def workload_name(workload: AnyWorkload) -> str:
    """Return the benchmark's name, or the file that the task graph comes from."""
    return workload.file if isinstance(workload, WorkloadFile) else workload.name


def workload_json(workload: AnyWorkload) -> str:
    """Return the contents as JSON: a benchmark's name and parameters, or the digest of a graph.

    Path and form of its file do not enter, and a graph in memory is the same as in a file.

    InputError where that file can no longer be read.
    """
    if isinstance(workload, WorkloadGraph):
        return canonical_json({"file": workload.contents})
    if isinstance(workload, WorkloadFile):
        return canonical_json({"file": digest_of_file(Path(workload.file))})
    return workload.whole_json


def recording_of(workload: AnyWorkload) -> Recorded | None:
    """Where the program was recorded; None of one that was not. InputError where its file can no longer be read."""
    if isinstance(workload, WorkloadGraph):
        held: Workload = workload.workload
        return held.recorded
    return read_graph(Path(workload.file)).recorded if isinstance(workload, WorkloadFile) else None


NAMES = ("name", "sources")  # keys of a part that are not contents
NO_CONTENTS = ("sweep", "repeat")


def shared_contents(resolver: Resolver, document: Node, assignments: Sequence[Assignment]) -> dict[str, Any]:
    """Return ``document`` after ``assignments`` as plain data, without axes, repeats and names."""
    whole = put_all(document, [each for each in assignments if len(each.path) == 1]).without(*NO_CONTENTS)
    inner = [each for each in assignments if len(each.path) > 1]
    contents: dict[str, Any] = {}
    for key in dict.fromkeys([*whole.mapping(), *(each.path[0] for each in inner)]):
        below = tuple(each for each in inner if each.path[0] == key)
        node = whole.child(key)
        contents[str(key)] = (
            _field_contents(resolver, str(key), node, below)
            if node
            else put_all(Node({}, whole.place), below, 1).plain()
        )
    return contents


def _field_contents(resolver: Resolver, key: str, node: Node, inner: tuple[Assignment, ...]) -> Any:
    if key in CATALOG:
        return _part(resolver, key, node, inner)
    if key == "workload":
        return _workload(resolver, node, inner)
    changed = put_all(node, inner, 1)
    return changed.without("skip").plain() if key == "model" else changed.plain()


def _part(resolver: Resolver, part: str, node: Node, inner: tuple[Assignment, ...]) -> Any:
    try:
        return json.loads(resolver.part(part, node, inner).contents_json)
    except InputError:
        return put_all(resolver.expand(part, node), inner, 1).without(*NAMES).plain()


def _workload(resolver: Resolver, node: Node, inner: tuple[Assignment, ...]) -> Any:
    try:
        return json.loads(workload_json(resolver.workload(node, inner)))
    except InputError:
        return put_all(workload_mapping(node), inner, 1).plain()
