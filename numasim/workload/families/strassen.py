"""BOTS Strassen (thesis, section 3.6): matrix product by seven half-size products, one task each.

A task of size n allocates eleven temporary quadrants, fills eight of them with sums of the quadrants of A and B, spawns
seven products, waits, and adds up the products. C is written in place. Temporaries come from a heap. The C library
keeps freed blocks of up to 32 MiB (glibc, DEFAULT_MMAP_THRESHOLD_MAX), and later tasks of the same size reuse these
blocks. The pages of a reused block are on the node of the task that touched the block first; soon after the free, the
block's bytes are still in a cache. Larger blocks are fresh memory each time. ``heap`` says which tasks reuse a block:

- ``shared``: the next task. All threads have one heap, and tasks use 32 blocks of each size in turn.
- ``arenas``: tasks of the thread that freed the block, as with glibc's heap for each thread. A worker executes a
  subtree depth first and needs one block of each size at a time. The tasks of one size therefore share a block if all
  are in the same one of the first 49 subtrees; 49 subtrees are enough for the threads of most machines.
- ``fresh``: no task. Every block is fresh memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole
from numasim.parts.choices import Choices
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Kind, Mode, Op, Region, Workload
from numasim.workload.parameters import Family, PowerOfTwo, WorkloadParameters, WorkTime, compute_ps
from numasim.workload.totals import Totals, access, memory, segment, task, together

ELEMENT_BYTES = 8
CHILDREN = 7
TEMPORARIES = 11
LARGEST_RECYCLED_BYTES = 32 << 20
THREADS = 32  # threads that have a block of each size in use at a time, under heap ``shared``
SUBTREES = CHILDREN**2  # under heap ``arenas``: as many as tasks of the first level with at least THREADS tasks
A, B, C, HEAP = range(4)
S1, S2, S3, S4, S5, S6, S7, S8, M2, M5, T1 = range(TEMPORARIES)
MULTIPLY, ADD = range(2)
LEAF, SPLIT, SERIAL_SPLIT = range(3)

SHAPES = (
    Shape((Op.RUN,), (MULTIPLY,), (3,)),
    Shape((Op.RUN, *[Op.SPAWN] * CHILDREN, Op.WAIT, Op.RUN), (ADD, ADD), (3, 2)),
    Shape((Op.RUN, *[Op.CALL] * CHILDREN, Op.RUN), (ADD, ADD), (3, 2)),
)


class StrassenParameters(WorkloadParameters):
    """BOTS Strassen on ``n`` x ``n`` doubles; sub-matrices of at most ``cutoff`` are multiplied directly.

    ``cutoff_version: manual`` makes plain calls instead of tasks from depth ``cutoff_depth`` on. ``heap`` says which
    tasks reuse the freed memory of temporaries. 1,000 products or additions take ``ps_per_1000_flops``.
    """

    default_runtime: ClassVar[str] = "ompi"
    powers_of_two: ClassVar[tuple[str, ...]] = ("n", "cutoff")
    name: Literal["strassen"] = Field(description="The name of this workload.")
    n: Annotated[PowerOfTwo, Field(le=2**16)] = Field(description="Rows and columns of the matrices, a power of two.")
    cutoff: Annotated[PowerOfTwo, Field(le=2**12)] = Field(
        64, description="Most rows of a matrix that is multiplied directly, a power of two; the default of BOTS."
    )
    cutoff_version: Annotated[
        Literal["none", "manual"],
        Choices({"none": "Every product is a task.", "manual": "From cutoff_depth on, products are plain calls."}),
    ] = Field("none", description="Whether calls replace tasks deep in the recursion (A-23).")
    cutoff_depth: Annotated[Whole, Field(ge=1, le=20)] = Field(
        3, description="With cutoff_version: manual, the depth from which on calls replace tasks."
    )
    heap: Annotated[
        Literal["shared", "arenas", "fresh"],
        Choices(
            {
                "shared": "The next task, from one heap for all threads.",
                "arenas": "Tasks of the thread that freed the block, as with glibc.",
                "fresh": "No task: every block is fresh memory.",
            }
        ),
    ] = Field("shared", description="Which tasks take the freed memory of temporaries again (A-35).")
    ps_per_1000_flops: WorkTime = Field(
        148_400, description="Time of 1,000 operations; the default fits the serial times of Table 3.4 of the thesis."
    )

    def totals(self) -> Totals:
        """Return the size of the program, as if every matrix lay contiguously in memory."""
        depth = max(0, (self.n // self.cutoff).bit_length() - 1)
        sizes = [self.n >> level for level in range(depth + 1)]
        splits = (_split_totals(size, self.ps_per_1000_flops).times(7**level) for level, size in enumerate(sizes[:-1]))
        read, written = (access(ELEMENT_BYTES * sizes[-1] ** 2, mode=mode) for mode in (Mode.READ, Mode.WRITE))
        leaf = task(segment(compute_ps(2 * sizes[-1] ** 3, self.ps_per_1000_flops), read, read, written))
        heap = sum(TEMPORARIES * ELEMENT_BYTES * (size // 2) ** 2 * 7**level for level, size in enumerate(sizes[:-1]))
        return together(splits) + leaf.times(7**depth) + memory(max(heap, ELEMENT_BYTES * self.n**2))


class Place(NamedTuple):
    """[tasks] the region, offset and stride of rows of one square matrix of every task of a level."""

    region: I64
    offset: I64
    stride: I64

    def quadrant(self, row: int, column: int, size: int) -> Place:
        """Return the place of the quadrant (0 or 1, 0 or 1) of ``size`` x ``size`` elements."""
        return self._replace(offset=self.offset + row * size * self.stride + column * size * ELEMENT_BYTES)


def _split_totals(size: int, rate: int) -> Totals:
    whole, quadrant = ELEMENT_BYTES * size**2, (size // 2) ** 2
    sums, read = access(8 * ELEMENT_BYTES * quadrant, mode=Mode.WRITE), access(3 * ELEMENT_BYTES * quadrant)
    before = segment(compute_ps(8 * quadrant, rate), access(whole), access(whole), sums)
    behind = segment(compute_ps(7 * quadrant, rate), read, access(whole, mode=Mode.READ_WRITE))
    return task(before, behind, ops=CHILDREN + 1)


def strassen(parameters: StrassenParameters) -> Workload:
    """Return the task graph of one Strassen product."""
    tree = _Tree(parameters)
    draft = Draft(tree.parent, tree.shape, SHAPES, tree.kind)
    places = tree.places(draft)
    rate = parameters.ps_per_1000_flops
    draft.compute(LEAF, compute_ps(2 * tree.size[draft.tasks(LEAF)] ** 3, rate))
    for number, (place, mode) in enumerate(zip(places, (Mode.READ, Mode.READ, Mode.WRITE), strict=True)):
        _access_matrix(draft, LEAF, number, place, tree.size, mode=mode)
    for shape in (SPLIT, SERIAL_SPLIT):
        _fill_splits(draft, shape, tree, places, rate)
    matrix_bytes = ELEMENT_BYTES * parameters.n**2
    levels = zip(tree.level_tasks[:-1], tree.level_size[:-1], strict=True)
    split_elements = sum(count * size**2 for count, size in levels)  # of all matrices that are split
    return draft.finish(
        **made_of(parameters),
        kernels=("multiply", "add"),
        regions=(
            Region("A", matrix_bytes, True),
            Region("B", matrix_bytes, True),
            Region("C", matrix_bytes, False),
            Region("heap", tree.heap_end, False),
        ),
        facts={
            "tasks": int((tree.kind == Kind.TASK).sum()),
            "splits": sum(tree.level_tasks[:-1]),
            "leaves": tree.level_tasks[-1],
            "flops_multiply": tree.level_tasks[-1] * 2 * tree.level_size[-1] ** 3,
            "flops_add": 15 * split_elements // 4,
            "bytes_streamed": 70 * split_elements,  # written bytes count twice, because a write fetches the line first
            "bytes_allocated": int(tree.heap_bytes.sum()),
        },
    )


class _Tree:
    """The recursion, numbered level by level; arrays are [tasks]."""

    def __init__(self, parameters: StrassenParameters) -> None:
        self.depth = max(0, (parameters.n // parameters.cutoff).bit_length() - 1)
        self.level_tasks = [CHILDREN**level for level in range(self.depth + 1)]
        self.level_size = [parameters.n >> level for level in range(self.depth + 1)]
        self.first = offsets(np.array(self.level_tasks))
        level = np.repeat(np.arange(self.depth + 1), self.level_tasks)
        self.size = parameters.n >> level
        self.parent = (np.arange(len(level)) - 1) // CHILDREN
        spawning = parameters.cutoff_depth if parameters.cutoff_version == "manual" else self.depth + 1
        self.kind = np.where(level < spawning, Kind.TASK, Kind.CALL)
        self.shape = np.where(level == self.depth, LEAF, np.where(level < spawning - 1, SPLIT, SERIAL_SPLIT))
        self.heap_bytes = np.where(level == self.depth, 0, TEMPORARIES * ELEMENT_BYTES * (self.size // 2) ** 2)
        self.heap = np.zeros(len(level), np.int64)
        self.heap_end = 0
        self.heap_kind = parameters.heap

    def places(self, draft: Draft) -> tuple[Place, Place, Place]:
        """Return the places of A, B and C of every task."""
        self._lay_out_heap(draft)
        stride = np.array([ELEMENT_BYTES * self.level_size[0]])
        a, b, c = (Place(np.array([region]), np.array([0]), stride) for region in (A, B, C))
        found = [(a, b, c)]
        for level in range(self.depth):
            heap = self.heap[self.first[level] : self.first[level + 1]]
            a, b, c = _operands(a, b, c, heap, self.level_size[level] // 2)
            found.append((a, b, c))
        a, b, c = (Place(*map(np.concatenate, zip(*levels, strict=True))) for levels in zip(*found, strict=True))
        return a, b, c

    def _lay_out_heap(self, draft: Draft) -> None:
        """Lay out the blocks of temporaries, level by level."""
        for level in range(self.depth):
            tasks = np.arange(self.first[level], self.first[level + 1])
            block = int(self.heap_bytes[tasks[0]])
            layout = HEAPS[self.heap_kind if block <= LARGEST_RECYCLED_BYTES else "fresh"]
            number = layout(np.argsort(np.argsort(draft.position[tasks])))
            self.heap[tasks] = self.heap_end + number * block
            self.heap_end += (int(number.max()) + 1) * block


# from the numbers of tasks of one size, in the order of a serial run, to the number of the block of each task
HEAPS: dict[str, Callable[[I64], I64]] = {
    "arenas": lambda order: order * np.int64(min(SUBTREES, len(order))) // len(order),
    "shared": lambda order: order % np.int64(THREADS),
    "fresh": lambda order: order,
}


def _operands(a: Place, b: Place, c: Place, heap: I64, size: int) -> tuple[Place, Place, Place]:
    """Return A, B and C of the seven products of every task of a level, in program order."""

    def temporary(slot: int) -> Place:
        offset = heap + slot * ELEMENT_BYTES * size**2
        return Place(np.full_like(heap, HEAP), offset, np.full_like(heap, ELEMENT_BYTES * size))

    def quadrant(of: Place, name: str) -> Place:
        return of.quadrant(int(name[0]) - 1, int(name[1]) - 1, size)

    products = (
        (quadrant(a, "11"), quadrant(b, "11"), temporary(M2)),
        (temporary(S1), temporary(S5), temporary(M5)),
        (temporary(S2), temporary(S6), temporary(T1)),
        (temporary(S3), temporary(S7), quadrant(c, "22")),
        (quadrant(a, "12"), quadrant(b, "21"), quadrant(c, "11")),
        (temporary(S4), quadrant(b, "22"), quadrant(c, "12")),
        (quadrant(a, "22"), temporary(S8), quadrant(c, "21")),
    )
    a, b, c = (
        Place(*(np.stack(np.broadcast_arrays(*part), axis=1).ravel() for part in zip(*operand, strict=True)))
        for operand in zip(*products, strict=True)
    )
    return a, b, c


def _fill_splits(draft: Draft, shape: int, tree: _Tree, places: tuple[Place, Place, Place], rate: int) -> None:
    """Set times and accesses of the eight sums before the products and of the seven additions after.

    An access covers several temporaries if these are neighbours in memory.
    """
    ids = draft.tasks(shape)
    quadrant = (tree.size[ids] // 2) ** 2
    heap = tree.heap[ids]
    block = ELEMENT_BYTES * quadrant
    draft.compute(shape, compute_ps(8 * quadrant, rate), run=0)
    _access_matrix(draft, shape, 0, places[A], tree.size, mode=Mode.READ)
    _access_matrix(draft, shape, 1, places[B], tree.size, mode=Mode.READ)
    draft.access(shape, 2, run=0, region=HEAP, offset=heap, row_bytes=8 * block, mode=Mode.WRITE)
    draft.compute(shape, compute_ps(7 * quadrant, rate), run=1)
    draft.access(shape, 0, run=1, region=HEAP, offset=heap + M2 * block, row_bytes=3 * block, mode=Mode.READ)
    _access_matrix(draft, shape, 1, places[C], tree.size, run=1, mode=Mode.READ_WRITE)


def _access_matrix(draft: Draft, shape: int, number: int, place: Place, size: I64, *, run: int = 0, mode: Mode) -> None:
    """Set the access to a square matrix: one contiguous piece if rows follow each other, else a piece for each row."""
    ids = draft.tasks(shape)
    row_bytes = ELEMENT_BYTES * size[ids]
    whole = place.stride[ids] == row_bytes
    draft.access(
        shape,
        number,
        run=run,
        region=place.region[ids],
        offset=place.offset[ids],
        row_bytes=np.where(whole, row_bytes * size[ids], row_bytes),
        rows=np.where(whole, 1, size[ids]),
        stride=np.where(whole, 0, place.stride[ids]),
        mode=mode,
    )


FAMILIES = (Family(StrassenParameters, strassen, small={"n": 64, "cutoff": 32}, benchmark={"n": 512}),)
