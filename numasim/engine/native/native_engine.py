"""The native engine seen from Python: this module hands a plan's arrays to the compiled module and returns a Result.

The compiled module ``_engine`` is C++ and C11 (``lib/engine``). Its results equal those of the reference engine. This
module gives arrays the names of the schema (`numasim.schema.plan_fields`) and contains no part of the simulation.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.engine.check.deadlock import DeadlockError, TooLongError
from numasim.engine.collect_result import Finished, collect
from numasim.engine.iteration_control import IterationControl
from numasim.engine.native import _engine
from numasim.engine.native.effect_fields import (
    NOTHING,
    Fields,
    access_fields,
    effect_fields,
    family_fields,
    region_fields,
)
from numasim.engine.observe.trace_hash import Listener, hexadecimal
from numasim.engine.observe.watch import Watcher
from numasim.engine.reference.ledger import Executed
from numasim.engine.reference.tables import Tables
from numasim.engine.result import Result
from numasim.errors import InputError
from numasim.plan.plan import MIN_STEP_PS, Plan, Run
from numasim.plan.segment_times import PlacedProgram, SegmentTimes, times_of
from numasim.strategy.idle import Idle
from numasim.strategy.placement.compile_placement import Placement
from numasim.strategy.steal_plan import Adaptive
from numasim.workload.graph import Phase, Workload


def execute(
    run: Run, keep_log: bool, listener: Listener | None, watcher: Watcher | None = None
) -> tuple[Result, list[Executed] | None]:
    """Simulate ``run``; see `numasim.engine.simulate.simulate`."""
    try:
        found = _run(run, keep_log and not run.plan.skipping, listener, watcher)
    except _engine.Deadlock as deadlock:
        raise DeadlockError(run.plan, *deadlock.args) from None
    except OverflowError as error:
        raise TooLongError(str(error)) from None
    log = [Executed(*row) for row in found["log"].tolist()] if "log" in found else None
    return collect(run, _finished(found), makespan_ps), log


def _run(run: Run, keep_log: bool, listener: Listener | None, watcher: Watcher | None) -> Fields:
    control = IterationControl(run.plan.tuning) if run.plan.tuning else None
    return _engine.run(_read(run), run.seed, keep_log, listener, watcher, control)


def longest_chains_ps(run: Run, segment_ps: npt.NDArray[np.int64]) -> list[int]:
    """Return [phases] the longest chain of work of a pass if segments take these times (`numasim.workload.span`)."""
    return _engine.longest_chains_ps(_read(run), segment_ps)


def makespan_ps(run: Run) -> int:
    """Return the simulated time of ``run``."""
    return int(_run(run, False, None, None)["makespan_ps"])


def state_bytes(run: Run) -> dict[str, int]:
    """Return the peak number of live tasks of ``run`` (``live_tasks``), and the bytes that they take (``engine``).

    The bytes are those of frames, entries of queues and dependences. The state of workers and queues does not count.
    """
    found = _run(run, False, None, None)
    return {"engine": found["task_bytes"], "live_tasks": found["peak_tasks"]}


def fields(run: Run) -> Fields:
    """Return all that the compiled engine reads of ``run`` except the seed, by the names in `plan_fields.PLAN`."""
    return _fields(run.plan, run.placement, run.first_wait_ps)


def _read(run: Run) -> _engine.Plan:
    """Return the plan of ``run`` as the compiled engine has read it."""
    return _prepared(run.plan, run.placement, run.first_wait_ps)


@lru_cache(maxsize=2)
def _prepared(plan: Plan, placement: Placement, first_wait_ps: int) -> _engine.Plan:
    """Return the plan as the compiled engine has read it; runs that draw no homes and no first wait share the plan."""
    try:
        return _engine.Plan(_fields(plan, placement, first_wait_ps))
    except ValueError as error:
        raise InputError(f"the plan has what the engine does not hold: {error}") from None


@lru_cache(maxsize=2)
def _fields(plan: Plan, placement: Placement, first_wait_ps: int) -> Fields:
    tables = Tables(plan)
    return {
        "workers": plan.workers.workers,
        "nodes": plan.machine.nodes,
        "node": np.ascontiguousarray(plan.workers.node, np.int32),
        "rows": plan.workload.rows,
        "skip": plan.skip,
        "skipping": plan.skipping,
        "join": plan.join,
        "producer": plan.producer,
        "begins_released": plan.release == "begin",
        "inline_resume_ppm": plan.inline_resume_ppm,
        "inline_above": plan.inline_above,
        "own_dispatch": tables.own_dispatch,
        "sees_marks_only": tables.sees_marks_only,
        "one_queue_each": tables.one_queue_each,
        "room": tables.room,
        "phases": [_phase(phase) for phase in plan.workload.phases],
        "loops": [dataclasses.asdict(loop) for loop in plan.workload.loops],
        "families": [family_fields(plan, placement, family) for family in plan.workload.ranges],
        **_graph(plan.workload),
        **_segments(PlacedProgram.of(plan, placement)),
        **effect_fields(plan, placement),
        **_costs(plan, tables),
        **_idle(plan.idle),
        **_strategy(plan),
        **_control(plan),
        "looks_at_data": plan.steal.looks_at_data,
        **(_objects(plan, placement) if plan.steal.looks_at_data else {}),
        "backoff_first_ps": first_wait_ps,
        **_waiting(plan, tables),
        **_words(plan),
    }


def _graph(work: Workload) -> Fields:
    names = ("folded", "op_ptr", "op_code", "op_arg", "kind", "segment_kernel")
    written_out = () if work.folded else ("parent", "successor_ptr", "successor")
    return {name: getattr(work, name) for name in (*names, *written_out)}


def _phase(phase: Phase) -> Fields:
    return {
        "roots": np.array(phase.roots, np.int64),
        "family": -1 if phase.range_family is None else phase.range_family,
        "deal": int(phase.deal),
        "serial": phase.serial,
        "repeat": phase.repeat,
    }


@lru_cache(maxsize=2)
def _segments(program: PlacedProgram) -> Fields:
    """Return the fields of segments; plans that differ only in their strategies share these fields."""
    times, placement, work = times_of(program), program.placement, program.workload
    looks_at_accesses = bool(placement.dynamic.any()) or program.coupled
    return {
        "segments": work.segments,
        "total_ps": list(times.total_ps),
        "local_ps": list(times.local_ps),
        "traffic": times.traffic.ravel() if len(work.accesses) and not program.coupled else NOTHING,
        "looks_at_accesses": looks_at_accesses,
        **(access_fields(program) if looks_at_accesses else {}),
        **(region_fields(placement, program.machine.page_bytes) if looks_at_accesses else {}),
        **(_open_accesses(program, times) if times.open_accesses else {"open_ptr": NOTHING}),
    }


def _open_accesses(program: PlacedProgram, times: SegmentTimes) -> Fields:
    counts = np.zeros(program.workload.segments, np.int64)
    for segment, accesses in times.open_accesses.items():
        counts[segment] = len(accesses)
    return {
        "open_ptr": np.concatenate([[0], np.cumsum(counts)]),
        "open_access": np.concatenate([times.open_accesses[s] for s in sorted(times.open_accesses)]).astype(np.int64),
        "compute_ps": times.compute_ps,
        "settled_ps": times.settled_ps.ravel(),
        "latency_ps": program.machine.latency_ps.ravel(),
    }


def _costs(plan: Plan, tables: Tables) -> Fields:
    costs = plan.costs
    names = ("push_ps", "pop_ps", "join_ps", "wait_ps", "resume_ps", "take_ps", "move_ps", "wake_ps", "wake_remote_ps")
    near, far = tables.probe_costs_ps
    return {
        **{name: getattr(costs, name) for name in (*names, "locate_ps", "signal_ps", "fault_ps", "migrate_ps", "line")},
        **{name: getattr(costs, name) for name in ("unpark_ps", "look_ps", "deep_ps", "deep_wake_ps", "yield_ps")},
        "probe_near_ps": near,
        "probe_far_ps": far,
        "least_probe_ps": MIN_STEP_PS,
        "queue_lines": plan.steal.lines,
        "line_ps": tables.line_matrix_ps.ravel() if costs.line != "no" or len(plan.words) else NOTHING,
    }


def _idle(idle: Idle | None) -> Fields:
    if idle is None:
        return {"idle_given": False}
    names = ("cap", "cap_of", "sleeps", "recheck", "chain", "chain_by", "counted", "cancels", "missed", "between_ps")
    return {
        "idle_given": True,
        "idle_phases": [dataclasses.asdict(phase) for phase in idle.phases],
        **{name: getattr(idle, name) for name in names},
        "sleep_first_ps": idle.first_ps,
        "sleep_factor": idle.factor,
        "sleep_max_ps": idle.max_ps,
        "wake_at": idle.at,
        "wake_whom": idle.whom,
        "reach": idle.reach.ravel(),
    }


def _strategy(plan: Plan) -> Fields:
    steal = plan.steal
    adaptive = steal.adaptive or Adaptive(stack=0, every=1, steals=0, work_first=False)
    names = ("row", "seg", "queue", "weight", "domains", "own", "steal_levels", "work_first", "work_first_tiers")
    return {
        **{name: _bytes(getattr(steal, name)) for name in ("level", "chance", "data", "queues")},
        **{name: getattr(steal, name) for name in (*names, "gate", "live_most")},
        "watch": np.ascontiguousarray(steal.watch, np.int32).ravel(),
        "position_node": steal.node,
        "latency_ps": steal.latency_ps.ravel(),
        "refill": -1 if steal.refill is None else steal.refill,
        "adaptive_stack": adaptive.stack,
        "adaptive_every": adaptive.every,
        "adaptive_steals": adaptive.steals,
        "adaptive_first": adaptive.work_first,
    }


def _control(plan: Plan) -> Fields:
    control = plan.control
    return {
        "task_tier": control.tiers,
        "task_label": control.labels,
        "item_label": control.item_labels,
        "item_units": control.item_units,
        "switches": control.switches if control.switches < 2**63 else control.switches - 2**64,
    }


def _objects(plan: Plan, placement: Placement) -> Fields:
    from numasim.plan.task_objects import item_objects, task_objects

    table = task_objects(plan.workload, placement)
    return {
        **{f"object_{name}": column for name, column in vars(table).items()},
        "item_objects": [
            {"objects": [vars(each) for each in item_objects(plan, placement, family)]}
            for family in plan.workload.ranges
        ],
    }


def _bytes(records: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(records).view(np.uint8).ravel()


def _waiting(plan: Plan, tables: Tables) -> Fields:
    thresholds, backoff = plan.steal.thresholds, plan.steal.backoff
    return {
        "max_tasks": -1 if thresholds.max_tasks is None else thresholds.max_tasks,
        "min_tasks": -1 if thresholds.min_tasks is None else thresholds.min_tasks,
        "fraction_ppm": thresholds.fraction_ppm,
        "threshold_rule": thresholds.rule,
        "threshold_time": thresholds.when,
        "backoff_factor": backoff.factor,
        "backoff_max_ps": -1 if backoff.max_ps is None else backoff.max_ps,
        "backoff_after_probe": backoff.after == "probe",
        "backoff_counts_empty": backoff.empty == "count",
        "poll_ps": plan.poll_ps,
        "scan_ps": tables.scan_ps,
    }


def _words(plan: Plan) -> Fields:
    words, costs = plan.words, plan.costs
    return {
        **{f"word_{name}": getattr(words, name) for name in ("role", "home", "parties", "same")},
        "word_undo": words.undo_ps,
        "worker_home": words.worker_home,
        "word_weight": np.concatenate([NOTHING, *words.weights]),
        "word_weight_ptr": np.cumsum([0, *map(len, words.weights)], dtype=np.int64),
        "words_declared": words.declared,
        "level_lock": words.level_lock.ravel(),
        "queue_lock": words.queue_lock,
        **{f"lock_{name}": getattr(words, name) for name in ("kind", "batch", "fair")},
        "barrier_kind": words.barrier,
        "spin_ps": words.spin_ps,
        "pause_ps": costs.pause_ps,
        "futex_ps": costs.futex_ps,
        "words_cached": words.cached,
        "looks_first": words.looks_first,
        "word_memory_ps": plan.machine.latency_ps.ravel(),
    }


def _finished(found: Fields) -> Finished:
    every = (found["steps_hash"] + found["details_hash"]) % 2**64
    counted: Fields = {field.name: found.get(field.name) for field in dataclasses.fields(Finished)}
    counted["hashes"] = hexadecimal(found["steps_hash"]), hexadecimal(every) if found["complete"] else None
    counted["held"] = np.array(sorted(found["held"].tolist()), np.int64).reshape(-1, 4) if "held" in found else None
    return Finished(**counted)
