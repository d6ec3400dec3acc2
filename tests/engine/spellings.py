"""Spellings: one program, written in every way with the same meaning. The runs of all spellings have to be equal.

A program is written as a loop over phases, by `repeat` of a phase, or as phases one after the other; with own or shared
tasks in each phase; as a range (many similar tasks, its items, without rows of their own) or as tasks. Spellings that
have another meaning by a rule of the model are not compared:

- A strategy that goes by iterations, with a controller or with levels for some of them, sees several iterations in a
  loop, but one in each phase that is written out (model 3.6).
- A strategy with tiers or labels treats the tasks of a graph differently; a range has no tasks (model 4.14).
- A producer makes the items of a range unless the runtime has none (A-1); roots are there when a phase begins.
- Memory that a range touches first is placed before the phase (2.2), and under caches and contention its items have
  prices of their own (1.8).
- Noise, random durations and transactions depend on the ids of tasks, which differ between spellings: none is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from engine_setup import NS, plan_of, runtime, shipped_runtime, shipped_strategy, toy_with
from task_graphs import WAIT, Access, Task, body, graph, table, task
from task_graphs import Run as Segment

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.result import COUNTS, TIME, Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.parts import catalog
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.plan.plan import Plan, Run
from numasim.runtime.controlled_run import run_plan
from numasim.runtime.runtime_program import KernelRun
from numasim.workload.amounts import Amounts
from numasim.workload.graph import Deal, Loop, Mode, Phase, RangeFamily, Region, Workload, compute_bounds

STRATEGIES = catalog.names("strategies")
Spellings = list[tuple[str, Workload]]
PIECE = 3000  # bytes from the memory of one task to the memory of the next task, so that tasks share pages
MEMORY = 64 * PIECE
CACHES = {"llc": "64KiB", "llc_scope": "socket", "llc_hit_ns": 20, "llc_remote_hit_ns": 60}


@dataclass(frozen=True)
class Part:
    """A phase of a program. The tasks of a ``plain`` phase have one segment each, as the items of a range have; other
    tasks are trees or wait for each other.
    """

    deal: Deal
    times_ns: tuple[int, ...]
    bytes: int  # of the memory that each task accesses; no two tasks access the same bytes
    writes: bool
    serial: bool
    shape: str  # plain, parents, bodies, chain

    @property
    def plain(self) -> bool:
        """Return whether a range can have tasks of this shape."""
        return self.shape == "plain"

    def access(self) -> tuple[Access, ...]:
        mode = Mode.READ_WRITE if self.writes else Mode.READ
        return (Access(0, 0, self.bytes, mode=mode),) if self.bytes else ()

    def roots(self, prefix: str) -> list[Task]:
        """Return the roots, named ``prefix`` and a number."""
        return [self._root(i, time * NS, prefix) for i, time in enumerate(self.times_ns)]

    def _root(self, i: int, ps: int, prefix: str) -> Task:
        mine = Segment(ps, tuple(access._replace(offset=i * PIECE) for access in self.access()))
        if self.shape == "parents":
            return task(mine, *[task(ps // 2 + 1) for _ in range(i % 3)], WAIT, 10, name=f"{prefix}{i}")
        if self.shape == "bodies":
            return replace(body(mine, *[task(ps) for _ in range(2)], WAIT), name=f"{prefix}{i}")
        after = (f"{prefix}{i - 3}",) if self.shape == "chain" and i >= 3 else ()
        return task(mine, name=f"{prefix}{i}", after=after)

    def family(self) -> RangeFamily:
        """Return the range of the same tasks."""
        compute = Amounts.of_items([time * NS for time in self.times_ns])
        low, high, drawn = compute_bounds(compute)
        accesses = table(list(self.access()))
        steps = np.full(len(accesses), PIECE, np.int64)
        return RangeFamily(
            name="items",
            count=len(self.times_ns),
            low_ps=low,
            high_ps=high,
            kernel=0,
            accesses=accesses,
            divisor=np.ones(len(accesses), np.int64),
            step_div=steps,
            step_mod=np.zeros(len(accesses), np.int64),
            compute=drawn,
        )


@dataclass(frozen=True)
class Program:
    """The phases of a program, which runs them in order ``passes`` times. With ``initialised`` the pages of the program
    have home nodes before the program begins.
    """

    parts: tuple[Part, ...]
    passes: int
    initialised: bool

    def groups(self, iterations: bool, tells_apart: bool, producers: bool, effects: Effects) -> Iterator[Spellings]:
        """Yield groups of spellings; the runs of one group have to be equal.

        ``iterations`` (the strategy goes by iterations) leaves out phases that are written out. ``tells_apart`` (the
        strategy has tiers or labels) and ``producers`` (the runtime has a producer) separate tasks from ranges.
        """
        tasks = [*self._ways("tasks", iterations)]
        if not all(part.plain for part in self.parts):
            yield tasks
            return
        ranges = [*self._ways("ranges", iterations)]
        moves = any(part.bytes for part in self.parts)
        priced = moves and (effects != NO_EFFECTS or not self.initialised)
        if tells_apart or producers or priced:
            yield tasks
            yield ranges
        else:
            yield [*tasks, *ranges, *(self._ways("both", iterations) if len(self.parts) > 1 else ())]

    def _ways(self, way: str, iterations: bool) -> Iterator[tuple[str, Workload]]:
        yield f"{way} in a loop", self._loop(way)
        if len(self.parts) == 1:
            yield f"{way} repeated", self._repeated(way)
        if not iterations:
            yield f"{way} written out", self._written_out(way, copied=False)
            yield f"{way} copied", self._written_out(way, copied=True)

    def _made(self, way: str, copies: int) -> tuple[Workload, list[Phase]]:
        """Return the tasks and ranges of ``copies`` passes, and their phases."""
        roots: list[Task] = []
        phases: list[Phase] = []
        families: list[RangeFamily] = []
        row = 0
        for at, part in chain.from_iterable(enumerate(self.parts) for _ in range(copies)):
            if way == "ranges" or (way == "both" and at % 2):
                phases.append(Phase(range_family=len(families), deal=part.deal, serial=part.serial))
                families.append(part.family())
                continue
            mine = part.roots(f"{len(phases)}.")
            sizes = [_rows(root) for root in mine]
            first = [row + sum(sizes[:i]) for i in range(len(mine))]
            row += sum(sizes)
            roots += mine
            phases.append(Phase(roots=tuple(first), deal=part.deal, serial=part.serial))
        work = graph(*roots, phases=(), regions=(Region("data", MEMORY, self.initialised),))
        return replace(work, ranges=tuple(families)), phases

    def _loop(self, way: str) -> Workload:
        work, phases = self._made(way, 1)
        return replace(work, phases=tuple(phases), loops=(Loop(0, len(phases), self.passes),))

    def _repeated(self, way: str) -> Workload:
        work, phases = self._made(way, 1)
        return replace(work, phases=(replace(phases[0], repeat=self.passes),))

    def _written_out(self, way: str, copied: bool) -> Workload:
        work, phases = self._made(way, self.passes if copied else 1)
        return replace(work, phases=tuple(phases if copied else phases * self.passes))


def _rows(root: Task) -> int:
    return 1 + sum(_rows(step) for step in root.steps if isinstance(step, Task))


@dataclass(frozen=True)
class Case:
    """A program, and the workers, the nodes, the runtime and the effects of its run."""

    program: Program
    workers: int
    nodes: int
    how: RuntimeSpec
    effects: Effects

    def plans(self, name: str) -> Iterator[list[tuple[str, Plan]]]:
        """Yield lists of (spelling, plan). Under the shipped strategy ``name`` all plans of a list mean the same."""
        strategy = shipped_strategy(name)
        machine = toy_with({"sockets": self.nodes, "cores": -(-self.workers // self.nodes)}, caches=CACHES)
        producers = self.how.producer != "none"
        for group in self.program.groups(
            goes_by_iterations(strategy), strategy.needs_every_task, producers, self.effects
        ):
            yield [
                (spelling, plan_of(work, self.workers, strategy, self.how, machine, effects=self.effects))
                for spelling, work in group
            ]

    def differences(self, strategy: str, program: Path | None = None) -> Iterator[str]:
        """Return a sentence for each spelling and each engine whose result differs from the first spelling's result. If
        ``program``, the task runtime, is given, also compare its runs in virtual time where it executes the spelling.
        """
        for group in self.plans(strategy):
            expected: dict[str, Any] = {}
            for spelling, plan in group:
                run = Run(plan, seed=1)
                for engine in (*ENGINES, *(["virtual time"] if program and is_for_the_runtime(plan) else ())):
                    found = end_of(run, engine, program)
                    expected = expected or found
                    other = [name for name, value in found.items() if expected.get(name) != value]
                    if other:
                        yield f"{strategy}: {spelling} on {engine}: {', '.join(other)} of {self}"


def is_for_the_runtime(plan: Plan) -> bool:
    """Return whether the task runtime on threads can execute the plan in virtual time."""
    return not plan.workload.ranges


def end_of(run: Run, engine: str, program: Path | None = None) -> dict[str, Any]:
    """Return the outcome of a run, also a deadlock."""
    try:
        if engine in ENGINES:
            return seen(simulate(run.plan, run.seed, engine))
        assert program is not None
        return seen_in_virtual_time(run_plan(run, program=program))
    except DeadlockError:
        return {"deadlock": True}
    except InputError as error:
        if "no worker can run them" not in str(error):
            raise
        return {"deadlock": True}


def goes_by_iterations(strategy: StrategySpec) -> bool:
    """Return whether a strategy has a controller, or levels or dispatch rules for some iterations only."""
    entries = [*strategy.steal, *(strategy.dispatch or ())]
    return strategy.tune is not None or any(entry.iterations is not None for entry in entries)


def seen(result: Result) -> dict[str, Any]:
    """Return the results of a run in which no id of a task occurs: these have to be equal for all spellings."""
    totals = {name: result.counters[name] for name in ("makespan_ps", "page_faults")}
    workers = {name: result.workers[name].tolist() for name in (*COUNTS, *TIME)}
    nodes = {name: getattr(result, name).tolist() for name in ("node_bytes", "node_attempts", "node_success")}
    return {**totals, **workers, **nodes}


def seen_in_virtual_time(run: KernelRun) -> dict[str, Any]:
    """Return the results that `seen` returns, of a run of the task runtime."""
    workers = {name: [*values] for name, values in run.worker.items() if name in (*COUNTS, *TIME)}
    nodes = {name: [[*row] for row in getattr(run, name)] for name in ("node_bytes", "node_attempts", "node_success")}
    return {"makespan_ps": run.makespan_ps, "page_faults": run.page_faults, **workers, **nodes}


# ---- random cases --------------------------------------------------------------------------------------------------

COSTS = {"push_ns": 7, "pop_ns": 10, "probe_ns": 20, "probe_remote_ns": 50, "take_ns": 30, "fault_ns": 70, "line": True}
RUNTIMES = (
    shipped_runtime("bare"),
    shipped_runtime("phoenix"),
    runtime(costs=COSTS, join="help"),
    runtime(costs=COSTS, join="help", capacity=3, on_full="next"),
    runtime(costs=COSTS, join="help", capacity=2, on_full="inline"),
    shipped_runtime("ompi"),
    shipped_runtime("own"),
)


def random_case(chance: Random) -> Case:
    """Draw a small program of one or two phases, on up to eight workers of one or two nodes."""
    shapes = ("plain",) * 4 + ("parents", "bodies", "chain")
    parts = [random_part(chance, chance.choice(shapes)) for _ in range(chance.choice((1, 1, 2)))]
    effects = replace(NO_EFFECTS, contention=chance.choice(("none", "none", "none", "fluid")))
    program = Program(tuple(parts), passes=chance.randint(2, 3), initialised=chance.random() < 0.5)
    workers, nodes, how = chance.randint(1, 8), chance.choice((1, 2)), chance.choice(RUNTIMES)
    effects = replace(effects, cache=chance.choice(("none", "none", "share", "lru")))
    return Case(program, workers, nodes, how, effects)


def random_part(chance: Random, shape: str) -> Part:
    """Draw one phase, dealt to workers in any way; one phase in eight is serial."""
    count = chance.randint(1, 20)
    alike = chance.random() < 0.5
    usual = chance.choice((100, 777, 1000))
    return Part(
        deal=chance.choice(list(Deal)),
        times_ns=tuple(usual if alike else chance.randint(1, 2000) for _ in range(count)),
        bytes=chance.choice((0, 0, 640, PIECE)),
        writes=chance.random() < 0.5,
        serial=chance.random() < 0.125,
        shape=shape,
    )
