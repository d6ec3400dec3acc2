"""Draws by laws with heavy tails: Pareto's of lengths, Zipf's of keys, from class-8 streams (model 1.4 and 9.7)."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from numasim.draws import U64Array, below_array
from numasim.parts.unit_factors import MILLION
from numasim.workload.algorithms.object_memories import running_weights
from numasim.workload.graph import I64

_UNIT = 2.0**-64


def pareto(draws: U64Array, low: int, high: int, tail: Decimal) -> I64:
    """[draws] integers from ``low`` to ``high`` by Pareto's law of exponent ``tail``, cut off at both ends; with 0 the
    logarithm is uniform.
    """
    first, share, exponent = max(low, 1), draws * _UNIT, float(tail)
    if high <= first:
        return np.full(len(draws), high, np.int64)
    ratio = high / first
    factor = (1 - share * (1 - ratio**-exponent)) ** (-1 / exponent) if exponent else ratio**share
    found: I64 = np.clip(np.rint(first * factor), low, high).astype(np.int64)
    return found


def zipf(draws: U64Array, count: int, skew: Decimal) -> I64:
    """[draws] numbers below ``count`` by Zipf's law of exponent ``skew``, as transactions draw objects (model 4.11)."""
    sums = running_weights(count, round(skew * MILLION))
    if not len(sums):
        return below_array(draws, count).astype(np.int64)
    places = below_array(draws, int(sums[-1])).astype(np.int64)
    return np.searchsorted(sums, places, side="right")
