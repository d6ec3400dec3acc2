"""One run as text: groups of counters with readable units, and the parts of the workers' time as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from numasim.engine.result import LOCKS, MEMORY, OUTCOME, REST, STEALS, TRANSACTIONS
from numasim.report.components import COMPONENTS, value_text

WIDTH = 120  # characters of a line
BAR_WIDTH = 60  # characters
WORKER_LIMIT = 64  # most workers with a bar each; more bars would scroll the counters off the screen
GROUPS = {"outcome": OUTCOME, "steals": STEALS, "memory": MEMORY, "locks": LOCKS + TRANSACTIONS + REST}


def summary(row: Mapping[str, Any], workers: Mapping[str, Any]) -> RenderableType:
    """Return a printable summary of one run.

    ``row`` has the known columns of a results table. ``workers`` has ``role``, ``node`` and the columns of the time
    split, each with a value for each worker (producers after workers), as a dict of arrays or a DataFrame.
    """
    kept = np.asarray(workers["role"]) == "worker"
    split = np.stack([np.asarray(workers[component.column], np.int64)[kept] for component in COMPONENTS])
    node = np.asarray(workers["node"])[kept]
    names = [str(row[name]) for name in ("workload", "machine", "strategy") if name in row]
    count = [f"{row['workers']} workers"] if "workers" in row else []
    headline = Text(", ".join([*names, *count]), style="bold")
    total = split.sum(axis=1).tolist()
    legend = [
        Text.assemble((each.glyph, each.colour), f" {each.label} {100 * amount / sum(total):.1f}%")
        for each, amount in zip(COMPONENTS, total, strict=True)
        if amount
    ]
    bars = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    bars.add_column()
    bars.add_column(no_wrap=True, min_width=BAR_WIDTH)
    bars.add_row("all workers", text_bar(total, BAR_WIDTH))
    if len(node) <= WORKER_LIMIT:
        for worker in np.argsort(node, kind="stable"):
            bars.add_row(f"worker {worker}, node {node[worker]}", text_bar(split[:, worker].tolist(), BAR_WIDTH))
    return Group(headline, _counters(row), Text("time  ", style="bold") + Text("  ").join(legend), bars)


def _counters(row: Mapping[str, Any]) -> Table:
    """Return a table of names and values with two columns for each group, the groups side by side."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    columns = []
    for group, names in GROUPS.items():
        table.add_column(group)
        table.add_column(justify="right")
        plain = {name: name.removesuffix("_ps").replace("_", " ") for name in names if name in row}
        columns.append([(text, value_text(name, row[name])) for name, text in plain.items()])
    for line in range(max(map(len, columns))):
        table.add_row(*(text for column in columns for text in (column[line] if line < len(column) else ("", ""))))
    return table


def text_bar(amounts: Sequence[int], width: int) -> Text:
    """Draw ``amounts``, one for each component of the time split, as a bar of ``width`` characters.

    Rounding down leaves some characters over; these go to the amounts with the largest remainders, so that the bar is
    full. Without any amount the bar is empty.
    """
    total = sum(amounts)
    lengths = [amount * width // total if total else 0 for amount in amounts]
    if total:
        by_remainder = sorted(range(len(amounts)), key=lambda at: -(amounts[at] * width % total))
        for at in by_remainder[: width - sum(lengths)]:
            lengths[at] += 1
    bar = Text()
    for component, length in zip(COMPONENTS, lengths, strict=True):
        bar.append(component.glyph * length, style=component.colour)
    return bar
