"""Runs on threads: each beside a rehearsal, which is all that its prediction knows of how fast the processors are.

A round is a rehearsal of the program, serial copies on the hardware threads of all workers at once, each in the order
in which its worker would begin the tasks, from its own deque or, all but the first, as a thief from that; then its run,
then its serial twin, each just after the other: what else a machine does takes speed from all of them alike. Some
rounds share a process, and a recording that was made before it. The recording says what the tasks are and in which
ratio they share what the program takes; the rehearsal says what it takes, since hardware threads that are busy take
speed from each other, and nobody reads a clock between its tasks. Predicted and measured speedups are over the same
twin. No run that is predicted has any part in its prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from numasim.engine.simulate import simulate
from numasim.errors import CheckError
from numasim.plan.plan import Plan
from numasim.report.unit_text import time_text
from numasim.runtime.compile_plan import write
from numasim.runtime.runtime_program import KernelRun, Order, run_kernel
from numasim.validate.counts import measured_counts, predicted_counts
from numasim.validate.placement_check import has_moved, hop_ps
from numasim.validate.predict import plan_of, seed_of, spec_of
from numasim.validate.recorded_graphs import record
from numasim.validate.run_store import KeptRuns
from numasim.validate.validation_cells import Cell, Part
from numasim.workload.builder import frozen

TOGETHER = 10  # rounds of one process, and of one recording
TRIES = 200  # rounds in a row that do not count


def make_rounds(part: Part, cell: Cell, folder: Path, kept: KeptRuns, advance: Callable[[int], None]) -> None:
    """Make the rounds that are missing in ``kept``, and add those that count.

    Raises CheckError where TRIES in a row do not, since the machine was another one: see `placement_check`.
    """
    in_vain = 0
    while (missing := part.repeats - len(kept.measured)) > 0:
        recording = record(cell, part.file, folder / "graph.json")
        plan = plan_of(spec_of(part, cell, recording.graph), part.file.seed)
        runs = _run(part, cell, plan, min(missing, TOGETHER), folder / "cell.plan", kept)
        counting = [run for run in runs if not has_moved(run, plan)]
        for run in counting:
            kept.predicted[str(run.seed)] = _predicted(plan, run)
            kept.measured[str(run.seed)] = measured_counts(run)
        kept.moved += len(runs) - len(counting)
        kept.save()
        advance(len(counting))
        in_vain = 0 if counting else in_vain + len(runs)
        if in_vain >= TRIES:
            raise CheckError(_always_moved(cell, runs[-1], plan, in_vain))


def at_speed(plan: Plan, total_ps: int) -> Plan:
    """The plan of a recorded program whose segments take ``total_ps`` together, in the ratio of what was recorded.

    Each is rounded down to a picosecond.
    """
    recorded_ps = plan.workload.segment_compute_ps.tolist()  # as integers that do not overflow
    whole_ps = max(1, sum(recorded_ps))
    shares = np.array([each * total_ps // whole_ps for each in recorded_ps], np.int64)
    return replace(plan, workload=replace(plan.workload, segment_compute_ps=frozen(shares)))


def _run(part: Part, cell: Cell, plan: Plan, rounds: int, file: Path, kept: KeptRuns) -> tuple[KernelRun, ...]:
    """So many rounds in one process, with seeds that no round in ``kept`` has."""
    write(plan, file)
    made = len(kept.measured) + kept.moved
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
    return run_kernel(order)


def _predicted(plan: Plan, run: KernelRun) -> dict[str, int]:
    result = simulate(at_speed(plan, run.rehearsed_ps).reseeded(run.seed))
    return predicted_counts(result, run.serial_ps or 0)


def _always_moved(cell: Cell, run: KernelRun, plan: Plan, rounds: int) -> str:
    seen, said = max(run.hop_ps), hop_ps(plan)
    return (
        f"{cell.label}: in each of {rounds} runs cache lines took another time between workers than the machine file"
        f" says: {time_text(seen)} in the last one, {time_text(said)} there. Calibrate anew, or elsewhere"
    )
