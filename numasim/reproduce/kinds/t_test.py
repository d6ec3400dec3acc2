"""The paired t-test of two columns of another table (Student 1908).

Each row of the table is a statistic. Beside the printed statistics stand those computed from the printed columns,
because the two may differ. The simulation has one test for each seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from numasim.parts.base import Model
from numasim.reproduce.kinds.kind import Kind
from numasim.reproduce.plan.planned import PlannedCell, PlannedTable, cells_of, joined, planned, table_of, wanted_for
from numasim.reproduce.plan.setting import Setting
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.table_cells import Cell, Table
from numasim.sweep.collection import Collected

STATISTICS = ("mean", "sum_of_squares", "variance", "variance_of_mean", "standard_error", "t", "p_one_sided")
UNITS = {"statistic": ""}
RECOMPUTED = "recomputed"


class TTestOptions(Model):
    """The columns that are compared; differences are the first minus the second."""

    table: str = Field(description="The table whose columns are compared.")
    columns: tuple[str, str] = Field(description="The two columns; differences are the first minus the second.")


def paired_t_test(differences: Sequence[float]) -> dict[str, float]:
    """The `STATISTICS` for differences of pairs, at least two and not all alike."""
    from scipy.stats import t as student

    count = len(differences)
    mean = math.fsum(differences) / count
    squares = math.fsum((each - mean) ** 2 for each in differences)
    variance = squares / (count - 1)
    error = math.sqrt(variance / count)
    ratio = mean / error
    return {
        "mean": mean,
        "sum_of_squares": squares,
        "variance": variance,
        "variance_of_mean": variance / count,
        "standard_error": error,
        "t": ratio,
        "p_one_sided": float(student.sf(ratio, count - 1)),
    }


def _plan(setting: Setting, table: StudyTable) -> PlannedTable:
    asked = TTestOptions.model_validate(table.file.options)
    other = setting.study.tables[asked.table]
    pairs = [_pair(setting, other, asked, label) for label in other.labels]
    runs = tuple(run for pair in pairs for cell in pair for run in cell.runs)
    return PlannedTable(runs, lambda done: _fill(setting, table, asked, pairs, done))


def _pair(setting: Setting, other: StudyTable, asked: TTestOptions, label: str) -> tuple[PlannedCell, PlannedCell]:
    cells = {(cell.row, cell.column): cell for cell in cells_of(setting, other)}
    first, second = (
        planned(setting, cells[label, column], wanted_for(setting, other, label, column)) for column in asked.columns
    )
    return first, second


def _fill(
    setting: Setting,
    table: StudyTable,
    asked: TTestOptions,
    pairs: list[tuple[PlannedCell, PlannedCell]],
    done: Collected,
) -> Table:
    filled = [(first.filled(done), second.filled(done)) for first, second in pairs]
    compared = [pair for pair in filled if pair[0].simulated and pair[1].simulated]
    published = [first.published - second.published for first, second in filled]
    rows = [[a - b for a, b in zip(first.simulated, second.simulated, strict=True)] for first, second in compared]
    seeds = [list(differences) for differences in zip(*rows, strict=True)]
    tests = [paired_t_test(differences) for differences in seeds if len(set(differences)) > 1]
    note = "" if len(compared) == len(filled) else f"{len(compared)} of {len(filled)} pairs are simulated"
    cells = _cells(setting, table, paired_t_test(published), tests, note)
    extra = {"published_differences": tuple(published), "simulated_differences": tuple(map(_mean, rows))}
    return table_of(table, tuple(cells), extra)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _cells(
    setting: Setting, table: StudyTable, published: dict[str, float], tests: list[dict[str, float]], note: str
) -> list[Cell]:
    """Each printed statistic, followed by the one computed from the printed table."""
    made = []
    for cell in cells_of(setting, table, UNITS):
        simulated = tuple(test[cell.row] for test in tests)
        printed = replace(cell, quantity=cell.row, simulated=simulated, note=joined(cell.note, note))
        made += [printed, replace(printed, column=RECOMPUTED, published=published[cell.row])]
    return made


def _check(study: Study, table: StudyTable) -> None:
    asked = TTestOptions.model_validate(table.file.options)
    check_names(table.document, ("rows",), "statistic", table.labels, STATISTICS)
    check_names(table.document, ("with", "table"), "table", [asked.table], study.tables)
    columns = study.tables[asked.table].file.columns
    check_names(table.document, ("with", "columns"), "column", asked.columns, columns)


KIND = Kind(_plan, _check, TTestOptions, UNITS)
