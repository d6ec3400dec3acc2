"""Task graphs, recorded by serial runs: the only source of a prediction for a program's tasks.

A recording uses no run that is predicted. With model costs a graph is the same every time: the cells of a
program share one, which is kept in the results directory. Measured times change with the load of the machine:
every repeat in virtual time, which measures segments just as a recording does, is predicted from a serial run of its
own, made just before it. Rehearsals measure what a program takes on threads, see `numasim.validate.rounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from numasim.files.owned_folder import make_folder
from numasim.runtime.runtime_program import Order, run_kernel
from numasim.validate.part_files import PartFile
from numasim.validate.run_store import GRAPHS, Identity, digest
from numasim.validate.validation_cells import Cell


@dataclass(frozen=True)
class Recording:
    """A recorded program: its graph, and how long its serial twin took (0 where that was not timed)."""

    graph: Path
    serial_ps: int


def record(cell: Cell, part: PartFile, graph: Path) -> Recording:
    """Run the cell's program serially and write its ``graph``; errors as of `run_kernel`."""
    program = cell.program
    order = Order(program.kernel, program.parameters, "serial", part.costs, team_of(cell), seed=part.seed, record=graph)
    (run,) = run_kernel(order)
    return Recording(graph, run.serial_ps or 0)


def shared_recording(cell: Cell, part: PartFile, directory: Path, identity: Identity) -> Recording:
    """The recording that all cells of a program with model costs share, made if it does not exist."""
    program = cell.program
    known = {**identity, "kernel": program.kernel, "set": program.parameters, "team": team_of(cell)}
    folder = directory / GRAPHS
    graph = folder / f"{program.kernel}-{digest(known)}.json"
    if graph.is_file():
        return Recording(graph, 0)
    make_folder(folder)
    return record(cell, part, graph)


def team_of(cell: Cell) -> int | None:
    """The workers that a recording needs to know: those of a program that has a part for each."""
    return cell.workers if cell.program.team else None
