"""Tiled Cholesky factorisation: a task waits for the tiles that the task reads and writes.

The program is the right-looking algorithm of Buttari, Langou, Kurzak and Dongarra ("A class of parallel tiled linear
algebra algorithms for multicore architectures", Parallel Computing 35, 2009) on a symmetric positive definite matrix of
doubles in tiles. Step k factors tile (k, k) (potrf), divides the tiles below tile (k, k) (trsm), and updates every tile
(i, j) right of column k: a diagonal tile by a product of a tile and its transpose (syrk), any other tile by a product
of two tiles (gemm). One task spawns all other tasks in this order and then waits. A spawned task starts when the last
earlier writer of every tile that the task reads or writes has finished, as with the ``depend`` clause of OpenMP. No
tile is written after another task has read the tile, so there are no other dependences.

A task is thus a triple ``0 <= k <= j <= i < tiles``: the work of step k on tile (i, j). Only the tiles on and below the
diagonal are stored, row by row, each in one piece. A kernel accesses whole tiles, even for work on one triangle.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import I64, Mode, Op, Region, Workload
from numasim.workload.parameters import Family, WorkloadParameters, compute_ps
from numasim.workload.totals import Totals, access, memory, segment, task, together

ELEMENT_BYTES = 8
KERNELS = ("potrf", "trsm", "syrk", "gemm")
POTRF, TRSM, SYRK, GEMM = range(len(KERNELS))
CREATOR = len(KERNELS)  # number of the shape (op program) of the task that spawns all others; task shapes are kernels
ACCESSES = (1, 2, 2, 3)  # [kernels] the number of tiles that the kernel reads or updates


class CholeskyParameters(WorkloadParameters):
    """A matrix of ``tiles`` x ``tiles`` tiles of ``tile_size`` x ``tile_size`` doubles."""

    name: Literal["cholesky"] = Field(description="The name of this workload.")
    tiles: Annotated[Whole, Field(ge=1, le=256)] = Field(
        32, description="Tiles along a side of the matrix; T tiles make T(T+1)(T+2)/6 tasks and their parent."
    )
    tile_size: Annotated[Whole, Field(ge=1, le=1024)] = Field(128, description="Doubles along a side of a tile.")
    ps_per_1000_flops: Annotated[Whole, Field(ge=0, le=10**9)] = Field(
        100_000, description="Time of 1,000 operations (LAPACK Working Note 41); 10 Gflop/s by default (assumed)."
    )

    def totals(self) -> Totals:
        """Return the size of the program: the tasks of every kernel, and the task that spawns these tasks."""
        tiles, tile_bytes = self.tiles, _tile_bytes(self)
        pairs = tiles * (tiles - 1) // 2
        counts = (tiles, pairs, pairs, pairs * (tiles - 2) // 3)
        read, updated = access(tile_bytes), access(tile_bytes, mode=Mode.READ_WRITE)
        times = [compute_ps(flops(kernel, self.tile_size), self.ps_per_1000_flops) for kernel in range(len(KERNELS))]
        kernels = (
            task(segment(time, *[read] * (used - 1), updated)).times(count)
            for time, count, used in zip(times, counts, ACCESSES, strict=True)
        )
        matrix = memory(tiles * (tiles + 1) // 2 * tile_bytes)
        return together(kernels) + task(ops=sum(counts) + 1) + matrix


class Steps(NamedTuple):
    """[tasks] step ``k`` and tile (``i``, ``j``) of every task, in the order of a serial run."""

    i: I64
    j: I64
    k: I64


def flops(kernel: int, size: int) -> int:
    """Return the floating-point operations of one kernel on ``size`` x ``size`` tiles, as in LAPACK Working Note 41."""
    return (size * (size + 1) * (2 * size + 1) // 6, size**3, size**2 * (size + 1), 2 * size**3)[kernel]


def cholesky(parameters: CholeskyParameters) -> Workload:
    """Return a task that spawns a task for every operation on a tile, and the dependences among the spawned tasks."""
    steps = _steps(parameters.tiles)
    i, j, k = steps
    kernels = np.where(j == k, np.where(i == k, POTRF, TRSM), np.where(i == j, SYRK, GEMM))
    parent = np.zeros(1 + len(kernels), np.int64)
    parent[0] = -1
    shapes = [Shape((Op.RUN,), (kernel,), (count,)) for kernel, count in enumerate(ACCESSES)]
    creator = Shape([*[Op.SPAWN] * len(kernels), Op.WAIT])
    draft = Draft(parent, np.concatenate([[CREATOR], kernels]), (*shapes, creator))
    _fill(draft, steps, parameters)
    source, target = _edges(steps, parameters.tiles)
    stored = parameters.tiles * (parameters.tiles + 1) // 2
    counts = np.bincount(kernels, minlength=len(KERNELS)).tolist()
    return draft.finish(
        **made_of(parameters),
        kernels=KERNELS,
        regions=(Region("matrix", stored * _tile_bytes(parameters), True),),
        edges=(1 + source, 1 + target),
        facts={
            "tasks_spawned": len(kernels),
            **dict(zip(KERNELS, counts, strict=True)),
            "dependences": len(source),
            "flops": flops(POTRF, parameters.tiles * parameters.tile_size),
        },
    )


def _steps(tiles: int) -> Steps:
    """Return the tasks in steps: first the tiles of column k from the diagonal down, then tiles right of k, by rows."""
    parts = []
    for k in range(tiles):
        column = np.arange(k, tiles)
        i, j = np.tril_indices(tiles - k - 1)
        rows, columns = np.concatenate([column, i + k + 1]), np.concatenate([np.full_like(column, k), j + k + 1])
        parts.append((rows, columns, np.full_like(rows, k)))
    return Steps(*map(np.concatenate, zip(*parts, strict=True)))


def _edges(steps: Steps, tiles: int) -> tuple[I64, I64]:
    """Return (predecessor, successor): for every task the last earlier writer of each of the task's tiles."""
    number = np.zeros((tiles, tiles, tiles), np.int32)  # [i, j, k] the task of step k on tile (i, j)
    number[steps] = np.arange(len(steps.k))
    i, j, k = steps
    writers = (
        (k > 0, (i, j, k - 1)),  # writer of the updated tile
        (i > j, (np.where(j > k, j, k), k, k)),  # potrf of the step for trsm; trsm of row j for gemm
        (j > k, (i, k, k)),  # trsm of row i
    )
    source = [number[writer][found] for found, writer in writers]
    target = [np.flatnonzero(found) for found, _ in writers]
    return np.concatenate(source).astype(np.int64), np.concatenate(target)


def _fill(draft: Draft, steps: Steps, parameters: CholeskyParameters) -> None:
    """Set times and accesses of every kernel: the tiles that the kernel reads, then the updated tile."""
    for kernel, count in enumerate(ACCESSES):
        tasks = draft.tasks(kernel) - 1
        i, j, k = (column[tasks] for column in steps)
        read = {POTRF: [], TRSM: [(k, k)], SYRK: [(i, k)], GEMM: [(i, k), (j, k)]}[kernel]
        draft.compute(kernel, compute_ps(flops(kernel, parameters.tile_size), parameters.ps_per_1000_flops))
        for number, (row, column) in enumerate([*read, (i, j)]):
            size, mode = _tile_bytes(parameters), Mode.READ if number < count - 1 else Mode.READ_WRITE
            offset = (row * (row + 1) // 2 + column) * size
            draft.access(kernel, number, region=0, offset=offset, row_bytes=size, mode=mode)


def _tile_bytes(parameters: CholeskyParameters) -> int:
    return ELEMENT_BYTES * parameters.tile_size**2


FAMILIES = (
    Family(CholeskyParameters, cholesky, small={"tiles": 4, "tile_size": 8}, benchmark={"tiles": 24, "tile_size": 64}),
)
