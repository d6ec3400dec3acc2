"""A task graph becomes the arrays of its npz file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from numasim.files.packed_arrays import Array, write_arrays
from numasim.files.writer import writing
from numasim.workload.binary_form.array_table import ACCESSES, EXECUTED, FIELDS, VERSION, ArrayField, taken_out
from numasim.workload.export.executed import Executed
from numasim.workload.graph import Workload
from numasim.workload.json_form.to_json_form import around_tasks


def write(workload: Workload, path: Path) -> None:
    """Write ``workload`` to ``path``; equal workloads give equal files. An `InputError` if that cannot be done."""
    _write(to_arrays(workload), path)


def write_executed(workload: Workload, executed: Executed, path: Path) -> None:
    """`write`, with what workers did in a run."""
    columns = {
        "executed_task": executed.task,
        "executed_segment": executed.segment,
        "executed_worker": executed.worker,
        "executed_begin_ps": executed.begin_ps,
        "executed_end_ps": executed.end_ps,
        "worker_node": executed.node,
    }
    _write(to_arrays(workload) | {each.name: np.asarray(columns[each.name], each.kind) for each in EXECUTED}, path)


def _write(arrays: dict[str, Array], path: Path) -> None:
    with writing(path) as file:
        write_arrays(file, arrays)


def to_arrays(workload: Workload) -> dict[str, Array]:
    """The arrays of ``workload`` by their names, in the order of the table."""
    document = around_tasks(workload)
    del document["tasks"], document["segments"]
    lists = taken_out(document)
    text = json.dumps(document, separators=(",", ":")).encode()
    columns: dict[str, Any] = {
        "version": [VERSION],
        "document": np.frombuffer(text, np.uint8),
        "op_ptr": workload.op_ptr,
        "op_code": workload.op_code,
        "op_arg": workload.op_arg,
        "task_kind": workload.kind,
        "then_ptr": workload.successor_ptr,
        "then": workload.successor,
        "segment_compute_ps": workload.segment_compute_ps,
        "segment_kernel": workload.segment_kernel,
        "access_ptr": workload.segment_accesses,
    }
    for each in ACCESSES[1:]:
        columns[each.name] = getattr(workload.accesses, each.name.removeprefix("access_"))
    return {name: _written(each, columns[name]) for name, each in FIELDS.items() if name in columns} | lists


def _written(described: ArrayField, values: Any) -> Array:
    """``values`` in the type of the file, numbers of names as the file's codes."""
    if not described.codes:
        return np.asarray(values, described.kind)
    codes = np.zeros(256, np.uint8)
    codes[described.numbers] = np.arange(len(described.codes))
    found: Array = codes[values]
    return found
