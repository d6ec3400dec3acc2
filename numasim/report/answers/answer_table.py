"""The answer of a sweep on the terminal: a table for each setting, 120 columns wide, folded where it would be long."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from numasim.report.answers.answer import answer
from numasim.report.answers.summary import WIDTH
from numasim.report.comparison_cells import cell_columns, contender_columns, failed, groups, label, setting_columns
from numasim.report.components import COMPONENTS
from numasim.report.unit_text import MISSING, ratio_text, time_text

STRATEGY_WIDTH = 14  # at the least, however narrow the terminal
ROW_LIMIT = 120  # cells printed in full; a longer sweep is folded
FAILURE_LIMIT = 10  # different messages printed
CONFIDENT_PAIRS = 6  # the fewest pairs with which a sign test can reach 0.05

LABELS = {component.column: component.label for component in COMPONENTS}

Row = dict[Hashable, Any]  # of the answer


def render(frame: pd.DataFrame, console: Console) -> None:
    """Print the `answer` of a results table, how to read it, what was folded away, and the failed runs.

    On a console that is not a terminal, such as a file, the table is as wide as it needs to be.
    """
    given = console.width
    console.width = given if console.is_terminal else max(given, WIDTH)
    _render(frame, console)
    console.width = given


def _render(frame: pd.DataFrame, console: Console) -> None:
    table = answer(frame)
    if table.empty:
        console.print("no runs")
        return
    shown, folded = fold(table, cell_columns(frame), ROW_LIMIT)
    setting, contender = setting_columns(frame)[:-1], contender_columns(frame)
    names = [label(contender, values) for values in table[contender].itertuples(index=False, name=None)]
    shown = shown.assign(contender=[names[at] for at in shown.index])
    for values, rows in groups(shown, setting):
        cells = shown.iloc[rows].sort_values("workers", kind="stable")  # cells that are compared are adjacent
        console.print(_setting_table(cells, label(setting, values), names[0]), width=WIDTH)
    for line in (*folded, *_notes(table)):
        console.print(line, style="dim", width=WIDTH, highlight=False)
    _print_failures(failed(frame), cell_columns(frame), console)


def fold(table: pd.DataFrame, columns: Sequence[str], limit: int) -> tuple[pd.DataFrame, list[str]]:
    """Keep at most ``limit`` rows of an answer whose cells ``columns`` identify, and say what was left out.

    The axis with the most values keeps its first, middle and last, then the next one, until the rest fits; rows that
    still do not fit are cut off at the end.
    """
    notes: list[str] = []
    total = len(table)
    while len(table) > limit:
        axes = {name: list(table[name].drop_duplicates()) for name in columns}
        axis, values = max(axes.items(), key=lambda item: len(item[1]))
        if len(values) <= 3:
            table = table.iloc[:limit]
            break
        kept = [values[0], values[len(values) // 2], values[-1]]
        table = table[table[axis].isin(kept)]
        notes.append(f"{axis}: {', '.join(map(str, kept))} out of {len(values)} values")
    shown = f"{len(table)} of {total} cells shown; the results table has all of them"
    return table, [*notes, shown] if len(table) < total else []


def _setting_table(cells: pd.DataFrame, title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    compared = bool(cells["pairs"].any())
    table.add_column("workers", justify="right", no_wrap=True)
    table.add_column("strategy", overflow="fold", min_width=STRATEGY_WIDTH)
    for heading in ("makespan", "miss ratio", "remote share", *((f"vs {first}", "because") * compared)):
        table.add_column(heading)
    previous = None
    for row in cells.to_dict("records"):
        workers = "" if row["workers"] == previous else str(row["workers"])
        table.add_row(workers, row["contender"] + _failures_text(row), *_estimates(row), *(_reasons(row) * compared))
        previous = row["workers"]
    return table


def _failures_text(row: Row) -> str:
    return f" ({row['failed']} failed)" if row["failed"] else ""


def _estimates(row: Row) -> tuple[str, str, str]:
    return _makespan_text(row), _ratio_range(row, "steal_miss_ratio"), _ratio_range(row, "steal_remote_ratio")


def _reasons(row: Row) -> tuple[Text, str]:
    return _difference_text(row), _explanation_text(row)


def _makespan_text(row: Row) -> str:
    mean, high = row["makespan_ps"], row["makespan_ps_high"]
    return time_text(mean) + ("" if math.isnan(high) or not mean else f" ±{100 * (high / mean - 1):.1f}%")


def _ratio_range(row: Row, name: str) -> str:
    value = row[name]
    margin = max(row[f"{name}_high"] - value, value - row[f"{name}_low"])  # the wider side of the interval
    return ratio_text(value) + ("" if math.isnan(margin) else f" ±{margin:.3f}")


def _difference_text(row: Row) -> Text:
    value, low, high = (row[f"difference_percent{end}"] for end in ("", "_low", "_high"))
    if math.isnan(value):
        return Text(MISSING)
    if math.isnan(low):
        return Text(f"{value:+.1f}%")
    style = "green" if high < 0 else "red" if low > 0 else "dim"
    return Text(f"{value:+.1f}% ({low:+.1f} {high:+.1f})", style=style)


def _explanation_text(row: Row) -> str:
    component = row["explained_by"]
    return f"{LABELS[component]} {row['explained_percent']:+.1f}%" if isinstance(component, str) else MISSING


def _notes(table: pd.DataFrame) -> list[str]:
    """Say how to read the columns, and warn where there are too few pairs."""
    notes = ["±, (low high): 95% intervals over the repeats; ratios and differences are ratios of sums"]
    pairs = table.loc[table["pairs"] > 0, "pairs"]
    if len(pairs):
        notes.append(
            "vs: change of makespan over the repeats that share a seed; because: the part of the time split that"
            " changed most that way, in % of the first strategy's workers x makespan"
        )
    if len(pairs) and pairs.min() < CONFIDENT_PAIRS:
        least = int(pairs.min())
        notes.append(f"only {least} pairs in a cell: no sign test can give p < {2.0 ** (1 - least):.3g} there")
    return notes


def _print_failures(broken: pd.DataFrame, columns: Sequence[str], console: Console) -> None:
    """Count the failed runs and list their messages, each with the first cell in which it occurred."""
    if broken.empty:
        return
    console.print(f"failed runs: {len(broken)}", style="bold red", highlight=False)
    messages = groups(broken, ["error"])
    cells = list(broken[list(columns)].itertuples(index=False, name=None))
    for (message,), rows in messages[:FAILURE_LIMIT]:
        first = label(columns, cells[rows[0]])
        text = f"  {len(rows)} x {message} (first: {first})"
        console.print(text, width=WIDTH, markup=False, highlight=False)
    if len(messages) > FAILURE_LIMIT:
        console.print(f"  and {len(messages) - FAILURE_LIMIT} other messages", highlight=False)
