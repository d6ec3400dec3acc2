"""The simple rules of the scores: the predictions of a colleague who simulates nothing (model 7.2).

A rule knows the machine, the serial times, the order of the chapters, and the values to which parameters were fitted.
A rule of one step also knows the published value before the change. The rule of volumes knows more than the prediction:
the published volumes of the other programs. All rules were chosen with the published values in view, so that the best
rule of a score is a strong rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from numasim.reproduce.metrics import FloatArray, Posed
from numasim.reproduce.simple_rules import SimpleRule
from numasim.reproduce.table_cells import Cell

CORES = 12
GAINS = (1.2, 1.3)  # the work of two threads of a core over the work of one thread; the machine file has 1.3
CHAPTERS = ("randomized", "threshold", "topology-aware", "locality-binding", "numa-oblivious", "affinity-aware")
FIRST = "topology-aware"  # the first strategy with a worker on each hardware thread
LINE_RATIO = 38.428 / 15.435  # Table 6.2: the time of a cache line between sockets over the time within a socket

Values = Mapping[str, float]  # published values by row


def _of_cell(predict: Callable[[Cell], float]) -> SimpleRule:
    """Return the rule that predicts each cell alone."""
    return lambda posed, cells: [predict(cell) for cell in cells]


def _of_change(factor: Callable[[Cell], float]) -> SimpleRule:
    """Return the rule that predicts the published value before the change, times a factor."""
    return lambda posed, cells: posed.before * [factor(cell) for cell in cells]


def _chapter(cell: Cell) -> int:
    return CHAPTERS.index(cell.variant)


def times(serial_s: Values) -> dict[str, SimpleRule]:
    """Return the rules of times: the serial time over the cores, and over a gain where second threads work."""

    def rule(gain: float) -> SimpleRule:
        begin = CHAPTERS.index(FIRST)
        return _of_cell(lambda cell: serial_s[cell.row] / CORES / (gain if _chapter(cell) >= begin else 1))

    gains = {f"serial time / {CORES}, / {gain} with second threads": rule(gain) for gain in GAINS}
    return {f"serial time / {CORES}": rule(1)} | gains


def _step(gain: float) -> SimpleRule:
    return _of_change(lambda cell: 1 / gain if cell.variant == FIRST else 1)


def steals(false: Values, successful: Values) -> dict[str, SimpleRule]:
    """Return the rules of Tables 4.2 and 4.3 from the counts of Table 3.1 by number of workers.

    Half of the steals of Table 4.2 are remote, and no steal of Table 4.3. Table 3.6 has no prediction.
    """

    def rule(counts: Values) -> SimpleRule:
        def predict(cell: Cell) -> float:
            if cell.table == "4.2":
                return counts[cell.row] / 2
            return (0 if "remote" in cell.column else counts[cell.row]) if cell.table == "4.3" else math.nan

        return _of_cell(predict)

    attempts = {row: count + successful[row] for row, count in false.items()}
    return {
        "attempts of Table 3.1, half remote, with domains none": rule(attempts),
        "successes of Table 3.1, half remote, with domains none": rule(successful),
    }


def volumes(serial_s: Values) -> dict[str, SimpleRule]:
    """Return the rule of volumes: in proportion to the serial time, at the mean rate of the column's other programs."""

    def rule(posed: Posed, cells: Sequence[Cell]) -> FloatArray:
        serial = np.array([serial_s[cell.row] for cell in cells])
        rate = posed.published / serial
        alike = posed.column[:, None] == posed.column
        return np.asarray(serial * (alike @ rate - rate) / (alike.sum(axis=1) - 1))

    return {"serial time x rate of the other programs": rule}


STEPS = {f"/ {gain} where second threads begin, else no effect": _step(gain) for gain in GAINS}
ALIKE: dict[str, SimpleRule] = {"all programs gain alike": lambda posed, cells: posed.null}
ORDERS: dict[str, SimpleRule] = {"each chapter is faster than the one before": _of_cell(lambda cell: -_chapter(cell))}
DEPARTURES: dict[str, SimpleRule] = {"every program gains less": 1.0, "every program gains more": -1.0}
SHARES: dict[str, SimpleRule] = {"one half (equation 4.2)": 1.0}  # equal counts in both columns
OVERHEADS = {
    "atomic by the ratio of Table 6.2, else no effect": _of_change(
        lambda cell: 1 / LINE_RATIO if cell.row == "atomic" else 1
    )
}
