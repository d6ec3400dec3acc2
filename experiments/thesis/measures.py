"""Metrics, questions and quantities of the thesis alone. The import of this module enters them in the common tables.

Each question has a simple rule (model 7.2) with the same knowledge as the prediction:

- ``one-step``: the prediction is the published value before a change times the simulated ratio of after to before. The
  rule predicts no change.
- ``interaction``: how a change acts on one row more than on another. One row, the revealing row, gives the strength of
  the change: the published ratio over the simulated ratio of this row is a factor for the simulated ratios of all other
  rows. Each row in turn is the revealing row. The rule knows the revealing row, and predicts that all rows change like
  this row. The arrays of this question have an element for each ordered pair of rows of a column.
- ``departure``: whether a row gains more or less from a change than the rows do on average (geometric mean). Only the
  sign counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from statistics import median_low

import numpy as np
import numpy.typing as npt

from numasim.parts.unit_factors import GIGA, PS_PER_NS, PS_PER_US
from numasim.reproduce.metrics import METRICS, QUESTIONS, FloatArray, Metric, Posed, Question
from numasim.reproduce.quantities import QUANTITIES, Outcome, Quantity
from numasim.reproduce.table_cells import Pair
from numasim.workload.parameters import TeamParameters
from numasim.workload.registry import generate

EQUAL = 1e-9  # rank correlations that differ by less are equal
PART = "steal_attempts_remote"  # the metric ``pooled-share`` compares the share of this quantity in all counts


def _pooled_share(posed: Posed) -> FloatArray:
    part = posed.quantity == PART
    return np.asarray(np.abs(_share(posed.said, part) - _share(posed.published, part)))


def _share(values: FloatArray, part: npt.NDArray[np.bool_]) -> FloatArray:
    whole = np.asarray(values.sum(axis=-1))
    return np.asarray(values[..., part].sum(axis=-1) / np.where(whole == 0, np.nan, whole))


# ---- The order of a row's variants ----


def each_variant(pairs: Sequence[Pair], quantities: Collection[str]) -> list[Pair]:
    """Return every variant, fitted variants included, once per row of the ``quantities``.

    A variant with the same published value as an earlier variant of the row is left out, since the published values
    give no order of the two.
    """
    found: dict[tuple[str, str], Pair] = {}
    values: set[tuple[str, float]] = set()
    for pair in pairs:
        cell = pair.cell
        key, value = (cell.row, cell.variant), (cell.row, cell.published)
        if cell.quantity in quantities and cell.variant and key not in found and value not in values:
            found[key] = pair
            values.add(value)
    return list(found.values())


def _rank_correlation(posed: Posed) -> FloatArray:
    return np.asarray(np.mean(_rank_correlations(posed), axis=0))


def _least_rank_correlation(posed: Posed) -> FloatArray:
    return np.asarray(np.min(_rank_correlations(posed), axis=0))


def _rank_correlations(posed: Posed) -> list[FloatArray]:
    """Return the correlation of each row with several values; NaN if there is no such row."""
    nothing = np.full(posed.said.shape[:-1], np.nan)
    return [spearman(posed.said[..., cells], posed.published[cells]) for cells in _ranked_rows(posed)] or [nothing]


def _ranked_rows(posed: Posed) -> list[npt.NDArray[np.bool_]]:
    rows = [posed.row == row for row in np.unique(posed.row)]
    return [cells for cells in rows if cells.sum() > 1]


def spearman(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the rank correlation along the last axis; 0 if all values of one side are equal. Ties get a mean rank."""
    first, second = _centred_ranks(left), _centred_ranks(right)
    scale = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    return np.asarray((first * second).sum(axis=-1) / np.where(scale == 0, 1, scale))


def _centred_ranks(values: FloatArray) -> FloatArray:
    mine, other = values[..., :, None], values[..., None, :]
    return np.asarray(0.5 * (np.sign(mine - other)).sum(axis=-1))


def _random_order(posed: Posed) -> float:
    return 0.0 if _ranked_rows(posed) else math.nan


def least_of_random_orders(posed: Posed) -> float:
    """Return the expected least correlation if each row has an independent random order."""
    scores = [_all_orders(posed.published[cells]) for cells in _ranked_rows(posed)]
    if not scores:
        return math.nan
    values = np.unique(np.concatenate(scores))
    at_least = np.prod([[(row >= value - EQUAL).mean() for value in values] for row in scores], axis=0)
    return float(values[0] + (np.diff(values) * at_least[1:]).sum())


def _all_orders(published: FloatArray) -> FloatArray:
    """Return the rank correlations of ``published`` with all orders."""
    orders = np.array(list(itertools.permutations(range(len(published)))), np.float64)
    return np.round(spearman(orders, published), 12)


METRICS.update(
    {
        "pooled-share": Metric(
            _pooled_share,
            "difference of shares",
            "difference of the shares of one kind of count in all counts, each added up over all cells",
        ),
        "rank-correlation": Metric(
            _rank_correlation,
            "rank correlation",
            "Spearman's correlation of the strategies' order, mean over the benchmarks",
            rising=True,
            best=1.0,
            chance=_random_order,
            choose=each_variant,
        ),
        "least-rank-correlation": Metric(
            _least_rank_correlation,
            "least rank correlation",
            "Spearman's correlation of the strategies' order, of the benchmark where it is least",
            rising=True,
            best=1.0,
            chance=least_of_random_orders,
            choose=each_variant,
        ),
    }
)


def best_constant(published: FloatArray) -> FloatArray:
    """Return the rule of equal predictions: of all numbers, the median has the least mean absolute error."""
    return np.full_like(published, median_low(published.tolist()))


# ---- Questions ----


def _one_step(posed: Posed) -> Posed:
    return replace(posed, said=posed.before * posed.said / posed.said_before, null=posed.before)


def _interaction(posed: Posed) -> Posed:
    ratio, simulated = _ratios(posed)
    target, told = np.nonzero((posed.column[:, None] == posed.column) & (posed.row[:, None] != posed.row))
    said = ratio[told] * simulated[..., target] / simulated[..., told]
    before = {"before": np.ones(len(target)), "said_before": np.ones_like(said)}
    return replace(posed.at(target), published=ratio[target], said=said, null=ratio[told], **before)


def _departure(posed: Posed) -> Posed:
    published, said = (_departures(np.log(each), posed.column) for each in _ratios(posed))
    before = {"before": np.zeros_like(published), "said_before": np.zeros_like(said)}
    return replace(posed, published=published, said=said, null=np.full_like(published, np.nan), **before)


def _ratios(posed: Posed) -> tuple[FloatArray, FloatArray]:
    """Return after over before: published [cells] and simulated [..., cells]."""
    return posed.published / posed.before, posed.said / posed.said_before


def _departures(logarithms: FloatArray, column: npt.NDArray[np.int64]) -> FloatArray:
    """Return each logarithm minus the mean of its column."""
    found = np.array(logarithms)
    for each in np.unique(column):
        cells = column == each
        found[..., cells] -= found[..., cells].mean(axis=-1, keepdims=True)
    return found


QUESTIONS.update(
    {
        "one-step": Question(
            _one_step,
            needs_baseline=True,
            meaning="the published value before a change, times what the simulation says the change does",
        ),
        "interaction": Question(
            _interaction,
            needs_baseline=True,
            meaning="which rows a change helps more than others, when one row says how strong it is; each row in turn",
        ),
        "departure": Question(
            _departure,
            needs_baseline=True,
            meaning="whether a row gains more or less from a change than the rows do on average",
        ),
    }
)


# ---- Quantities ----


def _overhead_us(outcome: Outcome) -> float:
    """Return the time of one construct: (makespan - delays on the critical path) / number of constructs."""
    parameters = outcome.spec.workload
    assert isinstance(parameters, TeamParameters)
    facts = generate(parameters.for_team(outcome.spec.workers)).facts
    return float((outcome.counters["makespan_ps"] - facts["reference_ps"]) / facts["constructs"] / PS_PER_US)


def _handoff_ns(outcome: Outcome) -> float:
    return float(outcome.counters["makespan_ps"] / outcome.counters["lock_acquisitions"] / PS_PER_NS)


def _remote_line_gb(outcome: Outcome) -> float:
    return float(outcome.counters["lock_handoffs_remote"] * outcome.spec.machine.line / GIGA)


QUANTITIES.update(
    {
        "remote_line_gb": Quantity("lines of locks and conditions that cross nodes", "GB", _remote_line_gb),
        "overhead_us": Quantity("overhead of one construct", "us", _overhead_us),
        "lock_access_ns": Quantity("time from one acquisition of a lock to the next", "ns", _handoff_ns),
    }
)
