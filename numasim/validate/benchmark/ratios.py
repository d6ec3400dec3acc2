"""Ratios of the native engine's rates that are measured in pairs. Each has its goal, which is printed beside it.

The bare loop (``numasim-runtime bare``) simulates stealing event by event with nothing to choose: what an engine gives
for its generality is its rate of events to that.
"""

from __future__ import annotations

import json
import subprocess
from functools import partial

import numpy as np

from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.objects.graph_object import Graph
from numasim.plan.plan import Plan
from numasim.runtime.runtime_program import PROGRAM
from numasim.validate.benchmark.benchmark_findings import CALM, SATURATED, Ratio
from numasim.validate.benchmark.effort import (
    ALL,
    FOUR_SOCKETS,
    FOUR_SOCKETS_THREADS,
    MACHINE,
    MACHINE_THREADS,
    NATIVE,
    PLAIN,
    SEED,
    Effort,
    Parameters,
    independent_tasks,
    plan_of,
)
from numasim.validate.benchmark.sampling import Probe, pair_probe
from numasim.validate.benchmark.simulation_rates import effect_plan, repeated_rate

FEW, MANY = MACHINE_THREADS, 1024  # workers
FEW_NODES = 2  # of `MACHINE`, for the bare loop
OF_BARE, OF_FEW = 0.5, 0.5
CALM_OF_NONE, SATURATED_OF_CALM, SOCKETS_OF_FEW = 0.8, 0.55, 0.55
SMT_AND_CLOCK_OF_NONE = 2.0
SKIPPING_OF_EAGER = 1.0  # of the times of unlike items
MOST_ROW_BYTES = 32_768  # of an item on a node
SMT_AND_CLOCK: Parameters = {"cache": "none", "contention": "none"}


def ratio_probes(effort: Effort) -> list[Probe[Ratio]]:
    """A probe for every ratio. Without the native engine there is none, without the runtime none to the bare loop."""
    if NATIVE not in ENGINES:
        return []
    return [*_stealing(effort), *_effects(effort), *_matmul(effort), _unlike_items(effort)]


def events_per_second(plan: Plan) -> float:
    """The native engine's rate of events."""
    result = repeated(plan)
    return float(result.row()["events"] / result.engine_s)


def repeated(plan: Plan) -> Result:
    """A run that finds the arrays of ``plan`` prepared: the other side of a pair may have taken their place."""
    simulate(plan, SEED, NATIVE)
    return simulate(plan, SEED, NATIVE)


def bare_events_per_second(workload: str, size: int, workers: int, nodes: int) -> float:
    """The bare loop's rate of events."""
    command = [str(PROGRAM), "bare", workload, str(size), str(workers), str(nodes)]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return float(found["events"] / (found["took_ps"] * 1e-12))


def _stealing(effort: Effort) -> list[Probe[Ratio]]:
    workloads = {
        "independent": (independent_tasks(effort.ratio_tasks), effort.ratio_tasks),
        "fib": ({"name": "fib", "n": effort.ratio_fib}, effort.ratio_fib),
    }
    probes = []
    for name, (workload, size) in workloads.items():
        few, many = (partial(events_per_second, plan_of(workload, team, "bare", "off")) for team in (FEW, MANY))
        if PROGRAM.exists():
            bare = partial(bare_events_per_second, name, size, FEW, FEW_NODES)
            title = f"{name}, event by event, {FEW} workers: to the bare loop"
            probes.append(pair_probe(title, "at least", OF_BARE, "events/s", (few, bare)))
        title = f"{name}, event by event, {MANY} workers: to {FEW}"
        probes.append(pair_probe(title, "at least", OF_FEW, "events/s", (many, few)))
    return probes


def _effects(effort: Effort) -> list[Probe[Ratio]]:
    few, many = (MACHINE, MACHINE_THREADS), (FOUR_SOCKETS, FOUR_SOCKETS_THREADS)
    none = partial(repeated_rate, effect_plan(effort, *few, CALM, PLAIN))
    calm = partial(repeated_rate, effect_plan(effort, *few, CALM, ALL))
    saturated = partial(repeated_rate, effect_plan(effort, *few, SATURATED, ALL))
    sockets = partial(repeated_rate, effect_plan(effort, *many, SATURATED, ALL))
    pairs = (
        ("all effects, calm: to effects off", CALM_OF_NONE, (calm, none)),
        ("all effects, saturated: to calm", SATURATED_OF_CALM, (saturated, calm)),
        (f"all effects, saturated, {many[1]} workers: to {FEW}", SOCKETS_OF_FEW, (sockets, saturated)),
    )
    return [pair_probe(title, "at least", bound, "tasks/s", sides) for title, bound, sides in pairs]


def _matmul(effort: Effort) -> list[Probe[Ratio]]:
    def engine_s(plan: Plan) -> float:
        return simulate(plan, SEED, NATIVE).engine_s

    workload = {"name": "matmul", "n": effort.ratio_matmul}
    probes = []
    for skip, how, most in (("auto", "skipping where it can", None), ("off", "event by event", 1)):
        on, off = (partial(engine_s, plan_of(workload, FEW, "bare", skip, model=m)) for m in (SMT_AND_CLOCK, PLAIN))
        title = f"matmul {effort.ratio_matmul}, SMT and clock at their defaults: to effects off, {how}"
        probes.append(pair_probe(title, "at most", SMT_AND_CLOCK_OF_NONE, "s", (on, off), most))
    return probes


def _unlike_items(effort: Effort) -> Probe[Ratio]:
    """A range like the reduction of a matrix by rows, of which every node has other bytes."""
    rows, nodes = effort.ratio_rows, 4
    sizes = np.random.default_rng(SEED).integers(0, MOST_ROW_BYTES, (nodes, rows))
    graph = Graph("rows", deal="cyclic")
    graph.range(rows, 1 + sizes.sum(axis=0) // 64, reads=dict(enumerate(sizes)), pattern="random")
    where = {"machine": FOUR_SOCKETS, "model": ALL}
    plans = [plan_of(graph, FOUR_SOCKETS_THREADS, "bare", skip, **where) for skip in ("auto", "off")]
    skipping, eager = (partial(lambda plan: repeated(plan).engine_s, plan) for plan in plans)
    title = f"{rows:,} items of unlike bytes, all effects, {FOUR_SOCKETS_THREADS} workers: skipping to event by event"
    return pair_probe(title, "at most", SKIPPING_OF_EAGER, "s", (skipping, eager))
