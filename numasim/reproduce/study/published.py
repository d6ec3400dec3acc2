"""Published tables: CSV files with values as printed, converted to numbers where a cell needs one."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from numasim.errors import InputError


@dataclass(frozen=True)
class PublishedTable:
    """One CSV file: its columns, its rows and the lines on which they stand."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    lines: tuple[int, ...]

    def labels(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Name every row by its values in the columns ``keys``. InputError where two rows have one name."""
        made = tuple(", ".join(row[key] for key in keys) for row in self.rows)
        for at, label in enumerate(made):
            if label in made[:at]:
                raise InputError(
                    f"a second row {label!r}", place=self._place(at), expected=f"{', '.join(keys)} of each row once"
                )
        return made

    def number(self, row: int, column: str) -> float:
        """The value of ``column`` in row number ``row``. InputError where it is not a finite number."""
        try:
            value = float(self.rows[row][column])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.refuse(row, column, "a finite number")
        return value

    def refuse(self, row: int, column: str, expected: str) -> InputError:
        """An error at a value that should be ``expected``."""
        return InputError(f"got {self.rows[row][column]!r}", place=self._place(row), path=(column,), expected=expected)

    def _place(self, row: int) -> str:
        return f"{self.path}:{self.lines[row]}"


def read_published(path: Path) -> PublishedTable:
    """Read a CSV file with a header. InputError where it is missing, empty or ragged."""
    reader = csv.reader(_text(path).splitlines())
    columns = tuple(next(reader, ()))
    rows, lines = [], []
    for values in reader:
        if len(values) != len(columns):
            problem = f"this row has {len(values)} values, the header {len(columns)}"
            raise InputError(problem, place=f"{path}:{reader.line_num}", expected="a value for each column")
        rows.append(dict(zip(columns, values, strict=True)))
        lines.append(reader.line_num)
    if not rows or len(set(columns)) != len(columns):
        raise InputError("is no table", place=str(path), expected="a header of different names, and rows")
    return PublishedTable(path, columns, tuple(rows), tuple(lines))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no UTF-8"
        neighbours = sorted(each.name for each in path.parent.glob("*.csv"))
        raise InputError(
            f"cannot be read ({reason})", place=str(path), expected="a CSV file", value=path.name, known=neighbours
        ) from None
