"""The tasks and segments of a graph in JSON as columns: a batch of checked entries at a time becomes arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from numasim.files.walked_json import Batch
from numasim.workload.builder import ACCESS_TYPES
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import Kind, Mode, Op, Pattern
from numasim.workload.json_form.from_json_form import Columns
from numasim.workload.json_form.graph_models import SegmentEntry, TaskEntry, member_name

Array = npt.NDArray[Any]


def codes_of(kind: Iterable[Any]) -> dict[str, int]:
    """Return the number of each member of an enumeration by the member's name in a file."""
    return {member_name(each): int(each) for each in kind}


CODES = {"op": codes_of(Op), "kind": codes_of(Kind), "mode": codes_of(Mode), "pattern": codes_of(Pattern)}
_ACCESS = attrgetter(*ACCESS_TYPES)


@cache
def many(item: Any) -> TypeAdapter[list[Any]]:
    """Return the check of a list of items of a type."""
    return TypeAdapter(list[item])


class EntryColumns:
    """The columns of entries of one kind; ``names`` numbers the names of kernels and regions in the entries."""

    model: type[TaskEntry] | type[SegmentEntry]

    def __init__(self) -> None:
        self.names: dict[str, dict[str, int]] = {"kernel": {}, "region": {}}
        self._parts = [self.columns([])]

    def take(self, batch: Batch) -> bool:
        """Append the entries of ``batch`` and return True, if all entries are right."""
        try:
            entries = many(self.model).validate_python(batch.values)
        except ValidationError:
            return False
        accesses = chain.from_iterable(entry.get("accesses", ()) for entry in batch.values)
        if not batch.has_distinct_keys(sum(map(len, chain(batch.values, accesses)))):
            return False
        self.add(entries)
        return True

    def add(self, entries: Sequence[Any]) -> None:
        """Append checked entries."""
        self._parts.append(self.columns(entries))

    def column(self, name: str) -> Array:
        """Return a whole column."""
        return np.concatenate([part[name] for part in self._parts])

    def columns(self, entries: Sequence[Any]) -> dict[str, Array]:
        """Return the columns of checked entries."""
        raise NotImplementedError


class TaskColumns(EntryColumns):
    """Kinds, ops and successors of tasks."""

    model = TaskEntry

    def columns(self, entries: Sequence[TaskEntry]) -> dict[str, Array]:
        """Return the columns of checked tasks."""
        ops = list(chain.from_iterable(entry.ops for entry in entries))
        return {
            "kind": _coded("kind", [entry.kind for entry in entries]),
            "ops": _lengths(entry.ops for entry in entries),
            "op_code": _coded("op", [op[0] for op in ops]),
            "op_arg": np.array([op[1] if len(op) == 2 else 0 for op in ops], np.uint32),
            "then": _lengths(entry.then for entry in entries),
            "successor": np.array(list(chain.from_iterable(entry.then for entry in entries)), np.uint32),
        }


class SegmentColumns(EntryColumns):
    """Compute times, kernels and accesses of segments."""

    model = SegmentEntry

    def columns(self, entries: Sequence[SegmentEntry]) -> dict[str, Array]:
        """Return the columns of checked segments."""
        rows = map(_ACCESS, chain.from_iterable(entry.accesses for entry in entries))
        columns = dict(zip(ACCESS_TYPES, list(zip(*rows, strict=True)) or [()] * len(ACCESS_TYPES), strict=True))
        found = {
            "compute_ps": np.array([entry.compute_ps for entry in entries], np.int64),
            "kernel": self._numbered("kernel", [entry.kernel for entry in entries]),
            "accesses": _lengths(entry.accesses for entry in entries),
            "region": self._numbered("region", columns.pop("region")),
            "mode": _coded("mode", columns.pop("mode")),
            "pattern": _coded("pattern", columns.pop("pattern")),
        }
        return found | {name: np.array(values, ACCESS_TYPES[name]) for name, values in columns.items()}

    def _numbered(self, key: str, names: Sequence[str]) -> Array:
        """Return the numbers of names of kernels or regions, in the order of first use."""
        numbers = self.names[key]
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def columns_of(tasks: TaskColumns, segments: SegmentColumns) -> Columns:
    """Return all columns, as `from_json_form.to_workload` takes them."""
    return Columns(
        op_ptr=offsets(tasks.column("ops")),
        op_code=tasks.column("op_code"),
        op_arg=tasks.column("op_arg"),
        kind=tasks.column("kind"),
        then_ptr=offsets(tasks.column("then")),
        successor=tasks.column("successor"),
        compute_ps=segments.column("compute_ps"),
        kernel=segments.column("kernel"),
        kernels=tuple(segments.names["kernel"]),
        access_ptr=offsets(segments.column("accesses")),
        accesses={name: segments.column(name) for name in ACCESS_TYPES},
        regions=tuple(segments.names["region"]),
    )


def _coded(kind: str, names: Sequence[str]) -> Array:
    return np.array(list(map(CODES[kind].__getitem__, names)), np.uint8)


def _lengths(lists: Iterable[Sequence[Any]]) -> Array:
    return np.array(list(map(len, lists)), np.int64)
