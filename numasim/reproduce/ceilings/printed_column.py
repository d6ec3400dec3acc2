"""A published column digit by digit, for questions about its rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from numasim.reproduce.pages.number_text import PRINTED_UNITS
from numasim.reproduce.study.ceiling_specs import ColumnName
from numasim.reproduce.study.contents import Study


@dataclass(frozen=True)
class PrintedColumn:
    """The numbers of a column as printed, by row; ``name`` is for people."""

    name: str
    values: Mapping[str, Decimal]


def printed_column(study: Study, asked: ColumnName) -> PrintedColumn:
    """The column ``asked``, which is one that a table prints."""
    table = study.tables[asked.table]
    source = table.file.columns[asked.column].published or asked.column
    assert isinstance(source, str), "check_ceilings refuses columns that are not printed"
    rows = zip(table.labels, table.published.rows, strict=True)
    return PrintedColumn(column_words(asked), {label: Decimal(row[source].strip()) for label, row in rows})


def column_words(asked: ColumnName) -> str:
    """The name of a column for people, without the unit that it ends with: ``remote (Table 4.4)``."""
    table = f"Table {asked.table}" if asked.table[:1].isdigit() else asked.table
    ending = next((ending for unit in PRINTED_UNITS if asked.column.endswith(ending := f"_{unit.lower()}")), "")
    return f"{asked.column.removesuffix(ending).replace('_', ' ')} ({table})"


def half_digit(value: Decimal) -> Fraction:
    """Half a unit of the last printed digit: what was printed as 1.50 lies within 0.005 of it."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "published values are finite"
    return Fraction(10) ** exponent / 2
