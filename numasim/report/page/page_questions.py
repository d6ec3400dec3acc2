"""The questions that a sweep answers, as its page says them: sentences, then the cells with an effect, then all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from numasim.engine.unit_text import MISSING
from numasim.report.answers.effect_sentences import direction
from numasim.report.answers.question import Comparison, compare
from numasim.report.answers.varying_axes import Axis, natural_axis, value_text, varying_axes
from numasim.report.comparison_cells import cell_columns
from numasim.report.comparison_cells import value_text as column_text

MOST_ROWS = 100  # of a question in one table
MOST_CONTRASTS = 2_000  # more of them take longer than a page is waited for

Row = tuple[str, ...]


@dataclass(frozen=True)
class PageQuestion:
    """One question: its answers in sentences, and its table, first the rows whose difference is sure."""

    axis: str
    baseline: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    heads: Row
    sure: tuple[Row, ...]
    others: tuple[Row, ...]
    left_out: int  # rows

    @property
    def title(self) -> str:
        """What is asked."""
        return f"{self.axis}: against {self.baseline}"


def page_questions(frame: pd.DataFrame) -> tuple[list[PageQuestion], list[str]]:
    """Return how the makespan differs along every axis that varies, the natural question first, and what is not asked.

    The seed is no question: it tells nothing but how far repeats differ.
    """
    axes = [axis for axis in varying_axes(frame) if axis.columns != ("seed",)]
    if not axes:
        return [], []
    first = natural_axis(axes)
    ordered = [first, *(axis for axis in axes if axis is not first)]
    large = [axis for axis in ordered[1:] if _contrasts(frame, axis) > MOST_CONTRASTS]
    asked = [_question(compare(frame, axis.name)) for axis in ordered if axis not in large]
    return asked, [f"{axis.name} is not compared here: {_contrasts(frame, axis):,} differences." for axis in large]


def _contrasts(frame: pd.DataFrame, axis: Axis) -> int:
    """About how many differences a question asks for."""
    return int(frame.groupby(cell_columns(frame), sort=False, dropna=False, observed=True).ngroup().max()) + 1


def _question(found: Comparison) -> PageQuestion:
    rows = list(_rows(found))
    sure = [row for row, is_sure in rows if is_sure]
    others = [row for row, is_sure in rows if not is_sure]
    return PageQuestion(
        found.axis,
        found.baseline,
        found.sentences,
        found.notes,
        (*_setting(found), found.axis, "baseline", "median", "difference", "interval", "because"),
        tuple(sure[:MOST_ROWS]),
        tuple(others[:MOST_ROWS]),
        max(0, len(sure) - MOST_ROWS) + max(0, len(others) - MOST_ROWS),
    )


def _setting(found: Comparison) -> list[str]:
    """The columns that tell the rows apart."""
    before = list(found.table.columns)[: list(found.table.columns).index("baseline")]
    axis = found.axis.split("+")
    return [name for name in before if name not in axis and found.table[name].nunique(dropna=False) > 1]


def _rows(found: Comparison) -> Iterator[tuple[Row, bool]]:
    setting = _setting(found)
    records: Any = found.table.to_dict("records")
    for row in records:
        value = " + ".join(value_text(row[name]) for name in found.axis.split("+"))
        medians = (column_text(found.column, row[name]) for name in ("baseline_median", "median"))
        texts = (*(value_text(row[name]) for name in setting), value, *medians, *_difference(found, row))
        yield (*texts, row["because"] or ""), bool(row["sure"])


def _difference(found: Comparison, row: dict[str, Any]) -> tuple[str, str]:
    """The difference and its interval: in percent where it has a percentage, else in the unit of the column."""
    if not pd.isna(row["percent"]):
        interval = f"{row['percent_low']:+.1f} to {row['percent_high']:+.1f} %"
        text = f"{row['percent']:+.1f} %{direction(found.words, row['percent'])}"
        return text, MISSING if pd.isna(row["percent_low"]) else interval
    if pd.isna(row["difference"]):
        return MISSING, MISSING
    ends = [_signed(found, row[name]) for name in ("difference", "difference_low", "difference_high")]
    text = ends[0] + direction(found.words, row["difference"])
    return text, MISSING if pd.isna(row["difference_low"]) else f"{ends[1]} to {ends[2]}"


def _signed(found: Comparison, amount: float) -> str:
    return ("-" if amount < 0 else "+") + column_text(found.column, abs(amount))
