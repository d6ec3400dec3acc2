"""A batch: as many runs as make about a second of work, done by one process and written as one shard.

Each run depends on its own specification and seed alone, so the cut into batches changes no result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from numasim.engine.result import Result
from numasim.errors import NumasimError
from numasim.sweep.parquet import failed_row, finished_row, together
from numasim.sweep.plan import Run
from numasim.sweep.shard import write_shard

TARGET_S = 1.0
MINIMUM_S = 1e-6  # what a run is taken to last at least
Runner = Callable[[Any, int, str, bool], Result]  # (spec, seed, engine, check)


@dataclass(frozen=True)
class Task:
    """What is the same for every batch of a sweep."""

    runner: Runner
    engine: str
    check: bool
    fail_fast: bool
    shards: Path


@dataclass(frozen=True)
class Batch:
    """Some runs and the number of the shard that will hold them."""

    number: int
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class BatchOutcome:
    """How a batch went: the runs done, the time they took, and the message of each that failed, by run_id."""

    done: int
    elapsed_s: float
    failures: dict[str, str]


def execute(batch: Batch, task: Task) -> BatchOutcome:
    """Do the runs of ``batch`` and write them; what was finished is written even when the batch is interrupted."""
    start = time.perf_counter()
    rows: list[pa.Table] = []
    failures: dict[str, str] = {}
    try:
        for run in batch.runs:
            rows.append(_attempt(run, task, failures))
            if failures and task.fail_fast:
                break
    finally:
        if rows:
            write_shard(task.shards, batch.number, together(rows))
    return BatchOutcome(len(rows), time.perf_counter() - start, failures)


def _attempt(run: Run, task: Task, failures: dict[str, str]) -> pa.Table:
    # A run may fail in any way, a defect of numasim included, and must not take the others with it.
    try:
        result = task.runner(run.spec, run.seed, task.engine, task.check)
        return finished_row(run.run_id, task.engine, result, run.spec.workers)
    except Exception as error:
        failures[run.run_id] = _message(error)
        return failed_row(run.run_id, task.engine, failures[run.run_id])


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, NumasimError) else f"{type(error).__name__}: {error}"


class BatchSize:
    """How many runs the next batch gets: a second's worth by the last batches, at most twice the largest so far."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._largest = 1
        self._per_run_s = 0.0

    def learn(self, outcome: BatchOutcome) -> None:
        """Take the time of a finished batch into account, as much as all earlier ones together."""
        per_run_s = max(MINIMUM_S, outcome.elapsed_s / outcome.done)
        self._per_run_s = (self._per_run_s + per_run_s) / 2 if self._per_run_s else per_run_s
        self._largest = max(self._largest, outcome.done)

    def next(self, left: int) -> int:
        """Size the next batch of ``left`` runs; the last ones are shared out among the processes."""
        by_time = int(TARGET_S / self._per_run_s) if self._per_run_s else 1
        return max(1, min(by_time, 2 * self._largest, -(-left // self._jobs)))
