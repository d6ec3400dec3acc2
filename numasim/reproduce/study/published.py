"""Published tables: CSV files with values as printed, converted to numbers where a cell needs one."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.files.bounded_text import read_text
from numasim.files.file_kinds import CSV
from numasim.parts.yaml.nodes import shown

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")


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
        text = self.rows[row][column].strip()
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            raise self.refuse(row, column, "a finite number")
        return value

    def refuse(self, row: int, column: str, expected: str) -> InputError:
        """An error at a value that should be ``expected``."""
        return InputError(
            f"got {shown(self.rows[row][column])}", place=self._place(row), path=(column,), expected=expected
        )

    def _place(self, row: int) -> str:
        return f"{self.path}:{self.lines[row]}"


def read_published(path: Path, place: str | None = None) -> PublishedTable:
    """Read a CSV file with a header, which a document names at ``place``.

    InputError where it is missing, empty, ragged or no CSV.
    """
    reader = csv.reader(read_text(path, CSV, place).splitlines(), strict=True)
    try:
        columns = tuple(next(reader, ()))
        rows, lines = _rows(path, reader, columns)
    except csv.Error as error:
        raise InputError(f"no CSV: {error}", place=f"{path}:{reader.line_num}", expected=CSV.name) from None
    if not rows or len(set(columns)) != len(columns):
        raise InputError("is no table", place=str(path), expected="a header of different names, and rows")
    return PublishedTable(path, columns, tuple(rows), tuple(lines))


def _rows(path: Path, reader: Any, columns: Sequence[str]) -> tuple[list[dict[str, str]], list[int]]:
    """The rows below the header, and their lines."""
    rows, lines = [], []
    for values in reader:
        if len(values) != len(columns):
            problem = f"this row has {len(values)} values, the header {len(columns)}"
            raise InputError(problem, place=f"{path}:{reader.line_num}", expected="a value for each column")
        rows.append(dict(zip(columns, values, strict=True)))
        lines.append(reader.line_num)
    return rows, lines
