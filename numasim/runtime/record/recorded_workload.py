"""The `Workload` of the rows of a recording."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from numasim.runtime.record.recorded_data import LINE_BYTES, Access, RecordedData
from numasim.runtime.record.recorded_rows import ARGUMENT, Rows
from numasim.workload.builder import accesses_of, frozen
from numasim.workload.forest_arrays import offsets, preorder, ragged
from numasim.workload.graph import I64, Deal, Op, Pattern, Phase, Workload

MOST_KERNELS = 256


def workload_of(rows: Rows, data: RecordedData, kernel_of_row: list[str], name: str) -> Workload:
    """The workload; its tasks are numbered depth first. ``kernel_of_row`` names what each row executes."""
    parent = np.array(rows.parent, np.int64)
    order = preorder(parent)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    op_ptr, codes, arguments, segments = _programs(rows, order, position)
    kernels, kernel_numbers = _kernels(kernel_of_row)
    successor_ptr, successor = _successors(rows, position)
    counts = np.array([len(data.accesses.get(segment, ())) for segment in segments.tolist()], np.int64)
    return Workload(
        name=name,
        parameters={},
        kernels=kernels,
        regions=data.regions,
        phases=_phases(rows, position),
        ranges=(),
        op_ptr=frozen(op_ptr),
        op_code=frozen(codes),
        op_arg=frozen(arguments),
        kind=frozen(np.array(rows.kind, np.uint8)[order]),
        parent=frozen(np.where(parent < 0, -1, position[parent])[order]),
        segment_compute_ps=frozen(np.array(rows.compute_ps, np.int64)[segments]),
        segment_kernel=frozen(kernel_numbers[np.array(rows.segment_row, np.int64)[segments]]),
        segment_accesses=frozen(offsets(counts)),
        accesses=accesses_of(**_accesses(data, segments)),
        successor_ptr=frozen(successor_ptr),
        successor=frozen(successor),
    )


def _programs(rows: Rows, order: I64, position: I64) -> tuple[I64, Any, Any, I64]:
    """(op_ptr, op_code, op_arg, [segments] the segments in the order of the ops) of the rows in ``order``."""
    lengths = np.fromiter(map(len, rows.ops), np.int64, len(rows.ops))
    flat = np.fromiter(chain.from_iterable(rows.ops), np.int64, int(lengths.sum()))
    flat = flat[ragged(offsets(lengths)[:-1][order], lengths[order])]
    codes, arguments = (flat >> ARGUMENT).astype(np.uint8), flat & ((1 << ARGUMENT) - 1)
    makes, runs = np.isin(codes, (Op.SPAWN, Op.CALL)), codes == Op.RUN
    arguments[makes] = position[arguments[makes]]
    segments = arguments[runs]
    arguments[runs] = np.arange(len(segments))
    return offsets(lengths[order]), codes, arguments.astype(np.uint32), segments


def _kernels(kernel_of_row: list[str]) -> tuple[tuple[str, ...], Any]:
    """(names of the kernels, [rows] the kernel of each row); those that are too many share the last name."""
    number: dict[str, int] = {}
    for name in kernel_of_row:
        number.setdefault(name, len(number))
    names = tuple(number)[:MOST_KERNELS] or ("",)
    if len(number) > MOST_KERNELS:
        names = (*names[:-1], "other tasks")
    found = np.array([min(number[name], MOST_KERNELS - 1) for name in kernel_of_row], np.uint8)
    return names, found


def _successors(rows: Rows, position: I64) -> tuple[I64, Any]:
    pairs = np.array(rows.edges, np.int64).reshape(-1, 2)
    tasks = len(position)
    edges = np.unique(position[pairs[:, 0]] * tasks + position[pairs[:, 1]])
    return offsets(np.bincount(edges // tasks, minlength=tasks)), (edges % tasks).astype(np.uint32)


def _phases(rows: Rows, position: I64) -> tuple[Phase, ...]:
    return tuple(
        Phase(
            roots=tuple(position[phase.roots].tolist()),
            deal=Deal.MASTER if phase.serial else Deal.CYCLIC,
            serial=phase.serial,
            name=phase.name,
        )
        for phase in rows.phases
    )


def _accesses(data: RecordedData, segments: I64) -> dict[str, Any]:
    found = [access for segment in segments.tolist() for access in data.accesses.get(segment, ())]
    columns = np.array(found, np.int64).reshape(-1, len(Access._fields))
    values = {name: columns[:, at] for at, name in enumerate(Access._fields)}
    scattered = (values["rows"] > 1) & (values["row_bytes"] < LINE_BYTES)
    pattern = np.where(scattered, Pattern.STRIDED, Pattern.SEQUENTIAL)
    return values | {"pattern": pattern, "passes": np.ones(len(columns), np.int64)}
