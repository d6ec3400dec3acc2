"""Long lists of the document of a task graph in npz, each of which is an array of its own.

The array has the name of the list's place in the document: ``phases.0.roots`` is the list ``phases[0].roots``. Two
kinds of lists may be given so: the roots of phases, and the items of amounts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any

import numpy as np

from numasim.errors import InputError
from numasim.files.packed_arrays import Array
from numasim.parts.base import Model
from numasim.schema.enumerations import LONGEST_PS
from numasim.workload.binary_form.array_table import MOST_INDEX
from numasim.workload.json_form.graph_models import GraphFile

Path = tuple[str | int, ...]
LONG = 64  # numbers that stand in the document rather than in an array
MOST_LISTS = 1_000  # that numasim takes out of the document
_NUMBER = r"(?:0|[1-9][0-9]{0,5})"
ROOTS = re.compile(rf"phases\.{_NUMBER}(?:\.loop\.{_NUMBER})*\.roots")
ITEMS = re.compile(rf"ranges\.{_NUMBER}\.(?:compute_ps|node_accesses\.{_NUMBER}\.bytes)\.items")


def taken_out(document: dict[str, Any]) -> dict[str, Array]:
    """The longest lists of ``document`` as arrays by their names; they are empty in ``document`` afterwards."""
    found = {}
    for path, numbers in nlargest(MOST_LISTS, _lists(document, ()), key=lambda each: len(each[1])):
        if len(numbers) > LONG:
            found[name_of(path)] = np.array(numbers, "<u4" if path[-1] == "roots" else "<i8")
            numbers.clear()
    return found


def name_of(path: Path) -> str:
    """The name of the array of the list at ``path``."""
    return ".".join(map(str, path))


def _lists(value: Any, path: Path) -> Iterator[tuple[Path, list[Any]]]:
    """The lists in ``value`` that may be arrays, each with its path."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in ("roots", "items"):
                yield (*path, key), each
            elif key in ("phases", "loop", "ranges", "node_accesses", "compute_ps", "bytes"):
                yield from _lists(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _lists(each, (*path, number))


def is_list(name: str) -> bool:
    """Whether an array of this name is a list of the document."""
    return bool(ROOTS.fullmatch(name) or ITEMS.fullmatch(name))


def with_lists(file: GraphFile, lists: Mapping[str, Array]) -> GraphFile:
    """``file`` with ``lists`` at their places; an `InputError` for a place that is not there or has numbers already."""
    for name, numbers in lists.items():
        path = tuple(int(part) if part.isdecimal() else part for part in name.split("."))
        _check_bounds(name, numbers, MOST_INDEX if path[-1] == "roots" else LONGEST_PS)
        file = _with(file, path, numbers.tolist(), name)
    return file


def _check_bounds(name: str, numbers: Array, most: int) -> None:
    for place in np.flatnonzero((numbers < 0) | (numbers > most))[:1].tolist():
        raise InputError(f"the number is {numbers[place]}", path=(name, place), expected=f"0 to {most}")


def _with(value: Any, path: Sequence[str | int], numbers: list[int], name: str) -> Any:
    """``value`` with ``numbers`` at ``path`` in it."""
    if not path:
        if value:
            raise InputError("the document has numbers for this list, too", path=(name,), expected="them in one place")
        return numbers
    part, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        value[part] = _with(value[part], rest, numbers, name)
        return value
    inner = getattr(value, part, None) if isinstance(value, Model) and isinstance(part, str) else None
    if inner is None:
        raise InputError("the document has no such list", path=(name,), expected="the entry that it belongs to")
    return value.model_copy(update={part: _with(inner, rest, numbers, name)})
