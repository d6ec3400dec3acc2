"""The workers of a Dask cluster as an executor of batches.

Only the results directory of this process records which runs have ended. A worker returns the rows of a batch.
Therefore workers need no common file system, and a failure of the scheduler loses only the running batches. If a worker
dies, the scheduler gives the worker's batch to another worker. After several deaths (distributed's
``allowed-failures``) the batch counts as lost, and the runs of the batch are simulated one at a time.

A cluster on this machine lasts for one sweep. The scheduler is in this process; the workers are processes that Dask's
command starts, as on any cluster. Therefore a worker never imports the caller's main module, an interrupt from the
terminal does not reach a worker, and a worker ends when the scheduler is gone. A scheduler executes any received code,
and a port of this machine is open to all users of the machine. Therefore scheduler and workers speak only TLS. The key
and the certificate are made for the sweep, and only the user can read both files. Dask's HTTP pages are left out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from numasim import __version__
from numasim.engine.simulate import require_engine
from numasim.errors import InputError
from numasim.files.writer import write_bytes
from numasim.spec.identity import MODEL_VERSION
from numasim.sweep.pool import same_imports

if TYPE_CHECKING:
    from distributed import Client, Security

# ---- Checks before a sweep: the address, the scheduler at the address, and the numasim of all processes --------------

# A client that cannot connect gives little information and leaves threads behind. Therefore one request is sent before
# a client is made. It tells apart a refused connection, an unknown host, no answer, and a listener of another kind.

REQUEST_S = 4.0  # time limit of all attempts to connect for this request
ANSWER_S = 5.0  # time limit of the answer, including the connection

LOCAL = "local"
SCHEMES = ("tcp", "tls", "ws", "wss")
DEFAULT_PORT, HIGHEST_PORT = 8786, 2**16 - 1
EXPECTED = (
    f"the address of a Dask scheduler, such as tls://head-node:{DEFAULT_PORT}, "
    f"or {LOCAL}:N for N workers on this machine"
)

Installed = tuple[str, int]  # versions of numasim and of its model


# ---- The address of a cluster ----------------------------------------------------------------------------------------


def parse_address(text: str) -> int | str:
    """Return the number of workers of ``local:N``, or the address ``SCHEME://HOST:PORT`` of a scheduler.

    An address without a scheme gets the default scheme. Raises `InputError` for any other text.
    """
    place, _, number = text.rpartition(":")
    if LOCAL in (place, text):
        return _number(number, HIGHEST_PORT, text, f"{LOCAL}:2")
    scheme, separator, host = place.rpartition("://")
    if separator and not (scheme in SCHEMES and host):
        raise _unreadable(text, f"{scheme if scheme in SCHEMES else SCHEMES[0]}://{host or 'localhost'}:{number}")
    usual = f"{place if host and number.isdigit() else text}:{DEFAULT_PORT}"
    port = _number(number, HIGHEST_PORT if host else 0, text, usual)
    return f"{scheme or SCHEMES[0]}://{host}:{port}"


def _number(number: str, highest: int, text: str, nearest: str) -> int:
    if not (number.isascii() and number.isdigit() and len(number) < 6 and 0 < int(number) <= highest):
        raise _unreadable(text, nearest)
    return int(number)


def _unreadable(text: str, nearest: str) -> InputError:
    return InputError(f"cluster is {text!r}", expected=EXPECTED, value=text, known=[nearest])


# ---- The scheduler at an address -------------------------------------------------------------------------------------


def require_scheduler(address: str) -> None:
    """Raise `InputError`, after `ANSWER_S` seconds at most, unless a Dask scheduler answers at ``address``."""
    expected = "the address that `dask scheduler` prints when it starts"
    try:
        with ThreadPoolExecutor(1) as thread:  # asyncio needs another thread if the caller's thread has an event loop
            kind = thread.submit(asyncio.run, _kind(address)).result()
    except Exception as error:  # any error that bytes of an unknown protocol may cause
        problem = f"no Dask scheduler answers within {ANSWER_S:.0f} s ({_refusal(address) or _reason(error)})"
        raise InputError(problem, place=address, expected=expected) from None
    if kind != "Scheduler":
        raise InputError(f"a Dask {kind.lower()} answers, not a scheduler", place=address, expected=expected)


async def _kind(address: str) -> str:
    """Return the type of the process of Dask that answers at ``address``."""
    from distributed.comm import connect
    from distributed.security import Security

    async with asyncio.timeout(ANSWER_S):
        comm = await connect(address, timeout=REQUEST_S, **Security().get_connection_args("client"))
        try:
            await comm.write({"op": "identity", "reply": True})
            return str((await comm.read())["type"])
        finally:
            comm.abort()


def _refusal(address: str) -> str | None:
    """Return the system's message if a plain TCP connection is refused; Dask may report only that the time is over."""
    place = urlsplit(address)
    try:
        socket.create_connection((place.hostname or "", place.port or 0), timeout=1).close()
    except ConnectionError as error:
        return error.strerror
    except OSError:
        return None
    return None


def _reason(error: BaseException) -> str:
    """Return the system's message from the error nearest to the root of the chain, if any error has a message."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    words = [str(link.strerror) for link in chain if isinstance(link, OSError) and link.strerror]
    if not words and any(isinstance(link, TimeoutError) for link in chain):
        return "silence"
    return words[-1] if words else str(error) or type(error).__name__


# ---- The numasim of every process ------------------------------------------------------------------------------------
#
# A result is a function of the specification, the seed and numasim. Therefore all processes must have the same version
# and model version, and each worker must have the engine. Otherwise nothing is written and no batch is simulated.


def installed(engine: str | None = None) -> Installed:
    """Return the versions of this process. Raises `InputError` if the process lacks ``engine``."""
    if engine is not None:
        require_engine(engine)
    return __version__, MODEL_VERSION


def require_agreement(answers: Mapping[str, Any]) -> None:
    """Raise `InputError` for the first process whose answer differs from the answer of this process.

    ``answers`` has by address the return value of `installed` in a process, or the exception that `installed` raised.
    """
    for place, answer in answers.items():
        if isinstance(answer, InputError):
            raise disagreement(place, answer.problem)
        if isinstance(answer, Exception):
            raise disagreement(place, f"numasim is missing there, or is another ({answer})")
        if answer != installed():
            raise disagreement(place, "numasim {} (model version {}) is installed there".format(*answer))


def disagreement(place: str, problem: str) -> InputError:
    """Return the error for a process of the cluster that cannot be used."""
    version, model_version = installed()
    expected = f"numasim {version} (model version {model_version}) in the environment of the scheduler and every worker"
    return InputError(problem, place=place, expected=expected)


# ---- The workers as an executor --------------------------------------------------------------------------------------

CONNECT_S = 5.0
LOOK_AGAIN_S = 0.1
FIRST_WORKER_S = 30.0  # time limit for the first worker of a cluster
ANY_WORKER_S = 120.0  # longest time without a worker before the sweep ends; a batch system may start new workers
CLOSE_S = 5.0
CANCELLED = ("tornado.application", "asyncio")  # loggers that report cancelled requests
LOGGERS = ("distributed", "distributed.client", *CANCELLED)
HOST = "127.0.0.1"
LONELY_S = 10  # seconds for which a worker without a scheduler waits before it ends
SETTINGS: Mapping[str, str | bool | list[str]] = {  # without monitoring, which Dask does up to a hundred times a second
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.http.routes": [],
}


@contextmanager
def cluster_workers(text: str, engine: str) -> Iterator[ClusterWorkers]:
    """Connect to the cluster at the address ``text``, or start a cluster if the address is ``local:N``.

    Raises `InputError` if there is no such cluster, if the cluster has no worker, or if a process of the cluster lacks
    this version of numasim or ``engine``.
    """
    address = parse_address(text)
    try:
        import distributed
    except ImportError as error:
        problem = f"a cluster needs the package {error.name or 'distributed'}, which is not installed"
        raise InputError(problem, expected="pip install 'numasim[cluster]'") from None
    from distributed.utils import silence_logging_cmgr

    with ExitStack() as stack:
        for name in LOGGERS:  # not on the terminal: all messages that concern the user are raised as errors
            stack.enter_context(silence_logging_cmgr(logging.CRITICAL + 1, name))
        found: tuple[str, Security | None, Callable[[], bool]]
        if isinstance(address, int):
            found = stack.enter_context(local_cluster(address))
        else:
            require_scheduler(address)
            found = address, None, lambda: True  # the certificate is in Dask's settings
        scheduler, security, more_may_come = found
        client = distributed.Client(scheduler, timeout=CONNECT_S, set_as_default=False, security=security)
        stack.callback(lambda: client.close(timeout=CLOSE_S))
        workers = ClusterWorkers(client, scheduler, more_may_come)
        workers.require_first()
        _require_agreement(client, scheduler, engine)
        yield workers


class ClusterWorkers:
    """The present workers of a scheduler; workers may come and go."""

    def __init__(self, client: Client, scheduler: str, more_may_come: Callable[[], bool]) -> None:
        """Keep ``scheduler``, the name in messages, and ``more_may_come``, which returns whether workers may join."""
        self._client = client
        self._scheduler = scheduler
        self._more_may_come = more_may_come
        self._last_seen_s = time.monotonic()
        self._current: ClusterExecutor | None = None

    def slots(self) -> int:
        """Return the number of threads. Workers should have one thread each, because Python runs one at a time."""
        return self._threads() or 1

    @contextmanager
    def executor(self, runs: int) -> Iterator[Executor]:
        """Yield an executor on all workers."""
        self._current = ClusterExecutor(self._client, self._scheduler)
        try:
            yield self._current
        finally:
            self._current.shutdown()
            self._current = None

    def alone(self) -> AbstractContextManager[Executor]:
        """Return an executor on all workers: the scheduler reports which batch killed a worker."""
        return self.executor(1)

    def require_any(self) -> None:
        """Raise `InputError` if there has been no worker for a long time, or if no worker can join any more."""
        if self._require_worker_within(ANY_WORKER_S) and self._current:
            with _scheduler_errors(self._scheduler):
                self._current.ask_again_if_idle()

    def require_first(self) -> None:
        """Wait for a worker. Raises `InputError` if no worker comes."""
        while not self._require_worker_within(FIRST_WORKER_S):
            time.sleep(LOOK_AGAIN_S)

    def _require_worker_within(self, patience_s: float) -> bool:
        """Return whether a worker exists. Raises `InputError` after ``patience_s``, or if no worker can join."""
        if self._threads():
            return True
        if not self._more_may_come():
            remedy = "the same command again, which continues with the runs that are not finished"
            raise InputError("all workers of this cluster have died", place=self._scheduler, expected=remedy)
        if time.monotonic() - self._last_seen_s > patience_s:
            problem = f"this cluster has had no worker for {patience_s:.0f} s"
            expected = "a running `dask worker`; finished runs are kept"
            raise InputError(problem, place=self._scheduler, expected=expected)
        return False

    def _threads(self) -> int:
        with _scheduler_errors(self._scheduler):
            threads = sum(map(int, self._client.nthreads().values()))
        if threads:
            self._last_seen_s = time.monotonic()
        return threads


class ClusterExecutor(Executor):
    """Runs submitted calls on the cluster of ``client``, and raises the same exceptions as other executors."""

    def __init__(self, client: Client, scheduler: str) -> None:
        """Submit under unique keys (``pure``), so that equal batches are not merged."""
        self._client = client
        self._on_cluster = client.get_executor(pure=False)
        self._scheduler = scheduler
        self._waiting: dict[Future[Any], bytes] = {}  # the call that each future waits for
        self._was_idle = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn`` on a worker.

        The future raises `BrokenExecutor` after the death of several workers, and `InputError` if the scheduler is gone
        or a new worker has another numasim.
        """
        content = pickle.dumps((fn, args, kwargs))  # opaque to the scheduler, which need not unpickle batches
        answer: Future[Any] = Future()
        self._waiting[answer] = content
        self._ask(answer, content)
        return answer

    def ask_again_if_idle(self) -> None:
        """Submit all unanswered calls again if no worker has been busy at two checks in a row.

        If a worker dies while sending a result, the result may be lost, and be computed again before distributed has
        noticed the loss. distributed then waits for a message that has already come.
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
        if self._waiting.pop(answer, None) is None:  # the call was submitted twice and has an answer already
            return
        if ended.cancelled():
            answer.set_exception(_scheduler_lost(self._scheduler))
        elif error := ended.exception():
            answer.set_exception(translated(error, self._scheduler))
        else:
            answer.set_result(ended.result())


def run_agreed(expected: Installed, content: bytes) -> Any:
    """Call the pickled function with its arguments, on a worker that has the ``expected`` numasim.

    The workers that are present at the start are checked at the start. This function checks workers that join later.
    """
    if installed() != expected:
        raise OtherNumasimError(installed())
    fn, args, kwargs = pickle.loads(content)
    return fn(*args, **kwargs)


class OtherNumasimError(Exception):
    """A worker that joined during the sweep has another numasim."""


def translated(error: BaseException, scheduler: str) -> BaseException:
    """Return an error of the cluster itself as an exception of this package, and any other error unchanged."""
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
    """Raise `InputError` for a request that the scheduler does not answer."""
    try:
        yield
    except (OSError, RuntimeError, CancelledError) as error:
        raise _scheduler_lost(scheduler) from error


def _scheduler_lost(scheduler: str) -> InputError:
    expected = "a scheduler that runs as long as the sweep; run the same command again, finished runs are kept"
    return InputError("the scheduler has gone", place=scheduler, expected=expected)


def _require_agreement(client: Client, scheduler: str, engine: str) -> None:
    """Raise `InputError` unless the scheduler, which unpickles data, and all workers have this numasim."""
    try:
        answer: Any = client.run_on_scheduler(installed)
    except Exception as error:
        answer = error
    require_agreement({f"the scheduler {scheduler}": answer})
    with _scheduler_errors(scheduler):
        answers = client.run(installed, engine, on_error="return")
    require_agreement({f"the worker {place}": answer for place, answer in answers.items()})


# ---- A cluster on this machine ---------------------------------------------------------------------------------------


@contextmanager
def local_cluster(count: int) -> Iterator[tuple[str, Security, Callable[[], bool]]]:
    """Yield the address of a scheduler with ``count`` workers of one thread each, which may still be starting.

    With the address come the certificate for speaking with the scheduler, and a function that returns whether the
    process that restarts dead workers is alive. Raises `InputError` if certificates cannot be made.
    """
    import dask
    from distributed import LocalCluster, Security

    try:
        security = Security.temporary()
    except ImportError:
        problem = "a local cluster needs the package cryptography, which is not installed"
        raise InputError(problem, expected="pip install 'numasim[cluster]', or --jobs in place of --cluster") from None
    status_page = {"dashboard_address": f"{HOST}:0"}  # Dask always starts the page; the usual port may be in use
    with dask.config.set(SETTINGS):
        scheduler = LocalCluster(
            n_workers=0, host=HOST, dashboard_address=None, scheduler_kwargs=status_page, security=security
        )
    with scheduler, TemporaryDirectory(prefix="numasim-") as scratch:
        address: str = scheduler.scheduler_address
        workers = _start_workers(address, count, Path(scratch), security)
        try:
            yield address, security, lambda: workers.poll() is None
        finally:
            with suppress(ProcessLookupError):  # the workers have died
                os.killpg(workers.pid, signal.SIGKILL)
            workers.wait()


def _start_workers(address: str, count: int, scratch: Path, security: Security) -> subprocess.Popen[bytes]:
    """Start the workers. The files of the certificate are in ``scratch``, a folder that only the user can open."""
    made = security.get_tls_config_for_role("worker")
    files = {f"tls-{name}": scratch / f"{name}.pem" for name in ("ca-file", "cert", "key")}
    for option, file in files.items():
        write_bytes(file, made[option.removeprefix("tls-").replace("-", "_")].encode())
    options = {
        **{option: str(file) for option, file in files.items()},
        "nworkers": str(count),
        "nthreads": "1",
        "memory-limit": "0",
        "death-timeout": str(LONELY_S),
        "local-directory": str(scratch),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "dask", "worker", address, "--no-dashboard"]
        + [f"--{name}={value}" for name, value in options.items()],
        env={**same_imports(), **variables(SETTINGS)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def variables(settings: Mapping[str, str | bool | list[str]]) -> dict[str, str]:
    """Return the environment variables from which a process of Dask takes ``settings``."""
    names = {name: f"DASK_{name.upper().replace('.', '__').replace('-', '_')}" for name in settings}
    return {names[name]: str(value) for name, value in settings.items()}
