"""The runs of one cell: what is missing is predicted and measured, and stored."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from numasim.engine.simulate import simulate
from numasim.plan.plan import Plan
from numasim.runtime.controlled_run import run_kernel_under
from numasim.runtime.fields_file import write_plan
from numasim.runtime.runtime_program import KernelRun, Order
from numasim.validate.comparison import differences, measured_counts, predicted_counts
from numasim.validate.predict import cell_identity, plan_of, seeds_of, spec_of
from numasim.validate.recorded_graphs import Recording, record, shared_recording
from numasim.validate.rounds import make_rounds
from numasim.validate.run_store import StoredRuns, processor, program_digest, read_runs
from numasim.validate.validation_cells import Cell, Part

Advance = Callable[[int], None]


def recorded(part: Part, cell: Cell, directory: Path) -> Recording:
    """Make the recording that the cells of a program share; two threads must not do so at once."""
    return shared_recording(cell, part.file, directory, _measured_by())


def run_cell(part: Part, cell: Cell, directory: Path, advance: Advance = lambda _: None) -> StoredRuns:
    """All repeats of a cell; those that are stored in ``directory`` are not run again.

    Raises InputError and CheckError as simulations and the program do.
    """
    stored = read_runs(directory, {**cell_identity(part, cell), **_measured_by()})
    advance(min(part.repeats, len(stored.compared if part.file.exact else stored.measured)))
    with tempfile.TemporaryDirectory() as folder:
        if part.file.mode == "virtual":
            _run_in_virtual_time(part, cell, directory, Path(folder), stored, advance)
        else:
            make_rounds(part, cell, Path(folder), stored, advance)
    return stored


def _measured_by() -> dict[str, str]:
    """What stored runs must have been made with to be used: the compiled program and the processor."""
    return {"program": program_digest(), "processor": processor()}


def _run_in_virtual_time(
    part: Part, cell: Cell, directory: Path, folder: Path, stored: StoredRuns, advance: Advance
) -> None:
    for seed in seeds_of(part):
        if str(seed) in (stored.compared if part.file.exact else stored.measured):
            continue
        if part.file.exact:
            _compare(part, cell, seed, recorded(part, cell, directory), folder, stored)
        else:
            _measure_beside(part, cell, seed, folder, stored)
        stored.save()
        advance(1)


def _measure_beside(part: Part, cell: Cell, seed: int, folder: Path, stored: StoredRuns) -> None:
    """Record the program, predict one repeat from that, and measure it."""
    recording = record(cell, part.file, folder / f"{seed}.json")
    plan = plan_of(spec_of(part, cell, recording.graph))
    stored.predicted[str(seed)] = predicted_counts(simulate(plan, seed), recording.serial_ps)
    stored.measured[str(seed)] = measured_counts(_run(part, cell, plan, seed, folder))
    recording.graph.unlink()


def _compare(part: Part, cell: Cell, seed: int, recording: Recording, folder: Path, stored: StoredRuns) -> None:
    """Predict and run one repeat with model costs, and compare all counters."""
    plan = plan_of(spec_of(part, cell, recording.graph))
    values, differing = differences(simulate(plan, seed), _run(part, cell, plan, seed, folder))
    stored.compared[str(seed)] = {"values": values, "differing": differing}


def _run(part: Part, cell: Cell, plan: Plan, seed: int, folder: Path) -> KernelRun:
    program, file = cell.program, part.file
    path = folder / "cell.plan"
    write_plan(plan, seed, path)
    order = Order(program.kernel, program.parameters, file.mode, file.costs, cell.workers, path, seed=seed)
    (run,) = run_kernel_under(plan, order)
    return run
