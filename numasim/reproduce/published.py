"""Published tables: CSV files with the values as printed."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from numasim.errors import InputError
from numasim.files.reader import CSV, read_text
from numasim.parts.yaml.nodes import shown

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True)
class PublishedTable:
    """A CSV file: its columns, its rows and the line of each row."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    lines: tuple[int, ...]

    def require(self, columns: Iterable[str]) -> None:
        """Raise InputError for the first of ``columns`` that the table does not have."""
        for name in columns:
            if name not in self.columns:
                raise InputError(f"there is no column {name!r}", place=str(self.path), value=name, known=self.columns)

    def labels(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Return the name of every row, from the columns ``keys``. Raise InputError for two rows with one name."""
        made = tuple(", ".join(row[key] for key in keys) for row in self.rows)
        for at, label in enumerate(made):
            if label in made[:at]:
                expected = f"{', '.join(keys)} of each row once"
                raise InputError(f"a second row {label!r}", place=f"{self.path}:{self.lines[at]}", expected=expected)
        return made

    def number(self, row: int, column: str) -> float:
        """Return the value of ``column`` in row number ``row``.

        Raise InputError unless the value is a finite number.
        """
        text = self.rows[row][column].strip()
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            raise self.refuse(row, column, "a finite number")
        return value

    def quotient(self, row: int, over: str, under: str) -> float:
        """Return the value of ``over`` divided by the value of ``under``. Raise InputError for a divisor of 0."""
        if not self.number(row, under):
            raise self.refuse(row, under, "a number that can be divided by")
        return self.number(row, over) / self.number(row, under)

    def refuse(self, row: int, column: str, expected: str) -> InputError:
        """Return the error for a value that should be ``expected``."""
        problem, place = f"got {shown(self.rows[row][column])}", f"{self.path}:{self.lines[row]}"
        return InputError(problem, place=place, path=(column,), expected=expected)


def read_published(path: Path) -> PublishedTable:
    """Read a CSV file with a header. Raise InputError for a file that is missing, empty, ragged or no CSV."""
    reader = csv.reader(read_text(path, CSV).splitlines(), strict=True)
    rows, lines = [], []
    try:
        columns = tuple(next(reader, ()))
        for values in reader:
            if len(values) != len(columns):
                problem = f"this row has {len(values)} values, the header {len(columns)}"
                raise InputError(problem, place=f"{path}:{reader.line_num}", expected="a value for each column")
            rows.append(dict(zip(columns, values, strict=True)))
            lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"no CSV: {error}", place=f"{path}:{reader.line_num}", expected=CSV.name) from None
    if not rows or len(set(columns)) != len(columns):
        raise InputError("is no table", place=str(path), expected="a header of different names, and rows")
    return PublishedTable(path, columns, tuple(rows), tuple(lines))
