"""The best scores on the values of the thesis that any model can reach: prints, noise, bytes (model 7.4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from numasim.parts.unit_factors import GIGA, PS_PER_NS, PS_PER_S
from numasim.report.answers.statistics import BOOTSTRAP_SEED
from numasim.reproduce.metrics import FloatArray
from numasim.reproduce.printed_twice import CellKey, column_words, key_of, printed_twice
from numasim.reproduce.scores import measured, scored_pairs
from numasim.reproduce.study import ScoreRule, Study
from numasim.reproduce.study_tables import Elsewhere
from numasim.reproduce.table_cells import Ceiling, Cell, ScoreBound, Table

BINDING = Elsewhere("5.2", "locality_binding_execution_time_s")
OBLIVIOUS = Elsewhere("6.6", "numa_oblivious_execution_time_s")
DRAWS = 4000


def ceilings(study: Study, tables: Sequence[Table], rules: Sequence[ScoreRule]) -> tuple[Ceiling, ...]:
    """Return all ceilings of the thesis."""
    again = "Section 6.4.2 starts from the previous contributions: Table 6.6 prints the times of Table 5.2 once more."
    return (
        *printed_twice(study, tables, rules, [(BINDING, OBLIVIOUS)], again),
        noise_ceiling(study, tables, rules),
        physics_ceiling(study),
    )


# Noise: the distance of a mean of few runs from its expectation. A regression over N runs with the residual sum of
# squares RSS leaves the standard deviation s = sqrt(RSS / (N - 2)) of one run. A mean of n runs has the standard error
# s / sqrt(n). With normal noise the mean absolute error of a model that predicts the expectation is
# sqrt(2 / pi) s / sqrt(n) (Geary 1935). For other scores the noise is drawn.

REGRESSION_RUNS, MEAN_RUNS, AT = 50, 10, "12"
NOISY = ("times", "times, one step", "times, interaction", "signs", "ranks", "ranks, least")


def noise_ceiling(study: Study, tables: Sequence[Table], rules: Sequence[ScoreRule]) -> Ceiling:
    """Return the scores of a perfect model with the noise of the regression of equation 4.3."""
    line = study.published("regression-4-3", "printed")
    steals = Elsewhere("4.2", "average_remote_steal_count")
    middle = line["intercept"] + line["slope"] * study.published(steals.table, steals.column)[AT]
    squares, explained = line["residual_sum_of_squares"], line["r_squared"]
    one = math.sqrt(squares / (REGRESSION_RUNS - 2)) / middle
    whole = math.sqrt(squares / (1 - explained) / (REGRESSION_RUNS - 1)) / middle
    mean = one / math.sqrt(MEAN_RUNS)
    bounds = (noisy_bound(tables, rule, mean) for rule in rules if rule.name in NOISY)
    return Ceiling(
        name="noise of ten runs",
        finding=f"A single run differs from the line of the regression by {one:.2%} (standard deviation), a mean of"
        f" {MEAN_RUNS} runs from its expectation by {mean:.2%}: a perfect model of values errs by"
        f" {expected_error(one, MEAN_RUNS):.2%} on average ({expected_error(whole, MEAN_RUNS):.2%} if what the line"
        " explains is chance as well).",
        assumes="Assumes that the runs behind these scores scatter normally and as much as those of the regression,"
        " which may be of another program, and that a perfect model predicts the expectation; one that has seen the"
        " values may come nearer by luck or by fit.",
        source='Section 3.6.1: "Each benchmark is run for 10 times". Section 4.4.1: MATMUL was run 50 times with as'
        " many threads as cores; how many steals were remote is that of Table 4.2 at 12 threads. The thesis gives no"
        " other spread of times.",
        bounds=tuple(bound for bound in bounds if bound is not None),
        no_bound=f"no cell of {', '.join(NOISY)} is scored.",
        headings=("statistic", "value"),
        rows=(
            ("residual sum of squares", f"{squares:.10g}"),
            ("runs of the regression", str(REGRESSION_RUNS)),
            (f"the line at {column_words(steals)} of {AT}", f"{middle:.6g}"),
            ("runs of a published mean", str(MEAN_RUNS)),
        ),
    )


def expected_error(deviation: float, runs: int) -> float:
    """Return the mean absolute error of a mean of ``runs`` runs; a single run has the standard ``deviation``."""
    return math.sqrt(2 / math.pi) * deviation / math.sqrt(runs)


def noisy_bound(tables: Sequence[Table], rule: ScoreRule, deviation: float) -> ScoreBound | None:
    """Return the mean score of a perfect model if every published mean has the relative standard ``deviation``.

    The expectations of the published means are unknown. Expectations are drawn from a normal distribution around the
    published values, and scored like simulated values. None if no cell is scored, or if no score can be computed.
    """
    pairs = scored_pairs(tables, rule)
    if not pairs:
        return None
    values = measured(pairs, rule, _expectations(deviation))
    known = values[~np.isnan(values)]
    return ScoreBound(rule.name, rule.metric, float(known.mean()), len(pairs), len(pairs)) if known.size else None


def _expectations(deviation: float) -> Callable[[Cell], FloatArray]:
    """Return a function that draws possible expectations of a cell: [draws], the same draws at each call."""
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    drawn: dict[CellKey, FloatArray] = {}

    def of(cell: Cell) -> FloatArray:
        key = key_of(cell)
        if key not in drawn:
            drawn[key] = cell.published * (1 + deviation * generator.standard_normal(DRAWS))
        return drawn[key]

    return of


# Physics: the part of a gain in time that the saved bytes explain at the published latencies. B fewer bytes from other
# nodes are B / line fetches, and each fetch waits l_remote - l_local less. If no fetches of a worker overlap and P
# workers wait side by side, the explained time is B / line x (l_remote - l_local) / P. Overlapping fetches, as in every
# modern processor, explain less. The finding bounds no score, since a model may have other reasons for a gain. A model
# without another reason errs on both times together by at least the unexplained part over the longer time.

LINE, WORKERS = 64, 12
NS_PER_S = PS_PER_S // PS_PER_NS


@dataclass(frozen=True)
class Gain:
    """A gain from ``before`` to ``after``; the saved bytes explain the part ``explained``; all in seconds."""

    before: float
    after: float
    explained: float

    @property
    def gained(self) -> float:
        """Return the gained time, negative for a loss."""
        return self.before - self.after

    @property
    def part(self) -> float | None:
        """Return the explained part of the gain, at most 1; None without a gain."""
        return min(1.0, max(0.0, self.explained / self.gained)) if self.gained > 0 else None

    @property
    def text(self) -> str:
        """Return the explained part as text."""
        return "" if self.part is None else "all" if self.part == 1 else f"{self.part:.0%}"

    @property
    def least_error(self) -> float:
        """Return the least mean relative error on both times of a prediction with only the explained gain."""
        return max(0.0, self.gained - self.explained) / max(self.before, self.after) / 2


def explained_seconds(saved_gb: float, extra_ns: float, line: int, workers: int) -> float:
    """Return the time that ``saved_gb`` (10**9 bytes) cost at ``extra_ns`` a line, shared by ``workers``."""
    return saved_gb * GIGA / line * extra_ns / NS_PER_S / workers


def physics_ceiling(study: Study) -> Ceiling:
    """Return the part of each gain by locality binding that the saved bytes explain. This ceiling bounds no score."""
    latency = study.published("6.1", "latency_ns")
    extra = (latency["0, 1"] + latency["1, 0"]) / 2 - (latency["0, 0"] + latency["1, 1"]) / 2
    much, little = (study.published("5.3", f"{name}_remote_gb") for name in ("topology_aware", "locality_binding"))
    times = Elsewhere("5.2", "topology_aware_execution_time_s"), BINDING
    before, after = (study.published(each.table, each.column) for each in times)
    saved = {row: much[row] - little[row] for row in before if all(row in each for each in (after, much, little))}
    gains = {row: Gain(before[row], after[row], explained_seconds(saved[row], extra, LINE, WORKERS)) for row in saved}
    explained = ", ".join(f"{row} {gain.text}" for row, gain in gains.items() if gain.text)
    error = math.fsum(gain.least_error for gain in gains.values()) / len(gains)
    return Ceiling(
        name="bytes saved by locality binding",
        finding=f"Of the gain from {' to '.join(map(column_words, times))} the bytes saved explain: {explained}. A"
        f" model without another reason errs by at least {error:.1%} in the mean over both columns.",
        assumes=f"Assumes that a line of {LINE} bytes from another node waits {extra:.1f} ns longer than a local one,"
        f" one fetch at a time, {WORKERS} side by side, and that the published volumes are all that"
        " moved; fetches that overlap explain less, traffic that is held up explains more.",
        source='Section 5.6.1: "dual socket 24 thread (6 cores per socket and two hyper threads per core)". One fetch'
        " at a time on each of the 12 cores is taken, which explains most; on each of the 24 threads the bytes explain"
        " half of that time.",
        bounds=(),
        no_bound="a model may have other reasons for the gain than the latency of these bytes.",
        headings=("row", "bytes saved (GB)", "explains (s)", "gained (s)", "explained"),
        rows=tuple(
            (row, f"{saved[row]:.4g}", f"{gain.explained:.4g}", f"{gain.gained:.4g}", gain.text)
            for row, gain in gains.items()
        ),
    )
