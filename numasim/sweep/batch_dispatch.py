"""Deals the runs of a sweep out in batches, keeps what comes back, and survives the death of a worker process.

Nobody says which run of a batch killed the process. The runs of a batch that was lost are therefore done again one at
a time: the one that kills its process once more is recorded as failed, the others are none the worse.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from itertools import islice
from pathlib import Path

from numasim.sweep.batch import Batch, BatchOutcome, BatchSize, Task, execute
from numasim.sweep.planned_runs import Run
from numasim.sweep.pool import Workers
from numasim.sweep.store.parquet import failed, parquet_bytes, rows_of
from numasim.sweep.store.shard import write_shard

DIED = "the process died during this run: it was killed, or ran out of memory"
PATIENCE_S = 5.0  # after which one looks whether anybody is still at work
Flying = dict[Future[BatchOutcome], Batch]


class Dispatch:
    """The progress of a sweep: how many runs have ended, and with what message those that failed."""

    def __init__(self, task: Task, workers: Workers, shards: Path, number: int, advance: Callable[[int], None]) -> None:
        """Shards go to ``shards``, numbered from ``number`` on; ``advance`` is told how many more runs have ended."""
        self.executed = 0
        self.failures: dict[str, str] = {}
        self._task = task
        self._workers = workers
        self._shards = shards
        self._number = number
        self._advance = advance

    def do(self, runs: Iterable[Run]) -> None:
        """Do ``runs``; stop at a failure where the task says so."""
        queue = deque(runs)
        while queue and not self._stopped():
            suspects = self._deal(queue)
            while suspects and not self._stopped():
                self._do_alone(suspects)

    def _deal(self, queue: deque[Run]) -> deque[Run]:
        """Empty ``queue`` as far as the workers hold out; returns those runs that were lost with a worker."""
        size = BatchSize()
        flying: Flying = {}
        suspects: deque[Run] = deque()
        with self._workers.executor(len(queue)) as executor:
            while self._launch(queue, executor, size, flying):
                for future in self._landed(flying):
                    self._collect(future, flying.pop(future), size, queue, suspects)
        return suspects

    def _launch(self, queue: deque[Run], executor: Executor, size: BatchSize, flying: Flying) -> bool:
        """Put a batch on every slot and one more, so that none waits for the next; tell whether any is under way."""
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
        """Wait until one of the batches under way has ended; InputError where nobody is left to do them."""
        while not (done := wait(flying, PATIENCE_S, FIRST_COMPLETED).done):
            self._workers.require_any()
        return done

    def _collect(
        self, future: Future[BatchOutcome], batch: Batch, size: BatchSize, queue: deque[Run], suspects: deque[Run]
    ) -> None:
        try:
            outcome = future.result()
        except BrokenExecutor:
            suspects.extend(batch.runs)
            return
        size.learn(outcome)
        self._keep(outcome)
        queue.extendleft(reversed(batch.runs[outcome.done :]))

    def _do_alone(self, suspects: deque[Run]) -> None:
        """Do ``suspects`` one at a time until one of them is the end of the process."""
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

    def _give_up(self, run: Run) -> None:
        self._write(parquet_bytes(rows_of([failed(run.run_id, self._task.engine, DIED)])))
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
