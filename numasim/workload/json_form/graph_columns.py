"""The tasks and segments of a graph in JSON as columns, without an object for each entry.

Entries that are plainly right go from the values of the text into arrays, a batch of entries at a time. The models of
`graph_models` check all other entries and describe mistakes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, compress
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.files.walked_json import Batch
from numasim.parts.base import Model
from numasim.workload.builder import ACCESS_TYPES
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Kind, Mode, Pattern
from numasim.workload.json_form.from_json_form import Columns
from numasim.workload.json_form.graph_models import (
    ARGUMENT_OPS,
    OPS,
    PLAIN_OPS,
    AccessEntry,
    SegmentEntry,
    TaskEntry,
    bounds_of,
    member_name,
)

CODES = {**OPS, **{name: op for op, [name] in PLAIN_OPS.items()}}
KINDS, MODES, PATTERNS = ({member_name(each): int(each) for each in kind} for kind in (Kind, Mode, Pattern))
INDEX = (0, 2**32 - 1)
NOTHING: list[Any] = []
Array = npt.NDArray[Any]


class UnusualError(Exception):
    """The fast checks of this module do not accept an entry; a model must check the entry."""


class EntryColumns:
    """The columns of entries of one kind; ``names`` numbers the names of kernels and regions in the entries."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[dict[str, Array]] = []
        self.names: dict[str, dict[str, int]] = {"kernel": {}, "region": {}}

    def take(self, batch: Batch) -> bool:
        """Append the entries of ``batch`` and return True, if all entries are plainly right."""
        try:
            keys, columns = self._columns(batch.values)
        except (UnusualError, TypeError, KeyError, OverflowError):
            return False
        if not batch.has_distinct_keys(keys):
            return False
        self._append(len(batch.values), columns)
        return True

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry that a model has found right."""
        self._append(1, self._columns([entry])[1])

    def column(self, name: str) -> Array:
        """Return a whole column."""
        return np.concatenate([part[name] for part in [self._columns(NOTHING)[1], *self._parts]])

    def _append(self, count: int, columns: dict[str, Array]) -> None:
        self.count += count
        self._parts.append(columns)

    def _columns(self, entries: list[Any]) -> tuple[int, dict[str, Array]]:
        """Return (number of keys in ``entries``, columns); raise `UnusualError` unless entries are plainly right."""
        raise NotImplementedError


class TaskColumns(EntryColumns):
    """Kinds, ops and successors of tasks."""

    def add_long(self, kind: str, ops: Iterable[tuple[Array, Array]], then: Iterable[Array]) -> None:
        """Append a task whose ops and successors have been checked and come in parts."""
        codes, arguments = zip(op_columns(NOTHING), *ops, strict=True)
        successor = np.concatenate([indices(NOTHING), *then])
        op_code, op_arg = np.concatenate(codes), np.concatenate(arguments)
        self._append(
            1,
            {
                "kind": np.array([KINDS[kind]], np.uint8),
                "ops": np.array([len(op_code)]),
                "op_code": op_code,
                "op_arg": op_arg,
                "then": np.array([len(successor)]),
                "successor": successor,
            },
        )

    def _columns(self, entries: list[Any]) -> tuple[int, dict[str, Array]]:
        keys = _keys(entries, TaskEntry)
        ops, then = _lists(entries, keys, "ops"), _lists(entries, keys, "then")
        codes, arguments = op_columns(_flat(ops))
        return sum(map(len, entries)) if keys else 0, {
            "kind": _choices(entries, keys, "kind", KINDS, "task"),
            "ops": _lengths(ops, len(entries)),
            "op_code": codes,
            "op_arg": arguments,
            "then": _lengths(then, len(entries)),
            "successor": indices(_flat(then)),
        }


class SegmentColumns(EntryColumns):
    """Compute times, kernels and accesses of segments."""

    def _columns(self, entries: list[Any]) -> tuple[int, dict[str, Array]]:
        keys = _keys(entries, SegmentEntry)
        lists = _lists(entries, keys, "accesses")
        accesses = _flat(lists)
        inner = _keys(accesses, AccessEntry)
        columns = {
            "compute_ps": _numbers(entries, keys, SegmentEntry, "compute_ps", np.int64),
            "kernel": self._texts(entries, keys, "kernel"),
            "accesses": _lengths(lists, len(entries)),
            "region": self._texts(accesses, {"region"}, "region"),
            "mode": _choices(accesses, inner, "mode", MODES, "read"),
            "pattern": _choices(accesses, inner, "pattern", PATTERNS, "sequential"),
        }
        for name, kind in ACCESS_TYPES.items():
            if name not in columns:
                columns[name] = _numbers(accesses, inner, AccessEntry, name, kind)
        return sum(map(len, entries)) + sum(map(len, accesses)), columns

    def _texts(self, entries: list[Any], keys: set[str], name: str) -> Array:
        """Return the numbers of the names under the key ``name``, in the order of first use."""
        names = self.names[name]
        values = [entry[name] for entry in entries] if name == "region" else _values(entries, keys, name, "")
        if not set(map(type, values)) <= {str}:
            raise UnusualError
        return np.array([names.setdefault(value, len(names)) for value in values], np.int64)


def task_entry(entry: TaskEntry) -> dict[str, Any]:
    """Return ``entry`` as values of JSON."""
    ops: list[list[Any]] = [
        [*PLAIN_OPS[code]] if code in PLAIN_OPS else [ARGUMENT_OPS[code], argument] for code, argument in entry.ops
    ]
    return {"kind": entry.kind, "ops": ops, "then": entry.then}


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


def op_columns(ops: list[Any]) -> tuple[Array, Array]:
    """Return (codes, arguments) of ops; raise `UnusualError` unless ops are plainly right."""
    if not set(map(type, ops)) <= {list}:
        raise UnusualError
    lengths = np.fromiter(map(len, ops), np.int64, len(ops))
    if len(ops) and not 1 <= lengths.min() <= lengths.max() <= 2:
        raise UnusualError
    names, numbers = _names_and_numbers(_flat(ops), lengths)
    codes = np.frombuffer(bytes(map(CODES.__getitem__, names)), np.uint8)
    if not np.array_equal(lengths == 1, np.isin(codes, list(PLAIN_OPS))):
        raise UnusualError
    arguments = np.zeros(len(ops), np.uint32)
    arguments[lengths == 2] = indices(numbers)
    return codes, arguments


def _names_and_numbers(words: list[Any], lengths: I64) -> tuple[list[Any], list[Any]]:
    """Return (first words, second words) of ops with ``lengths`` words."""
    if 2 * len(lengths) == len(words):
        return words[::2], words[1::2]
    is_name = np.zeros(len(words), np.bool_)
    is_name[offsets(lengths)[:-1]] = True
    return list(compress(words, is_name.tolist())), list(compress(words, (~is_name).tolist()))


def indices(values: list[Any]) -> Array:
    """Return ``values`` as numbers of tasks; raise `UnusualError` unless values are plainly right."""
    return whole_numbers(values, INDEX, np.uint32)


def whole_numbers(values: list[Any], bounds: tuple[int, int], kind: Any) -> Array:
    """Return ``values`` as whole numbers within ``bounds``; raise `UnusualError` unless values are plainly right."""
    if not set(map(type, values)) <= {int}:
        raise UnusualError
    found = np.array(values, np.int64)
    if len(found) and not bounds[0] <= found.min() <= found.max() <= bounds[1]:
        raise UnusualError
    return found.astype(kind, copy=False)


def _keys(entries: list[Any], model: type[Model]) -> set[str]:
    """Return the keys of ``entries``; raise `UnusualError` for unknown keys."""
    if not set(map(type, entries)) <= {dict}:
        raise UnusualError
    keys: set[str] = set().union(*entries) if any(entries) else set()
    if not keys <= model.model_fields.keys():
        raise UnusualError
    return keys


def _values(entries: list[Any], keys: set[str], name: str, default: Any) -> list[Any]:
    return [entry.get(name, default) for entry in entries] if name in keys else [default] * len(entries)


def _lists(entries: list[Any], keys: set[str], name: str) -> list[list[Any]]:
    """Return the lists of entries under the key ``name``; no list if no entry has the key."""
    found = _values(entries, keys, name, NOTHING) if name in keys else []
    if not set(map(type, found)) <= {list}:
        raise UnusualError
    return found


def _flat(lists: Iterable[list[Any]]) -> list[Any]:
    return list(chain.from_iterable(lists))


def _lengths(lists: Sequence[list[Any]], count: int) -> I64:
    return np.fromiter(map(len, lists), np.int64, len(lists)) if lists else np.zeros(count, np.int64)


def _choices(entries: list[Any], keys: set[str], name: str, codes: dict[str, int], default: str) -> Array:
    if name not in keys:
        return np.full(len(entries), codes[default], np.uint8)
    return np.frombuffer(bytes(map(codes.__getitem__, _values(entries, keys, name, default))), np.uint8)


def _numbers(entries: list[Any], keys: set[str], model: type[Model], name: str, kind: Any) -> Array:
    """Return numbers within the bounds of a model's field."""
    field = model.model_fields[name]
    if name not in keys:
        if field.is_required() and entries:
            raise UnusualError
        return np.full(len(entries), 0 if field.is_required() else field.default, kind)
    values = [entry[name] for entry in entries] if field.is_required() else _values(entries, keys, name, field.default)
    return whole_numbers(values, bounds_of(field), kind)
