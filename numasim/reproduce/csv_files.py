"""Scores and tables as CSV for programs: one row per score or cell, numbers in full precision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from numasim.files.writer import csv_text
from numasim.reproduce.findings import Findings
from numasim.reproduce.scores import ALL_TABLES
from numasim.reproduce.table_cells import Interval, Score, Table
from numasim.reproduce.text import beats_null, met, simulated_estimate

FOUND = ("metric", "value", "bound", "cells")  # fields of a score
RANGES = ("seeds", "rows", "readings", "parameters")  # fields of a score that are intervals
ENDS = tuple(f"{name}_{end}" for name in RANGES for end in ("low", "high"))
JUDGED = ("null", "against_null", "met", "beats_null")
SCORE_COLUMNS = (
    "table",
    "quantity",
    *FOUND,
    *ENDS,
    *JUDGED,
    "column",
    "role",
    "ceiling",
    "question",
    "degenerate",
    "rule",
)
IDENTITY = ("row", "column", "variant", "quantity", "unit", "role", "score")  # fields of a cell
CELL_COLUMNS = (
    *IDENTITY,
    "published",
    "simulated",
    "low",
    "high",
    "seeds",
    "relative_error",
    "null",
    "note",
    "within_low",
    "within_high",
)


def scores_csv(findings: Findings) -> str:
    """Return the scores of the classes, over all tables, then the scores of every column of every table."""
    classes = [_score_row(ALL_TABLES, score, "", "predicted") for score in findings.scores]
    columns = [
        _score_row(found.table, found.score, found.column, found.role, found.degenerate) for found in findings.columns
    ]
    return plain_csv(SCORE_COLUMNS, classes + columns)


def table_csv(table: Table) -> str:
    """Return the cells of a table, row by row, with mean and 95 % interval over the seeds."""
    rows = []
    for cell in table.cells:
        found = simulated_estimate(cell)
        published = None if cell.within else cell.published
        estimate = (published, cell.mean, found.low, found.high, len(cell.simulated), cell.relative_error)
        identity = (getattr(cell, name) for name in IDENTITY)
        rows.append((*identity, *estimate, cell.null, cell.note, *_ends(cell.within)))
    return plain_csv(CELL_COLUMNS, rows)


def _score_row(table: str, score: Score, column: str, role: str, degenerate: str = "") -> tuple[Any, ...]:
    found = (getattr(score, name) for name in FOUND)
    ranges = (end for name in RANGES for end in _ends(getattr(score, name)))
    judged = (score.null, score.against_null, met(score), beats_null(score))
    return (
        table,
        score.name,
        *found,
        *ranges,
        *judged,
        column,
        role,
        score.ceiling,
        score.question,
        degenerate,
        score.rule,
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)


def plain_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows below the names of the columns; unknown values are empty, truth values are yes or no."""
    return csv_text(columns, ([_plain(value) for value in row] for row in rows))


def _plain(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
