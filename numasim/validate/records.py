"""Task graphs recorded by one serial run of a program each, kept in the results directory.

All predictions of a program start from its one recording; no run that is predicted has any part in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from numasim.runtime.program import Order, run_kernel
from numasim.sweep.files import output_errors, write_whole
from numasim.validate.cells import Cell
from numasim.validate.kept import Identity, digest

GRAPHS = "graphs"


@dataclass(frozen=True)
class Recording:
    """A recorded program: its graph, and how long its serial twin took (0 where that was not timed)."""

    graph: Path
    serial_ps: int


def record(cell: Cell, costs: str, seed: int, directory: Path, identity: Identity) -> Recording:
    """The recording of the cell's program, made now unless it is there; errors as of `run_kernel`."""
    program = cell.program
    workers = cell.workers if program.team else None
    name = digest({**identity, "kernel": program.kernel, "set": program.parameters, "costs": costs, "team": workers})
    folder = directory / GRAPHS
    graph, note = folder / f"{program.kernel}-{name}.json", folder / f"{program.kernel}-{name}.serial"
    if not note.is_file():
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        order = Order(program.kernel, program.parameters, "serial", costs, workers, record=graph, seed=seed)
        (run,) = run_kernel(order)
        write_whole(note, json.dumps({"serial_ps": run.serial_ps or 0}).encode())
    return Recording(graph, int(json.loads(note.read_bytes())["serial_ps"]))
