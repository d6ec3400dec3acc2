"""Counter-based random numbers: every draw is a pure function of (seed, class, id, counter).

The generator is splitmix64 (Steele, Lea and Flood, OOPSLA 2014). A counter takes the place of the generator's state, so
that two engines draw the same numbers in any order. All arithmetic is modulo 2**64, without floats.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
_A = 0xBF58476D1CE4E5B9
_B = 0x94D049BB133111EB

U64Array = npt.NDArray[np.uint64]


class DrawClass(IntEnum):
    """The purpose of a stream of random numbers. A comment says which object's number is the id of a stream."""

    VICTIM = 1  # a worker
    BACKOFF = 2  # a worker
    DURATION = 3  # a task, or an item of a range
    PLACEMENT = 4  # a region of memory
    DISPATCH = 5  # a worker, or the producer of items
    CONFLICT = 6  # a task
    WORKER_SPEED = 7  # a worker
    ARRIVAL = 8  # a number that the generator of the workload chooses
    RANK = 9  # an element whose rank a merge of a sort looks for


def mix(z: int) -> int:
    """Return the 64-bit finaliser of splitmix64 for ``z``: a bijection on [0, 2**64)."""
    z ^= z >> 30
    z = z * _A & MASK
    z ^= z >> 27
    z = z * _B & MASK
    return z ^ z >> 31


def base(seed: int, kind: int, ident: int) -> int:
    """Return the start of stream ``ident`` of class ``kind``."""
    return mix((seed ^ mix((kind * GAMMA + ident + 1) & MASK)) & MASK)


def draw(stream: int, k: int) -> int:
    """Return the 64-bit number k, from 0, of the stream that starts at ``stream``."""
    return mix((stream + (k + 1) * GAMMA) & MASK)


def below(x: int, n: int) -> int:
    """Map the 64-bit number ``x`` to [0, n) by a 128-bit product; the bias is below n / 2**64."""
    return x * n >> 64


def repeat_seed(seed: int, repeat: int) -> int:
    """Return the seed of repeat number ``repeat``, from 0: the same in all cells of a sweep, so repeats form pairs."""
    return mix((seed + (repeat + 1) * GAMMA) & MASK)


def turn_seed(seed: int, turn: int) -> int:
    """Return the seed of the tasks' noise in run number ``turn``, from 0, of a phase; run 0 has the seed of the run."""
    return seed ^ mix((turn * GAMMA) & MASK)


def mix_array(z: U64Array) -> U64Array:
    """Return `mix` of every element in a new array."""
    z = z ^ (z >> np.uint64(30))
    z = z * np.uint64(_A)
    z ^= z >> np.uint64(27)
    z *= np.uint64(_B)
    z ^= z >> np.uint64(31)
    return z


def base_array(seed: int, kind: int, idents: npt.NDArray[Any]) -> U64Array:
    """Return `base` of every id of ``idents``."""
    start = np.uint64((kind * GAMMA + 1) & MASK)
    return mix_array(np.uint64(seed & MASK) ^ mix_array(idents.astype(np.uint64) + start))


def draw_array(streams: U64Array, k: int) -> U64Array:
    """Return draw number ``k`` of every stream."""
    return mix_array(streams + np.uint64((k + 1) * GAMMA & MASK))


def draws_array(streams: U64Array, numbers: npt.NDArray[Any]) -> U64Array:
    """Return [i] draw number ``numbers[i]`` of stream ``streams[i]``."""
    return mix_array(streams + (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(GAMMA))


def stream_array(stream: int, count: int) -> U64Array:
    """Return the first ``count`` draws of one stream."""
    return mix_array(np.uint64(stream) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GAMMA))


def below_array(x: U64Array, n: int | U64Array) -> U64Array:
    """Return `below` of every element, for one ``n`` or one each, 0 < n < 2**64, by four 64-bit products."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    limit = np.asarray(n, np.uint64)
    n_low, n_high = limit & mask, limit >> half
    x_low, x_high = x & mask, x >> half
    middle = x_high * n_low + (x_low * n_low >> half)
    product: U64Array = x_high * n_high + (middle >> half) + (x_low * n_high + (middle & mask) >> half)
    return product
