"""The table of a comparison on the terminal, in which the cells without an effect are one line."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from numasim.engine.unit_text import MISSING
from numasim.report.answers.effect_sentences import effect_text, short_because, signed
from numasim.report.answers.question import Comparison
from numasim.report.answers.summary import WIDTH
from numasim.report.answers.time_parts import PartChange

VALUE_WIDTH = 14  # of the column of the axis, at the least, however narrow the terminal
MOST_WIDTH = 40
ROW_LIMIT = 120  # lines printed; a longer table is cut
FEW_ROWS = 12  # are all printed, effect or not

Row = dict[Hashable, Any]  # of the table of a comparison


@dataclass(frozen=True)
class Line:
    """A line of a table: the setting, the value of the axis, and what came of it.

    ``row`` is that of the comparison with its ``causes``; None for a baseline.
    """

    setting: tuple[str, ...]
    value: str
    estimates: tuple[str, ...]
    row: Row | None
    causes: tuple[PartChange, ...] = ()

    @property
    def folds(self) -> bool:
        """Whether it says no more than that no difference is sure."""
        return self.row is not None and not self.row["sure"] and self.row["pairs"] > 1


def print_effects(lines: list[Line], estimates: Sequence[str], comparison: Comparison, console: Console) -> None:
    """Print a line for each cell, below the columns of the setting, the axis and ``estimates``.

    Among more than a few, cells without a sure difference are one line, and baselines of which nothing else is left
    are none.
    """
    folded = [line for line in lines if line.folds] if len(lines) > FEW_ROWS else []
    settings = {line.setting for line in lines if line.row is not None and line not in folded}
    shown = [line for line in lines if line not in folded and line.setting in settings]
    explained = any(line.causes for line in shown)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in comparison.varying:
        table.add_column(name, justify="right" if name == "workers" else "left", overflow="fold")
    table.add_column(
        comparison.axis, overflow="fold", min_width=min(MOST_WIDTH, max(VALUE_WIDTH, len(comparison.axis)))
    )
    for heading in (
        *estimates,
        f"vs {comparison.baseline} (+: {comparison.words[0]})",
        *["because, %"] * explained,
    ):
        table.add_column(heading, overflow="fold")
    previous: tuple[str, ...] = ()
    for line in shown[:ROW_LIMIT]:
        setting = ("",) * len(line.setting) if line.setting == previous else line.setting
        because = [short_because(line.causes)] * explained
        table.add_row(*setting, line.value, *line.estimates, _effect_text(comparison.column, line.row), *because)
        previous = line.setting
    if shown:
        console.print(table, width=WIDTH)
    for note in _left_out(folded, len(shown) - ROW_LIMIT, comparison):
        console.print(note, width=WIDTH, highlight=False)


def _left_out(folded: Sequence[Line], cut: int, comparison: Comparison) -> Iterator[str]:
    if folded:
        rows = [line.row for line in folded if line.row]
        relative = all(not math.isnan(row["percent"]) for row in rows)
        values = [row["percent" if relative else "difference"] for row in rows]
        low, high = (signed(comparison.column, end, relative) for end in (min(values), max(values)))
        ends = f"{low} to {high}" + " %" * relative
        yield f"no sure difference in {len(folded)} of {len(comparison.table)} cells: {ends}"
    if cut > 0:
        yield f"{cut} more lines; the results table has all cells"


def _effect_text(column: str, row: Row | None) -> Text:
    if row is None:
        return Text(MISSING)
    known = row["pairs"] > 1
    style = ("dim" if not row["sure"] else "green" if row["difference"] < 0 else "red") if known else ""
    return Text(effect_text(column, row), style=style)
