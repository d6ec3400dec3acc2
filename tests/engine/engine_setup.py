"""Plans of small machines and given workloads, and runs of these plans with all their outputs.

A stretch is a time in which a worker executes one task without a break. A watch gets rows over time from an engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.engine.check.invariants import violations
from numasim.engine.observe.trace_hash import Rank
from numasim.engine.result import Result
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, Log, simulate
from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.machine.topology import Machine
from numasim.parts.base import ppm, ps
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.build_plan import completed, costs_ps
from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.plan.plan import Plan, Run
from numasim.plan.tuning import tuning_of
from numasim.spec.run_spec import resolve
from numasim.strategy.compile_strategy import compile_strategy, effective_runtime
from numasim.strategy.control.task_control import compile_control
from numasim.strategy.dealing import deal_items
from numasim.strategy.helpers import helpers_of
from numasim.strategy.idle import compile_idle
from numasim.strategy.placement.compile_placement import placement_rules
from numasim.strategy.sync_places import place_words
from numasim.workload.graph import Workload
from numasim.workload.unfold import unfolded

NS = 1000
SEED = 1  # of runs whose seed is of no importance
Tasks = tuple[tuple[int, ...], ...]


def machine_spec(sockets: int = 1, cores: int = 4, threads: int = 1, nodes: int = 1) -> MachineSpec:
    """Return a machine with links between all nodes: 100 ns to memory of the own node, 200 ns to any other node's."""
    count = sockets * nodes
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    return MachineSpec.model_validate(
        {
            "name": "toy",
            "sockets": sockets,
            "nodes": {
                "per_socket": nodes,
                "cores": cores,
                "threads_per_core": threads,
                "memory": "1GiB",
                "imc_bandwidth_gbs": 10,
            },
            "caches": {},
            "local_latency_ns": 100,
            "hop_latency_ns": 100,
            "links": [{"between": pair, "bandwidth_gbs": 10} for pair in pairs],
            "coherence": {"same_core_ns": 5, "same_socket_ns": 20, "cross_socket_ns": 40},
            "clock": {"base_ghz": 2},
            "smt": {"busy_ppm": 1000000, "poll_ppm": 1000000},
        }
    )


@cache
def toy(sockets: int = 1, cores: int = 4, threads: int = 1, nodes: int = 1) -> Machine:
    return build(machine_spec(sockets, cores, threads, nodes))


def toy_with(shape: Mapping[str, int], **changes: Any) -> Machine:
    """Return a toy machine of the given shape with ``changes``; a mapping changes only the fields that it names."""
    usual = machine_spec(**shape).model_dump(by_alias=True, exclude_none=True)
    for field, value in changes.items():
        usual[field] = {**usual.get(field, {}), **value} if isinstance(value, Mapping) else value
    return build(MachineSpec.model_validate(usual))


@cache
def shipped_strategy(name: str) -> StrategySpec:
    return _resolved(strategy=name).strategy  # type: ignore[no-any-return]


@cache
def shipped_runtime(name: str) -> RuntimeSpec:
    return _resolved(runtime=name).runtime  # type: ignore[no-any-return]


@cache
def shipped_machine(name: str) -> Machine:
    return build(_resolved(machine=name).machine)


def _resolved(strategy: str = "randomized", runtime: str = "bare", machine: str = "xeon-e5-2620-2s") -> Any:
    one = {"name": "fib", "n": 1}
    return resolve({"machine": machine, "workload": one, "workers": 1, "strategy": strategy, "runtime": runtime})


def stealing(*levels: Mapping[str, Any], **keys: Any) -> StrategySpec:
    """Return a strategy with these steal levels; by default thieves steal from the other worker of lowest number."""
    given = levels or [{"from": "others", "pick": "in-order"}]
    return StrategySpec.model_validate({"name": "test", "steal": given, **keys})


FIRST = stealing()  # every thief probes worker 0 first; worker 0 probes worker 1


def runtime(**keys: Any) -> RuntimeSpec:
    """Return the runtime `bare` (probes take 100 or 300 ns, all else no time), changed by ``keys``."""
    return RuntimeSpec.model_validate({"name": "test", **keys})


def plan_of(
    work: Workload,
    workers: int = 2,
    strategy: StrategySpec | str = FIRST,
    how: RuntimeSpec | str = "bare",
    machine: Machine | None = None,
    skip: bool = True,
    effects: Effects = NO_EFFECTS,
) -> Plan:
    """Return a Plan made from its parts, as `numasim.plan.build_plan` makes it from a specification."""
    machine = machine or toy()
    strategy = shipped_strategy(strategy) if isinstance(strategy, str) else strategy
    work = unfolded(work) if strategy.needs_every_task else work
    given = shipped_runtime(how) if isinstance(how, str) else how
    places = map_workers(machine, workers, strategy.mapping)
    work = unfolded(work) if strategy.tune else work
    items = deal_items(strategy, work, machine, places)
    work = items.workload
    effective = effective_runtime(strategy, given)
    steal = compile_strategy(strategy, given, machine, places, task_ps=500 * NS)
    return completed(
        machine=machine,
        workers=places,
        workload=work,
        steal=steal,
        words=place_words(strategy, steal, machine, places, work.words),
        placement=placement_rules(strategy.whole_placement, machine, places, work),
        costs=costs_ps(effective.costs),
        join=effective.join,
        producer=effective.producer,
        release=effective.release,
        poll_ps=ps(effective.poll_ns),
        inline_resume_ppm=ppm(effective.resume),
        inline_above=effective.inline_above_tasks(places.workers),
        skip=skip,
        effects=effects,
        tuning=tuning_of(strategy, work, machine, places, caches=effects.cache != "none"),
        control=compile_control(strategy, work, machine, places, items.labels, items.nodes, items.segments),
        helpers=helpers_of(strategy, machine, places, work),
        idle=compile_idle(effective.idle, steal, effective.join),
    )


def seeded(plan: Plan, seed: int = SEED) -> Run:
    """Return a run of the plan with ``seed``."""
    return Run(plan, seed)


def event_by_event(plan: Plan) -> Plan:
    """Return the same plan; an engine has to simulate each of its events."""
    return replace(plan, skip=False)


@dataclass
class Seen:
    """A finished run: the result, the log of executed stretches (None if the engine has simulated some stretches
    without an event), and the records of all events as rows (t, rank, actor, a0, a1).
    """

    result: Result
    log: Log | None
    records: np.ndarray[Any, Any]

    def __getitem__(self, counter: str) -> Any:
        return self.result.counters[counter]

    def of_worker(self, counter: str) -> list[int]:
        return self.result.per_worker[counter].tolist()  # type: ignore[no-any-return]

    def of_rank(self, rank: Rank) -> Tasks:
        """Return (t, actor, a0, a1) of the records of one rank, in time order."""
        chosen = self.records[self.records[:, 1] == rank][:, [0, 2, 3, 4]]
        return tuple(sorted(tuple(int(word) for word in row) for row in chosen))

    @property
    def steals(self) -> Tasks:
        """Return (t, thief, queue, tasks) of every successful steal."""
        return self.of_rank(Rank.LOOK)

    @property
    def stretches(self) -> Tasks:
        """Return (worker, task, start, end) of everything that was executed, in order."""
        assert self.log is not None
        return tuple(sorted((each.worker, each.task, each.start_ps, each.end_ps) for each in self.log))

    @property
    def stretches_ns(self) -> tuple[tuple[float, ...], ...]:
        """Return the stretches with their times in nanoseconds."""
        return tuple((worker, task, start / NS, end / NS) for worker, task, start, end in self.stretches)

    def order(self, worker: int = 0) -> list[int]:
        """Return the tasks that ``worker`` executed, in order."""
        assert self.log is not None
        return [each.task for each in sorted(self.log, key=lambda each: each.start_ps) if each.worker == worker]


Rows = npt.NDArray[np.int64]  # [rows, COLUMNS] the rows that a watch gets


def observe(plan: Plan, seed: int = SEED, engine: str | None = None, *, logged: bool = True) -> Seen:
    """Run the plan on ``engine``, or on every engine if ``engine`` is None. All engines have to give the same results,
    or to refuse the plan with the same error.

    With ``logged`` engines log executed stretches; an engine then takes fewer shortcuts.
    """
    if engine is not None:
        batches: list[np.ndarray[Any, Any]] = []
        listener = (lambda records: batches.append(records.copy())) if logged else None
        result, log = ENGINES[engine](Run(plan, seed), logged, listener)
        return Seen(result, log, np.concatenate([np.zeros((0, 5), np.uint64), *batches]))
    return _the_same([_outcome(plan, seed, each) for each in ENGINES])


def in_both_modes(plan: Plan, seed: int = SEED) -> tuple[Seen, Seen]:
    """Run the plan logged, event by event, and unlogged with all shortcuts, on every engine; assert that all are equal.

    Return (the logged run, the run event by event).
    """
    unlogged = (_outcome(plan, seed, engine, logged=False) for engine in ENGINES)
    fast, slow, *_ = outcomes = [_outcome(plan, seed), _outcome(event_by_event(plan), seed), *unlogged]
    _the_same(outcomes)
    assert isinstance(fast, Seen)
    assert isinstance(slow, Seen)
    assert violations(Run(plan, seed), slow.result, slow.log) == []
    return fast, slow


def _the_same(outcomes: list[Seen | InputError]) -> Seen:
    """Assert that all outcomes are equal. Return the last outcome; raise the outcome if it is an error."""
    expected, *others = outcomes
    for other in others:
        if isinstance(expected, InputError) or isinstance(other, InputError):
            assert str(expected) == str(other)
        else:
            assert_agree(other, expected)
    if isinstance(outcomes[-1], InputError):
        raise outcomes[-1]
    return outcomes[-1]


def quickly(plan: Plan, seed: int = SEED) -> Seen:
    """Run on the fastest engine alone, for programs that are too large for the reference engine."""
    return observe(plan, seed, DEFAULT_ENGINE)


def _outcome(plan: Plan, seed: int, engine: str | None = None, *, logged: bool = True) -> Seen | InputError:
    try:
        return observe(plan, seed, engine, logged=logged)
    except InputError as refused:
        return refused


def simulated(plan: Plan, seed: int = SEED) -> Result:
    """Return the result of a run on every engine; the engines agree, break no invariant and beat no bound."""
    results = [simulate(plan, seed, engine, check=True) for engine in ENGINES]
    assert all(found(result) == found(results[0]) for result in results)
    return results[-1]


def found(result: Result) -> dict[str, Any]:
    """Return the results that are the same in every mode and on every engine: all results but the number of events, the
    hash of events and the mode.
    """
    skips = ("events", "event_hash", "mode")
    counters = {name: value for name, value in result.counters.items() if name not in skips}
    tables = {name: column.tolist() for name, column in result.per_worker.items()}
    pairs = {"bytes": result.node_bytes, "attempts": result.node_attempts, "success": result.node_success}
    pairs |= {"pages": result.node_pages, "conflicts": result.node_conflicts, **result.traffic}
    pairs |= {name: column for name, column in result.sync_objects.items() if name != "object"}
    return {"counters": counters, "workers": tables, "pairs": {name: pair.tolist() for name, pair in pairs.items()}}


def assert_agree(fast: Seen, slow: Seen) -> None:
    """Assert that a run with shortcuts (``fast``) and the same run event by event (``slow``) have the same result, and
    the same executed stretches if both logged every stretch.
    """
    assert found(fast.result) == found(slow.result)
    if None not in (fast["event_hash"], slow["event_hash"]):
        assert fast["event_hash"] == slow["event_hash"]
    if None not in (fast.log, slow.log) and "bulk" not in (
        fast["mode"],
        slow["mode"],
    ):  # shortcuts for ranges (mode bulk) exchange equal items and do not log all of them
        assert fast.stretches == slow.stretches


def run(work: Workload, workers: int = 2, *args: Any, seed: int = SEED, **keys: Any) -> Seen:
    """Run a workload event by event on the plan of `plan_of`, on every engine; a run with shortcuts has to agree."""
    return in_both_modes(plan_of(work, workers, *args, **keys), seed)[1]


def assert_skipping_changes_nothing(plan: Plan, seed: int = SEED) -> Result:
    """Return the result of a run that skips ahead. Assert that the same run event by event, and the run on the
    reference engine, which skips ahead too, have equal results.
    """
    assert plan.skipping
    skipped, eager = simulate(plan, seed), simulate(event_by_event(plan), seed)
    reference = simulate(plan, seed, "reference")
    assert skipped.counters["mode"] == reference.counters["mode"] == "skipping"
    assert skipped.counters["event_hash"] is None
    assert found(skipped) == found(eager) == found(reference)
    return skipped
