"""A sweep with runs that only do arithmetic, to test the store and the dispatch without an engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from numasim.draws import draw
from numasim.engine.result import COST, LOCKS, MEMORY, OUTCOME, RATIOS, STEALS, TEXT, TIME, TRANSACTIONS, Result
from numasim.errors import InputError
from numasim.parts.base import Model
from numasim.parts.models.runtime_model import RuntimeSpec

if TYPE_CHECKING:
    from numasim.spec.sweep_spec import SweepSpec
    from numasim.sweep.batch import Runner
    from numasim.sweep.run_sweep import SweepOutcome

NODES = 2
REPEAT = 12  # repeats of each cell in the sweeps that are killed
WAIT_S = 600  # time limit of a test; on a busy machine processes may take minutes to start
LONGEST_STALL_S = 3600  # time limit of a stall that no test ends


class Part(Model):
    name: str
    sources: ClassVar[dict[str, str]] = {}
    kind: int = 0  # runs differ in this field, since names do not count as contents
    tune: None = None  # no controller

    @property
    def contents_json(self) -> str:
        return str(self.kind)


class ToySpec(Model):
    machine: Part = Part(name="toy-machine")
    workload: Part = Part(name="toy-workload")
    strategy: Part = Part(name="toy-strategy")
    runtime: RuntimeSpec = RuntimeSpec(name="bare")
    model: Part = Part(name="none")
    workers: int
    seed: int
    repeat: int


def toy_sweep(
    workers: tuple[int, ...] = (1, 2, 3), strategies: tuple[str, ...] = ("a", "b"), repeat: int = 2, seed: int = 7
) -> SweepSpec:
    from numasim.spec.sweep_spec import (  # imported here, because worker processes do not need the module
        Cell,
        SweepSpec,
    )

    cells = [
        Cell(index, {"strategy": name, "workers": count}, toy_spec(count, name, seed=seed))  # type: ignore[arg-type]
        for index, (name, count) in enumerate(product(strategies, workers))
    ]
    text = f"seed: {seed}  # {workers} {strategies} {repeat}\n"
    return SweepSpec(("strategy", "workers"), tuple(cells), seed, repeat, {"seed": seed}, text)


def toy_spec(workers: int, strategy: str = "a", seed: int = 7) -> ToySpec:
    return ToySpec(workers=workers, strategy=Part(name=strategy, kind=sum(strategy.encode())), seed=seed, repeat=1)


def counter_value(seed: int, name: str, workers: int) -> int:
    """Return the value that `run_toy` gives to a counter."""
    return draw(seed, len(name) + 100 * workers) >> 2


def run_toy(spec: ToySpec, seed: int, engine: str, check: bool) -> Result:
    names = (*OUTCOME, *STEALS, *MEMORY, *LOCKS, *TRANSACTIONS, *TIME, *COST)
    counters: dict[str, Any] = {name: counter_value(seed, name, spec.workers) for name in names if name not in RATIOS}
    counters |= {name: name for name in names if name in TEXT}
    counters |= {"trace_hash": f"{seed:016x}", "event_hash": None, "imc_busy_max": 0.5, "link_busy_max": 0.25}
    counters |= {"steal_attempts": 0}
    worker = np.arange(spec.workers)
    return Result(
        counters=counters,
        per_worker={"node": worker % NODES, "work_local_ps": worker * 1000 + seed % 1000},
        node_bytes=np.arange(NODES * NODES).reshape(NODES, NODES) + spec.workers,
        node_attempts=np.full((NODES, NODES), seed % 97),
        node_success=np.full((NODES, NODES), seed % 89),
        node_pages=np.full(NODES, seed % 83),
        node_conflicts=np.full((NODES, NODES), seed % 79),
        object_conflicts=np.zeros(0, np.int64),
        engine_s=time.perf_counter() % 1,  # differs between runs, as a measured time does
    )


def stall() -> None:
    """Wait to be killed, or for a file ``released``, and leave the id of this process in a file.

    Both files are in the folder in which the process was started.
    """
    mark = Path(f"{os.getpid()}.stalls")
    mark.with_suffix(".part").write_text(str(os.getpid()))
    mark.with_suffix(".part").rename(mark)
    for _ in range(LONGEST_STALL_S * 50):
        if Path("released").exists():
            return
        time.sleep(0.02)


def stalled(directory: Path) -> list[int]:
    """Return the ids of the processes in ``directory`` that stall, or stalled until a kill."""
    return [int(mark.read_text()) for mark in directory.glob("*.stalls")]


def stall_once() -> None:
    """Stall in the first process that calls this function."""
    with suppress(FileExistsError):
        Path("taken").touch(exist_ok=False)
        stall()


def fail() -> None:
    raise InputError("two is too many", path=("workers",))


def divide_by_zero() -> None:
    _ = 1 // 0


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    raise KeyboardInterrupt


def acting(act: Callable[[], None], workers: int, spec: ToySpec, seed: int, engine: str, check: bool) -> Result:
    """Do ``act`` in a run with ``workers`` workers; in other runs, and afterwards, run as `run_toy` does."""
    if spec.workers == workers:
        act()
    return run_toy(spec, seed, engine, check)


stall_at_two_workers = partial(acting, stall, 2)
stall_at_three_workers = partial(acting, stall, 3)
stall_once_at_three_workers = partial(acting, stall_once, 3)
fail_at_two_workers = partial(acting, fail, 2)
divide_by_zero_at_two_workers = partial(acting, divide_by_zero, 2)
die_at_two_workers = partial(acting, die, 2)
interrupt_at_three_workers = partial(acting, interrupt, 3)


def stall_at_strategy_b(spec: ToySpec, seed: int, engine: str, check: bool) -> Result:
    if spec.strategy.name == "b":
        stall()
    return run_toy(spec, seed, engine, check)


def refuse(spec: ToySpec, seed: int, engine: str, check: bool) -> Result:
    raise AssertionError("this run had ended already")


def sweep_toy(
    sweep: SweepSpec, directory: Any, runner: Runner = run_toy, jobs: int | None = 1, **options: Any
) -> SweepOutcome:
    from numasim.sweep.run_sweep import run_sweep  # imported here, because worker processes do not need the module

    return run_sweep(sweep, directory, jobs=jobs, engine="reference", runner=runner, progress=False, **options)


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until ``condition`` holds; fail if ``process`` ends before."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        assert process is None or process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.01)


def be_patient(change: Callable[[ModuleType, str, float], None] = setattr) -> None:
    """Raise all time limits of numasim and of Dask in this process, so that no limit ends while a test waits."""
    import dask

    from numasim.sweep import dask_cluster

    dask.config.set({"distributed.comm.timeouts.connect": f"{WAIT_S}s"})
    for name in ("REQUEST_S", "ANSWER_S", "CONNECT_S", "FIRST_WORKER_S", "ANY_WORKER_S", "CLOSE_S", "LONELY_S"):
        change(dask_cluster, name, WAIT_S)


def main(directory: str, workers: str, runner: str, repeat: str) -> None:
    """Sweep in this process; ``workers`` is a number of jobs, or the address of a cluster."""
    be_patient()
    chosen: Callable[..., Result] = globals()[runner]
    where: dict[str, Any] = {"jobs": int(workers)} if workers.isdigit() else {"jobs": None, "cluster": workers}
    try:
        sweep_toy(toy_sweep(repeat=int(repeat)), directory, chosen, **where)
    except InputError as error:
        sys.exit(f"{error}")
