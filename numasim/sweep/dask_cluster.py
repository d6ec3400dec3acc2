"""The workers of a Dask cluster as an executor of batches.

Only the results directory of this process records which runs have ended. Workers return the rows of their batch, so
they need no common file system, and a failure of the scheduler loses the running batches alone. The scheduler gives a
batch whose worker died to another worker; after several deaths (distributed's ``allowed-failures``) the batch counts as
lost, and its runs are simulated one at a time.
"""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from numasim.errors import InputError
from numasim.sweep.cluster.handshake import (
    Installed,
    LocalCluster,
    SchedulerAddress,
    disagreement,
    installed,
    installed_with,
    parse_address,
    require_agreement,
    require_scheduler,
)

if TYPE_CHECKING:
    from distributed import Client, Security

CONNECT_S = 5.0
LOOK_AGAIN_S = 0.1
FIRST_WORKER_S = 30.0  # the longest time that a cluster may be without workers before a sweep
ANY_WORKER_S = 120.0  # and during it, when a batch system may start new ones
CLOSE_S = 5.0
CANCELLED = ("tornado.application", "asyncio")  # which tell of cancelled requests
LOGGERS = ("distributed", "distributed.client", *CANCELLED)


@contextmanager
def cluster_workers(text: str, engine: str) -> Iterator[ClusterWorkers]:
    """Connect to the cluster at the address ``text``, or start it where that is ``local:N``.

    Raises `InputError` where there is no such cluster, it has no worker, or its processes lack this version of numasim
    or ``engine``.
    """
    address = parse_address(text)
    _require_distributed()
    with (
        _silence(),
        _scheduler_of(address) as (scheduler, security, more_may_come),
        _client(scheduler, security) as client,
    ):
        workers = ClusterWorkers(client, scheduler, more_may_come)
        workers.require_first()
        _require_agreement(client, scheduler, engine)
        yield workers


class ClusterWorkers:
    """The present workers of a scheduler, which may change."""

    def __init__(self, client: Client, scheduler: str, more_may_come: Callable[[], bool]) -> None:
        """``scheduler`` is its name in messages; ``more_may_come`` says whether workers may still join."""
        self._client = client
        self._scheduler = scheduler
        self._more_may_come = more_may_come
        self._last_seen_s = time.monotonic()
        self._current: ClusterExecutor | None = None

    def slots(self) -> int:
        """One batch a thread; workers are best started with one, as Python runs one at a time."""
        return self._threads() or 1

    def executor(self, runs: int) -> AbstractContextManager[Executor]:
        """Give an executor on all workers."""
        return self._executor()

    def alone(self) -> AbstractContextManager[Executor]:
        """Give an executor on all workers: the scheduler reports which batch killed its worker."""
        return self._executor()

    def require_any(self) -> None:
        """Raise `InputError` where there has been no worker for a long time, or none can come any more."""
        if self._require_worker_within(ANY_WORKER_S) and self._current:
            with _scheduler_errors(self._scheduler):
                self._current.ask_again_if_idle()

    def require_first(self) -> None:
        """Wait for a worker. Raises `InputError` where none comes."""
        while not self._require_worker_within(FIRST_WORKER_S):
            time.sleep(LOOK_AGAIN_S)

    def _require_worker_within(self, patience_s: float) -> bool:
        """Whether there is a worker; `InputError` where there has been none for that long, or none can come."""
        if self._threads():
            return True
        if not self._more_may_come():
            remedy = "the same command again, which continues with the runs that are not finished"
            raise InputError("all workers of this cluster have died", place=self._scheduler, expected=remedy)
        if time.monotonic() - self._last_seen_s > patience_s:
            raise self._without_workers(patience_s)
        return False

    def _threads(self) -> int:
        with _scheduler_errors(self._scheduler):
            threads = sum(map(int, self._client.nthreads().values()))
        if threads:
            self._last_seen_s = time.monotonic()
        return threads

    def _without_workers(self, waited_s: float) -> InputError:
        problem = f"this cluster has had no worker for {waited_s:.0f} s"
        return InputError(problem, place=self._scheduler, expected="a running `dask worker`; finished runs are kept")

    @contextmanager
    def _executor(self) -> Iterator[Executor]:
        self._current = ClusterExecutor(self._client, self._scheduler)
        try:
            yield self._current
        finally:
            self._current.shutdown()
            self._current = None


class ClusterExecutor(Executor):
    """Runs submitted calls on the cluster of ``client``, and raises the same exceptions as other executors."""

    def __init__(self, client: Client, scheduler: str) -> None:
        """Submit under unique keys (``pure``), so that equal batches are not merged."""
        self._client = client
        self._on_cluster = client.get_executor(pure=False)
        self._scheduler = scheduler
        self._waiting: dict[Future[Any], bytes] = {}  # what was submitted for it
        self._was_idle = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn`` on a worker. The future raises `BrokenExecutor` after the death of several workers, and
        `InputError` if the scheduler is gone or a new worker has another numasim.
        """
        content = pickle.dumps((fn, args, kwargs))  # opaque to the scheduler, which need not unpickle batches
        answer: Future[Any] = Future()
        self._waiting[answer] = content
        self._ask(answer, content)
        return answer

    def ask_again_if_idle(self) -> None:
        """Submit again what is waited for, where no worker has done anything at two looks in a row.

        A result may be lost with its worker while it is on its way and be there again before distributed has noticed
        the loss; then distributed waits for news of it that have come already.
        """
        is_idle = not any(self._client.processing().values())
        if is_idle and self._was_idle:
            for answer, content in list(self._waiting.items()):
                self._ask(answer, content)
        self._was_idle = is_idle and not self._was_idle

    def _ask(self, answer: Future[Any], content: bytes) -> None:
        there = self._on_cluster.submit(run_agreed, installed(), content)
        there.add_done_callback(lambda ended: self._answer(ended, answer))

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = True) -> None:
        """Cancel the running calls."""
        self._on_cluster.shutdown(wait=False)

    def _answer(self, ended: Future[Any], answer: Future[Any]) -> None:
        if self._waiting.pop(answer, None) is None:  # it was asked for again
            return
        if ended.cancelled():
            answer.set_exception(_scheduler_lost(self._scheduler))
        elif error := ended.exception():
            answer.set_exception(translated(error, self._scheduler))
        else:
            answer.set_result(ended.result())


def run_agreed(expected: Installed, content: bytes) -> Any:
    """Call the pickled function with its arguments, on a worker that has the ``expected`` numasim.

    The first workers were checked at the start; this checks those that join later.
    """
    if installed() != expected:
        raise OtherNumasimError(installed())
    fn, args, kwargs = pickle.loads(content)
    return fn(*args, **kwargs)


class OtherNumasimError(Exception):
    """A worker that joined during the sweep has another numasim."""


def translated(error: BaseException, scheduler: str) -> BaseException:
    """Translate an error of the cluster itself to an exception of this package; others stay as they are."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return BrokenExecutor(str(error))
    if isinstance(error, OtherNumasimError):
        version, model_version = error.args[0]
        return disagreement(scheduler, f"a worker joined with numasim {version} (model version {model_version})")
    if isinstance(error, ImportError):
        return disagreement(scheduler, f"a worker cannot run a batch ({error})")
    return error


@contextmanager
def _scheduler_errors(scheduler: str) -> Iterator[None]:
    """Turn a request that the scheduler does not answer into an `InputError`."""
    try:
        yield
    except (OSError, RuntimeError, CancelledError) as error:
        raise _scheduler_lost(scheduler) from error


def _scheduler_lost(scheduler: str) -> InputError:
    expected = "a scheduler that runs as long as the sweep; run the same command again, finished runs are kept"
    return InputError("the scheduler has gone", place=scheduler, expected=expected)


def _require_agreement(client: Client, scheduler: str, engine: str) -> None:
    """Ask the scheduler, which unpickles what it passes on, and every worker."""
    try:
        answer: Any = client.run_on_scheduler(installed)
    except Exception as error:
        answer = error
    require_agreement({f"the scheduler {scheduler}": answer})
    with _scheduler_errors(scheduler):
        answers = client.run(installed_with, engine, on_error="return")
    require_agreement({f"the worker {place}": answer for place, answer in answers.items()})


def _require_distributed() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        problem = f"a cluster needs the package {error.name or 'distributed'}, which is not installed"
        raise InputError(problem, expected="pip install 'numasim[cluster]'") from None


@contextmanager
def _scheduler_of(
    address: LocalCluster | SchedulerAddress,
) -> Iterator[tuple[str, Security | None, Callable[[], bool]]]:
    """Give the address of a scheduler that answers, the certificate to speak with it (None: that of Dask's settings),
    and a function that says whether workers may still join it.
    """
    if isinstance(address, SchedulerAddress):
        require_scheduler(address.text)
        yield address.text, None, lambda: True
        return
    from numasim.sweep.cluster.local_cluster import local_cluster

    with local_cluster(address.count) as found:
        yield found


@contextmanager
def _client(scheduler: str, security: Security | None) -> Iterator[Client]:
    from distributed import Client

    client = Client(scheduler, timeout=CONNECT_S, set_as_default=False, security=security)
    try:
        yield client
    finally:
        client.close(timeout=CLOSE_S)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep distributed's own loggers off the terminal: what concerns the user is raised."""
    from distributed.utils import silence_logging_cmgr

    with ExitStack() as stack:
        for name in LOGGERS:
            stack.enter_context(silence_logging_cmgr(logging.CRITICAL + 1, name))
        yield
