"""Ceiling "noise": how far a mean of few runs lies from what it is the mean of.

A regression over N runs with the residual sum of squares RSS leaves the standard deviation s = sqrt(RSS / (N - 2)) of
one run. A mean of n runs is then off by s / sqrt(n), and the mean absolute error of a model that predicts the
expectation, with normal noise, is sqrt(2 / pi) s / sqrt(n) (Geary 1935). What is left of other scores is drawn
(`noisy_score`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from numasim.reproduce.ceilings.ceiling import Ceiling
from numasim.reproduce.ceilings.noisy_score import noisy_bound
from numasim.reproduce.ceilings.printed_column import column_words, printed_column
from numasim.reproduce.study.ceiling_specs import NoiseSpec
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.table_cells import Table

RESIDUALS, SLOPE, INTERCEPT, EXPLAINED = "residual_sum_of_squares", "slope", "intercept", "r_squared"
NEEDED = (RESIDUALS, SLOPE, INTERCEPT)


def deviation_of_a_run(residual_sum_of_squares: float, runs: int) -> float:
    """The standard deviation about a line that was fitted to ``runs`` points: two degrees of freedom are used."""
    return math.sqrt(residual_sum_of_squares / (runs - 2))


def deviation_without_the_line(residual_sum_of_squares: float, r_squared: float, runs: int) -> float:
    """The standard deviation about the mean, of which the line explains the part ``r_squared``, below 1."""
    return math.sqrt(residual_sum_of_squares / (1 - r_squared) / (runs - 1))


def expected_error(deviation: float, runs: int) -> float:
    """The mean absolute error of the expectation against a mean of ``runs`` runs, in the unit of ``deviation``."""
    return math.sqrt(2 / math.pi) * deviation / math.sqrt(runs)


def noise_ceiling(
    study: Study, name: str, asked: NoiseSpec, tables: Sequence[Table], rules: Iterable[ScoreRule]
) -> Ceiling:
    """The scores that the noise of a regression leaves to a perfect model."""
    statistics = study.published(asked.regression.table, asked.regression.column)
    squares = statistics[RESIDUALS]
    middle = regression_at(study, asked)
    one = deviation_of_a_run(squares, asked.regression_runs) / middle
    error = expected_error(one, asked.runs)
    mean = one / math.sqrt(asked.runs)
    bounds = (noisy_bound(tables, rule, mean) for rule in rules if rule.name in asked.scores)
    return Ceiling(
        name=name,
        kind="noise",
        finding=(
            f"A single run differs from the line of the regression by {one:.2%} (standard deviation), a mean of"
            f" {asked.runs} runs from its expectation by {mean:.2%}: a perfect model of values errs by {error:.2%} on"
            f" average{_with_the_line(asked, statistics, middle)}."
        ),
        assumes=(
            "Assumes that the runs behind these scores scatter normally and as much as those of the regression, which"
            " may be of another program, and that a perfect model predicts the expectation; one that has seen the"
            " values may come nearer by luck or by fit."
        ),
        source=asked.because,
        bounds=tuple(bound for bound in bounds if bound is not None),
        no_bound=f"no cell of {', '.join(asked.scores)} is scored.",
        headings=("statistic", "value"),
        rows=(
            ("residual sum of squares", f"{squares:.10g}"),
            ("runs of the regression", str(asked.regression_runs)),
            (f"the line at {column_words(asked.at)} of {asked.at.row}", f"{middle:.6g}"),
            ("runs of a published mean", str(asked.runs)),
        ),
    )


def regression_at(study: Study, asked: NoiseSpec) -> float:
    """The value of the regression line where it is read."""
    line = {name: float(value) for name, value in printed_column(study, asked.regression).values.items()}
    return line[INTERCEPT] + line[SLOPE] * study.published(asked.at.table, asked.at.column)[asked.at.row]


def _with_the_line(asked: NoiseSpec, statistics: dict[str, float], middle: float) -> str:
    """What the error would be if what the line explains were chance as well, which is not claimed."""
    explained = statistics.get(EXPLAINED)
    if explained is None or not 0 <= explained < 1:
        return ""
    whole = deviation_without_the_line(statistics[RESIDUALS], explained, asked.regression_runs) / middle
    return f" ({expected_error(whole, asked.runs):.2%} if what the line explains is chance as well)"
