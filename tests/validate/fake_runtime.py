"""A fake task runtime, to test the verdicts of `numasim validate`: it returns the simulator's predictions, changed by a
rule. A cell is a program (a kernel of the runtime) under a strategy with a number of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from numasim.draws import repeat_seed
from numasim.engine.result import Result
from numasim.engine.simulate import simulate
from numasim.plan.plan import Plan
from numasim.runtime.runtime_program import KernelRun, Order
from numasim.schema.enumerations import SYNC_COUNTS
from numasim.spec.single_part import read_workload
from numasim.validate import cell_runs
from numasim.validate.part_files import Cell, Part, part_of
from numasim.workload.json_form.graph_io import write
from numasim.workload.registry import generate

COLUMNS = ("tasks", "steal_attempts", "steal_success", "steal_attempts_remote", "steal_success_remote", "overhead_ps")
TWIN_PS = 40_000
CELLS = 2 * 2 * 2  # kernels, strategies and numbers of workers of `PART`

_plan_of = cell_runs.plan_of  # the original function, before a fake replaces it

Change = Callable[[Order, KernelRun], KernelRun]

PART = """\
title: A part made up
mode: {mode}
costs: {costs}
machine: xeon-e5-2620-2s
runtime: ompi
kernels:
  - {{kernel: fib, set: {{n: 8}}, quick: {{n: 5}}}}
  - {{kernel: graph, set: {{n: 6}}}}
strategies: [randomized, topology-aware]
workers: [2, 6]
repeats: {repeats}
seed: 3
{bounds}
quick: {{strategies: [randomized], workers: [2], repeats: 1}}
"""
BOUNDS = """\
bounds:
  makespan: {within: 0.1, share: 0.8}
  miss_ratio: {within: 0.05}
  remote_share: {within: 0.03, share: 0.5}
"""


def part_file(folder: Path, mode: str = "virtual", costs: str = "measured", repeats: int = 2) -> str:
    """Write the specification of a part of a validation to this folder. Return its path."""
    path = folder / f"{costs}.yaml"
    bounds = BOUNDS if costs == "measured" else ""
    path.write_text(PART.format(mode=mode, costs=costs, repeats=repeats, bounds=bounds))
    return str(path)


def found(part: str, directory: Path) -> cell_runs.PartFindings:
    """Validate the part at this path in a directory, and return the findings."""
    (findings,) = cell_runs.validate_parts([part_of(part)], directory)
    return findings


@dataclass
class FakeRuntime:
    """Runs nothing: records a generated graph, and answers with predictions. ``orders`` has all received orders."""

    change: Change = lambda order, run: run
    orders: list[Order] = field(default_factory=list)
    plans: dict[int, Plan] = field(default_factory=dict)  # the last plan of each thread
    seeds: list[int] = field(default_factory=list)

    def plan_of(self, part: Part, cell: Cell, graph: Path) -> Plan:
        """Plan as the validation does, and store the plan."""
        plan = _plan_of(part, cell, graph)
        self.plans[threading.get_ident()] = plan
        return plan

    def simulate(self, plan: Plan, seed: int) -> Result:
        """Simulate as the validation does, and store the result."""
        self.seeds.append(seed)
        return simulate(plan, seed)

    def run_kernel(self, order: Order) -> tuple[KernelRun, ...]:
        """Answer an order."""
        self.orders.append(order)
        if order.mode == "serial":
            assert order.record is not None
            write(generate(read_workload(f"{{name: fib, n: {order.parameters['n']}}}")), order.record)
            work = {"work_local_ps": 1}
            return (KernelRun(order.kernel, {}, "serial", 1, 0, True, 1, work, serial_ps=TWIN_PS),)
        assert order.plan is not None
        assert order.plan.is_file()
        assert order.seed is not None
        each = range(order.repeat)
        seeds = [order.seed] if order.repeat == 1 else [repeat_seed(order.seed, repeat) for repeat in each]
        return tuple(self.change(order, self._run(order, seed)) for seed in seeds)

    def _run(self, order: Order, seed: int) -> KernelRun:
        plan = self.plans[threading.get_ident()]
        result, workers = simulate(plan, seed), order.workers or 0
        return KernelRun(
            kernel=order.kernel,
            parameters=order.parameters,
            mode=order.mode,
            workers=workers,
            seed=seed,
            correct=True,
            makespan_ps=result.counters["makespan_ps"],
            columns={name: result.counters[name] for name in COLUMNS},
            serial_ps=TWIN_PS,
            rehearsed_ps=int(plan.workload.segment_compute_ps.sum()) if order.rehearse else 0,
            trace_hash=result.counters["trace_hash"],
            worker={name: tuple(result.per_worker[name][:workers].tolist()) for name in COLUMNS},
            node=tuple(result.per_worker["node"][:workers].tolist()),
            node_attempts=tuple(map(tuple, result.node_attempts.tolist())),
            node_success=tuple(map(tuple, result.node_success.tolist())),
            node_bytes=tuple(map(tuple, result.node_bytes.tolist())),
            words=tuple(zip(*(result.sync_objects[name].tolist() for name in SYNC_COUNTS), strict=True)),
        )

    def install(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> FakeRuntime:
        """Replace the compiled runtime by this runtime."""
        program = folder / "numasim-runtime"
        program.write_text("a program")
        monkeypatch.setattr("numasim.runtime.runtime_program.PROGRAM", program)
        monkeypatch.setattr(cell_runs, "plan_of", self.plan_of)
        monkeypatch.setattr(cell_runs, "simulate", self.simulate)
        monkeypatch.setattr(cell_runs, "run_kernel", self.run_kernel)
        monkeypatch.setattr(cell_runs, "run_kernel_under", lambda _, order: self.run_kernel(order))
        return self


def slower(factor: float, kernel: str | None = None) -> Change:
    """Return a change that makes runs (of ``kernel``, or of all) take ``factor`` times the predicted time."""

    def change(order: Order, run: KernelRun) -> KernelRun:
        hit = kernel in (None, order.kernel)
        return replace(run, makespan_ps=round(run.makespan_ps * factor)) if hit else run

    return change
