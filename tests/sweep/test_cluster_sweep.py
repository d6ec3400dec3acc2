"""Sweeps on a Dask cluster of real processes on loopback, some of which are killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_killed_sweep import alive, children_of, shards
from test_run_sweep import same_tables
from toy_sweep import (
    REPEAT,
    WAIT_S,
    be_patient,
    die_at_two_workers,
    interrupt_at_three_workers,
    refuse,
    run_toy,
    stall_once_at_three_workers,
    stalled,
    sweep_toy,
    toy_sweep,
    wait_until,
)

from numasim import cli
from numasim.errors import InputError
from numasim.sweep import dask_cluster as cluster
from numasim.sweep.batch import DIED
from numasim.sweep.dask_cluster import SETTINGS, variables
from numasim.sweep.run_sweep import SweepOutcome
from numasim.sweep.store.results_tables import RESULTS

if TYPE_CHECKING:
    from distributed import Security

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class DaskCluster:
    """A cluster with files in ``scratch``. Each process leads a session, so that a kill reaches the children, too."""

    def __init__(self, scratch: Path, allowed_failures: int) -> None:
        self.scratch = scratch
        self.allowed_failures = allowed_failures
        self.processes: list[subprocess.Popen[bytes]] = []
        self.file = scratch / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host=127.0.0.1", "--port=0", "--dashboard-address=:0", f"--scheduler-file={self.file}"
        )
        wait_until(self._is_up)
        self.address = self._read_address()

    def _is_up(self) -> bool:
        assert self.scheduler.poll() is None, "the scheduler has ended"
        try:
            return bool(self._read_address())
        except (OSError, ValueError):
            return False

    def _read_address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def add_workers(self, count: int, paths: Sequence[Path] = (HERE, ROOT)) -> None:
        """Start worker processes of one thread each; dead workers are not restarted."""
        for _ in range(count):
            self._start("worker", self.address, "--no-nanny", "--nthreads=1", paths=paths)

    def _start(self, kind: str, *options: str, paths: Sequence[Path] = (HERE, ROOT)) -> subprocess.Popen[bytes]:
        here = ["--no-dashboard"] + ([f"--local-directory={self.scratch}"] if kind == "worker" else [])
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", kind, *here, *options],
            env={
                **os.environ,
                **variables(SETTINGS),
                "PYTHONPATH": os.pathsep.join(map(str, paths)),
                "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(self.allowed_failures),
                "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": f"{WAIT_S}s",
            },
            cwd=self.scratch,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(WAIT_S)


@contextmanager
def dask_cluster(scratch: Path, workers: int, allowed_failures: int = 3) -> Iterator[DaskCluster]:
    cluster = DaskCluster(scratch, allowed_failures)
    cluster.add_workers(workers)
    try:
        yield cluster
    finally:
        cluster.close()


Start = Callable[..., subprocess.Popen[str]]


def sweep_on(address: str, directory: Path, runner: object = run_toy, repeat: int = REPEAT, **options: object):  # type: ignore[no-untyped-def]
    return sweep_toy(toy_sweep(repeat=repeat), directory, runner, None, cluster=address, **options)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch.setattr)


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as started:
        yield started


def test_the_bytes_are_those_of_a_local_sweep_and_what_has_ended_is_never_run_again(
    tmp_path: Path, two_workers: DaskCluster, undisturbed: Path
) -> None:
    outcome = sweep_on(two_workers.address, tmp_path)
    assert (outcome.executed, outcome.failures, outcome.complete) == (6 * REPEAT, {}, True)
    assert same_tables(tmp_path, undisturbed)
    assert sweep_on(two_workers.address, tmp_path, refuse).executed == 0


def test_a_worker_that_is_killed_in_the_middle_of_a_run_loses_nothing(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, undisturbed: Path
) -> None:
    results = tmp_path / "results"
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as started, ThreadPoolExecutor(1) as thread:
        sweep = thread.submit(sweep_on, started.address, results, stall_once_at_three_workers)
        wait_until(lambda: stalled(started.scratch) or sweep.done())
        (worker,) = stalled(started.scratch)
        os.kill(worker, signal.SIGKILL)
        outcome: SweepOutcome = sweep.result(WAIT_S)
    assert (outcome.executed, outcome.failures) == (6 * REPEAT, {})
    assert same_tables(results, undisturbed)


def test_a_run_that_kills_its_workers_is_recorded_and_the_others_are_done(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sweep = toy_sweep(strategies=("a",), repeat=1)
    # Each death of a worker loses a batch; the deadly run causes two deaths, in its batch and alone.
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=3, allowed_failures=0) as started:
        outcome = sweep_toy(sweep, tmp_path, die_at_two_workers, None, cluster=started.address)
    assert outcome.complete
    rows = pq.read_table(tmp_path / RESULTS).to_pylist()
    assert [row["error"] for row in rows] == [None, DIED, None]


def test_a_scheduler_that_goes_is_one_sentence_and_the_sweep_goes_on_locally(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, undisturbed: Path
) -> None:
    results = tmp_path / "results"
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=1) as started, ThreadPoolExecutor(1) as thread:
        sweep = thread.submit(sweep_on, started.address, results, stall_once_at_three_workers)
        wait_until(lambda: stalled(started.scratch) or sweep.done())
        started.scheduler.kill()
        with pytest.raises(InputError, match=r"the scheduler has gone; expected .* run the same command again"):
            sweep.result(WAIT_S)
    assert 0 < sweep_toy(toy_sweep(repeat=REPEAT), results).executed < 6 * REPEAT
    assert same_tables(results, undisturbed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cluster_of_this_machine_ends_with_its_sweep(
    tmp_path: Path, undisturbed: Path, start_sweep: Start, started_in: Path, number: int
) -> None:
    process = start_sweep(tmp_path, "local:1", "stall_at_three_workers", REPEAT)
    wait_until(lambda: shards(tmp_path) and stalled(started_in), process)
    (worker,) = children_of(process)
    os.killpg(process.pid, number)  # to the group, as a terminal does
    _, text = process.communicate(timeout=WAIT_S)
    assert process.returncode == -number
    assert text.count("Traceback") == (number == signal.SIGINT)
    (started_in / "released").touch()  # after the scheduler is gone, Dask lets a worker finish its run
    wait_until(lambda: not alive(worker))
    assert 0 < sweep_toy(toy_sweep(repeat=REPEAT), tmp_path).executed < 6 * REPEAT
    assert same_tables(tmp_path, undisturbed)


def test_an_interrupt_of_a_run_ends_the_sweep_and_keeps_what_had_ended(
    tmp_path: Path, two_workers: DaskCluster
) -> None:
    with pytest.raises(KeyboardInterrupt):
        sweep_on(two_workers.address, tmp_path, interrupt_at_three_workers)
    assert shards(tmp_path) > 0


# ---- refusals, all before anything is written ----


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch, patient: None) -> None:
    """Shorten the waits for an answer, because no process will answer."""
    monkeypatch.setattr(cluster, "ANSWER_S", 0.3)


def refused(address: str, directory: Path, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sweep_on(address, directory / "results")
    assert not (directory / "results").exists()


@pytest.mark.usefixtures("hasty")
def test_nobody_and_somebody_else_at_the_address(tmp_path: Path, two_workers: DaskCluster) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        refused(
            address, tmp_path, rf"tcp://{address}: no Dask scheduler .*\(Connection refused\); expected the address"
        )
        listener.listen()
        refused(address, tmp_path, r"no Dask scheduler answers within .*\(silence\)")


def test_a_worker_is_no_scheduler(tmp_path: Path, two_workers: DaskCluster) -> None:
    with cluster.cluster_workers(two_workers.address, "reference") as workers:
        (worker, *_) = workers._client.nthreads()
    refused(worker, tmp_path, f"{worker}: a Dask worker answers, not a scheduler; expected the address that")


def test_a_cluster_without_workers(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "FIRST_WORKER_S", 0.2)
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=0) as started:
        refused(started.address, tmp_path, "has had no worker for 0 s; expected a running `dask worker`")


def test_another_model_version(tmp_path: Path, two_workers: DaskCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "MODEL_VERSION", cluster.MODEL_VERSION + 1)
    refused(two_workers.address, tmp_path, r"numasim \S+ \(model version \d+\) is installed there; expected numasim")


def test_a_worker_without_numasim(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path_factory.mktemp("empty")
    (empty / "numasim").mkdir()
    (empty / "numasim" / "__init__.py").touch()
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=0) as started:
        started.add_workers(1, paths=[empty])
        refused(
            started.address, tmp_path, r"worker tcp://\S+: numasim is missing there, or is another .*numasim\.sweep"
        )


def test_a_worker_that_lacks_the_engine_says_so() -> None:
    lacking = InputError("there is no engine 'native'", expected="one of reference")
    with pytest.raises(InputError, match="somewhere: there is no engine 'native'"):
        cluster.require_agreement({"elsewhere": cluster.installed(), "somewhere": lacking})


def test_a_worker_that_comes_later_with_another_numasim_does_no_batch() -> None:
    with pytest.raises(cluster.OtherNumasimError) as caught:
        cluster.run_agreed(("0.0", 0), b"")
    translated = cluster.translated(caught.value, "tcp://head:1")
    assert isinstance(translated, InputError)
    assert "a worker joined with numasim" in str(translated)


class Threads:
    """A client whose cluster has the number of threads in ``threads``."""

    threads = 1

    def nthreads(self) -> dict[str, int]:
        return {"tcp://worker:1": self.threads}


def test_a_cluster_that_lost_all_its_workers_is_given_up_a_while_after_the_last_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, now, may_come = Threads(), 0.0, True
    monkeypatch.setattr(cluster.time, "monotonic", lambda: now)
    workers = cluster.ClusterWorkers(client, "tcp://head:1", lambda: may_come)
    now = 1000.0
    assert workers.slots() == 1
    client.threads = 0
    monkeypatch.setattr(cluster, "ANY_WORKER_S", 120.0)
    now += cluster.ANY_WORKER_S
    workers.require_any()
    now += 1
    with pytest.raises(InputError, match=r"no worker for 120 s; .* finished runs are kept"):
        workers.require_any()
    client.threads = 1
    workers.require_any()
    client.threads, may_come = 0, False
    with pytest.raises(InputError, match=r"all workers of this cluster have died; expected the same command again"):
        workers.require_any()


class Forgetful(Threads):
    """A client that loses the first submission, and every submission while a worker is busy."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []
        self.busy: tuple[str, ...] = ()

    def get_executor(self, pure: bool) -> Forgetful:
        return self

    def submit(self, *_: object) -> Future[Any]:
        self.futures.append(Future())
        return self.futures[-1]

    def processing(self) -> dict[str, tuple[str, ...]]:
        return {"tcp://worker:1": self.busy}

    def shutdown(self, wait: bool) -> None:
        for future in self.futures:
            future.cancel()


def test_what_an_idle_cluster_does_not_answer_is_asked_for_again() -> None:
    client = Forgetful()
    workers = cluster.ClusterWorkers(client, "tcp://head:1", lambda: True)  # type: ignore[arg-type]
    with workers.executor(1) as executor:
        answer = executor.submit(abs, -1)
        client.busy = ("batch",)
        workers.require_any()
        workers.require_any()
        assert len(client.futures) == 1, "a worker is busy with it"
        client.busy = ()
        workers.require_any()
        assert len(client.futures) == 1, "news of it may be on its way"
        workers.require_any()
        assert len(client.futures) == 2
        client.futures[1].set_result(1)
        client.futures[0].set_result(2)
        assert answer.result() == 1, "the first of several answers counts"
        workers.require_any()
        workers.require_any()
        assert len(client.futures) == 2, "nothing is waited for"


def test_a_local_cluster_whose_workers_are_all_killed_is_given_up(tmp_path: Path) -> None:
    results, limits = tmp_path / "out", {"sweep": "{workers: [2, 3]}", "repeat": 100_000}
    fields = {"machine": "xeon-e5-2620-2s", "workload": "{name: fib, n: 8}", "strategy": "ring", **limits}
    (tmp_path / "sweep.yaml").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
    command = [sys.executable, "-m", "numasim", "sweep", "sweep.yaml", "--cluster", "local:1", "-o", "out"]
    process = subprocess.Popen(
        [*command, "--engine", "reference"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: shards(results) > 0, process)
    for number in everyone_below(process.pid):
        os.kill(number, signal.SIGKILL)
    _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == cli.BAD_INPUT
    assert "all workers of this cluster have died; expected the same command again" in said.splitlines()[-1]


def test_a_local_cluster_refuses_strangers_and_its_processes_do_not_watch_themselves() -> None:
    """A stranger with a connection to the scheduler or a worker could execute code as the user.

    Plain connections and connections with another certificate are refused at every open port, and only the user can
    read the certificate.
    """
    from distributed import Client, Security

    with (
        cluster.local_cluster(1) as (address, security, _),
        Client(address, set_as_default=False, security=security) as client,
    ):
        client.wait_for_workers(1, timeout=WAIT_S)
        assert list(client.run(settings, list(cluster.SETTINGS)).values()) == [cluster.SETTINGS]
        assert client.run_on_scheduler(ticks_apart) == 1000
        ((worker, about),) = client.scheduler_info()["workers"].items()
        for port in (address, worker, about["nanny"]):
            assert port.startswith("tls://")
            assert identity_of(port, security)
            plain = (port.replace("tls://", "tcp://"), Security())
            for stranger in (plain, (port, Security.temporary())):
                with pytest.raises(OSError, match=r"Timed out|closed|does not match"):
                    identity_of(*stranger)
        (folder,) = client.run(lambda dask_worker: dask_worker.local_directory).values()
        (key,) = [file for above in Path(folder).parents for file in above.glob("key.pem")]
        assert key.parent.stat().st_mode & 0o077 == 0


def identity_of(address: str, security: Security) -> object:
    """Return the identity of a process of Dask. Raises OSError if the process refuses the connection."""

    from distributed.comm import connect

    async def ask() -> object:
        comm = await connect(address, timeout=1, **security.get_connection_args("client"))
        try:
            await comm.write({"op": "identity", "reply": True})
            return await comm.read()
        finally:
            comm.abort()

    return asyncio.run(ask())


def settings(names: list[str]) -> dict[str, object]:
    import dask

    return {name: dask.config.get(name) for name in names}


def ticks_apart(dask_scheduler: Any) -> float:
    """Return the milliseconds between two ticks of the scheduler."""
    interval: float = dask_scheduler.periodic_callbacks["tick"].callback_time
    return interval


def everyone_below(number: int) -> list[int]:
    """Return the ids of all descendants of a process."""
    tasks = Path(f"/proc/{number}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return children + [each for child in children for each in everyone_below(child)]


def test_without_distributed_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused("local:1", tmp_path, r"a cluster needs the package distributed.*pip install 'numasim\[cluster\]'")


def test_the_commands_sweep_on_a_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text("machine: xeon-e5-2620-2s\nworkload: {name: fib, n: 5}\nstrategy: randomized\nworkers: 2\n")
    for where in (["--cluster", "local:1"], ["--jobs", "1"]):
        output = tmp_path / where[0]
        assert cli.main(["sweep", str(file), "-o", str(output), "--quiet", "--engine", "reference", *where]) == cli.OK
    assert same_tables(tmp_path / "--cluster", tmp_path / "--jobs")
    assert cli.main(["sweep", str(file), "--engine", "reference", "--cluster", "nowhere"]) == cli.BAD_INPUT
    assert "did you mean 'nowhere:8786'?" in capsys.readouterr().err


# ---- the address of a cluster ----


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("local:3", 3),
        ("head:8786", "tcp://head:8786"),
        ("tls://10.0.0.1:1", "tls://10.0.0.1:1"),
        ("[::1]:65535", "tcp://[::1]:65535"),
        ("tcp://[::1]:80", "tcp://[::1]:80"),
    ],
)
def test_the_address_is_read(text: str, address: int | str) -> None:
    assert cluster.parse_address(text) == address


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("local", "local:2"),
        ("local:", "local:2"),
        ("local:0", "local:2"),
        ("local:two", "local:2"),
        ("head-node", "head-node:8786"),
        ("tcp://head-node", "tcp://head-node:8786"),
        ("head-node:65536", "head-node:8786"),
        ("head-node:²", "head-node:8786"),
        ("tpc://head-node:8786", "tcp://head-node:8786"),
        ("tcp://:8786", "tcp://localhost:8786"),
        ("", None),
        (":5", None),
    ],
)
def test_other_texts_are_refused_with_the_nearest_address(text: str, nearest: str | None) -> None:
    with pytest.raises(InputError, match="expected the address of a Dask scheduler") as caught:
        cluster.parse_address(text)
    assert caught.value.nearest == nearest
    assert repr(text) in str(caught.value)


@given(st.text(max_size=20))
def test_every_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = cluster.parse_address(text)
    except InputError:
        return
    assert isinstance(address, int) or cluster.parse_address(address) == address
