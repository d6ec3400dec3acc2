"""A study in memory: its files as models, with the places of their fields, and what was published."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from numasim.parts.yaml.nodes import Node
from numasim.reproduce.calibration.record import FittedParameter, RefusedParameter
from numasim.reproduce.study.names import unknown_name
from numasim.reproduce.study.published import PublishedTable
from numasim.reproduce.study.study_files import (
    NOTHING,
    ColumnSpec,
    ElsewhereSpec,
    ProgramFile,
    QuotientSpec,
    StudyFile,
    TableFile,
)


@dataclass(frozen=True)
class Program:
    """A program that tables run; ``document`` has the places of its fields."""

    name: str
    file: ProgramFile
    document: Node


@dataclass(frozen=True)
class StudyTable:
    """A table or figure of the study, and what was published; ``labels`` name its rows."""

    id: str
    file: TableFile
    document: Node
    published: PublishedTable
    labels: tuple[str, ...]
    inconsistencies: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers: inconsistencies of the publication, then readings of it."""
        return (*self.inconsistencies, *self.file.notes)


@dataclass(frozen=True)
class Study:
    """A whole study; ``chosen`` are the requested tables, in the order of the study.

    ``refused`` are parameters that a fit found and the data do not identify: they are set nowhere.
    """

    name: str
    folder: Path
    file: StudyFile
    document: Node
    programs: Mapping[str, Program]
    parameters: tuple[FittedParameter, ...]
    tables: Mapping[str, StudyTable]
    chosen: tuple[str, ...]
    refused: tuple[RefusedParameter, ...] = ()

    def published(self, table: str, column: str) -> dict[str, float]:
        """The published value of ``column`` in each row of ``table``, NaN where nothing was.

        InputError where one is not a number.
        """
        of = self.tables[table]
        source = of.file.columns[column].published or column
        if source == NOTHING:
            return dict.fromkeys(of.labels, math.nan)
        if isinstance(source, ElsewhereSpec):
            there = self.published(source.table, source.column)
            return {label: _at(there, label, source) for label in of.labels}
        values = [_value(of.published, row, source) for row in range(len(of.labels))]
        return dict(zip(of.labels, values, strict=True))

    def null(self, table: str, column: ColumnSpec) -> dict[str, float]:
        """The null model's value of ``column`` in each row of ``table``; rows without one are absent."""
        if column.baseline:
            return self.published(table, column.baseline)
        if column.null_from:
            return self.published(column.null_from.table, column.null_from.column)
        return {}


def _at(values: Mapping[str, float], label: str, source: ElsewhereSpec) -> float:
    if label not in values:
        raise unknown_name(f"table {source.table} has no row {label!r}", label, values)
    return values[label]


def _value(published: PublishedTable, row: int, source: str | QuotientSpec) -> float:
    if isinstance(source, QuotientSpec):
        under = published.number(row, source.under)
        if not under:
            raise published.refuse(row, source.under, "a number that can be divided by")
        return published.number(row, source.over) / under
    return published.number(row, source)
