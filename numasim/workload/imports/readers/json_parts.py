"""Parts of a document of JSON, each of the type that it has to be."""

from __future__ import annotations

from typing import Any

from numasim.workload.imports.read_graph import ReadGraph, shortened

Path = tuple[str | int, ...]


def object_at(graph: ReadGraph, parent: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    """The object under a key; InputError for anything else."""
    found = parent.get(key)
    if not isinstance(found, dict):
        graph.refuse(f"got {shortened(found)}", "an object", (*path, key))
    return found


def listed(graph: ReadGraph, parent: dict[str, Any], key: str, path: Path, *, needed: bool = True) -> list[Any]:
    """The list under a key; an empty one where there is none and it is not ``needed``."""
    found = parent.get(key)
    if found is None and not needed:
        return []
    if not isinstance(found, list):
        graph.refuse("this key is missing" if found is None else f"got {shortened(found)}", "a list", (*path, key))
    return found


def named(graph: ReadGraph, entry: dict[str, Any], keys: tuple[str, ...], path: Path) -> str | int:
    """The name of an entry: the text or whole number under the first of the ``keys`` that it has."""
    for key in keys:
        if entry.get(key) not in (None, ""):
            return text_at(graph, entry, key, path)
    graph.refuse(f"this entry has no {keys[0]}", f"the key {keys[0]}", path)


def text_at(graph: ReadGraph, entry: dict[str, Any], key: str, path: Path) -> str | int:
    """The text or whole number under a key."""
    found = entry.get(key)
    if isinstance(found, bool) or not isinstance(found, str | int):
        graph.refuse(f"got {shortened(found)}", "a text", (*path, key))
    return found
