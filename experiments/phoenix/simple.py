"""Predictions of somebody who simulates nothing: published times, and numbers of distinct keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numasim.reproduce.quantities import PublishedTable

EMITS = {"parade": 4_000_000, "paragon": 500_000}  # as many keys can be emitted
FITTED = (4, 12, 24, 36, 64, 128)  # the numbers of threads on parade to whose times parameters are fitted
NODES = 4


def of_interleave(table: PublishedTable) -> dict[int, float]:
    """Return number of threads -> the published time of interleave, in s."""
    return {int(row["threads"]): float(row["interleave_s"]) for row in table.rows}


def distinct(threads: int, of: int) -> float:
    """Return the share of all keys that ``threads`` of ``of`` threads emit together under Equal-Prob."""
    return 1 - (1 - 1 / of) ** threads


def by_row(values: dict[int, float]) -> dict[str, float]:
    """Return row -> prediction."""
    return {str(threads): value for threads, value in values.items()}


def between_fitted(times: dict[int, float]) -> dict[str, float]:
    """Return the times on straight lines between the fitted times, in logarithms of threads and of times."""
    known = np.log([times[threads] for threads in FITTED])
    return by_row({each: float(np.exp(np.interp(np.log(each), np.log(FITTED), known))) for each in times})


def by_keys(times: dict[int, float]) -> dict[str, float]:
    """Return the time of Disjoint-Subranges if a key takes as long as with four threads under Equal-Prob."""
    return by_row({each: 4 * times[4] / distinct(4, 4) / each for each in times})


def scaled(times: dict[int, float], heavy: dict[int, float]) -> dict[str, float]:
    """Return the times of Equal-Prob times the ratio of One-Numa-Heavy to Equal-Prob with four threads."""
    return by_row({each: time * heavy[4] / times[4] for each, time in times.items()})


def _on_nodes(threads: int) -> list[int]:
    """Return the number of threads of each node with threads, if threads are spread over the nodes."""
    return [each for each in (threads // NODES + (node < threads % NODES) for node in range(NODES)) if each]


def horizontal_keys(threads: int) -> float:
    """Return the keys that both phases of the horizontal tournament put out, over the keys of the reduce phase."""
    inside = sum(distinct(each, threads) for each in _on_nodes(threads))
    return 1 + inside / distinct(threads, threads)


def vertical_keys(threads: int) -> float:
    """Return the keys of the busiest thread in all rounds of the vertical tournament, over all keys."""
    groups, total = [[1] * each for each in _on_nodes(threads)], 0.0
    while len(groups) > 1 or len(groups[0]) > 1:
        if all(len(group) == 1 for group in groups):
            groups = [[side for group in groups for side in group]]
        merged = [[group[at : at + 2] for at in range(0, len(group), 2)] for group in groups]
        total += max(distinct(sum(pair), threads) for group in merged for pair in group if len(pair) == 2)
        groups = [[sum(pair) for pair in group] for group in merged]
    return total + distinct(threads, threads)


def tournaments(times: dict[int, float], counts: Sequence[int]) -> dict[str, dict[str, float]]:
    """Return tournament -> row -> its keys times the time of interleave for a key, with one thread for vertical."""
    return {
        "horizontal": by_row({each: horizontal_keys(each) * times[each] for each in counts}),
        "vertical": by_row({each: vertical_keys(each) * times[1] for each in counts}),
    }
