"""From a run specification to a Plan: every part is built or compiled for the machine and the number of workers.

Runs whose specifications differ in seeds and repeats alone share their plan. Plans share the parts that have equal
contents: machines, workloads, the places of workers, the homes of pages, and recorded workloads at the rate of a
machine's cores. Shared parts are the same objects, so that tables that follow from them alone, such as the times of
segments (`numasim.plan.segment_times`), are computed once, too.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, TypeVar

from numasim.machine.build_machine import build as build_machine
from numasim.machine.mapping import map_workers
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.base import Model, ppm, ps
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.placement_model import PlacementSpec
from numasim.parts.models.runtime_model import CostSpec
from numasim.plan.address_space import check_pages
from numasim.plan.coupling import coupled
from numasim.plan.effects import effects_of
from numasim.plan.node_bytes import check_nodes
from numasim.plan.plan import Costs, Keyed, Plan
from numasim.plan.skippable import skippable
from numasim.plan.tuning import tuning_of
from numasim.spec.check_parts import check_built
from numasim.spec.run_spec import RunSpec, workload_json
from numasim.strategy.compile_strategy import compile_strategy, effective_runtime
from numasim.strategy.control.task_control import compile_control
from numasim.strategy.dealing import deal_items
from numasim.strategy.helpers import helpers_of
from numasim.strategy.idle import compile_idle
from numasim.strategy.placement.compile_placement import PlacementRules, placement_rules
from numasim.strategy.sync_places import place_words
from numasim.workload.graph import Kind, Workload
from numasim.workload.one_worker import draws_durations, mean_task_ps
from numasim.workload.parameters import AnyWorkload, ColumnParameters, TeamParameters, WorkloadParameters
from numasim.workload.recording.core_rates import at_rate
from numasim.workload.registry import generate
from numasim.workload.unfold import unfolded

DERIVED = ("coupled", "skippable")
ModelT = TypeVar("ModelT", bound=Model)


@lru_cache(maxsize=2)
def build_plan(spec: RunSpec) -> Plan:
    """Return the Plan of ``spec``, which all its runs share. Raises InputError if parts of ``spec`` do not fit."""
    parameters = spec.workload
    if isinstance(parameters, TeamParameters):
        parameters = parameters.for_team(spec.workers)
    if isinstance(parameters, ColumnParameters):
        places = _places(_machine(_keyed(spec.machine)), spec.workers, spec.strategy.mapping)
        parameters = parameters.on_nodes(places.node.tolist())
    rest = (str(spec.workers), *(part.whole_json for part in (spec.strategy, spec.runtime, spec.model)))
    return _plan(_keyed(spec.machine), Keyed(workload_json(parameters), parameters), Keyed("\n".join(rest), spec))


def built_workload(parameters: AnyWorkload) -> Workload:
    """Return the workload of ``parameters``, if possible folded (equal subtrees once), as plans share it."""
    return _workload(Keyed(workload_json(parameters), parameters))


@lru_cache(maxsize=2)
def _plan(of_machine: Keyed[MachineSpec], program: Keyed[AnyWorkload], rest: Keyed[RunSpec]) -> Plan:
    """Return the Plan for a machine and a program; the seed and the repeats of ``rest`` do not count."""
    machine, parameters, spec = _machine(of_machine), program.value, rest.value
    workload = at_rate(_workload(program), machine.core_steps_per_s)
    numbers_some = spec.strategy.numbers_tasks and bool((workload.kind != Kind.TASK).any())
    if spec.strategy.needs_every_task or numbers_some:
        workload = unfolded(workload)
    size_is_told = isinstance(parameters, WorkloadParameters) and (
        workload.folded or parameters.totals().rows >= workload.rows
    )
    if not size_is_told:
        check_built(workload, machine, max(1, ppm(spec.model.mlp)))
    check_nodes(workload, machine)
    workers = _places(machine, spec.workers, spec.strategy.mapping)
    runtime = effective_runtime(spec.strategy, spec.runtime)
    known = runtime.backoff.first_ns == "task" and not draws_durations(workload)  # else each run draws durations
    task_ps = mean_task_ps(workload, int(machine.latency_ps.diagonal()[workers.node[0]])) if known else None
    items = deal_items(spec.strategy, workload, machine, workers)
    workload = items.workload
    steal = compile_strategy(spec.strategy, spec.runtime, machine, workers, task_ps)
    plan = completed(
        machine=machine,
        workers=workers,
        workload=workload,
        steal=steal,
        words=place_words(spec.strategy, steal, machine, workers, workload.words),
        placement=_placement(_keyed(spec.strategy.whole_placement), machine, workers, workload),
        costs=costs_ps(runtime.costs),
        join=runtime.join,
        producer=runtime.producer,
        release=runtime.release,
        poll_ps=ps(runtime.poll_ns),
        inline_resume_ppm=ppm(runtime.resume),
        inline_above=runtime.inline_above_tasks(spec.workers),
        skip=spec.model.skip == "auto",
        effects=effects_of(spec.model),
        tuning=tuning_of(spec.strategy, workload, machine, workers, caches=spec.model.cache != "none"),
        control=compile_control(spec.strategy, workload, machine, workers, items.labels, items.nodes, items.segments),
        helpers=helpers_of(spec.strategy, machine, workers, workload),
        idle=compile_idle(runtime.idle, steal, runtime.join),
    )
    check_pages(plan)
    return plan


def completed(**parts: Any) -> Plan:
    """Return the Plan of these fields, with ``coupled`` and ``skippable``, which follow from them.

    Helper threads without a simulated cache are dropped. An engine has to simulate every event of a plan with helper
    threads, with requests for cache lines that queue up, with rules for idle workers, with levels probed between tasks,
    or with tasks that leave full queues: the events that a shortcut would leave out then depend on all workers.
    """
    plan = Plan(**parts, coupled=False, skippable=False)
    plan = replace(plan, helpers=plan.helpers if plan.effects.cache != "none" else None)
    plain = plan.helpers is None and plan.idle is None and plan.costs.line != "yes"
    plan = replace(plan, skip=plan.skip and plain and not (plan.steal.polls or plan.steal.moves_tasks))
    plan = replace(plan, coupled=coupled(plan))
    return replace(plan, skippable=skippable(plan))


def revised(plan: Plan, **changes: Any) -> Plan:
    """Return ``plan`` with other parts; ``coupled`` and ``skippable`` are computed again."""
    parts = {field.name: getattr(plan, field.name) for field in fields(Plan)}
    return completed(**{name: value for name, value in (parts | changes).items() if name not in DERIVED})


def costs_ps(spec: CostSpec) -> Costs:
    """Return the runtime's costs in picoseconds."""
    times = {name.removesuffix("_ns") + "_ps": ps(value) for name, value in spec if name.endswith("_ns")}
    return Costs(
        line=spec.line,
        faults_per_s=spec.faults_per_s,
        fault_alpha_ppm=ppm(spec.fault_alpha),
        unmap_batch=spec.unmap_batch,
        **times,
    )


def _keyed(spec: ModelT) -> Keyed[ModelT]:
    return Keyed(type(spec).__name__ + spec.whole_json, spec)


@lru_cache(maxsize=8)
def _machine(keyed: Keyed[MachineSpec]) -> Machine:
    return build_machine(keyed.value)


@lru_cache(maxsize=4)
def _workload(keyed: Keyed[AnyWorkload]) -> Workload:
    return generate(keyed.value, folded=True)


@lru_cache(maxsize=8)
def _places(machine: Machine, workers: int, mapping: str) -> WorkerMap:
    return map_workers(machine, workers, mapping)


@lru_cache(maxsize=2)
def _placement(keyed: Keyed[PlacementSpec], machine: Machine, workers: WorkerMap, workload: Workload) -> PlacementRules:
    return placement_rules(keyed.value, machine, workers, workload)
