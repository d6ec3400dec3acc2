"""The accesses of a generated program are right: arithmetic on numbers at the places that segments read and write
computes the program's result, such as a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from workload_setup import make, serial_segments

from numasim.workload.graph import Mode, Workload

Memory = list[np.ndarray]


def spots(work: Workload, access: int, element_bytes: int) -> tuple[int, np.ndarray]:
    """Return (region, [rows, columns] element indices) of an access."""
    a = work.accesses
    rows = a.offset[access] + np.arange(a.rows[access]) * a.stride[access]
    columns = np.arange(0, a.row_bytes[access], element_bytes)
    return int(a.region[access]), (rows[:, None] + columns[None, :]) // element_bytes


def execute(
    work: Workload, memory: Memory, element_bytes: int, kernels: dict[str, Callable[..., list[np.ndarray]]]
) -> None:
    """Run every segment serially: a kernel takes the contents of READ accesses and returns those of other accesses."""
    for segment in serial_segments(work):
        places = [
            (spots(work, access, element_bytes), Mode(work.accesses.mode[access]))
            for access in range(work.segment_accesses[segment], work.segment_accesses[segment + 1])
        ]
        given = [memory[region][at] for (region, at), mode in places if mode != Mode.WRITE]
        taken = [place for place, mode in places if mode != Mode.READ]
        results = kernels[work.kernels[work.segment_kernel[segment]]](*given)
        for (region, at), result in zip(taken, results, strict=True):
            memory[region][at.ravel()] = np.ravel(result)


def square(values: np.ndarray, parts: int = 1) -> np.ndarray:
    side = round((values.size // parts) ** 0.5)
    return values.reshape(parts, side, side)


def strassen_add(*given: np.ndarray) -> list[np.ndarray]:
    """Return eight sums of quadrants before the products, or C after the products."""
    if len(given) == 2 and given[0].size == given[1].size:
        (a,), (b,) = square(given[0]), square(given[1])
        h = len(a) // 2
        a11, a12, a21, a22 = a[:h, :h], a[:h, h:], a[h:, :h], a[h:, h:]
        b11, b12, b21, b22 = b[:h, :h], b[:h, h:], b[h:, :h], b[h:, h:]
        s1, s3, s5, s7 = a21 + a22, a11 - a21, b12 - b11, b22 - b12
        s2, s6 = s1 - a11, b22 - s5
        return [np.stack([s1, s2, s3, a12 - s2, s5, s6, s7, s6 - b21])]
    (m2, m5, t1), (c,) = square(given[0], 3), square(given[1])
    h = len(c) // 2
    t1 = t1 + m2
    t2 = c[h:, h:] + t1
    upper = np.hstack([c[:h, :h] + m2, m5 + t1 + c[:h, h:]])
    return [np.vstack([upper, np.hstack([t2 - c[h:, :h], m5 + t2])])]


@pytest.mark.parametrize("version", ["none", "manual"])
def test_strassen_multiplies(version: str) -> None:
    work = make("strassen", n=16, cutoff=2, cutoff_version=version, cutoff_depth=2)
    rng = np.random.default_rng(1)
    memory = [rng.integers(-9, 9, region.bytes // 8) for region in work.regions]
    a, b = memory[0].reshape(16, 16).copy(), memory[1].reshape(16, 16).copy()
    kernels = {"multiply": lambda x, y: [square(x)[0] @ square(y)[0]], "add": strassen_add}
    execute(work, memory, 8, kernels)
    assert (memory[2].reshape(16, 16) == a @ b).all()


def block_lu0(diagonal: np.ndarray) -> list[np.ndarray]:
    (d,) = square(diagonal.copy())
    for k in range(len(d)):
        d[k + 1 :, k] /= d[k, k]
        d[k + 1 :, k + 1 :] -= np.outer(d[k + 1 :, k], d[k, k + 1 :])
    return [d]


def block_fwd(diagonal: np.ndarray, block: np.ndarray) -> list[np.ndarray]:
    lower = np.tril(square(diagonal)[0], -1) + np.eye(len(square(diagonal)[0]))
    return [np.linalg.solve(lower, square(block)[0])]


def block_bdiv(diagonal: np.ndarray, block: np.ndarray) -> list[np.ndarray]:
    return [np.linalg.solve(np.triu(square(diagonal)[0]).T, square(block)[0].T).T]


def block_bmod(row: np.ndarray, column: np.ndarray, inner: np.ndarray) -> list[np.ndarray]:
    return [square(inner)[0] - square(row)[0] @ square(column)[0]]


@pytest.mark.parametrize("version", ["sparselu-single", "sparselu-for"])
def test_sparselu_decomposes(version: str) -> None:
    blocks, size = 8, 2
    work = make(version, blocks=blocks, block_size=size)
    rng = np.random.default_rng(2)
    memory: Memory = [rng.random(work.regions[0].bytes // 4), np.zeros(work.regions[1].bytes // 4)]
    stored = np.array(
        [[abs(i - j) <= 1 or (i % 2 == j % 2 == 0 and min(i, j) % 3 == 0) for j in range(8)] for i in range(8)]
    )
    dense = np.zeros((blocks * size, blocks * size))
    for number, (i, j) in enumerate(np.argwhere(stored)):
        block = memory[0][4 * number : 4 * number + 4].reshape(2, 2)
        block += 10 * np.eye(2) * (i == j)
        dense[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = block
    execute(work, memory, 4, {"lu0": block_lu0, "fwd": block_fwd, "bdiv": block_bdiv, "bmod": block_bmod})
    factors = block_lu0(dense)[0]
    found = np.sort(np.concatenate(memory).round(9))
    expected = np.sort(factors[factors != 0].round(9))
    assert np.allclose(found[found != 0], expected)


@pytest.mark.parametrize("n", [16, 64, 512, 2048, 8192])
def test_fft_transforms(n: int) -> None:
    work = make("fft", n=n)
    rng = np.random.default_rng(3)
    memory: Memory = [rng.random(n) + 1j * rng.random(n), np.zeros(n, complex), np.zeros(n + 1, complex)]
    expected = np.fft.fft(memory[0])
    for segment in serial_segments(work):
        fft_segment(work, memory, segment, n)
    assert np.allclose(memory[1], expected)
    assert np.allclose(memory[2], np.exp(-2j * np.pi * np.arange(n + 1) / n))


def fft_segment(work: Workload, memory: Memory, segment: int, n: int) -> None:
    first = int(work.segment_accesses[segment])
    places = [spots(work, access, 16) for access in range(first, int(work.segment_accesses[segment + 1]))]
    kernel = work.kernels[work.segment_kernel[segment]]
    if kernel == "roots":
        for region, at in places:
            memory[region][at] = np.exp(-2j * np.pi * at / n)
    elif kernel == "base":
        (source, read), (target, written) = places
        memory[target][written] = np.fft.fft(memory[source][read])
    elif kernel == "unshuffle":
        (source, read), (target, written) = places
        memory[target][written] = memory[source][read].reshape(-1, len(written)).T
    else:
        (source, read), (_, roots), (target, written) = places
        radix = len(read)
        root = memory[2][roots.ravel() if len(roots) == 1 else roots[:, 0]]
        memory[target][written] = np.fft.fft(memory[source][read] * root ** np.arange(radix)[:, None], axis=0)
