"""The runs of one cell: what is missing is predicted, then measured, and kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from numasim.runtime.compile import write
from numasim.runtime.program import KernelRun, Order, run_kernel
from numasim.spec.run import RunSpec
from numasim.validate.cells import Cell, Part
from numasim.validate.counts import measured_counts, predicted_counts
from numasim.validate.exact import differences
from numasim.validate.kept import KeptRuns, program_digest, read_runs
from numasim.validate.predict import cell_identity, plan_of, predict, seeds_of, spec_of
from numasim.validate.records import Recording, record
from numasim.validate.whereabouts import processor

Advance = Callable[[int], None]


def recorded(part: Part, cell: Cell, directory: Path) -> Recording:
    """The recording that the cell starts from; one that cells share is not to be made by two threads at once."""
    return record(cell, part.file, directory, _measured_by())


def run_cell(part: Part, cell: Cell, directory: Path, advance: Advance = lambda _: None) -> KeptRuns:
    """All repeats of a cell; those that are kept in ``directory`` are not made again.

    Raises InputError and CheckError as simulations and the program do.
    """
    recording = recorded(part, cell, directory)
    spec = spec_of(part, cell, recording.graph)
    kept = read_runs(directory, {**cell_identity(part, spec), **_measured_by(), "kernel": cell.program.label})
    missing = [seed for seed in seeds_of(part) if str(seed) not in {**kept.measured, **kept.compared}]
    advance(part.repeats - len(missing))
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "cell.plan"
        if missing:
            write(plan_of(spec, seeds_of(part)[0]), plan)
        for seed in missing:
            _repeat(part, cell, spec, seed, plan, recording.serial_ps, kept)
            kept.save()
            advance(1)
    return kept


def _measured_by() -> dict[str, str]:
    """What has to be the same for runs to be of one kind: the compiled program, and the processor."""
    return {"program": program_digest(), "processor": processor()}


def _repeat(part: Part, cell: Cell, spec: RunSpec, seed: int, plan: Path, serial_ps: int, kept: KeptRuns) -> None:
    """Predict and measure one repeat."""
    predicted = predict(spec, seed)
    if not part.file.exact:
        kept.predicted[str(seed)] = predicted_counts(predicted, serial_ps)
        kept.measured[str(seed)] = measured_counts(_measure(part, cell, seed, plan))
        return
    values, differing = differences(predicted, _measure(part, cell, seed, plan))
    kept.compared[str(seed)] = {"values": values, "differing": differing}


def _measure(part: Part, cell: Cell, seed: int, plan: Path) -> KernelRun:
    program = cell.program
    mode, costs = part.file.mode, part.file.costs if part.file.mode == "virtual" else None
    order = Order(program.kernel, program.parameters, mode, costs, cell.workers, plan, seed=seed)
    (run,) = run_kernel(order)
    return run
