"""Measure how often intervals of answers cover the truth, and how often an answer without an effect is called sure.

    python verification/coverage.py

96 items, whose times are drawn from one of five distributions, are run under three strategies with many seeds. One half
of the seeds gives the true median, the *truth*. From the other half, samples of few pairs are drawn, and an interval is
estimated from each sample as `numasim compare` does; rows with *alone* are for the median of one strategy. Below each
number of pairs, the table has the share of samples whose interval covers the truth. A * marks shares for which the
answer says that its interval is a range, how often a range covers the median, and that nothing is sure. *below* and
*above* are the largest shares of intervals that lie below and above the truth, among shares without a mark. *t* is how
often Student's t interval of a mean difference, from 20 pairs, covers the true mean difference.

A null contrast has no effect: it compares runs of one strategy with runs of the same strategy with other seeds, or
pairs of two strategies that are scaled so that the true median difference is zero. *families* are questions with
several null contrasts; the table has the share of families in which any contrast is called sure. Exit status 1 if an
interval without a mark covers less than `LEAST`, or if more than `FAMILY_ERROR` of the families have a sure difference.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

import numasim as ns
from numasim.report.answers.estimated_effects import Effect, effects
from numasim.report.answers.statistics import FAMILY_ERROR, FEWEST, Estimate, median_estimate
from numasim.report.answers.varying_axes import Contrast

LEAST = 0.93
ITEMS, WORKERS = 96, 12
PAIRS = (3, 5, 10, 20)
FAMILIES = (1, 10)
STRATEGIES = ("static-block", "randomized", "steal-half")
CONTRASTS = ((0, 1), (1, 2))
TIMES = {
    "uniform": ns.Distribution.uniform(500, 1500),
    "two values": ns.Distribution.of([500, 5000], [0.9, 0.1]),
    "exponential": ns.Distribution.exponential(1000),
    "lognormal": ns.Distribution.lognormal(1000, 1.5),
    "pareto": ns.Distribution.pareto(200, 1.2, most=1_000_000),
}

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """For samples of one number of pairs: the share whose interval is below the truth, the share whose interval is
    above the truth, and the share whose interval by Student's t covers the mean.
    """

    pairs: int
    below: float
    above: float
    student: float = 0.0

    @property
    def covered(self) -> float:
        """Return the share of samples whose interval covers the truth."""
        return 1 - self.below - self.above

    @property
    def warned(self) -> bool:
        """Return whether the answer says that so few pairs give no 95 % interval."""
        return self.pairs < FEWEST


def makespans(name: str, seeds: int) -> FloatArray:
    """Return [strategies, seeds] makespans in ps."""
    graph = ns.Graph(name, deal="block")
    graph.range(ITEMS, compute_ns=TIMES[name])
    spec = {"machine": "xeon-e5-2620-2s", "workload": graph, "workers": WORKERS, "runtime": "bare", "seed": 1}
    with tempfile.TemporaryDirectory() as folder:
        document = {**spec, "strategy": STRATEGIES[0], "repeat": seeds, "sweep": {"strategy": list(STRATEGIES)}}
        frame = ns.sweep(document, Path(folder) / "runs", jobs=1, progress=False).to_frame()
    table = frame.pivot(index="repeat", columns="strategy", values="makespan_ps")[list(STRATEGIES)]
    return np.asarray(table.to_numpy(np.float64).T)


def estimated(first: FloatArray, other: FloatArray) -> list[Effect]:
    """Return the effects of a question with a contrast for each row of ``first`` and ``other`` [contrasts, pairs]."""
    rows = np.arange(2 * first.size).reshape(2, *first.shape)
    contrasts = [Contrast((), 1, rows[0, at], rows[1, at]) for at in range(len(first))]
    return effects(np.concatenate([first.ravel(), other.ravel()]), "makespan_ps", contrasts)


def coverage(first: FloatArray, other: FloatArray, truth: float, samples: int) -> Iterator[Coverage]:
    """Yield the coverage for every number of pairs. Samples are drawn from the first half of the pairs; the ``truth``
    is the median of the second half.
    """
    half = len(first) // 2
    change = other - first
    for pairs in PAIRS:
        drawn = np.random.default_rng(pairs).integers(0, half, (samples, pairs))
        found = [effect.percent for effect in estimated(first[drawn], other[drawn])]
        with warnings.catch_warnings(action="ignore"):  # warnings about samples that do not vary
            student = stats.ttest_1samp(change[drawn], 0, axis=1).confidence_interval()
        inside = (student.low <= change[half:].mean()) & (change[half:].mean() <= student.high)
        yield Coverage(pairs, *missed(found, truth), float(inside.mean()))


def coverage_alone(values: FloatArray, samples: int) -> Iterator[Coverage]:
    """Yield the coverage of the median of one strategy."""
    half = len(values) // 2
    for pairs in PAIRS:
        drawn = np.random.default_rng(pairs).integers(0, half, (samples, pairs))
        yield Coverage(pairs, *missed([median_estimate(values[each]) for each in drawn], np.median(values[half:])))


def missed(found: Sequence[Estimate], truth: float) -> tuple[float, float]:
    """Return the shares of intervals below the truth and above the truth."""
    return float(np.mean([each.high < truth for each in found])), float(np.mean([each.low > truth for each in found]))


def line(name: str, strategies: str, truth: str, correlation: str, found: Sequence[Coverage]) -> str:
    """Return a line of the table."""
    covered = " ".join(f"{each.covered:5.3f}{'* '[not each.warned]}" for each in found)
    unmarked = [each for each in found if not each.warned]
    below, above = max(each.below for each in unmarked), max(each.above for each in unmarked)
    student = f"{found[-1].student:5.3f}" if found[-1].student else "    -"
    return f"{name:11} {strategies:24} {truth:>7} {correlation:>5} {covered} {below:5.3f} {above:5.3f} {student}"


def false_sure(nulls: list[tuple[FloatArray, FloatArray]], pairs: int, size: int, samples: int) -> float:
    """Return the share of families of ``size`` null contrasts in which any difference is called sure."""
    noise = np.random.default_rng(pairs * size)
    wrong = 0
    for at in range(samples):
        chosen = [nulls[(at + member) % len(nulls)] for member in range(size)]
        drawn = [noise.integers(0, len(first), pairs) for first, _ in chosen]
        sides = [np.stack([each[side][rows] for each, rows in zip(chosen, drawn, strict=True)]) for side in (0, 1)]
        wrong += any(effect.sure for effect in estimated(*sides))
    return wrong / samples


def null_pairs(runs: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield contrasts without an effect: one strategy with different seeds, and two strategies, one of them scaled."""
    half = runs.shape[1] // 2
    yield runs[1, :half], runs[1, half : 2 * half]
    first, other = runs[0], runs[1]
    yield first, other / np.median(other / first)


def main() -> int:
    """Print the tables; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6000, help="of each distribution; half of them are the truth")
    parser.add_argument("--samples", type=int, default=2000, help="of each number of pairs")
    given = parser.parse_args()
    nulls: list[tuple[FloatArray, FloatArray]] = []
    failures = 0
    numbers = " ".join(f"{pairs:5} " for pairs in PAIRS)
    print(f"{'times':11} {'strategies':24} {'truth':>7} {'rank':>5} {numbers} below above     t")
    for name in TIMES:
        runs = makespans(name, given.seeds)
        nulls += null_pairs(runs)
        for one, two in CONTRASTS:
            first, other = runs[one], runs[two]
            truth = float(np.median((100 * (other / first - 1))[len(first) // 2 :]))
            found = list(coverage(first, other, truth, given.samples))
            rank = f"{stats.spearmanr(first, other).statistic:.2f}"
            print(line(name, f"{STRATEGIES[one]}, {STRATEGIES[two]}", f"{truth:+.1f} %", rank, found))
            failures += sum(each.covered < LEAST and not each.warned for each in found)
        found = list(coverage_alone(runs[0], given.samples))
        print(line(name, f"{STRATEGIES[0]}, alone", "", "", found))
        failures += sum(each.covered < LEAST and not each.warned for each in found)
    print("\nfamilies of null contrasts with a difference that is called sure")
    print(f"{'pairs':>5} {'contrasts':>9} {'share':>6}")
    for pairs in PAIRS:
        for size in FAMILIES:
            share = false_sure(nulls, pairs, size, given.samples)
            failures += share > FAMILY_ERROR
            print(f"{pairs:5} {size:9} {share:6.3f}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
