"""A batch: as many runs as make about a second of work, done by one process and kept as one shard.

Each run depends on its own specification and seed alone, so the cut into batches changes no result. Whoever does a
batch needs no results directory: the bytes of the shard go back to the sweep, which writes them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numasim.engine.result import Result
from numasim.errors import NumasimError
from numasim.sweep.planned_runs import Run
from numasim.sweep.store.parquet import EndedRun, failed, finished, parquet_bytes, rows_of

TARGET_S = 1.0
LONGEST_S = 2 * TARGET_S  # no further run of a batch begins after this
GROWTH = 8  # of a batch over the largest so far
MINIMUM_S = 1e-6  # what a run is taken to last at least
Runner = Callable[[Any, int, str, bool], Result]  # (spec, seed, engine, check)


@dataclass(frozen=True)
class Task:
    """What is the same for every batch of a sweep."""

    runner: Runner
    engine: str
    check: bool
    fail_fast: bool


@dataclass(frozen=True)
class Batch:
    """Some runs to be done one after the other."""

    runs: tuple[Run, ...]


@dataclass(frozen=True)
class BatchOutcome:
    """How a batch went: the first ``done`` runs of it have ended, the others were left for lack of time.

    ``shard`` has the runs' rows as Parquet; ``failures`` the message of each that failed, by run_id; ``interruption``
    is what ended the batch and has to end the sweep once the shard is kept.
    """

    done: int
    elapsed_s: float
    failures: dict[str, str]
    shard: bytes
    interruption: BaseException | None = None


def execute(batch: Batch, task: Task) -> BatchOutcome:
    """Do the runs of ``batch``, as many as there is time for; what has ended is kept even when it is interrupted."""
    start = time.perf_counter()
    ended: list[EndedRun] = []
    failures: dict[str, str] = {}
    interruption = None
    try:
        for run in batch.runs:
            ended.append(_attempt(run, task, failures))
            if (failures and task.fail_fast) or time.perf_counter() - start > LONGEST_S:
                break
    except BaseException as error:  # an interrupt: it is raised again where the shard has been written
        interruption = error
    elapsed_s = time.perf_counter() - start
    return BatchOutcome(len(ended), elapsed_s, failures, parquet_bytes(rows_of(ended)), interruption)


def _attempt(run: Run, task: Task, failures: dict[str, str]) -> EndedRun:
    # A run may fail in any way, a defect of numasim included, and must not take the others with it.
    try:
        result = task.runner(run.spec, run.seed, task.engine, task.check)
        return finished(run.run_id, task.engine, result, run.spec.workers)
    except Exception as error:
        failures[run.run_id] = _message(error)
        return failed(run.run_id, task.engine, failures[run.run_id])


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, NumasimError) else f"{type(error).__name__}: {error}"


class BatchSize:
    """How many runs the next batch gets: a second's worth by the last batches, and not too many more than before."""

    def __init__(self) -> None:
        self._largest = 0
        self._per_run_s = 0.0

    def learn(self, outcome: BatchOutcome) -> None:
        """Take the time of a finished batch into account, as much as all earlier ones together."""
        per_run_s = max(MINIMUM_S, outcome.elapsed_s / max(1, outcome.done))
        self._per_run_s = (self._per_run_s + per_run_s) / 2 if self._per_run_s else per_run_s
        self._largest = max(self._largest, outcome.done)

    def next(self, left: int, slots: int) -> int:
        """Size the next batch of ``left`` runs; the last ones are shared out among ``slots`` processes."""
        by_time = int(TARGET_S / self._per_run_s) if self._per_run_s else 1
        return max(1, min(by_time, GROWTH * max(1, self._largest), -(-left // max(1, slots))))
