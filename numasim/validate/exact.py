"""Virtual time with model costs: every counter of the runtime must equal that of the native engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from numasim.engine.result import Result
from numasim.runtime.runtime_program import KernelRun
from numasim.schema.counter_names import SYNC_COUNTS

TABLES = ("node_attempts", "node_success", "node_bytes")

Value = int | str | None
Pair = tuple[str, Value, Value]  # name, predicted, found


def pairs(result: Result, run: KernelRun) -> Iterator[Pair]:
    """Every number that both of them count: totals, then by worker, by pair of nodes and by synchronisation object."""
    yield ("trace_hash", result.counters["trace_hash"], run.trace_hash)
    for name, found in {"makespan_ps": run.makespan_ps, "page_faults": run.page_faults, **run.columns}.items():
        yield (name, int(result.counters[name]), found)
    for name, values in {"node": run.node, **run.worker}.items():
        yield from _entries(name, result.per_worker[name][: run.workers], values)
    for name in TABLES:
        yield from _entries(name, getattr(result, name), getattr(run, name))
    objects = zip(*(result.sync_objects[name] for name in SYNC_COUNTS), strict=True)
    yield from _entries("sync_objects", [*objects], run.words)


def differences(result: Result, run: KernelRun) -> tuple[int, list[Pair]]:
    """How many numbers were compared, and those that differ."""
    compared = list(pairs(result, run))
    return len(compared), [(name, predicted, found) for name, predicted, found in compared if predicted != found]


def _entries(name: str, predicted: Any, found: Any) -> Iterator[Pair]:
    """Tables entry by entry; where their shapes differ, the shapes."""
    expected, seen = np.asarray(predicted, np.int64), np.asarray(found, np.int64)
    if expected.size == seen.size == 0:
        return
    if expected.shape != seen.shape:
        yield (f"shape of {name}", str(expected.shape), str(seen.shape))
        return
    for place in np.ndindex(expected.shape):
        yield (f"{name}[{','.join(map(str, place))}]", int(expected[place]), int(seen[place]))
