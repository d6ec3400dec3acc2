"""The positions of a machine's nodes in its drawing: a grid that shows meshes, squares and ladders as such."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.machine.topology import Machine

MARGIN = 0.45  # inches around the grid, room for the outlines of the sockets
Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Node boxes on a grid, in inches; ``centre`` is [nodes, 2], x to the right and y upwards from the lower left."""

    centre: Points
    width: float  # of a node box
    height: float
    gap_x: float  # between node boxes
    gap_y: float
    rows: int
    columns: int
    detailed: bool  # size of the inside of a node box

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of the whole grid, the margin around it included."""
        across = self.columns * (self.width + self.gap_x) - self.gap_x
        return across + 2 * MARGIN, self.rows * (self.height + self.gap_y) - self.gap_y + 2 * MARGIN


def lay_out(machine: Machine) -> Layout:
    """Place the nodes: a mesh row by row, anything else column by column so that a socket's nodes stay together."""
    mesh = mesh_shape(machine)
    rows, columns = mesh or _grid(machine)
    node = np.arange(machine.nodes)
    row, column = (node // columns, node % columns) if mesh else _by_socket(machine, rows)
    width, height, gap_x, gap_y, detailed = _sizes(machine.nodes)
    x = MARGIN + width / 2 + column * (width + gap_x)
    y = MARGIN + height / 2 + (rows - 1 - row) * (height + gap_y)
    return Layout(np.column_stack((x, y)), width, height, gap_x, gap_y, rows, columns, detailed)


def mesh_shape(machine: Machine) -> tuple[int, int] | None:
    """Find rows and columns of the mesh that has exactly the machine's links, or None."""
    pairs = set(zip(machine.links.source.tolist(), machine.links.target.tolist(), strict=True))
    for rows in range(math.isqrt(machine.nodes), 1, -1):
        columns, rest = divmod(machine.nodes, rows)
        for shape in ((rows, columns), (columns, rows)):
            if not rest and pairs == _mesh_pairs(*shape):
                return shape
    return None


def _mesh_pairs(rows: int, columns: int) -> set[tuple[int, int]]:
    ids = np.arange(rows * columns).reshape(rows, columns)
    beside = np.vstack((_pairs(ids[:, :-1], ids[:, 1:]), _pairs(ids[:-1], ids[1:])))
    return {(a, b) for a, b in beside.tolist()} | {(b, a) for a, b in beside.tolist()}


def _pairs(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.column_stack((a.ravel(), b.ravel()))


def _by_socket(machine: Machine, rows: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return ([nodes] row, [nodes] column): column by column; a column for each socket if sockets have unlike sizes."""
    place = np.empty(machine.nodes, np.int64)
    place[np.argsort(machine.socket_of_node, kind="stable")] = np.arange(machine.nodes)
    if not _is_uneven(machine):
        return place % rows, place // rows
    first = np.searchsorted(np.sort(machine.socket_of_node), machine.socket_of_node)
    return place - first, machine.socket_of_node


def _is_uneven(machine: Machine) -> bool:
    return len(set(np.bincount(machine.socket_of_node).tolist())) > 1


def _grid(machine: Machine) -> tuple[int, int]:
    if _is_uneven(machine):
        return int(np.bincount(machine.socket_of_node).max()), machine.sockets
    per_socket = machine.nodes // machine.sockets
    if machine.nodes > 8:
        rows = math.isqrt(machine.nodes)
    elif per_socket > 1 and machine.sockets > 1:
        rows = per_socket
    else:
        rows = 1 if machine.nodes <= 2 else 2
    return rows, -(-machine.nodes // rows)


def _sizes(nodes: int) -> tuple[float, float, float, float, bool]:
    if nodes <= 8:
        return 2.5, 2.1, 1.7, 1.2, True
    if nodes <= 16:
        return 2.3, 1.9, 0.9, 0.8, True
    return 0.62, 0.62, 0.46, 0.46, False
