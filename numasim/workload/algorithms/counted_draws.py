"""Whole numbers by the laws of drawing without replacement, from class-8 streams (model 1.4 and 9.6)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.draws import DrawClass, U64Array, base_array, below_array, stream_array
from numasim.workload.graph import I64

_UNIT = 2.0**-64
WIDEST = 9.0  # standard deviations to either side of the mean within which a number is sought


def binomial(draws: U64Array, trials: I64, probability: float) -> I64:
    """[draws] how many of ``trials[i]`` trials succeed: the number at which the distribution reaches the draw."""
    found = np.zeros(len(draws), np.int64)
    share = draws * _UNIT
    for count in np.unique(trials).tolist():
        those = trials == count
        first, reached = _distribution(count, probability)
        found[those] = first + np.searchsorted(reached, share[those], side="right").clip(max=len(reached) - 1)
    return found


def _distribution(trials: int, probability: float) -> tuple[int, npt.NDArray[np.float64]]:
    """(the first number, for it and those after it how likely it is that no more trials succeed)."""
    if trials == 0 or probability in (0.0, 1.0):
        return round(trials * probability), np.ones(1)
    mean, deviation = trials * probability, (trials * probability * (1 - probability)) ** 0.5
    first = max(0, int(mean - WIDEST * deviation) - 1)
    last = min(trials, int(mean + WIDEST * deviation) + 10)
    numbers = np.arange(first, last, dtype=np.float64)
    logarithms = np.concatenate(
        [[0.0], np.cumsum(np.log((trials - numbers) / (numbers + 1) * (probability / (1 - probability))))]
    )
    reached = np.cumsum(np.exp(logarithms - logarithms.max()))
    return first, np.asarray(reached / reached[-1])


def shared_out(total: int, capacity: I64, stream: int) -> I64:
    """[places] how many of ``total`` things each place gets, which all have equal chances to be at each of its
    ``capacity[i]`` seats; they sum to ``total``.

    Each place draws by itself, and what is then too much or too little is taken or given one by one, at places that are
    drawn.
    """
    seats = int(capacity.sum())
    found = binomial(stream_array(stream, len(capacity)), capacity, total / seats)
    number = len(capacity)
    while missing := total - int(found.sum()):
        drawn = stream_array(stream, number + abs(missing))[number:]
        number += abs(missing)
        place, wanted = np.unique(below_array(drawn, len(capacity)).astype(np.int64), return_counts=True)
        room = capacity[place] - found[place] if missing > 0 else found[place]
        found[place] += np.sign(missing) * np.minimum(wanted, room)
    return found


def newly_met(stream: int, drawn: I64, columns: int, keys: I64, met: I64) -> I64:
    """[rows] how many of a row's ``keys`` have been met when ``drawn`` cells have been drawn as well, without
    replacement, of the ``keys * columns`` cells that its keys have; ``met`` were before, of other columns.

    A cell is drawn after the other, for all rows at once; each takes half of a number of the stream.
    """
    most = int(drawn.max(initial=0))
    order = np.argsort(-drawn, kind="stable")
    keys, known = keys[order], met[order]
    unmet, cells = ((each * columns).astype(np.uint64) for each in (keys - known, keys))
    rows_left = np.searchsorted(-drawn[order], -np.arange(most), side="left").tolist()
    steps = base_array(stream, DrawClass.ARRIVAL, np.arange(most + 1 >> 1)).tolist()
    width, low, half = np.uint64(columns), np.uint64(0xFFFFFFFF), np.uint64(32)
    for cell, rows in enumerate(rows_left):
        if cell % 2 == 0:
            both = stream_array(steps[cell // 2], rows)
            drawn_half = both & low
        else:
            drawn_half = both[:rows] >> half
        drawn_half *= cells[:rows] - np.uint64(cell)
        drawn_half >>= half
        unmet[:rows] -= (drawn_half < unmet[:rows]) * width
    found = np.empty_like(known)
    found[order] = keys - (unmet // width).astype(np.int64)
    return found
