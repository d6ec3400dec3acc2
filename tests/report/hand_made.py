"""Results tables of a few runs with columns written by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd

from numasim.engine.result import COLUMNS, TIME

REPEATS = 12
SHARED = {
    "engine": "reference",
    "machine": "two-nodes",
    "workload": "fib",
    "strategy": "randomized",
    "workers": 2,
    "seed": 7,
    "serial_ps": 1000,
    "lock_wait_ps": 0,
}


def cell(repeats: list[dict[str, int]], **identity: Any) -> list[dict[str, Any]]:
    """Return a cell: a run for each time split in ``repeats``. Its makespan is the sum of the split / workers."""
    rows = []
    for repeat, split in enumerate(repeats):
        row = dict.fromkeys(COLUMNS, 0) | SHARED | identity | {"repeat": repeat, "error": None} | split
        total = sum(row[name] for name in TIME)
        rows.append({**row, "makespan_ps": total // row["workers"]})
        assert total % row["workers"] == 0
    return rows


def table(*cells: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the runs of the cells as a table."""
    return pd.DataFrame([row for each in cells for row in each])


def busy(*works: int, **other: int) -> list[dict[str, int]]:
    """Return repeats with these amounts of local work, and the same ``other`` components."""
    return [{"work_local_ps": work, **other} for work in works]


def always(work: int, **other: int) -> list[dict[str, int]]:
    """Return 12 equal repeats, enough for an answer to name a cause: their p-value 2 / 2**12 is below 0.001."""
    return busy(*[work] * REPEATS, **other)
