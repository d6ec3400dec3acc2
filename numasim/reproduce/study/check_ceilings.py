"""Checks of what a study says about ceilings: every name exists, and every value is one that can be computed with.

A mistake is an `InputError` with file and line, what is expected and the nearest name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NoReturn

from numasim.errors import InputError
from numasim.parts.validation import placed
from numasim.parts.yaml.nodes import FieldPath
from numasim.reproduce.ceilings.explained_gain import UNITS
from numasim.reproduce.ceilings.printed_column import half_digit, printed_column
from numasim.reproduce.ceilings.run_noise import NEEDED, RESIDUALS, regression_at
from numasim.reproduce.kinds import KINDS
from numasim.reproduce.published_quantities import QUANTITIES
from numasim.reproduce.study.ceiling_specs import ColumnName, DigitsSpec, NoiseSpec, PhysicsSpec
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.names import check_names

MOST = 10**12  # of a ratio whose decimals are looked at


def check_ceilings(study: Study) -> None:
    """Raise `InputError` for the first mistake in ``ceilings:``; the published tables are right already."""
    asked = study.file.ceilings
    for number, columns in enumerate(asked.twice.same):
        path: FieldPath = ("ceilings", "twice", "same", number)
        for place, column in enumerate(columns):
            _check_printed(study, (*path, place), column)
        _check_common_row(study, path, columns)
    for name, noise in asked.noise.items():
        _check_noise(study, ("ceilings", "noise", name), noise)
    for name, digits in asked.digits.items():
        _check_digits(study, ("ceilings", "digits", name), digits)
    for name, physics in asked.physics.items():
        _check_physics(study, ("ceilings", "physics", name), physics)


def _check_noise(study: Study, path: FieldPath, asked: NoiseSpec) -> None:
    check_names(study.document, (*path, "scores"), "score", asked.scores, study.file.scores)
    _check_printed(study, (*path, "regression"), asked.regression)
    table = study.tables[asked.regression.table]
    if table.file.kind != "regression":
        _refuse(study, (*path, "regression"), f"table {table.id} is of kind {table.file.kind}", "a regression")
    check_names(table.document, ("rows",), "statistic", NEEDED, table.labels)
    _check_column(study, (*path, "at"), asked.at)
    check_names(study.document, (*path, "at", "row"), "row", [asked.at.row], study.tables[asked.at.table].labels)
    if printed_column(study, asked.regression).values[RESIDUALS] < 0:
        _refuse(study, (*path, "regression"), "the sum of squares is negative", "at least 0")
    if regression_at(study, asked) <= 0:
        _refuse(
            study, (*path, "at"), "the line is not above 0 there", "a place where it is, since the noise is relative"
        )


def _check_digits(study: Study, path: FieldPath, asked: DigitsSpec) -> None:
    for key, column in (("over", asked.over), ("under", asked.under)):
        _check_printed(study, (*path, key), column)
    _check_common_row(study, (*path, "under"), (asked.over, asked.under))
    for column in (asked.over, asked.under):
        for number, value in enumerate(printed_column(study, column).values.values()):
            if Fraction(value) <= half_digit(value):
                table = study.tables[column.table]
                source = str(table.file.columns[column.column].published or column.column)
                raise table.published.refuse(number, source, "more than half its last digit, for a ratio of digits")
    over, under = (printed_column(study, column).values for column in (asked.over, asked.under))
    for row in (row for row in over if row in under):
        if not Fraction(1, MOST) < Fraction(over[row]) / Fraction(under[row]) < MOST:
            _refuse(study, path, f"the columns differ too much in {row!r}", f"a ratio between 1/{MOST} and {MOST}")


def _check_physics(study: Study, path: FieldPath, asked: PhysicsSpec) -> None:
    for key, columns in (("volumes", asked.volumes), ("times", asked.times), ("latency", (asked.latency,))):
        for number, column in enumerate(columns):
            place = (*path, key) if key == "latency" else (*path, key, number)
            _check_column(study, place, column)
            unit = _unit(study, column.table, column.column)
            if unit != UNITS[key]:
                _refuse(
                    study, (*place, "column"), f"{column.column!r} is in {unit or 'no unit'}", f"one in {UNITS[key]}"
                )
    _check_common_row(study, (*path, "times"), (*asked.volumes, *asked.times))
    for key, rows in (("remote", asked.latency.remote), ("local", asked.latency.local)):
        check_names(study.document, (*path, "latency", key), "row", rows, study.tables[asked.latency.table].labels)
    for column in asked.times:
        for row, value in study.published(column.table, column.column).items():
            if value <= 0:
                _refuse(study, (*path, "times"), f"the time of {row!r} is {value:g}", "times above 0")


def _check_column(study: Study, path: FieldPath, asked: ColumnName) -> None:
    check_names(study.document, (*path, "table"), "table", [asked.table], study.tables)
    columns = study.tables[asked.table].file.columns
    check_names(study.document, (*path, "column"), "column", [asked.column], columns)


def _check_printed(study: Study, path: FieldPath, asked: ColumnName) -> None:
    _check_column(study, path, asked)
    columns = study.tables[asked.table].file.columns
    printed = [
        name for name, column in columns.items() if column.published is None or isinstance(column.published, str)
    ]
    check_names(study.document, (*path, "column"), "column with printed values", [asked.column], printed)


def _check_common_row(study: Study, path: FieldPath, columns: Sequence[ColumnName]) -> None:
    labels: list[Collection[str]] = [study.tables[column.table].labels for column in columns]
    if not any(all(row in each for each in labels) for row in labels[0]):
        _refuse(study, path, "the columns have no row in common", "columns of tables with rows of the same names")


def _unit(study: Study, table: str, column: str) -> str:
    file = study.tables[table].file
    quantity = file.columns[column].quantity
    return KINDS[file.kind].units[quantity] if KINDS[file.kind].units else QUANTITIES[quantity].unit


def _refuse(study: Study, path: FieldPath, problem: str, expected: str) -> NoReturn:
    raise placed(InputError(problem, path=path, expected=expected), study.document)
