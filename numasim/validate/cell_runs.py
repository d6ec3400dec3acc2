"""The runs of a validation. A cell is a program (a kernel of the C runtime with its parameters) under a strategy with a
number of workers. Missing repeats of each cell are recorded, predicted, run, stored and compared.

A prediction starts from a task graph that an earlier serial run of the program has recorded, never from the predicted
run itself. The runtime and the simulator get the same compiled plan, with the same tables and costs.

- With model costs all runs of a program record the same graph. So all cells of the program share one graph, which is
  kept in the results directory.
- In virtual time with measured costs, costs change with the load of the machine. So a serial run just before each
  repeat records the graph from which the repeat is predicted.
- On threads a round consists of a rehearsal (a serial copy of the program on each worker at once), the run and the
  serial twin (the computation without tasks). The rounds of one process share a recording, made before, which gives the
  tasks and the ratios of their durations. The rehearsal gives the sum of durations, since it reads no clock between
  tasks. Predicted and measured speedups refer to the same serial twin.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from numasim.draws import repeat_seed
from numasim.engine.simulate import simulate
from numasim.engine.unit_text import time_text
from numasim.errors import CheckError, InputError, when_interrupted
from numasim.files.owned_folder import make_folder, owned_folder
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.runtime.controlled_run import run_kernel_under
from numasim.runtime.fields_file import UNCOUPLED, write_plan
from numasim.runtime.runtime_program import Order, run_kernel
from numasim.spec.identity import MODEL_VERSION
from numasim.spec.run_spec import resolve
from numasim.spec.single_part import read_machine, read_runtime, read_strategy
from numasim.sweep.progress import progress_bar
from numasim.validate.comparison import (
    Comparison,
    Equality,
    Verdict,
    compare,
    differences,
    equality,
    hop_ps,
    judge,
    measured_counts,
    placement_differs,
    predicted_counts,
)
from numasim.validate.part_files import Cell, Part
from numasim.validate.run_store import (
    GRAPHS,
    PAGE,
    TABLE,
    VALIDATION,
    StoredRuns,
    digest,
    processor,
    program_digest,
    read_runs,
)
from numasim.workload.builder import frozen

ROUNDS_PER_PROCESS = 10  # rounds of one process, which share a recording
MOST_REJECTED = 200  # most rounds in a row that may be rejected

Advance = Callable[[int], None]


def run_cell(part: Part, cell: Cell, directory: Path, advance: Advance = lambda _: None) -> StoredRuns:
    """Return all repeats of a cell. Repeats that are stored in ``directory`` are not run again.

    Raise InputError and CheckError as simulations and the program do.
    """
    file = part.file
    identity = {
        "mode": file.mode,
        "costs": file.costs,
        "model_version": MODEL_VERSION,
        "machine": read_machine(part.machine).contents_json,
        "runtime": read_runtime(part.runtime).contents_json,
        "strategy": read_strategy(cell.strategy).contents_json,
        "workers": cell.workers,
        "kernel": cell.program.label,
    }
    stored = read_runs(directory, {**identity, **_measured_by()})
    done = stored.compared if file.exact else stored.measured
    advance(min(part.repeats, len(done)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if file.mode != "virtual":
            _run_rounds(part, cell, folder, stored, advance)
            return stored
        for seed in (_seed_of(part, repeat) for repeat in range(part.repeats)):  # equal across cells
            if str(seed) not in done:
                _run_virtual(part, cell, seed, directory, folder, stored)
                stored.save()
                advance(1)
    return stored


def _measured_by() -> dict[str, str]:
    """Return the program and the processor with which stored runs must have been made to be used."""
    return {"program": program_digest(), "processor": processor()}


def _seed_of(part: Part, repeat: int) -> int:
    """Return a seed of 63 bits, the program's limit. The seed is not 0: 0 asks for the seed of the plan's file."""
    return repeat_seed(part.file.seed, repeat) >> 1 or 1


def plan_of(part: Part, cell: Cell, graph: Path) -> Plan:
    """Return the plan of all repeats of a cell. Raise InputError if its parts do not fit together."""
    spec = {
        "machine": part.machine,
        "workload": {"file": str(graph)},
        "strategy": cell.strategy,
        "runtime": part.runtime,
        "workers": cell.workers,
        "model": UNCOUPLED,
        "seed": part.file.seed,
    }
    return build_plan(resolve(spec))


def record(part: Part, cell: Cell, graph: Path) -> int:
    """Run the cell's program serially, write its ``graph``, and return the time of its serial twin in ps.

    Errors are as in `run_kernel`.
    """
    program, file = cell.program, part.file
    order = Order(program.kernel, program.parameters, "serial", file.costs, cell.team, seed=file.seed, record=graph)
    (run,) = run_kernel(order)
    return run.serial_ps or 0


def shared_graph(part: Part, cell: Cell, directory: Path) -> Path:
    """Return the graph that all cells of a program with model costs share. If the graph does not exist, record it.

    Two threads must not record the same graph at once.
    """
    program = cell.program
    known = {**_measured_by(), "kernel": program.kernel, "set": program.parameters, "team": cell.team}
    graph = directory / GRAPHS / f"{program.kernel}-{digest(known)}.json"
    if not graph.is_file():
        make_folder(graph.parent)
        record(part, cell, graph)
    return graph


def _run_virtual(part: Part, cell: Cell, seed: int, directory: Path, folder: Path, stored: StoredRuns) -> None:
    """Predict one repeat by simulation, run it on the C runtime in virtual time, and put the outcome into ``stored``.

    With model costs all counters of both are compared, and the differences are stored. With measured costs a serial run
    is first recorded, the repeat is predicted from this recording, and the counters of both are stored.
    """
    file, path = part.file, folder / "cell.plan"
    graph = shared_graph(part, cell, directory) if file.exact else folder / f"{seed}.json"
    serial_ps = 0 if file.exact else record(part, cell, graph)
    plan = plan_of(part, cell, graph)
    predicted = simulate(plan, seed)
    write_plan(plan, seed, path)
    program = cell.program
    order = Order(program.kernel, program.parameters, file.mode, file.costs, cell.workers, path, seed=seed)
    (run,) = run_kernel_under(plan, order)
    if file.exact:
        values, differing = differences(predicted, run)
        stored.compared[str(seed)] = {"values": values, "differing": differing}
    else:
        stored.predicted[str(seed)] = predicted_counts(predicted, serial_ps)
        stored.measured[str(seed)] = measured_counts(run)
        graph.unlink()


# ---- rounds on threads -----------------------------------------------------------------------------------------------


def _run_rounds(part: Part, cell: Cell, folder: Path, stored: StoredRuns, advance: Advance) -> None:
    """Run the rounds that are missing in ``stored``, and add the rounds that are not rejected.

    Raise CheckError if MOST_REJECTED rounds in a row are rejected: see `placement_differs`.
    """
    rejected = 0
    program, graph, file = cell.program, folder / "graph.json", folder / "cell.plan"
    while (missing := part.repeats - len(stored.measured)) > 0:
        record(part, cell, graph)
        plan = plan_of(part, cell, graph)
        write_plan(plan, part.file.seed, file)
        order = Order(program.kernel, program.parameters, part.file.mode, workers=cell.workers, plan=file)
        seed = _seed_of(part, len(stored.measured) + stored.moved)  # no round in `stored` has a seed of these rounds
        rounds = min(missing, ROUNDS_PER_PROCESS)
        runs = run_kernel_under(plan, replace(order, rehearse=True, warm_up=True, seed=seed, repeat=rounds))
        counting = [run for run in runs if not placement_differs(run, plan)]
        for run in counting:
            predicted = simulate(at_speed(plan, run.rehearsed_ps), run.seed)
            stored.predicted[str(run.seed)] = predicted_counts(predicted, run.serial_ps or 0)
            stored.measured[str(run.seed)] = measured_counts(run)
        stored.moved += len(runs) - len(counting)
        stored.save()
        advance(len(counting))
        rejected = 0 if counting else rejected + len(runs)
        if rejected >= MOST_REJECTED:
            seen, said = (time_text(each) for each in (max(runs[-1].hop_ps), hop_ps(plan)))
            raise CheckError(
                f"{cell.label}: in each of {rejected} runs cache lines took another time between workers than the"
                f" machine file says: {seen} in the last one, {said} there. Calibrate anew, or elsewhere"
            )


def at_speed(plan: Plan, total_ps: int) -> Plan:
    """Return the plan with segment times that add up to ``total_ps``, in the ratio of the recorded times.

    The time of each segment is rounded down to a picosecond.
    """
    recorded_ps = plan.workload.segment_compute_ps.tolist()  # Python integers do not overflow
    whole_ps = max(1, sum(recorded_ps))
    shares = np.array([each * total_ps // whole_ps for each in recorded_ps], np.int64)
    return replace(plan, workload=replace(plan.workload, segment_compute_ps=frozen(shares)))


# ---- the whole validation: every cell of every part ------------------------------------------------------------------


@dataclass(frozen=True)
class PartFindings:
    """The findings of one part: ``equalities`` for model costs, ``comparisons`` and ``verdicts`` for measured costs.

    ``rejected_runs`` counts the runs on hardware threads that were not placed as in the machine file: see
    `placement_differs`.
    """

    part: Part
    comparisons: tuple[Comparison, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    equalities: tuple[Equality, ...] = ()
    rejected_runs: int = 0

    @property
    def broken(self) -> tuple[Verdict, ...]:
        """Return the bounds that are not met."""
        return tuple(verdict for verdict in self.verdicts if not verdict.met)

    @property
    def unequal(self) -> tuple[Equality, ...]:
        """Return the cells with a counter that differs."""
        return tuple(each for each in self.equalities if each.differing)

    @property
    def met(self) -> bool:
        """Return whether all bounds are met and all counters equal."""
        return not self.broken and not self.unequal


def validate_parts(
    parts: Sequence[Part], directory: Path, *, jobs: int = 1, progress: bool = False
) -> tuple[PartFindings, ...]:
    """Run the missing repeats of ``parts`` in ``directory``, and compare.

    ``jobs`` cells run at a time. Only virtual time allows more than one, since otherwise cells would compete for cores.
    Raise InputError for bad input, and CheckError if the program fails.
    """
    if jobs > 1 and any(part.file.mode != "virtual" for part in parts):
        raise InputError(f"jobs is {jobs}, and cells on real threads run alone", expected="--jobs 1")
    total = sum(len(part.cells) * part.repeats for part in parts)
    done: list[int] = []
    kept = when_interrupted(lambda: f"{sum(done)} of {total} runs are kept in {directory}; the same command continues")
    with owned_folder(directory, VALIDATION, (PAGE, TABLE)), kept, progress_bar(total, progress) as show:

        def advance(more: int) -> None:
            done.append(more)
            show(more)

        return tuple(findings_of(part, _run(part, directory, jobs, advance)) for part in parts)


def _run(part: Part, directory: Path, jobs: int, advance: Advance) -> list[StoredRuns]:
    """Return the runs of all cells in their order. After the first error no further cell is begun.

    A graph that cells share is recorded before any of these cells runs, so that no two threads record the graph.
    """
    found: list[StoredRuns] = []
    for _, some in groupby(part.cells, key=lambda cell: cell.program):
        cells = list(some)
        for cell in cells if part.file.exact else ():
            shared_graph(part, cell, directory)
        pool = ThreadPoolExecutor(jobs)
        try:
            found += pool.map(partial(run_cell, part, directory=directory, advance=advance), cells)
        finally:
            pool.shutdown(cancel_futures=True)
    return found


def findings_of(part: Part, runs: Sequence[StoredRuns]) -> PartFindings:
    """Compare the runs of all cells of a part, in the order of its cells."""
    each = list(zip(part.cells, runs, strict=True))
    if part.file.exact:
        return PartFindings(part, equalities=tuple(equality(part, cell, stored) for cell, stored in each))
    comparisons = tuple(one for cell, stored in each for one in compare(part, cell, stored))
    rejected = sum(stored.moved for stored in runs)
    return PartFindings(part, comparisons, tuple(judge(part, comparisons)), rejected_runs=rejected)
