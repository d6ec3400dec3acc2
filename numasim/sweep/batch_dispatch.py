"""Distributes the runs of a sweep in batches, stores their results, and survives the death of a worker process.

It is unknown which run of a batch killed the process. The runs of a lost batch are therefore simulated again one at a
time: a run that kills its process again is recorded as failed, the others are not affected.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from itertools import islice
from pathlib import Path

from numasim.sweep.batch import Batch, BatchOutcome, BatchSize, Task, execute
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.pool import Workers
from numasim.sweep.store.parquet import failed, rows_of, shard_bytes
from numasim.sweep.store.shard import write_shard

DIED = "the process died during this run: it was killed, or ran out of memory"
PATIENCE_S = 5.0  # interval between checks whether any worker is left
Flying = dict[Future[BatchOutcome], Batch]


class Dispatch:
    """The progress of a sweep: the number of ended runs, and the messages of failed ones."""

    def __init__(self, task: Task, workers: Workers, shards: Path, number: int, advance: Callable[[int], None]) -> None:
        """Shards go to ``shards``, numbered from ``number`` on; ``advance`` gets the number of newly ended runs."""
        self.executed = 0
        self.failures: dict[str, str] = {}
        self._task = task
        self._workers = workers
        self._shards = shards
        self._number = number
        self._advance = advance

    def do(self, runs: Iterable[PlannedRun]) -> None:
        """Simulate ``runs``; stop at the first failure if the task requires it."""
        queue = deque(runs)
        while queue and not self._stopped():
            suspects = self._deal(queue)
            while suspects and not self._stopped():
                self._do_alone(suspects)

    def _deal(self, queue: deque[PlannedRun]) -> deque[PlannedRun]:
        """Process ``queue`` until it is empty or no worker is left; return the runs that were lost with a worker."""
        size = BatchSize()
        flying: Flying = {}
        suspects: deque[PlannedRun] = deque()
        with self._workers.executor(len(queue)) as executor:
            while self._launch(queue, executor, size, flying):
                for future in self._landed(flying):
                    self._collect(future, flying.pop(future), size, queue, suspects)
        return suspects

    def _launch(self, queue: deque[PlannedRun], executor: Executor, size: BatchSize, flying: Flying) -> bool:
        """Submit a batch for every slot and one more, so that none is idle; return whether any is running."""
        slots = self._workers.slots()
        ahead = slots + 1 if slots > 1 else 1
        while queue and len(flying) < ahead and not self._stopped():
            batch = Batch(tuple(islice(queue, size.next(len(queue), slots))))
            try:
                future = executor.submit(execute, batch, self._task)
            except BrokenExecutor:  # the runs stay in the queue, for other workers
                break
            flying[future] = batch
            for _ in batch.runs:
                queue.popleft()
        return bool(flying)

    def _landed(self, flying: Iterable[Future[BatchOutcome]]) -> set[Future[BatchOutcome]]:
        """Wait until one of the running batches has ended; InputError if no worker is left."""
        while not (done := wait(flying, PATIENCE_S, FIRST_COMPLETED).done):
            self._workers.require_any()
        return done

    def _collect(
        self,
        future: Future[BatchOutcome],
        batch: Batch,
        size: BatchSize,
        queue: deque[PlannedRun],
        suspects: deque[PlannedRun],
    ) -> None:
        try:
            outcome = future.result()
        except BrokenExecutor:
            suspects.extend(batch.runs)
            return
        size.learn(outcome)
        self._keep(outcome)
        queue.extendleft(reversed(batch.runs[outcome.done :]))

    def _do_alone(self, suspects: deque[PlannedRun]) -> None:
        """Simulate ``suspects`` one at a time until one of them kills the process."""
        with self._workers.alone() as executor:
            while suspects and not self._stopped():
                run = suspects.popleft()
                (future,) = self._landed([executor.submit(execute, Batch((run,)), self._task)])
                try:
                    self._keep(future.result())
                except BrokenExecutor:
                    self._give_up(run)
                    return

    def _keep(self, outcome: BatchOutcome) -> None:
        if outcome.done:
            self._write(outcome.shard)
        self._ended(outcome.done, outcome.failures)
        if outcome.interruption:
            raise outcome.interruption

    def _give_up(self, run: PlannedRun) -> None:
        self._write(shard_bytes(rows_of([failed(run.run_id, self._task.engine, DIED)])))
        self._ended(1, {run.run_id: DIED})

    def _write(self, shard: bytes) -> None:
        write_shard(self._shards, self._number, shard)
        self._number += 1

    def _ended(self, count: int, failures: dict[str, str]) -> None:
        self.executed += count
        self.failures |= failures
        self._advance(count)

    def _stopped(self) -> bool:
        return self._task.fail_fast and bool(self.failures)
