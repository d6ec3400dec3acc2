"""The file of all answers of a sweep: for several columns, each value of each axis against the first value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pandas as pd

from numasim.engine.columns import DESCRIBED, Column
from numasim.files.writer import csv_text
from numasim.report.answers.question import Comparison, all_comparisons
from numasim.report.answers.time_parts import PARTS
from numasim.report.answers.varying_axes import value_text
from numasim.report.comparison_cells import cell_columns

ANSWERED = (
    "makespan_ps",
    "efficiency",
    "steal_attempts",
    "steal_miss_ratio",
    "steal_remote_ratio",
    "tasks_stolen",
    "bytes_local",
    "bytes_remote",
    "imc_busy_max",
    "link_busy_max",
    "lock_wait_ps",
)
PLACE = ("machine", "workload", "strategy", "workers")
DIGITS = 12
MOST_ROWS = 100_000  # some 17 MB; for a larger sweep, the last columns of `ANSWERED` are left out


def _column(name: str, meaning: str, unit: str = "", kind: Any = "ratio") -> Column:
    return Column(name, "answers", name.replace("_", " "), unit, meaning, kind)


ANSWER_COLUMNS: tuple[Column, ...] = (
    _column("axis", "The axis along which runs are compared; a plus joins axes that move together.", kind="text"),
    _column("baseline", "The value of the axis that the other values are compared with: the first value.", kind="text"),
    _column("value", "The value of the axis that is compared.", kind="text"),
    *(DESCRIBED[name] for name in PLACE),
    _column("fields", "The other axes of the sweep and their values in the runs of the value.", kind="text"),
    _column("column", "The column of results that is compared; the numbers below are in its unit.", kind="text"),
    _column("pairs", "Pairs of runs of baseline and value that share the seed; both ended.", kind="integer"),
    _column("baseline_median", "The median over the runs of the baseline."),
    _column("median", "The median over the runs of the value."),
    _column("difference", "The median of the differences in pairs, value minus baseline."),
    _column(
        "difference_low",
        "The lower end of the interval of the difference, which covers the true median with at least 95 %; with fewer"
        " than 6 pairs the least difference; empty with one pair.",
    ),
    _column("difference_high", "The upper end of that interval."),
    _column(
        "percent",
        "The median of the differences in percent of the baseline in the same pair; empty for ratios, and if the"
        " baseline is not positive.",
        "%",
    ),
    _column("percent_low", "The lower end of the interval of the percentage, as for the difference.", "%"),
    _column("percent_high", "The upper end of that interval.", "%"),
    _column("correlation", "Spearman's rank correlation of the values in pairs; empty with fewer than 6 pairs."),
    _column(
        "p",
        "The two-sided p-value of the sign test that the median of the differences is zero; empty with fewer than 6"
        " pairs.",
    ),
    _column("holm_p", "The same after Holm's correction over all rows of the axis and the column."),
    _column("sure", "1 if `holm_p` is below 0.05; the interval then excludes zero. Else 0.", kind="integer"),
    _column(
        "because", "The parts of the makespan that explain a sure difference of the makespan; else empty.", kind="text"
    ),
    *(
        _column(
            f"part_{part.name}",
            f"The change of {part.label} in percent of the baseline's makespan, only for the makespan; the parts add up"
            " to `percent`.",
            "%",
        )
        for part in PARTS
    ),
)


def answers_csv(frame: pd.DataFrame) -> bytes:
    """Return the answers of a results table: a row for each axis, value, setting and column.

    Equal tables give equal bytes.
    """
    fields = [name for name in cell_columns(frame) if name not in PLACE] if len(frame) else []
    found = all_comparisons(frame, ANSWERED, MOST_ROWS) if len(frame) else ()
    rows = chain.from_iterable(_rows(comparison, fields) for comparison in found)
    return csv_text([column.name for column in ANSWER_COLUMNS], rows).encode()


def _rows(comparison: Comparison, fields: list[str]) -> Iterator[list[str]]:
    for row, value in zip(comparison.table.to_dict("records"), comparison.values, strict=True):
        given: dict[str, Any] = {str(name): each for name, each in row.items()}
        given |= {"axis": comparison.axis, "value": value, "sure": int(given["sure"])}
        given["fields"] = " ".join(f"{name}={value_text(given[name])}" for name in fields if name in given)
        yield [_written(given.get(column.name, "")) for column in ANSWER_COLUMNS]


def _written(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.{DIGITS}g}"
    return str(value)
