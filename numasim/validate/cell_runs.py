"""The runs of one cell: what is missing is predicted and measured, and kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from numasim.engine.simulate import simulate
from numasim.runtime.compile_plan import write
from numasim.runtime.runtime_program import KernelRun, Order, run_kernel
from numasim.validate.counts import measured_counts, predicted_counts
from numasim.validate.exact import differences
from numasim.validate.measured_on import processor
from numasim.validate.predict import cell_identity, plan_of, seeds_of, spec_of
from numasim.validate.recorded_graphs import Recording, record, shared_recording
from numasim.validate.rounds import make_rounds
from numasim.validate.run_store import KeptRuns, program_digest, read_runs
from numasim.validate.validation_cells import Cell, Part

Advance = Callable[[int], None]


def recorded(part: Part, cell: Cell, directory: Path) -> Recording:
    """The recording that the cells of a program share; it is not to be made by two threads at once."""
    return shared_recording(cell, part.file, directory, _measured_by())


def run_cell(part: Part, cell: Cell, directory: Path, advance: Advance = lambda _: None) -> KeptRuns:
    """All repeats of a cell; those that are kept in ``directory`` are not made again.

    Raises InputError and CheckError as simulations and the program do.
    """
    kept = read_runs(directory, {**cell_identity(part, cell), **_measured_by()})
    advance(min(part.repeats, len(kept.compared if part.file.exact else kept.measured)))
    with tempfile.TemporaryDirectory() as folder:
        if part.file.mode == "virtual":
            _run_in_virtual_time(part, cell, directory, Path(folder), kept, advance)
        else:
            make_rounds(part, cell, Path(folder), kept, advance)
    return kept


def _measured_by() -> dict[str, str]:
    """What has to be the same for runs to be of one kind: the compiled program, and the processor."""
    return {"program": program_digest(), "processor": processor()}


def _run_in_virtual_time(
    part: Part, cell: Cell, directory: Path, folder: Path, kept: KeptRuns, advance: Advance
) -> None:
    for seed in seeds_of(part):
        if str(seed) in (kept.compared if part.file.exact else kept.measured):
            continue
        if part.file.exact:
            _compare(part, cell, seed, recorded(part, cell, directory), folder, kept)
        else:
            _measure_beside(part, cell, seed, folder, kept)
        kept.save()
        advance(1)


def _measure_beside(part: Part, cell: Cell, seed: int, folder: Path, kept: KeptRuns) -> None:
    """Record the program, predict one repeat from that, and measure it."""
    recording = record(cell, part.file, folder / f"{seed}.json")
    plan = plan_of(spec_of(part, cell, recording.graph), seed)
    kept.predicted[str(seed)] = predicted_counts(simulate(plan), recording.serial_ps)
    write(plan, folder / "cell.plan")
    kept.measured[str(seed)] = measured_counts(_run(part, cell, seed, folder / "cell.plan"))
    recording.graph.unlink()


def _compare(part: Part, cell: Cell, seed: int, recording: Recording, folder: Path, kept: KeptRuns) -> None:
    """Predict and run one repeat with model costs, and compare all counters."""
    plan = plan_of(spec_of(part, cell, recording.graph), seed)
    write(plan, folder / "cell.plan")
    values, differing = differences(simulate(plan), _run(part, cell, seed, folder / "cell.plan"))
    kept.compared[str(seed)] = {"values": values, "differing": differing}


def _run(part: Part, cell: Cell, seed: int, plan: Path) -> KernelRun:
    program, file = cell.program, part.file
    order = Order(program.kernel, program.parameters, file.mode, file.costs, cell.workers, plan, seed=seed)
    (run,) = run_kernel(order)
    return run
