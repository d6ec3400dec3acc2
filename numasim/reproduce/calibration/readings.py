"""The published values that a calibration reads, recorded one by one.

A value counts as predicted only if the calibration has not read it. A calibration reads values only through
`Readings.values`, so that they can be compared with the roles that the study gives its cells.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from numasim.reproduce.calibration.record import Calibration
from numasim.reproduce.names import unknown_name
from numasim.reproduce.study import Study
from numasim.reproduce.table_cells import Role


@dataclass(frozen=True)
class Reading:
    """Rows of one column that were read."""

    table: str
    column: str
    rows: tuple[str, ...]


@dataclass
class Readings:
    """The published values of a study; ``done`` is what has been read so far."""

    study: Study
    done: list[Reading] = field(default_factory=list)

    def values(self, table: str, column: str, rows: Collection[str] | None = None) -> dict[str, float]:
        """Row -> value as printed, of all rows of a column or of some. InputError for a row that does not exist."""
        column_values = self.study.published(table, column)
        for row in rows or ():
            if row not in column_values:
                raise unknown_name(f"table {table} has no row {row!r}", row, column_values)
        chosen = {row: value for row, value in column_values.items() if rows is None or row in rows}
        self.done.append(Reading(table, column, tuple(chosen)))
        return chosen

    def rounding(self, table: str, column: str, rows: Collection[str] | None = None) -> dict[str, float]:
        """Row -> standard deviation that a value has by being printed with so many digits, relative to it."""
        of = self.study.tables[table]
        printed = {label: row[column].strip() for label, row in zip(of.labels, of.published.rows, strict=True)}
        return {label: _rounding(Decimal(text)) for label, text in printed.items() if rows is None or label in rows}


def _rounding(printed: Decimal) -> float:
    """Any value within half a unit of the last digit is printed alike."""
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int)
    return float(Decimal(10) ** exponent / abs(printed)) / math.sqrt(12) if printed else 0.0


def misread(study: Study, readings: Iterable[Reading], calibration: Calibration) -> list[str]:
    """A sentence for every value that was read although the study marks it as predicted.

    A value that only refused parameters were fitted to may be called predicted: nothing that was found from it is in
    any run.
    """
    fitted = {cell for each in calibration.parameters for cell in each.cells}
    refused = {cell for each in calibration.refused for cell in each.cells}
    return [
        f"Table {each.table}, {each.column} of {row} is marked as predicted, but the calibration reads it"
        for each in readings
        for row in each.rows
        if _role(study, each, row) == Role.PREDICTED and (each.table, each.column, row) not in refused - fitted
    ]


def _role(study: Study, reading: Reading, row: str) -> Role:
    column = study.tables[reading.table].columns[reading.column]
    return Role.FITTED if row in column.fitted else column.role
