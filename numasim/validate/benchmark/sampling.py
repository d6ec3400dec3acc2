"""Samples of all timed values, and the findings as tables and as JSON.

In each round one sample of every value is taken. A short load of the machine then affects few samples of each value.
"""

from __future__ import annotations

import json
import math
import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from numasim.engine.unit_text import MISSING
from numasim.report.answers.summary import WIDTH
from numasim.sweep.progress import progress_bar

AT_LEAST, AT_MOST = "at least", "at most"
JUDGES = {AT_LEAST: operator.ge, AT_MOST: operator.le}
DIGITS = 3


class Goal(NamedTuple):
    """The bound with which a value is compared. Goals are printed; `numasim bench` succeeds also if one is missed."""

    kind: str
    bound: float


@dataclass(frozen=True)
class Finding:
    """The median of the samples of one value, and its place in the tables."""

    table: str
    row: str
    column: str
    value: float
    goal: Goal | None = None

    @property
    def met(self) -> bool | None:
        """Return whether the value meets its goal; None if there is no goal."""
        return bool(JUDGES[self.goal.kind](self.value, self.goal.bound)) if self.goal else None


@dataclass(frozen=True)
class Probe:
    """A row of a table, and how its values are measured.

    ``columns`` has the goal of each column, or None, by the heading of the column, which names the unit. ``sample``
    returns a value for each column. ``most`` limits the number of samples.
    """

    table: str
    row: str
    columns: Mapping[str, Goal | None]
    sample: Callable[[], tuple[float, ...]]
    most: int | None = None


def take(probes: Sequence[Probe], samples: int, progress: bool) -> list[Finding]:
    """Return the median of each value over ``samples`` rounds; ``progress`` shows a bar on a terminal."""
    taken: list[list[tuple[float, ...]]] = [[] for _ in probes]
    with progress_bar(samples * len(probes), progress) as advance:
        for turn in range(samples):
            for probe, values in zip(probes, taken, strict=True):
                if probe.most is None or turn < probe.most:
                    values.append(probe.sample())
                advance(1)
    return [
        Finding(probe.table, probe.row, column, statistics.median(each), goal)
        for probe, values in zip(probes, taken, strict=True)
        for (column, goal), each in zip(probe.columns.items(), zip(*values, strict=True), strict=True)
    ]


def print_findings(found: Sequence[Finding], sentences: Sequence[str], as_json: bool) -> None:
    """Print a table for each title, the goals and ``sentences``; or one JSON object with the findings and sentences."""
    if as_json:
        findings = [{**asdict(each), "met": each.met} for each in found]
        print(json.dumps({"findings": findings, "sentences": list(sentences)}))
        return
    console = Console(width=WIDTH, highlight=False)
    for title in dict.fromkeys(each.table for each in found):
        cells = {(each.row, each.column): number(each.value) for each in found if each.table == title}
        names, columns = (list(dict.fromkeys(some)) for some in zip(*cells, strict=True))
        rows = [[name, *(cells.get((name, column), MISSING) for column in columns)] for name in names]
        console.print(_table(title, ["", *columns], rows))
    judged: list[list[str]] = []
    for each in found:
        if each.goal:
            goal, met = f"{each.goal.kind} {number(each.goal.bound)}", "met" if each.met else "not met"
            judged.append([f"{each.row}, {each.column}", number(each.value), goal, met])
    if judged:
        console.print(_table("goals", ["", "measured", "goal", ""], judged))
    for sentence in sentences:
        console.print(sentence)


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table whose first column is text, and whose other columns are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for at, heading in enumerate(headings):
        table.add_column(heading, justify="right" if at else "left")
    for row in rows:
        table.add_row(*row)
    return table


def number(value: float) -> str:
    """Return a value that is not negative as text, with three significant digits or as a whole number."""
    if not value:
        return "0"
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(value)))
    return f"{value:,.{decimals}f}"
