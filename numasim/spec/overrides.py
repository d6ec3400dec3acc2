"""Changes of a document's fields: `--set a.b=c`, keyword arguments, and the axes of a sweep. A document is a tree of
nodes: values with their places in a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.parts.yaml.document import parse
from numasim.parts.yaml.nodes import Key, Node, Place, Source, from_python, path_parts, shown

_FIELD = re.compile(r"[A-Za-z_][\w-]*((\.[\w-]+)|(\[\d+\]))*")


class Assignment(Frozen, eq=False):
    """The change that the field at ``path`` gets ``value``; ``place`` is where the path is written."""

    path: tuple[Key, ...]
    value: Node
    place: Place


def field_path(text: str, place: Place) -> tuple[Key, ...]:
    """Return the path of a dotted text such as ``steal[0].from`` or ``steal.0.from``."""
    if not _FIELD.fullmatch(text):
        raise InputError(f"{text!r} is no field", place=place, expected="a dotted field such as workload.n")
    return path_parts(text)


def from_text(text: str) -> Assignment:
    """Return the assignment ``a.b=value`` of the command line; the value is a YAML scalar or flow collection."""
    source = Source(f"--set {text}", Path())
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"got {text!r}", place="--set", expected="field=value, such as workers=24")
    path = field_path(name.strip(), Place(source))
    return Assignment(path, flow_value(value, source), Place(source))


def flow_value(text: str, source: Source) -> Node:
    """Return the YAML scalar or flow collection ``text``. Raises InputError at ``source`` for other texts."""
    if not text.strip():
        raise InputError("there is no value after =", place=source.name, expected="field=value, such as workers=24")
    try:
        node = parse(f"[{text}\n]", source)
    except InputError as error:
        raise InputError(error.problem, place=source.name, expected=error.expected) from None
    if not isinstance(node.content, list) or len(node.content) != 1:
        raise InputError(f"got {shown(text)}", place=source.name, expected="one value; put lists in brackets")
    return from_python(node.content[0].plain(), Place(source))


def from_mapping(changes: Mapping[str, Any]) -> list[Assignment]:
    """Return an assignment for each dotted field of ``changes``; the values are plain Python data."""
    made = []
    for name, value in changes.items():
        place = Place(Source(name, Path()))
        made.append(Assignment(field_path(name, place), from_python(value, place), place))
    return made


def put_all(node: Node, assignments: Iterable[Assignment], depth: int = 0) -> Node:
    """Return ``node`` after ``assignments``, in order; the first ``depth`` keys of their paths lead to ``node``."""
    for assignment in assignments:
        node = _put(node, assignment, depth)
    return node


def put_whole(document: Node, assignments: Sequence[Assignment]) -> tuple[Node, list[Assignment]]:
    """Return (``document`` after the assignments to whole fields, the other assignments, which lead inside fields)."""
    whole = [each for each in assignments if len(each.path) == 1]
    return put_all(document, whole), [each for each in assignments if len(each.path) > 1]


def _put(node: Node, assignment: Assignment, depth: int) -> Node:
    if depth == len(assignment.path):
        return assignment.value
    part = assignment.path[depth]
    if isinstance(node.content, list):
        if node.child(part) is None:
            problem = f"there is no entry {part!r} in a list of {len(node.content)}"
            expected = f"a number from 0 to {len(node.content) - 1}"
            raise InputError(problem, path=assignment.path[:depth], place=assignment.place, expected=expected)
        items = enumerate(node.content)
        return Node([_put(item, assignment, depth + 1) if at == part else item for at, item in items], node.place)
    if not isinstance(node.content, dict):
        problem = f"the value is {shown(node.plain())}, which has no field {str(part)!r}"
        expected = "a mapping; set the field as a whole, such as field={key: value}"
        raise InputError(problem, path=assignment.path[:depth], place=assignment.place, expected=expected)
    inner = node.content.get(part) or Node({}, assignment.place)
    place = node.keys[part] if part in node.content and depth + 1 < len(assignment.path) else assignment.place
    return node.replaced(part, _put(inner, assignment, depth + 1), place)
