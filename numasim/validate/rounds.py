"""Runs on threads: each is predicted from a rehearsal, which measures how fast the processors are at that time.

A round consists of a rehearsal, the run and the serial twin, one immediately after the other, so that other load of the
machine slows all of them alike. In the rehearsal every worker's hardware thread executes a serial copy of the program,
all at the same time: the first worker in the order in which it takes tasks from its own deque, the others in the order
of a thief. Rounds of one process share a recording that was made before it. The recording gives the tasks and the ratio
of their durations. The rehearsal gives the total duration, because busy hardware threads slow each other down, and
because no clock is read between its tasks. Predicted and measured speedups refer to the same serial twin. A prediction
uses no run that is predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from numasim.engine.simulate import simulate
from numasim.engine.unit_text import time_text
from numasim.errors import CheckError
from numasim.plan.plan import Plan
from numasim.runtime.controlled_run import run_kernel_under
from numasim.runtime.fields_file import write_plan
from numasim.runtime.runtime_program import KernelRun, Order
from numasim.validate.comparison import hop_ps, measured_counts, placement_differs, predicted_counts
from numasim.validate.predict import plan_of, seed_of, spec_of
from numasim.validate.recorded_graphs import record
from numasim.validate.run_store import StoredRuns
from numasim.validate.validation_cells import Cell, Part
from numasim.workload.builder import frozen

ROUNDS_PER_PROCESS = 10  # rounds of one process, and of one recording
MOST_REJECTED = 200  # rounds in a row that are rejected


def make_rounds(part: Part, cell: Cell, folder: Path, stored: StoredRuns, advance: Callable[[int], None]) -> None:
    """Run the rounds that are missing in ``stored``, and add those that are not rejected.

    Raises CheckError where MOST_REJECTED in a row are rejected: see `placement_check`.
    """
    rejected = 0
    while (missing := part.repeats - len(stored.measured)) > 0:
        recording = record(cell, part.file, folder / "graph.json")
        plan = plan_of(spec_of(part, cell, recording.graph))
        runs = _run(part, cell, plan, min(missing, ROUNDS_PER_PROCESS), folder / "cell.plan", stored)
        counting = [run for run in runs if not placement_differs(run, plan)]
        for run in counting:
            stored.predicted[str(run.seed)] = _predicted(plan, run)
            stored.measured[str(run.seed)] = measured_counts(run)
        stored.moved += len(runs) - len(counting)
        stored.save()
        advance(len(counting))
        rejected = 0 if counting else rejected + len(runs)
        if rejected >= MOST_REJECTED:
            raise CheckError(_placement_error(cell, runs[-1], plan, rejected))


def at_speed(plan: Plan, total_ps: int) -> Plan:
    """The plan with segments of ``total_ps`` in all, in the ratio of the recorded times.

    Each is rounded down to a picosecond.
    """
    recorded_ps = plan.workload.segment_compute_ps.tolist()  # as integers that do not overflow
    whole_ps = max(1, sum(recorded_ps))
    shares = np.array([each * total_ps // whole_ps for each in recorded_ps], np.int64)
    return replace(plan, workload=replace(plan.workload, segment_compute_ps=frozen(shares)))


def _run(part: Part, cell: Cell, plan: Plan, rounds: int, file: Path, stored: StoredRuns) -> tuple[KernelRun, ...]:
    """Run ``rounds`` in one process, with seeds that no round in ``stored`` has."""
    write_plan(plan, part.file.seed, file)
    made = len(stored.measured) + stored.moved
    order = Order(
        cell.program.kernel,
        cell.program.parameters,
        part.file.mode,
        workers=cell.workers,
        plan=file,
        rehearse=True,
        warm_up=True,
        seed=seed_of(part, made),
        repeat=rounds,
    )
    return run_kernel_under(plan, order)


def _predicted(plan: Plan, run: KernelRun) -> dict[str, int]:
    result = simulate(at_speed(plan, run.rehearsed_ps), run.seed)
    return predicted_counts(result, run.serial_ps or 0)


def _placement_error(cell: Cell, run: KernelRun, plan: Plan, rounds: int) -> str:
    seen, said = max(run.hop_ps), hop_ps(plan)
    return (
        f"{cell.label}: in each of {rounds} runs cache lines took another time between workers than the machine file"
        f" says: {time_text(seen)} in the last one, {time_text(said)} there. Calibrate anew, or elsewhere"
    )
