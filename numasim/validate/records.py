"""Task graphs recorded by one serial run of a program each, kept in the results directory.

No run that is predicted has any part in a recording. With model costs all cells of a program share one. Measured times
change with what else a machine does, so there each cell has its own, made just before its runs; where several are asked
for, the one whose work took the median time is kept: a usual one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from numasim.runtime.program import Order, run_kernel
from numasim.sweep.files import output_errors, write_whole
from numasim.validate.cells import Cell
from numasim.validate.kept import Identity, digest
from numasim.validate.part_files import PartFile

GRAPHS = "graphs"


@dataclass(frozen=True)
class Recording:
    """A recorded program: its graph, and how long its serial twin took (0 where that was not timed)."""

    graph: Path
    serial_ps: int


def record(cell: Cell, part: PartFile, directory: Path, identity: Identity) -> Recording:
    """The recording of the cell's program, made now unless it is there; errors as of `run_kernel`."""
    program = cell.program
    workers = cell.workers if program.team else None
    own = None if part.exact else f"{cell.strategy} {cell.workers}"
    known = {
        **identity,
        "cell": own,
        "kernel": program.kernel,
        "set": program.parameters,
        "costs": part.costs,
        "team": workers,
    }
    folder = directory / GRAPHS
    graph = folder / f"{program.kernel}-{digest({**known, 'recordings': part.recordings})}.json"
    note = graph.with_suffix(".serial")
    if not note.is_file():
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        order = Order(program.kernel, program.parameters, "serial", part.costs, workers, seed=part.seed)
        write_whole(note, json.dumps({"serial_ps": _usual(order, graph, part.recordings)}).encode())
    return Recording(graph, int(json.loads(note.read_bytes())["serial_ps"]))


def _usual(order: Order, graph: Path, recordings: int) -> int:
    """Record so often, leave the graph of the run of median work, and return the time of the serial twin beside it."""
    runs = []
    for number in range(recordings):
        path = graph.with_suffix(f".{number}")
        (run,) = run_kernel(replace(order, record=path))
        runs.append((run.columns["work_local_ps"], number, path, run.serial_ps or 0))
    _, _, path, serial_ps = sorted(runs)[(recordings - 1) // 2]
    with output_errors(graph):
        path.replace(graph)
        for _, _, other, _ in runs:
            other.unlink(missing_ok=True)
    return serial_ps
