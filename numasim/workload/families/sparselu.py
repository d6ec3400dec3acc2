"""BOTS SparseLU (thesis, section 3.6): LU decomposition of a sparse matrix of blocks, in its two versions.

In `sparselu_single` one task runs every lu0 and spawns all other tasks. This task waits twice in every step: after the
divisions and after the updates. In `sparselu_for` lu0 runs alone. The rows of a step are then dealt to all threads in
contiguous pieces, as in a static loop, and the thread of a row spawns the tasks of the row. A barrier ends lu0, the
divisions and the updates.

Blocks that exist at the start lie in one region in row order. Blocks that the elimination allocates (fill-in) lie in
another region, in the order in which a serial run allocates them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field

from numasim.parts.base import Bytes, Whole
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import I64, Deal, Kind, Mode, Op, Phase, Region, Workload
from numasim.workload.parameters import Family, WorkloadParameters, WorkTime, compute_ps, power_of_two
from numasim.workload.totals import Totals, access, memory, segment, task, together

# ---- The elimination as a list of operations on blocks, with the blocks that fill in ---------------------------------
#
# Step k factors the diagonal block (lu0), divides the blocks right of the diagonal (fwd) and below (bdiv), and updates
# a block for every pair of divided blocks (bmod). An update of an empty block allocates the block.

MATRIX, FILL = range(2)


@dataclass(frozen=True)
class Elimination:
    """Step k divides the blocks ``columns[k]`` and ``rows[k]``, and updates a block for each pair (row, column).

    ``region`` and ``place`` [blocks, blocks] are the region of each block and the position there, -1 for a block that
    stays empty.
    """

    columns: list[I64]
    rows: list[I64]
    region: I64
    place: I64
    initial_blocks: int
    final_blocks: int


def initial_pattern(blocks: int) -> npt.NDArray[np.bool_]:
    """Return [blocks, blocks] whether the program fills a block at the start.

    Three diagonals are full. Elsewhere a full block has an even row and an even column; right of the diagonal only
    every third row, and below the diagonal only every third column, has full blocks.
    """
    row, column = np.indices((blocks, blocks))
    even = (row % 2 == 0) & (column % 2 == 0)
    thirds = np.minimum(row, column) % 3 == 0
    pattern: npt.NDArray[np.bool_] = (np.abs(row - column) <= 1) | even & thirds
    return pattern


def eliminate(blocks: int) -> Elimination:
    """Return which blocks each step of the elimination reads and fills in; no values are computed."""
    present = initial_pattern(blocks)
    region = np.where(present, MATRIX, -1)
    place = np.where(present, np.cumsum(present).reshape(present.shape) - 1, -1)
    initial = int(present.sum())
    columns, rows, filled = [], [], 0
    for k in range(blocks):
        right = np.flatnonzero(present[k, k + 1 :]) + k + 1
        below = np.flatnonzero(present[k + 1 :, k]) + k + 1
        fresh = ~present[np.ix_(below, right)]
        at = (below[:, None] * blocks + right)[fresh]
        present.flat[at], region.flat[at] = True, FILL
        place.flat[at] = filled + np.arange(len(at))
        filled += len(at)
        columns.append(right)
        rows.append(below)
    return Elimination(columns, rows, region, place, initial, initial + filled)


KERNELS = ("lu0", "fwd", "bdiv", "bmod")
LU0, FWD, BDIV, BMOD = range(4)
ACCESSES = (1, 2, 2, 3)  # [kernels] the number of blocks that the kernel reads or updates
SHAPES = tuple(Shape((Op.RUN,), (kernel,), (count,)) for kernel, count in enumerate(ACCESSES))
CREATOR = len(SHAPES)


class SparseLuParameters(WorkloadParameters):
    """BOTS SparseLU of ``blocks`` x ``blocks`` blocks of ``block_size`` x ``block_size`` floats.

    Each block begins at a multiple of ``alignment`` bytes, as if every block were allocated in own pages; by default
    one block follows the other.
    """

    default_runtime: ClassVar[str] = "ompi"
    powers_of_two: ClassVar[tuple[str, ...]] = ("alignment",)
    blocks: Annotated[Whole, Field(ge=1, le=256)] = Field(128, description="Blocks along a side of the matrix (A-25).")
    block_size: Annotated[Whole, Field(ge=1, le=4096)] = Field(64, description="Floats along a side of a block (A-25).")
    element_bytes: Literal[4, 8] = Field(4, description="Size of an element: 4 bytes as in BOTS, or 8 (A-62).")
    alignment: Annotated[Bytes, Field(ge=1, le=2**32), AfterValidator(power_of_two)] = Field(
        1, description="Alignment of each block in bytes, a power of two. By default one block follows the other."
    )
    ps_per_1000_flops: WorkTime = Field(
        117_200, description="Time of 1,000 operations; the default fits the serial times of Table 3.4 of the thesis."
    )

    @property
    def block_bytes(self) -> int:
        """Bytes of a block."""
        return self.element_bytes * self.block_size**2

    @property
    def block_stride(self) -> int:
        """Bytes from the beginning of a block to the beginning of the next block."""
        return -(-self.block_bytes // self.alignment) * self.alignment

    def totals(self) -> Totals:
        """Return the size of the program: all kernel calls, and a body for each row in the two loops of every step."""
        read, updated = access(self.block_bytes), access(self.block_bytes, mode=Mode.READ_WRITE)
        calls = (
            task(segment(_kernel_ps(kernel, self), *[read] * (used - 1), updated), ops=1).times(count)
            for kernel, (count, used) in enumerate(zip(calls_of(self.blocks), ACCESSES, strict=True))
        )
        bodies = task(ops=2).times(self.blocks**2)
        return together(calls) + bodies + memory(self.blocks**2 * self.block_stride)


class SparseLuSingleParameters(SparseLuParameters):
    """SparseLU in which one thread creates all tasks."""

    name: Literal["sparselu-single"] = Field(description="The name of this workload.")


class SparseLuForParameters(SparseLuParameters):
    """SparseLU in which rows are dealt to all threads; each thread creates the tasks of its rows."""

    name: Literal["sparselu-for"] = Field(description="The name of this workload.")


class Calls(NamedTuple):
    """Operations in the order of a serial run: an operation is a kernel on row ``i``, column ``j`` in step ``k``."""

    kernel: I64
    i: I64
    j: I64
    k: I64


@cache
def calls_of(blocks: int) -> tuple[int, int, int, int]:
    """Return how often each kernel is called."""
    pattern = eliminate(blocks)
    right, below = [len(columns) for columns in pattern.columns], [len(rows) for rows in pattern.rows]
    return blocks, sum(right), sum(below), sum(a * b for a, b in zip(right, below, strict=True))


def flops(kernel: int, size: int) -> int:
    """Return the floating-point operations of one kernel on blocks of ``size`` x ``size``."""
    divisions, updates = size * (size - 1) // 2, size * (size - 1) * (2 * size - 1) // 3
    return (divisions + updates, size**2 * (size - 1), size**3, 2 * size**3)[kernel]


def sparselu_single(parameters: SparseLuParameters) -> Workload:
    """Return the version in which one task creates all other tasks."""
    pattern = eliminate(parameters.blocks)
    divisions, updates = _divisions(pattern), _updates(pattern)
    calls = _concatenate([part for step in zip(divisions, updates, strict=True) for part in step])
    parent = np.zeros(1 + len(calls.k), np.int64)
    parent[0] = -1
    shape = np.concatenate([[CREATOR], calls.kernel])
    ops: list[int] = []
    for divide, update in zip(divisions, updates, strict=True):
        ops += [Op.RUN, *[Op.SPAWN] * len(divide.k), Op.WAIT, *[Op.SPAWN] * len(update.k), Op.WAIT]
    creator = Shape(ops, [LU0] * len(divisions), [1] * len(divisions))
    draft = Draft(parent, shape, (*SHAPES, creator))
    _fill(draft, pattern, Calls(*(np.concatenate([[0], column]) for column in calls)), parameters)
    for k in range(parameters.blocks):
        draft.compute(CREATOR, _kernel_ps(LU0, parameters), run=k)
        draft.access(CREATOR, 0, run=k, mode=Mode.READ_WRITE, **_block(pattern, (k, k), parameters))
    return _finish(draft, parameters, pattern, None)


def sparselu_for(parameters: SparseLuParameters) -> Workload:
    """Return the version in which each thread creates the tasks of its rows."""
    pattern = eliminate(parameters.blocks)
    graph = _Rows(parameters.blocks)
    for k, (divisions, updates) in enumerate(zip(_divisions(pattern), _updates(pattern), strict=True)):
        graph.factor(k)
        if k + 1 < parameters.blocks:
            graph.deal(k, divisions, np.maximum(divisions.i, divisions.j), "divide")
            graph.deal(k, updates, updates.i, "update")
    draft = Draft(np.concatenate(graph.parent), np.concatenate(graph.shape), graph.shapes(), np.concatenate(graph.kind))
    _fill(draft, pattern, _concatenate(graph.calls), parameters)
    return _finish(draft, parameters, pattern, graph.phases(draft))


class _Rows:
    """The bodies and tasks of `sparselu_for`, numbered phase by phase: first bodies of threads, then tasks."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.count = 0
        self.parent: list[I64] = []
        self.shape: list[I64] = []
        self.kind: list[I64] = []
        self.calls: list[Calls] = []
        self._phases: list[tuple[str, int, int]] = []

    def factor(self, k: int) -> None:
        """Add the factorisation of the diagonal block, by the master alone."""
        self._phases.append((f"lu0 {k}", self.count, 1))
        self._add(np.array([-1]), np.array([LU0]), Kind.IMPLICIT, _calls(LU0, k, k, k))

    def deal(self, k: int, calls: Calls, row: I64, name: str) -> None:
        """Add a loop over the rows below k: a body for each row, which spawns the ``calls`` of this ``row``, if any."""
        bodies, first = self.blocks - k - 1, self.count
        self._phases.append((f"{name} {k}", first, bodies))
        spawns = np.bincount(row - k - 1, minlength=bodies)
        empty = np.zeros(bodies, np.int64)
        self._add(np.full(bodies, -1), CREATOR + spawns, Kind.IMPLICIT, Calls(empty, empty, empty, empty))
        self._add(first + row - k - 1, calls.kernel, Kind.TASK, calls)

    def _add(self, parent: I64, shape: I64, kind: Kind, calls: Calls) -> None:
        self.parent.append(parent)
        self.shape.append(shape)
        self.kind.append(np.full(len(parent), kind))
        self.calls.append(calls)
        self.count += len(parent)

    def shapes(self) -> tuple[Shape, ...]:
        """Return the shapes (op programs): one for each kernel, and a body for each number of tasks that it spawns."""
        return (*SHAPES, *(Shape([Op.SPAWN] * spawns) for spawns in range(max(3, self.blocks))))

    def phases(self, draft: Draft) -> list[Phase]:
        """Return for each step the phase of the factorisation, then the phases of the two dealt loops."""
        return [
            Phase(
                roots=tuple(draft.position[first : first + bodies].tolist()),
                deal=Deal.MASTER if name.startswith("lu0") else Deal.BLOCK,
                serial=name.startswith("lu0"),
                name=name,
            )
            for name, first, bodies in self._phases
        ]


def _calls(kernel: int, i: I64 | int, j: I64 | int, k: int) -> Calls:
    return Calls(*np.broadcast_arrays(np.atleast_1d(kernel), i, j, k))


def _concatenate(parts: list[Calls]) -> Calls:
    return Calls(*map(np.concatenate, zip(*parts, strict=True)))


def _divisions(pattern: Elimination) -> list[Calls]:
    """Return for each step the divisions of the blocks right of the diagonal, then of the blocks below."""
    return [
        _concatenate([_calls(FWD, k, columns, k), _calls(BDIV, rows, k, k)])
        for k, (columns, rows) in enumerate(zip(pattern.columns, pattern.rows, strict=True))
    ]


def _updates(pattern: Elimination) -> list[Calls]:
    """Return for each step the updates: a pair of a block below and a block right of the diagonal, row by row."""
    return [
        _calls(BMOD, np.repeat(rows, len(columns)), np.tile(columns, len(rows)), k)
        for k, (columns, rows) in enumerate(zip(pattern.columns, pattern.rows, strict=True))
    ]


def _kernel_ps(kernel: int, parameters: SparseLuParameters) -> int:
    return int(compute_ps(flops(kernel, parameters.block_size), parameters.ps_per_1000_flops))


def _fill(draft: Draft, pattern: Elimination, calls: Calls, parameters: SparseLuParameters) -> None:
    """Set times and accesses of every kernel; ``calls`` is [tasks] in the numbering given to the draft."""
    for kernel, count in enumerate(ACCESSES):
        i, j, k = (column[draft.tasks(kernel)] for column in calls[1:])
        draft.compute(kernel, _kernel_ps(kernel, parameters))
        read = {LU0: [], FWD: [(k, k)], BDIV: [(k, k)], BMOD: [(i, k), (k, j)]}[kernel]
        for number, block in enumerate([*read, (i, j)]):
            mode = Mode.READ if number < count - 1 else Mode.READ_WRITE
            draft.access(kernel, number, mode=mode, **_block(pattern, block, parameters))


def _block(pattern: Elimination, block: Any, parameters: SparseLuParameters) -> dict[str, Any]:
    """Return the region, offset and size of the accesses to the ``block`` (row, column) of every task."""
    offset = pattern.place[block] * parameters.block_stride
    return {"region": pattern.region[block], "offset": offset, "row_bytes": parameters.block_bytes}


def _finish(draft: Draft, parameters: SparseLuParameters, pattern: Elimination, phases: list[Phase] | None) -> Workload:
    stride, counts = parameters.block_stride, calls_of(parameters.blocks)
    initial, final = pattern.initial_blocks, pattern.final_blocks
    return draft.finish(
        **made_of(parameters),
        kernels=KERNELS,
        regions=(Region("matrix", initial * stride, True), Region("fill", (final - initial) * stride, False)),
        phases=phases,
        facts={
            "tasks_spawned": sum(counts[FWD:]),
            **dict(zip(KERNELS[FWD:], counts[FWD:], strict=True)),
            "blocks_initial": initial,
            "blocks_final": final,
            "bytes_final": final * parameters.block_bytes,
            "flops": sum(count * flops(kernel, parameters.block_size) for kernel, count in enumerate(counts)),
        },
    )


FAMILIES = tuple(
    Family(model, generate, small={"blocks": 3, "block_size": 8}, benchmark={"blocks": 20, "block_size": 16})
    for model, generate in ((SparseLuSingleParameters, sparselu_single), (SparseLuForParameters, sparselu_for))
)
