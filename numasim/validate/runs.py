"""The runs of one cell: what is missing is predicted, then measured, and kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from numasim.engine.plan import Plan
from numasim.errors import CheckError
from numasim.report.units import time_text
from numasim.runtime.compile import write
from numasim.runtime.program import KernelRun, Order, run_kernel
from numasim.validate.cells import Cell, Part
from numasim.validate.counts import measured_counts, predicted_counts
from numasim.validate.exact import differences
from numasim.validate.kept import KeptRuns, program_digest, read_runs
from numasim.validate.moved import has_moved, hop_ps
from numasim.validate.predict import cell_identity, plan_of, predict, seeds_of, spec_of
from numasim.validate.records import Recording, record, shared_recording
from numasim.validate.whereabouts import processor

Advance = Callable[[int], None]
TRIES = 200  # of one repeat


def recorded(part: Part, cell: Cell, directory: Path) -> Recording:
    """The recording that the cells of a program share; it is not to be made by two threads at once."""
    return shared_recording(cell, part.file, directory, _measured_by())


def run_cell(part: Part, cell: Cell, directory: Path, advance: Advance = lambda _: None) -> KeptRuns:
    """All repeats of a cell; those that are kept in ``directory`` are not made again.

    Raises InputError and CheckError as simulations and the program do.
    """
    kept = read_runs(directory, {**cell_identity(part, cell), **_measured_by()})
    missing = [seed for seed in seeds_of(part) if str(seed) not in {**kept.measured, **kept.compared}]
    advance(part.repeats - len(missing))
    with tempfile.TemporaryDirectory() as folder:
        for seed in missing:
            if part.file.exact:
                _compare(part, cell, seed, recorded(part, cell, directory), Path(folder), kept)
            else:
                _measure_beside(part, cell, seed, Path(folder), kept)
            kept.save()
            advance(1)
    return kept


def _measured_by() -> dict[str, str]:
    """What has to be the same for runs to be of one kind: the compiled program, and the processor."""
    return {"program": program_digest(), "processor": processor()}


def _measure_beside(part: Part, cell: Cell, seed: int, folder: Path, kept: KeptRuns) -> None:
    """Record the program, predict one repeat from that, and measure it."""
    recording = record(cell, part.file, folder / f"{seed}.json", _workers(part, cell, folder / "workers.plan"))
    spec = spec_of(part, cell, recording.graph)
    predicted, plan = predict(spec, seed), plan_of(spec, seed)
    write(plan, folder / "cell.plan")
    run, moved = _run_unmoved(part, cell, seed, plan, folder / "cell.plan")
    kept.predicted[str(seed)] = predicted_counts(predicted, recording.serial_ps)
    kept.measured[str(seed)] = {**measured_counts(run), "moved": moved}
    recording.graph.unlink()


def _run_unmoved(part: Part, cell: Cell, seed: int, plan: Plan, file: Path) -> tuple[KernelRun, int]:
    """A run on the machine of ``plan``, and how many before it were on another one."""
    for moved in range(TRIES):
        run = _run(part, cell, seed, file)
        if not has_moved(run, plan):
            return run, moved
    seen, said = max(run.hop_ps), hop_ps(plan)
    raise CheckError(
        f"{cell.label}: in each of {TRIES} runs cache lines took another time between workers than the machine file"
        f" says: {time_text(seen)} in the last one, {time_text(said)} there. Calibrate anew, or elsewhere"
    )


def _workers(part: Part, cell: Cell, plan: Path) -> Path | None:
    """A plan of the cell's workers, written to ``plan``; None in virtual time, where they are nowhere."""
    if part.file.mode == "virtual":
        return None
    if not plan.is_file():
        write(plan_of(spec_of(part, cell), part.file.seed), plan)
    return plan


def _compare(part: Part, cell: Cell, seed: int, recording: Recording, folder: Path, kept: KeptRuns) -> None:
    """Predict and run one repeat with model costs, and compare all counters."""
    spec = spec_of(part, cell, recording.graph)
    write(plan_of(spec, seed), folder / "cell.plan")
    values, differing = differences(predict(spec, seed), _run(part, cell, seed, folder / "cell.plan"))
    kept.compared[str(seed)] = {"values": values, "differing": differing}


def _run(part: Part, cell: Cell, seed: int, plan: Path) -> KernelRun:
    program = cell.program
    mode, costs = part.file.mode, part.file.costs if part.file.mode == "virtual" else None
    threads = mode != "virtual"
    order = Order(program.kernel, program.parameters, mode, costs, cell.workers, plan, warm_up=threads, seed=seed)
    (run,) = run_kernel(order)
    return run
