"""The objects of a new task and their homes (Vikranth's thesis, sections 5.3 to 5.5; model 4.5).

The objects of a task are the pieces of memory that its own segments and the tasks that it calls access; tasks that it
spawns do not count. A piece that several segments access is one object. A range is many similar tasks, its items, that
one rule (a family) describes, their objects too. The home of an object is the node that holds most of its bytes, the
lowest of several such nodes; an object is unbound while none of its pages is placed. Homes that are known before the
run are in a table; other homes are looked up when a queue is chosen for the task. A row is a task of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from numasim.plan.plan import Plan
from numasim.plan.segment_times import AccessTable, ByOffset, settled_bytes
from numasim.strategy.placement.compile_placement import Placement
from numasim.strategy.similarity import UNBOUND, Objects
from numasim.workload.forest_arrays import ragged
from numasim.workload.graph import I64, Accesses, Kind, Op, RangeFamily, Workload

OPEN = -2  # home of an object whose home is looked up during the run


@dataclass(frozen=True)
class TaskObjects:
    """The objects of the tasks of a graph: entries ``ptr[r]`` to ``ptr[r + 1] - 1`` are the objects of row r.

    An entry is all objects of the row with the same home and mode, or one object whose home is OPEN.
    """

    ptr: I64  # [rows + 1]
    home: npt.NDArray[np.int32]  # [entries] node, or OPEN
    mode: npt.NDArray[np.uint8]  # [entries] `Mode`: read, written or both
    count: I64  # [entries] number of objects
    bytes: I64  # [entries] of these objects together
    access: I64  # [entries] one of the object's accesses; -1 if the home is known


@dataclass(frozen=True)
class ItemObject(ByOffset):
    """An object of every item of a family; an item's object has the home ``home[row]``, by the row of `ByOffset`."""

    divisor: int
    by_quotient: bool
    by_remainder: bool
    home: npt.NDArray[np.int32]  # [rows]
    mode: int
    bytes: int

    def of(self, item: int) -> Objects:
        """Return the object of ``item``."""
        return Objects(int(self.home[self.index(item)]), self.mode, 1, self.bytes)


def home_of(bytes_by_node: I64) -> npt.NDArray[np.int32]:
    """Return [objects] the home of each object, or UNBOUND, from ``bytes_by_node`` [objects, nodes]."""
    home = bytes_by_node.argmax(axis=1)
    return np.where(bytes_by_node.any(axis=1), home, UNBOUND).astype(np.int32)


# ---- graph tasks ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def task_objects(work: Workload, placement: Placement) -> TaskObjects:
    """Return the objects of every row of ``work``, with the homes of ``placement``."""
    row, access, mode = _distinct(work.accesses, *_accesses_of_rows(work))
    home = home_of(settled_bytes(work, placement)) if len(access) else np.zeros(0, np.int32)
    home = np.where(placement.dynamic[work.accesses.region], OPEN, home)[access] if len(access) else home
    size = (work.accesses.row_bytes * work.accesses.rows)[access]
    return _grouped(work.rows, row, np.where(home == OPEN, access, -1), home, mode, size)


def _accesses_of_rows(work: Workload) -> tuple[I64, I64]:
    """Return ([n] row, [n] access) for all accesses of each row and of the rows that it calls, without empty ones."""
    row, body = _bodies(work)
    segment_ptr, segments = _ops_of_rows(work, Op.RUN)
    row, segment = _expanded(row, body, segment_ptr)
    row, access = _expanded(row, segments[segment], work.segment_accesses)
    touches = (work.accesses.row_bytes[access] > 0) & (work.accesses.rows[access] > 0)
    return row[touches], access[touches]


def _bodies(work: Workload) -> tuple[I64, I64]:
    """Return ([n] row, [n] executed row): each spawned row with itself and with all rows that it calls."""
    call_ptr, callees = _ops_of_rows(work, Op.CALL)
    row = np.flatnonzero(work.kind != Kind.CALL)
    body = row
    rows, bodies = [row], [body]
    while len(callees):
        row, call = _expanded(row, body, call_ptr)
        if not len(row):
            break
        row, body = np.unique(np.stack([row, callees[call]]), axis=1)
        rows.append(row)
        bodies.append(body)
    return np.concatenate(rows), np.concatenate(bodies)


def _ops_of_rows(work: Workload, code: Op) -> tuple[I64, I64]:
    """Return ([rows + 1] CSR pointer, arguments) of the ops of this code."""
    places = np.flatnonzero(work.op_code == code)
    return np.searchsorted(places, work.op_ptr), work.op_arg[places].astype(np.int64)


def _expanded(owner: I64, key: I64, ptr: I64) -> tuple[I64, I64]:
    """Return ([m] owner, [m] entry) of all entries ``ptr[key]`` to ``ptr[key + 1] - 1`` of each owner."""
    count = ptr[key + 1] - ptr[key]
    return np.repeat(owner, count), ragged(ptr[key], count)


def _distinct(accesses: Accesses, row: I64, access: I64) -> tuple[I64, I64, npt.NDArray[np.uint8]]:
    """Return ([n] row, [n] access, [n] mode) of the rows' accesses; equal pieces of a row are merged."""
    if not len(row):
        return row, access, np.zeros(0, np.uint8)
    shape = (accesses.stride, accesses.rows, accesses.row_bytes, accesses.offset, accesses.region)
    keys = (*(part[access] for part in shape), row)
    order = np.lexsort(keys)
    first = np.append(True, np.any([part[order[1:]] != part[order[:-1]] for part in keys], axis=0))
    mode = np.bitwise_or.reduceat(accesses.mode[access[order]], np.flatnonzero(first))
    chosen = order[first]
    return row[chosen], access[chosen], mode


def _grouped(
    rows: int, row: I64, access: I64, home: npt.NDArray[np.int32], mode: npt.NDArray[np.uint8], size: I64
) -> TaskObjects:
    """Return the objects; equal rows, homes and modes are merged unless the home is looked up (``access`` >= 0)."""
    order = np.lexsort((access, mode, home, row))
    row, access, home, mode, size = row[order], access[order], home[order], mode[order], size[order]
    same = [part[1:] == part[:-1] for part in (row, home, mode, access)]
    first = np.flatnonzero(np.append(True, ~np.all(same, axis=0))) if len(row) else np.zeros(0, np.int64)
    return TaskObjects(
        ptr=np.searchsorted(row[first], np.arange(rows + 1)).astype(np.int64),
        home=home[first].astype(np.int32),
        mode=mode[first],
        count=np.diff(np.append(first, len(row))),
        bytes=np.add.reduceat(size, first) if len(row) else size,
        access=access[first],
    )


# ---- range items ---------------------------------------------------------------------------------------------------


def item_objects(plan: Plan, placement: Placement, family: RangeFamily) -> tuple[ItemObject, ...]:
    """Return the objects of the items of ``family``; templates of the same bytes are one object."""
    modes: dict[tuple[int, ...], int] = {}
    first: dict[tuple[int, ...], int] = {}
    for j in range(len(family.accesses)):
        key = _template(family, j)
        first.setdefault(key, j)
        modes[key] = modes.get(key, 0) | int(family.accesses.mode[j])
    return tuple(_item_object(plan, placement, family, j, modes[key]) for key, j in first.items() if _size(family, j))


def _template(family: RangeFamily, j: int) -> tuple[int, ...]:
    one = family.accesses
    parts: Sequence[npt.NDArray[np.integer]] = (one.region, one.offset, one.row_bytes, one.rows, one.stride)
    return tuple(int(part[j]) for part in (*parts, family.divisor, family.step_div, family.step_mod))


def _size(family: RangeFamily, j: int) -> int:
    return int(family.accesses.row_bytes[j] * family.accesses.rows[j])


def _item_object(plan: Plan, placement: Placement, family: RangeFamily, j: int, mode: int) -> ItemObject:
    table = AccessTable(plan, placement, family, j)
    return ItemObject(
        divisor=table.divisor,
        by_quotient=table.by_quotient,
        by_remainder=table.by_remainder,
        home=home_of(table.traffic),
        mode=mode,
        bytes=_size(family, j),
    )
