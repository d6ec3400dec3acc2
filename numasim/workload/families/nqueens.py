"""BOTS N-Queens: the number of ways to put n queens on a board so that no queen attacks another queen.

A task tries one column of the next row: the task copies the board and tests the new queen against all earlier queens.
If no earlier queen attacks the new queen, the task spawns a task for every column of the following row and waits. In
row ``cutoff`` a task searches the remaining rows serially. A try in row j, from 0, takes (j + 1) times ``row_ns``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from numasim.parts.base import Nanoseconds, Whole, ps
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import I64, Op, Phase, Workload
from numasim.workload.parameters import Family, Size, WorkloadParameters
from numasim.workload.totals import Totals, segment, task

PRUNED, STANDING, ROOT = range(3)
Flags = npt.NDArray[np.bool_]
BOARDS = (  # [n - 1][row] the ways to put queens into all rows above this row so that no queen attacks another
    (1,),
    (1, 2),
    (1, 3, 2),
    (1, 4, 6, 4),
    (1, 5, 12, 14, 12),
    (1, 6, 20, 36, 46, 40),
    (1, 7, 30, 76, 140, 164, 94),
    (1, 8, 42, 140, 344, 568, 550, 312),
    (1, 9, 56, 234, 732, 1614, 2292, 2038, 1066),
    (1, 10, 72, 364, 1400, 3916, 7552, 9632, 7828, 4040),
    (1, 11, 90, 536, 2468, 8492, 21362, 37248, 44148, 34774, 15116),
    (1, 12, 110, 756, 4080, 16852, 52856, 120104, 195270, 222720, 160964, 68264),
    (1, 13, 132, 1030, 6404, 31100, 117694, 335010, 707698, 1086568, 1151778, 813448, 350302),
)


class NqueensParameters(WorkloadParameters):
    """BOTS N-Queens: a task per tried column of every row; from row ``cutoff`` on the search is serial."""

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["nqueens"] = Field(description="The name of this workload.")
    n: Annotated[Whole, Field(ge=1, le=len(BOARDS))] = Field(description="Rows and columns of the board.")
    cutoff: Annotated[Whole, Field(ge=1)] | None = Field(
        None, description="The row from which on a task searches the rest by itself. Default: every try is a task."
    )
    iterations: Size = Field(1, description="How often the search is made, once after the other.")
    row_ns: Nanoseconds = Field(
        Decimal(2), description="Time to copy and test a row of a board; the default is assumed."
    )

    def totals(self) -> Totals:
        """Return the size of the program: tries before the cut-off are tasks, later tries are work inside of tasks."""
        depth = min(self.n, self.cutoff or self.n)
        tries = [self.n * boards for boards in BOARDS[self.n - 1]]
        units = sum(count * (row + 1) for row, count in enumerate(tries))
        work_ps = units * ps(self.row_ns)
        tasks = task(segment(0), ops=1).times(1 + sum(tries[:depth]))
        search = tasks + Totals(ops=sum(tries[:depth]), compute_ps=work_ps, segment_ps=work_ps)
        return search.repeated(self.iterations)


class Boards(NamedTuple):
    """Boards with queens in the first rows, none attacked; bit c of a mask says that column c is attacked or taken."""

    columns: I64
    rising: I64
    falling: I64
    origin: I64  # the try that began the serial search, else the latest try


def nqueens(parameters: NqueensParameters) -> Workload:
    """Return the search tree down to the cut-off row; the serial search below the row is work of the leaves."""
    n = parameters.n
    depth = min(n, parameters.cutoff or n)
    parents, rows, stands = [np.array([-1])], [np.array([-1])], [np.array([True])]
    boards = Boards(*np.zeros((4, 1), np.int64))
    first = 0
    for level in range(depth):
        tries, ok = _try(boards, n)
        parents.append(np.repeat(boards.origin, n))
        first += len(rows[-1])
        rows.append(np.full(len(ok), level))
        stands.append(ok)
        boards = _advance(tries, ok, np.arange(first, first + len(ok)))
    row = np.concatenate(rows)
    work = row + 1  # the work of each task in units of ``row_ns``: its own try, and the tries of its serial search
    for level in range(depth, n):
        work += np.bincount(boards.origin, minlength=len(row)) * n * (level + 1)
        tries, ok = _try(boards, n)
        boards = _advance(tries, ok, tries.origin)
    splits = np.concatenate(stands) & (row < depth - 1)
    shape = np.where(row < 0, ROOT, np.where(splits, STANDING, PRUNED))
    spawns = [Op.SPAWN] * n
    shapes = (Shape((Op.RUN,), (0,), (0,)), Shape((Op.RUN, *spawns, Op.WAIT), (0,), (0,)), Shape((*spawns, Op.WAIT)))
    draft = Draft(np.concatenate(parents), shape, shapes)
    for kind in (PRUNED, STANDING):
        draft.compute(kind, work[draft.tasks(kind)] * ps(parameters.row_ns))
    return draft.finish(
        **made_of(parameters),
        kernels=("try",),
        phases=[Phase(roots=(0,), repeat=parameters.iterations)],
        facts={"tasks": len(row) * parameters.iterations, "solutions": len(boards.columns)},
    )


def _try(boards: Boards, n: int) -> tuple[Boards, Flags]:
    """Return (each board with a queen in each column of the next row, whether no earlier queen attacks the new one)."""
    queen = np.tile(1 << np.arange(n), len(boards.columns))
    old = Boards(*(np.repeat(mask, n) for mask in boards))
    free = (old.columns | old.rising | old.falling) & queen == 0
    return Boards(old.columns | queen, old.rising | queen, old.falling | queen, old.origin), free


def _advance(tries: Boards, ok: Flags, origin: I64) -> Boards:
    """Return the boards whose last queen is not attacked, with the masks for the next row."""
    return Boards(tries.columns[ok], tries.rising[ok] << 1, tries.falling[ok] >> 1, origin[ok])


FAMILIES = (Family(NqueensParameters, nqueens, small={"n": 4}, benchmark={"n": 8}),)
