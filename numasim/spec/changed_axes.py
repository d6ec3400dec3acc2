"""Changes of a sweep's axes: ``sweep.workers=[2, 4]``, also of axes whose names have dots.

Behind ``sweep`` follows the name of an axis, whatever dots it has: ``sweep.runtime.backoff.first_ns=[1, 2]``. Behind
``sweep.zip``, ``sweep.include`` and ``sweep.exclude`` the number of an entry may stand before it, as in
``sweep.zip[0].workers=[2, 4]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from numasim.errors import dotted
from numasim.parts.yaml.nodes import FieldPath, Key, Node, path_parts
from numasim.spec.overrides import Assignment, put_all
from numasim.spec.sweep_axes import SPECIAL


def with_axes(document: Node, assignments: Iterable[Assignment]) -> Node:
    """Return ``document`` after those of ``assignments`` whose first key is ``sweep``."""
    for each in assignments:
        if each.path[0] == "sweep":
            document = put_all(document, [replace(each, path=("sweep", *_inside(document, each.path[1:])))])
    return document


def _inside(document: Node, path: FieldPath) -> FieldPath:
    """The keys below ``sweep`` that ``path``, in which names of axes are split at their dots, leads through."""
    node = document.child("sweep")
    if not path:
        return ()
    if path[0] not in SPECIAL:
        return _of_axis(node, path)
    entry = path[1:2] if len(path) > 1 and isinstance(path[1], int) else ()
    rest = path[1 + len(entry) :]
    inside = node.follow((path[0], *entry)) if node else None
    return (path[0], *entry, *(_of_axis(inside, rest) if rest else ()))


def _of_axis(axes: Node | None, path: FieldPath) -> FieldPath:
    """The key of the axis, and what of ``path`` goes on inside of its values."""
    for key in _keys(axes):
        name = path_parts(str(key))
        inner = path[len(name) :]
        if path[: len(name)] == name and (not inner or _goes_on(axes, key, inner[0])):
            return (key, *inner)
    return (dotted(path),)


def _keys(axes: Node | None) -> list[Key]:
    return list(axes.content) if axes is not None and isinstance(axes.content, dict) else []


def _goes_on(axes: Node | None, key: Key, part: Key) -> bool:
    """Whether the values of the axis ``key`` have something at ``part``: an entry of a list, or the end of a range."""
    values = axes.child(key) if axes else None
    return values is not None and (isinstance(values.content, dict) or isinstance(part, int))
