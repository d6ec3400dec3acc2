"""Sweeps of short runs that share a graph: the cost of a run beside its simulation, and the gain of a second process,
on this machine and on a Dask cluster of two workers here.

Processes need time to start, and the last one to finish works alone. Throughput is therefore that of the middle of a
sweep, between the ends of the first and of the last tenth of its runs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numasim.engine.result import Result
from numasim.engine.simulate import DEFAULT_ENGINE, simulate_spec
from numasim.files.writer import write_text
from numasim.report.sweep_result import SweepResult
from numasim.spec.run_spec import RunSpec, resolve
from numasim.spec.sweep_spec import load_sweep
from numasim.sweep.batch import Runner
from numasim.sweep.run_sweep import run_sweep
from numasim.validate.benchmark.effort import SEED, Effort, spec_of
from numasim.validate.benchmark.sampling import Comparisons, Probe, Side, pair_probe

OF_ONE = 1.9  # times the throughput of one process
MOST_SAMPLES = 3  # of pairs
WORKERS = 4
SHORT_N, LONGEST_N = 5, 22  # of fib


def overhead_probe(effort: Effort) -> Probe[float]:
    """The probe of the overhead in milliseconds per run."""
    return Probe(lambda: (overhead_ms(effort.sweep_runs),), float)


def sweep_comparisons(effort: Effort) -> Comparisons:
    """The probes of the throughput of two processes, and of a cluster of two, to that of one; all of the same sweep."""
    rate = partial(_rate, _lasting(effort.sweep_run_s), effort.sweep_runs)
    sides: dict[str, Side] = {"two processes": partial(rate, jobs=2)}
    missing: tuple[str, ...] = ()
    lacking = [name for name in ("distributed", "cryptography") if not find_spec(name)]
    if not lacking:
        sides["a Dask cluster of two"] = partial(rate, cluster="local:2")
    else:
        missing = ("sweeps on a Dask cluster with those of one process: there is no package " + lacking[0],)
    one = partial(rate, jobs=1)
    name = f"sweep of {effort.sweep_runs:,} short runs, {{}}: to one process"
    probes = (
        pair_probe(name.format(title), "at least", OF_ONE, "runs/s", (side, one), MOST_SAMPLES)
        for title, side in sides.items()
    )
    return Comparisons(tuple(probes), missing)


def overhead_ms(runs: int) -> float:
    """The cost in milliseconds of a run in a sweep beside its simulation: reading, planning, storing, tabulating."""
    took_s, engine_s = _swept(_fib(SHORT_N), runs, simulate_spec, jobs=1)
    return 1000 * (took_s - sum(engine_s)) / runs


def ending(spec: RunSpec, seed: int, engine: str, check: bool) -> Result:
    """Do a run as every sweep does, but record the time of its end instead of the engine's duration."""
    result = simulate_spec(spec, seed, engine, check)
    result.engine_s = time.time()
    return result


def steady_rate(ends_s: Sequence[float]) -> float:
    """Runs per second between the ends of the first and the last tenth of the runs, which ended at ``ends_s``."""
    ends = sorted(ends_s)
    first, last = len(ends) // 10, len(ends) - 1 - len(ends) // 10
    return (last - first) / (ends[last] - ends[first])


def _rate(spec: dict[str, Any], runs: int, **where: Any) -> float:
    _, ends_s = _swept(spec, runs, ending, **where)
    return steady_rate(ends_s)


def _swept(spec: dict[str, Any], runs: int, runner: Runner, **where: Any) -> tuple[float, list[float]]:
    """Seconds that a sweep of ``runs`` repeats takes ``where`` `run_sweep` is told to run it, and the time of each run
    in its table.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "sweep.yaml"
        write_text(file, json.dumps({**spec, "repeat": runs}))
        start = time.perf_counter()
        results = Path(folder) / "results"
        outcome = run_sweep(load_sweep(file), results, engine=DEFAULT_ENGINE, runner=runner, progress=False, **where)
        took_s = time.perf_counter() - start
        return took_s, SweepResult(outcome.directory).timing()["engine_s"].tolist()


def _lasting(run_s: float) -> dict[str, Any]:
    """A specification of a run that takes at least ``run_s``, if there is one."""
    for n in range(SHORT_N, LONGEST_N + 1):
        spec = _fib(n)
        resolved = resolve(spec)
        simulate_spec(resolved, SEED, DEFAULT_ENGINE)  # builds the graph, which is reused
        start = time.perf_counter()
        simulate_spec(resolved, SEED + 1, DEFAULT_ENGINE)
        if time.perf_counter() - start >= run_s:
            break
    return spec


def _fib(n: int) -> dict[str, Any]:
    return spec_of({"name": "fib", "n": n}, WORKERS, "bare", "off")
