"""Programs that sweep over the rows of an array with a stencil, a tree of tasks for every sweep.

A sweep computes every point from the points around it, ``halo`` rows to either side. With two buffers it reads one and
writes the other, and the next sweep goes back; with one it updates the array in place. The two sweeps have a tree of
tasks each and are repeated as a loop; of an odd number of sweeps the last one is a phase behind the loop, with the tree
of the first. A leaf has one RUN: it computes its rows, and accesses them and the rows of the halo that exist. No region
is initialised before, so that the first sweep places the pages.

A sweep may do every other point only, as the half sweeps of a red-black order do, which touch all rows nevertheless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from numasim.workload.algorithms.row_tree import RowTree, planted, row_tree, tree_shapes, tree_totals
from numasim.workload.builder import Draft, Numbers, Shape
from numasim.workload.graph import I64, Loop, Mode, Op, Phase, Region, Workload
from numasim.workload.kernel_rates import compute_ps
from numasim.workload.size.totals import Totals, access, memory, segment, task

LEAF = 0  # the shape of leaves


@dataclass(frozen=True)
class Sweeps:
    """What a stencil program does: sizes in rows, points and bytes, ``ops`` a point, ``rate`` in ps per 1,000 ops."""

    name: str
    rows: int
    row_points: int
    element_bytes: int
    halo: int  # rows to either side; in place one
    count: int  # sweeps in all
    turns: tuple[str, str]  # what the sweeps that take turns are called
    buffers: int  # 1: in place, 2: from one to the other
    halved: bool  # a sweep computes every other point
    leaf_rows: int
    branching: int
    irregular: bool
    ops: int
    rate: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.row_points * self.element_bytes

    @property
    def array_bytes(self) -> int:
        """Bytes of a buffer."""
        return self.rows * self.row_bytes

    @property
    def blocks(self) -> int:
        """Leaves of a sweep."""
        return -(-self.rows // self.leaf_rows)

    @property
    def trees(self) -> int:
        """Trees of tasks: one for each of the sweeps that take turns."""
        return min(len(self.turns), self.count)


def sweep_totals(sweeps: Sweeps) -> Totals:
    """Of all trees, and of what all sweeps compute and access; a leaf has at most a halo to either side."""
    rows = min(sweeps.rows, sweeps.leaf_rows)
    points = -(-rows * sweeps.row_points // 2) if sweeps.halved else rows * sweeps.row_points
    work_ps = compute_ps(points * sweeps.ops, sweeps.rate)
    if sweeps.buffers == 1:
        halo = access(min(sweeps.halo, sweeps.rows) * sweeps.row_bytes, 2)
        moved = halo, access(rows * sweeps.row_bytes, mode=Mode.READ_WRITE)
    else:
        read = min(sweeps.rows, rows + 2 * sweeps.halo)
        moved = access(read * sweeps.row_bytes), access(rows * sweeps.row_bytes, mode=Mode.WRITE)
    leaves = task(segment(work_ps, *moved)).times(sweeps.blocks)
    again = leaves.times(sweeps.count - sweeps.trees)
    tree = tree_totals(sweeps.blocks, sweeps.branching, irregular=sweeps.irregular)
    repeats = Totals(compute_ps=again.compute_ps, lines=again.lines, accesses=again.accesses)
    return (leaves + tree).times(sweeps.trees) + repeats + memory(sweeps.array_bytes)


class Leaves(NamedTuple):
    """[leaves] the rows from ``first`` to ``end - 1`` of each, and which ``sweep`` of the two it belongs to."""

    first: I64
    end: I64
    sweep: I64


def sweep_workload(sweeps: Sweeps, parameters: dict[str, int]) -> Workload:
    """The trees of the sweeps that take turns, and the loop over them."""
    trees, sweep = planted([row_tree(sweeps.blocks, sweeps.branching, irregular=sweeps.irregular)] * sweeps.trees)
    halo = sweeps.buffers == 2 or sweeps.blocks > 1
    shape, shapes = tree_shapes(trees, Shape((Op.RUN,), (0,), (1 + halo,)))
    draft = Draft(trees.parent, shape, shapes)
    leaves = _leaves(sweeps, trees, sweep, draft.tasks(LEAF))
    draft.compute(LEAF, compute_ps(_points(sweeps, leaves) * sweeps.ops, sweeps.rate))
    (_access_two if sweeps.buffers == 2 else _access_one)(sweeps, draft, leaves)
    roots = draft.position[trees.parent < 0].tolist()
    phases, loops = _phases(sweeps, roots)
    return draft.finish(
        name=sweeps.name,
        parameters=parameters,
        kernels=("sweep",),
        regions=[Region(name, sweeps.array_bytes, False) for name in ("a", "b")[: sweeps.buffers]],
        phases=phases,
        loops=loops,
        facts=_facts(sweeps),
    )


def _leaves(sweeps: Sweeps, trees: RowTree, sweep: I64, ids: I64) -> Leaves:
    first = trees.first[ids] * sweeps.leaf_rows
    return Leaves(first, np.minimum(first + sweeps.leaf_rows, sweeps.rows), sweep[ids])


def _points(sweeps: Sweeps, leaves: Leaves) -> I64:
    """[leaves] the points that each computes; of an odd number, the colour of the first point has one more."""
    points = (leaves.end - leaves.first) * sweeps.row_points
    if not sweeps.halved:
        return points
    return (points + (leaves.first + leaves.sweep + 1) % 2) // 2


def _access_two(sweeps: Sweeps, draft: Draft, leaves: Leaves) -> None:
    """Read the rows and the halo in one buffer, write the rows in the other."""
    low = np.maximum(leaves.first - sweeps.halo, 0)
    high = np.minimum(leaves.end + sweeps.halo, sweeps.rows)
    _access_rows(sweeps, draft, 0, leaves.sweep, low, high, Mode.READ)
    _access_rows(sweeps, draft, 1, 1 - leaves.sweep, leaves.first, leaves.end, Mode.WRITE)


def _access_one(sweeps: Sweeps, draft: Draft, leaves: Leaves) -> None:
    """Update the rows; read the row above and the row below, of which the first and the last leaf have one."""
    _access_rows(sweeps, draft, 0, 0, leaves.first, leaves.end, Mode.READ_WRITE)
    if sweeps.blocks > 1:
        above, below = leaves.first > 0, leaves.end < sweeps.rows
        draft.access(
            LEAF,
            1,
            region=0,
            offset=np.where(above, leaves.first - 1, leaves.end) * sweeps.row_bytes,
            row_bytes=sweeps.row_bytes,
            rows=above.astype(np.int64) + below,
            stride=(leaves.end - leaves.first + 1) * sweeps.row_bytes,
            mode=Mode.READ,
        )


def _access_rows(sweeps: Sweeps, draft: Draft, number: int, buffer: Numbers, first: I64, end: I64, mode: Mode) -> None:
    draft.access(
        LEAF,
        number,
        region=buffer,
        offset=first * sweeps.row_bytes,
        row_bytes=(end - first) * sweeps.row_bytes,
        mode=mode,
    )


def _phases(sweeps: Sweeps, roots: Sequence[int]) -> tuple[list[Phase], list[Loop]]:
    """The sweeps that take turns, as often as there are pairs of them; then the last one of an odd number."""
    first = Phase(roots=(roots[0],), name=sweeps.turns[0])
    pairs, single = divmod(sweeps.count, len(sweeps.turns))
    if not pairs:
        return [first], []
    second = Phase(roots=(roots[1],), name=sweeps.turns[1])
    return [first, second, *[first] * single], [Loop(0, len(sweeps.turns), pairs)]


def _facts(sweeps: Sweeps) -> dict[str, int]:
    """Of a sweep the leaves and the bytes that they read and write, the halo included; the operations of all sweeps."""
    first = np.arange(0, sweeps.rows, sweeps.leaf_rows)
    after = np.maximum(sweeps.rows - first - sweeps.leaf_rows, 0)
    borders = int(np.minimum(first, sweeps.halo).sum() + np.minimum(after, sweeps.halo).sum())
    points = sweeps.rows * sweeps.row_points * sweeps.count
    return {
        "leaves_per_sweep": sweeps.blocks,
        "read_bytes_per_sweep": (sweeps.rows + borders) * sweeps.row_bytes,
        "written_bytes_per_sweep": sweeps.array_bytes,
        "ops": (points // 2 if sweeps.halved else points) * sweeps.ops,
    }
