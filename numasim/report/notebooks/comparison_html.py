"""A comparison as a notebook shows it: its sentences, and behind a line that opens the table and how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from numasim import html as pieces
from numasim.report.answers.effect_sentences import MAKESPAN, direction
from numasim.report.comparison_cells import value_text

ROW_LIMIT = 60
MEDIANS = ("baseline_median", "median")
SETTING_END = "baseline"  # the columns before this one say which cells are compared


def comparison_html(
    column: str, table: pd.DataFrame, sentences: Sequence[str], notes: Sequence[str], words: tuple[str, str]
) -> str:
    """The HTML of a comparison of ``column``; the arguments are those of `Comparison`."""
    told = pieces.listed(sentences) if sentences else pieces.paragraph("Nothing to compare: no pair of runs.")
    if table.empty:
        return pieces.element("div", told, style=pieces.PANEL)
    names = list(table.columns[: table.columns.get_loc(SETTING_END)])
    shown = [name for name in names if table[name].nunique(dropna=False) > 1]
    rows = [_row(column, words, row, shown) for row in table.head(ROW_LIMIT).to_dict("records")]
    because = ["because"] if column == MAKESPAN else []
    head = [*shown, f"baseline: {table[SETTING_END].iloc[0]}", "median", "difference", "interval", *because]
    cells = pieces.table(head, rows, left=len(shown), ends_with_text=bool(because))
    more = [f"{len(table) - ROW_LIMIT} more rows in .table"] if len(table) > ROW_LIMIT else []
    below = (pieces.paragraph(line) for line in (*more, *notes))
    return pieces.element("div", told, pieces.folded("Every setting", cells, *below), style=pieces.PANEL)


def _row(column: str, words: tuple[str, str], row: Any, shown: Sequence[str]) -> list[object]:
    medians = [value_text(column, row[name]) for name in MEDIANS]
    percent = not pd.isna(row["percent"])
    name = "percent" if percent else "difference"
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    texts = [f"{number:+.1f} %" if percent else _signed(column, number) for number in (value, low, high)]
    difference = pieces.element("b" if row["sure"] else "span", texts[0] + direction(words, value))
    interval = "" if pd.isna(low) else f"{texts[1]} to {texts[2]}"
    because = [row["because"]] if column == MAKESPAN else []
    return [*(row[name] for name in shown), *medians, difference, interval, *because]


def _signed(column: str, value: float) -> str:
    return "" if pd.isna(value) else f"{'-' if value < 0 else '+'}{value_text(column, abs(value))}"
