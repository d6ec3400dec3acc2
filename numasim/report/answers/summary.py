"""One run as text: its counters in groups with readable units, and its time split as bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from numasim.engine.result import LOCKS, MEMORY, OUTCOME, STEALS, TRANSACTIONS
from numasim.engine.unit_text import bytes_text, count_text, ratio_text, time_text
from numasim.report.components import COMPONENTS

WIDTH = 120  # characters of a line
BAR_WIDTH = 60  # characters
WORKER_LIMIT = 64  # bars of single workers printed; more would scroll the counters away
GROUPS = {"outcome": OUTCOME, "steals": STEALS, "memory": MEMORY, "locks": LOCKS + TRANSACTIONS}
RATIO_NAMES = ("speedup", "efficiency", "imc_busy_max", "link_busy_max")

IntArray = npt.NDArray[np.int64]


def summary(row: Mapping[str, Any], workers: Mapping[str, Any]) -> RenderableType:
    """Return a printable summary of one run.

    ``row`` has the columns of a results table that are known; ``workers`` maps ``role``, ``node`` and the columns of
    the time split to one value per worker (producers after workers), as a dict of arrays or a DataFrame.
    """
    split = _split(workers)
    node = np.asarray(workers["node"])[_is_worker(workers)]
    return Group(_headline(row), _counters(row), _legend(split), _bars(split, node))


def text_bar(amounts: Sequence[int], width: int) -> Text:
    """Draw ``amounts``, one per component of the time split, as a bar of ``width`` characters.

    Characters are shared out by largest remainder, so the bar is full whatever the rounding; all zero is blank.
    """
    bar = Text()
    for component, length in zip(COMPONENTS, _share_out(amounts, width), strict=True):
        bar.append(component.glyph * length, style=component.colour)
    return bar


def _headline(row: Mapping[str, Any]) -> Text:
    names = [str(row[name]) for name in ("workload", "machine", "strategy") if name in row]
    workers = f"{row['workers']} workers" if "workers" in row else ""
    return Text(", ".join(part for part in (*names, workers) if part), style="bold")


def _counters(row: Mapping[str, Any]) -> Table:
    """Names and values, one column for each group, side by side."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    columns = []
    for group, names in GROUPS.items():
        known = [name for name in names if name in row]
        table.add_column(group)
        table.add_column(justify="right")
        columns.append([(_plain(name), _value_text(name, row[name])) for name in known])
    for line in range(max(map(len, columns))):
        table.add_row(*(text for column in columns for text in (column[line] if line < len(column) else ("", ""))))
    return table


def _plain(name: str) -> str:
    """``steal_miss_ratio`` as ``steal miss ratio``; the unit of a time is omitted, since the value has one."""
    return name.removesuffix("_ps").replace("_", " ")


def _value_text(name: str, value: Any) -> str:
    return str(value) if isinstance(value, str) else _formatter(name)(value)


def _formatter(name: str) -> Callable[[Any], str]:
    if name.endswith("_ps"):
        return time_text
    if name.startswith("bytes_"):
        return bytes_text
    return ratio_text if name.endswith("_ratio") or name in RATIO_NAMES else count_text


def _split(workers: Mapping[str, Any]) -> IntArray:
    """[components, workers] without the producers."""
    kept = _is_worker(workers)
    return np.stack([np.asarray(workers[component.column], np.int64)[kept] for component in COMPONENTS])


def _is_worker(workers: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.asarray(workers["role"]) == "worker", np.bool_)


def _bars(split: IntArray, node: npt.NDArray[Any]) -> RenderableType:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column()
    table.add_column(no_wrap=True, min_width=BAR_WIDTH)
    table.add_row("all workers", text_bar([int(amount) for amount in split.sum(axis=1)], BAR_WIDTH))
    if split.shape[1] <= WORKER_LIMIT:
        for worker in np.argsort(node, kind="stable"):
            bar = text_bar([int(amount) for amount in split[:, worker]], BAR_WIDTH)
            table.add_row(f"worker {worker}, node {node[worker]}", bar)
    return table


def _legend(split: IntArray) -> Text:
    """Write the share of each component that occurs, with the glyph it has in the bars."""
    total = int(split.sum())
    entries = []
    for component, amount in zip(COMPONENTS, split.sum(axis=1), strict=True):
        if amount:
            percent = f"{100 * amount / total:.1f}%"
            entries.append(Text.assemble((component.glyph, component.colour), f" {component.label} {percent}"))
    return Text("time  ", style="bold") + Text("  ").join(entries)


def _share_out(amounts: Sequence[int], width: int) -> list[int]:
    total = sum(amounts)
    if not total:
        return [0] * len(amounts)
    lengths = [amount * width // total for amount in amounts]
    by_remainder = sorted(range(len(amounts)), key=lambda at: -(amounts[at] * width % total))
    for at in by_remainder[: width - sum(lengths)]:
        lengths[at] += 1
    return lengths
