"""Kernels, benchmarks of the C runtime, record task graphs. In virtual time, where the simulator's engine decides all
times, a kernel has the counts of the simulator for its graph, to the last picosecond.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from recorded_graphs import SMALL, recorded
from runtime_sources import STRATEGIES
from virtual_equality import counts_of, counts_of_run

from numasim.engine.result import TIME
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.runtime.controlled_run import run_kernel_under
from numasim.runtime.fields_file import write_plan
from numasim.runtime.runtime_program import Order, run_kernel
from numasim.spec.run_spec import resolve

WORKERS = (2, 6, 24, 64)
THIRD = 3
ALL = bool(os.environ.get("NUMASIM_TEST_ALL_CELLS"))  # every kernel under every strategy with every number of workers
MODELS = (
    {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"},
    {"cache": "lru", "contention": "fluid", "smt": "compute", "clock": "turbo"},  # workers are coupled
)


def plan_of_graph(graph: Path, strategy: str, workers: int, model: Mapping[str, str] = MODELS[0]) -> Plan:
    spec: dict[str, Any] = {"machine": "xeon-6130-4s", "workload": {"file": str(graph)}, "strategy": strategy}
    return build_plan(resolve({**spec, "runtime": "ompi", "workers": workers, "model": model}))


def cells(label: str) -> list[tuple[str, int]]:
    """Return pairs (strategy, workers) for a kernel: a third of the strategies, another third for the next kernel."""
    if ALL:
        return list(product(STRATEGIES, WORKERS))
    shift = list(SMALL).index(label)
    chosen = STRATEGIES[shift % THIRD :: THIRD]
    return [(strategy, WORKERS[(at + shift) % len(WORKERS)]) for at, strategy in enumerate(chosen)]


def test_a_file_has_a_seed_that_an_order_may_override(program: Path, tmp_path: Path) -> None:
    recorded(program, tmp_path, "fib", 4, n=12)
    plan, hashes = plan_of_graph(tmp_path / "fib.json", "randomized", 4), {}
    for written, asked in product((3, 2**64 - 1), (None, 0, 3)):
        write_plan(plan, written, tmp_path / "plan")
        order = Order("fib", {"n": 12}, "virtual", "model", 4, tmp_path / "plan", seed=asked)
        (run,) = run_kernel(order, program)
        hashes[written, asked] = run.trace_hash
    of_seed = {seed: simulate(plan, seed).counters["trace_hash"] for seed in (3, 2**64 - 1)}
    assert hashes == {(written, asked): of_seed[asked or written] for written, asked in hashes}
    assert of_seed[3] != of_seed[2**64 - 1]


def test_a_program_has_the_dependences_of_the_plans_graph(program: Path, tmp_path: Path) -> None:
    """A program is refused under a plan whose graph has the same tasks and ops, but no dependences."""
    parameters = {"tiles": 3, "dependences": 1}
    recorded(program, tmp_path, "cholesky", **parameters)
    path = tmp_path / "cholesky.json"
    path.write_text(re.sub(r',"then":\[[0-9,]*\]', "", path.read_text()))
    write_plan(plan_of_graph(path, "randomized", 2), 0, tmp_path / "plan")
    order = Order("cholesky", parameters, "virtual", workers=2, plan=tmp_path / "plan")
    with pytest.raises(InputError, match="task 2 waits for 1 others; in the plan's graph the task waits for 0"):
        run_kernel(order, program)


@pytest.mark.parametrize("label", SMALL)
def test_a_kernel_counts_what_the_simulator_counts(label: str, program: Path, tmp_path: Path) -> None:
    """In the coupled model, the workers influence each other by caches, bandwidth, hardware threads and clocks."""
    kernel, parameters = label.split(maxsplit=1)[0], SMALL[label]
    for workers in sorted({workers for _, workers in cells(label)}):
        folder = tmp_path / str(workers)  # the graph depends on the number of workers if a kernel has a part for each
        folder.mkdir()
        recorded(program, folder, kernel, workers, **parameters)
    for at, (strategy, workers) in enumerate(cells(label)):
        plan = plan_of_graph(tmp_path / str(workers) / f"{kernel}.json", strategy, workers, MODELS[at % 2])
        write_plan(plan, workers, tmp_path / "plan")
        order = Order(kernel, parameters, "virtual", "model", workers, tmp_path / "plan")
        (run,) = run_kernel_under(plan, order, program)
        assert counts_of_run(run) == counts_of(plan, simulate(plan, workers, "native")), (strategy, workers)


@pytest.mark.parametrize("model", MODELS, ids=["alone", "coupled"])
def test_segments_take_what_their_bodies_take(model: Mapping[str, str], program: Path, tmp_path: Path) -> None:
    """With measured costs, a segment takes the time of its body on this processor, not its declared time (here 0)."""
    recorded(program, tmp_path, "fft", 6, n=2**12)
    text = (tmp_path / "fft.json").read_text()
    declared, times = re.subn(r'"compute_ps":\d+', '"compute_ps":0', text)
    assert times > 0
    (tmp_path / "fft.json").write_text(declared)
    write_plan(plan_of_graph(tmp_path / "fft.json", "randomized", 6, model), 1, tmp_path / "plan")
    spent = {}
    for costs in ("model", "measured"):
        (run,) = run_kernel(Order("fft", {"n": 2**12}, "virtual", costs, 6, tmp_path / "plan"), program)
        assert run.correct
        times_of = [name for name in run.columns if name in TIME]
        assert sum(run.columns[name] for name in times_of) == 6 * run.makespan_ps
        spent[costs] = run.columns["work_local_ps"]
    assert spent["measured"] > spent["model"]
