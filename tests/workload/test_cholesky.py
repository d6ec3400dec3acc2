"""Tiled Cholesky: closed forms, and the factor by any order of tasks that the dependences allow.

Tasks are named by kernel and tile: ``P k`` is potrf of tile (k, k), ``T i k`` trsm of tile (i, k),
``S i k`` and ``G i j k`` the updates of tiles (i, i) and (i, j) in step k.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np
import pytest
from workload_setup import make

from numasim.workload.graph import Mode, Workload
from numasim.workload.span import span_ps


def tiles_of(work: Workload, task: int) -> tuple[list[int], int]:
    """Return (tiles that a task reads, tile that the task updates), as positions in the matrix region."""
    segment = work.op_arg[work.op_ptr[task]]
    at = slice(work.segment_accesses[segment], work.segment_accesses[segment + 1])
    tile_bytes = int(work.accesses.row_bytes[at.start])
    assert (work.accesses.row_bytes[at] == tile_bytes).all()
    assert not (work.accesses.offset[at] % tile_bytes).any()
    assert work.accesses.mode[at].tolist() == [Mode.READ] * (at.stop - at.start - 1) + [Mode.READ_WRITE]
    *read, updated = (work.accesses.offset[at] // tile_bytes).tolist()
    return read, updated


def kernel_of(work: Workload, task: int) -> str:
    return work.kernels[int(work.segment_kernel[work.op_arg[work.op_ptr[task]]])]


@pytest.mark.parametrize("tiles", [1, 2, 3, 10, 40])
@pytest.mark.parametrize("size", [1, 8, 128])
def test_closed_forms(tiles: int, size: int) -> None:
    work, n = make("cholesky", tiles=tiles, tile_size=size, ps_per_1000_flops=10**6), tiles * size
    assert work.facts["tasks_spawned"] == work.tasks - 1 == tiles * (tiles + 1) * (tiles + 2) // 6
    assert [work.facts[kernel] for kernel in work.kernels] == [tiles, comb(tiles, 2), comb(tiles, 2), comb(tiles, 3)]
    assert 6 * work.facts["flops"] == 2 * n**3 + 3 * n**2 + n
    assert int(work.segment_compute_ps.sum()) == 1000 * work.facts["flops"]
    assert work.regions[0].bytes == comb(tiles + 1, 2) * size**2 * 8


@pytest.mark.parametrize("tiles", [2, 3, 9])
def test_the_critical_path_of_large_tiles_goes_by_the_products(tiles: int) -> None:
    """A gemm leads from the trsm of each step to the trsm of the next step. With tiles of b x b elements the path has
    (9 ``tiles`` - 10) b^3 / 3 operations (Quach, Langou: A makespan lower bound for the scheduling of the tiled
    Cholesky factorization, 2015).
    """
    size = 600
    work = make("cholesky", tiles=tiles, tile_size=size, ps_per_1000_flops=1000)
    potrf, trsm = size * (size + 1) * (2 * size + 1) // 6, size**3
    syrk, gemm = size**2 * (size + 1), 2 * size**3
    assert span_ps(work, 0) == 2 * potrf + (tiles - 1) * trsm + (tiles - 2) * gemm + syrk
    assert span_ps(work, 0) == pytest.approx((9 * tiles - 10) * size**3 / 3, rel=0.002)


def topological_order(work: Workload, rng: np.random.Generator) -> list[int]:
    """Return the spawned tasks in an order drawn from all orders that the dependences allow."""
    order: list[int] = []
    left = set(range(1, work.rows))
    while left:
        blocked = set(work.successor[np.isin(work.predecessor, list(left))].tolist())
        order.append(int(rng.choice(sorted(left - blocked))))
        left.remove(order[-1])
    return order


KERNELS: dict[str, Callable[..., np.ndarray]] = {
    "potrf": np.linalg.cholesky,
    "trsm": lambda diagonal, tile: np.linalg.solve(diagonal, tile.T).T,
    "syrk": lambda left, tile: tile - left @ left.T,
    "gemm": lambda left, above, tile: tile - left @ above.T,
}


@pytest.mark.parametrize("seed", range(8))
def test_any_order_that_the_dependences_allow_gives_the_factor(seed: int) -> None:
    tiles, size, rng = 3 + seed % 4, 1 + seed % 3, np.random.default_rng(seed)
    work = make("cholesky", tiles=tiles, tile_size=size)
    square = rng.random((tiles * size, tiles * size))
    matrix = square @ square.T + tiles * size * np.eye(tiles * size)
    stored = [(i, j) for i in range(tiles) for j in range(i + 1)]
    memory = [matrix[size * i : size * (i + 1), size * j : size * (j + 1)] for i, j in stored]
    order = topological_order(work, rng)
    assert len(order) == work.facts["tasks_spawned"]
    for task in order:
        read, updated = tiles_of(work, task)
        memory[updated] = KERNELS[kernel_of(work, task)](*(memory[tile] for tile in (*read, updated)))
    factor = np.linalg.cholesky(matrix)
    for (i, j), tile in zip(stored, memory, strict=True):
        assert np.allclose(tile, factor[size * i : size * (i + 1), size * j : size * (j + 1)])
