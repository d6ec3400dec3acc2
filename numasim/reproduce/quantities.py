"""Quantities of published tables by name: numbers with a unit that are computed from one finished run.

Counters are described in `numasim.engine.result.COLUMNS` (model 6). If a paper does not say exactly what it counted,
each possible meaning is a separate quantity.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.files.reader import CSV, read_text
from numasim.parts.unit_factors import GIGA, PS_PER_S, PS_PER_US
from numasim.parts.yaml.nodes import shown
from numasim.spec.run_spec import RunSpec


@dataclass(frozen=True)
class Outcome:
    """A finished run: its specification, its counters, and its rows of the table of node pairs, if known."""

    spec: RunSpec
    counters: Mapping[str, Any]
    pairs: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Quantity:
    """A quantity: its meaning in words, its unit, and the function that computes it from a run."""

    meaning: str
    unit: str
    of: Callable[[Outcome], float]


def _counter(name: str, per_unit: int = 1) -> Callable[[Outcome], float]:
    return lambda outcome: float(outcome.counters[name]) / per_unit


def _share(part: str, whole: str) -> Callable[[Outcome], float]:
    """Return the quantity ``part`` over ``whole``, 0 for a whole of 0."""

    def share(outcome: Outcome) -> float:
        counters = outcome.counters
        return float(counters[part] / counters[whole]) if counters[whole] else 0.0

    return share


def _rest(whole: str, part: str) -> Callable[[Outcome], float]:
    return lambda outcome: float(outcome.counters[whole] - outcome.counters[part])


def _speedup(outcome: Outcome) -> float:
    return float(outcome.counters["serial_ps"] / outcome.counters["makespan_ps"])


def task_us(outcome: Outcome) -> float:
    """Return the mean time of a task's segments, in us. Waits in queues and joins do not count."""
    counters = outcome.counters
    parts = ("work_local_ps", "inflation_numa_ps", "inflation_smt_ps", "inflation_contention_ps")
    return float(sum(counters[part] for part in parts) / counters["tasks"] / PS_PER_US)


def _local_share(outcome: Outcome) -> float:
    local, remote = outcome.counters["bytes_local"], outcome.counters["bytes_remote"]
    return float(local / (local + remote)) if local + remote else 0.0


def _idle_share(outcome: Outcome) -> float:
    """Return the share of the workers' time in which they neither execute tasks nor operations of the runtime."""
    counters = outcome.counters
    parts = ("idle_steal_ps", "idle_backoff_ps", "idle_barrier_ps", "parked_ps", "asleep_ps")
    idle = sum(counters[part] for part in parts)
    return float(idle / (counters["makespan_ps"] * outcome.spec.workers))


QUANTITIES: dict[str, Quantity] = {
    "makespan_s": Quantity("execution time", "s", _counter("makespan_ps", PS_PER_S)),
    "makespan_us": Quantity("execution time", "us", _counter("makespan_ps", PS_PER_US)),
    "serial_s": Quantity("serial execution time", "s", _counter("serial_ps", PS_PER_S)),
    "speedup": Quantity("serial time over execution time", "", _speedup),
    "steal_attempts": Quantity("steal attempts", "count", _counter("steal_attempts")),
    "steal_success": Quantity("successful steals", "count", _counter("steal_success")),
    "steal_false": Quantity("steal attempts that find nothing", "count", _counter("steal_false")),
    "steal_miss_ratio": Quantity("false steals over attempts", "1", _share("steal_false", "steal_attempts")),
    "steal_attempts_remote": Quantity("steal attempts on other nodes", "count", _counter("steal_attempts_remote")),
    "steal_attempts_local": Quantity(
        "steal attempts on the own node", "count", _rest("steal_attempts", "steal_attempts_remote")
    ),
    "steal_success_remote": Quantity("successful steals from other nodes", "count", _counter("steal_success_remote")),
    "steal_success_local": Quantity(
        "successful steals from the own node", "count", _rest("steal_success", "steal_success_remote")
    ),
    "steal_remote_success_ratio": Quantity(
        "successful steals from other nodes over attempts", "1", _share("steal_success_remote", "steal_attempts")
    ),
    "task_us": Quantity("mean time of a task", "us", task_us),
    "idle_share": Quantity("share of the workers' time in which they look for tasks", "1", _idle_share),
    "local_share": Quantity("share of bytes from the own node", "1", _local_share),
    "remote_share": Quantity("share of bytes from other nodes", "1", lambda outcome: 1 - _local_share(outcome)),
    "remote_gb": Quantity("bytes from other nodes", "GB", _counter("bytes_remote", GIGA)),
}

# ---- Published values in CSV files -----------------------------------------------------------------------------------

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
        """Return the finite number in ``column`` of row number ``row``. Raise InputError for anything else."""
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
