"""The view of one run in a notebook: the main numbers, the time split, the traffic between nodes, all counters."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from numasim import html as pieces
from numasim.engine.columns import DESCRIBED
from numasim.engine.result import Result
from numasim.engine.unit_text import bytes_text
from numasim.html import Html, Part, notebook_shell
from numasim.report.answers.summary import GROUPS
from numasim.report.components import COMPONENTS, value_text

HEADLINE = ("makespan_ps", "speedup", "efficiency", "steal_miss_ratio", "steal_remote_ratio")
NODE_LIMIT = 8  # most nodes with a bar and a table row each; for more nodes only the sums are shown
DPI = 100  # resolution of figures, which notebooks keep

IntArray = npt.NDArray[np.int64]


def result_html(result: Result) -> str:
    """Return the HTML of one run. The same result gives the same text."""
    row = result.row()
    names = [str(row[name]) for name in ("workload", "machine", "strategy") if name in row]
    numbers = (
        pieces.joined(f"{DESCRIBED[name].label} ", pieces.element("b", value_text(name, row[name])))
        for name in HEADLINE
        if row.get(name) is not None
    )
    return pieces.panel(
        ", ".join([*names, _workers(result.worker_count)]),
        pieces.paragraph(Html(" · ".join(numbers))),
        *(pieces.note(remark) for remark in result.remarks),
        _time_split(result),
        _node_traffic(result),
        pieces.folded("All counters", pieces.side_by_side(*_counters(row))),
    )


def _workers(count: int) -> str:
    return f"{count} worker" + "s" * (count > 1)


def _time_split(result: Result) -> Html:
    """Return the bar of all workers with a legend, and a bar for each node if there are few nodes."""
    kept = result.per_worker["role"] == "worker"
    split = np.stack([result.per_worker[component.column][kept] for component in COMPONENTS])
    node = result.per_worker["node"][kept]
    parts = _parts(split)
    nodes = np.unique(node)
    each: list[Html] = []
    for n in nodes if 1 < len(nodes) <= NODE_LIMIT else ():
        name = f"node {n}, {_workers(int((node == n).sum()))}"
        heading = pieces.element("div", name, style="font-size: 11px; margin-top: 4px")
        each.append(pieces.joined(heading, pieces.bar(_parts(split[:, node == n]), height=8)))
    return pieces.section("Where the workers' time goes", pieces.bar(parts, height=20), pieces.legend(parts), *each)


def _parts(split: IntArray) -> list[Part]:
    """Return the components of ``split`` [components, workers] as shares of the sum of ``split``."""
    total = int(split.sum()) or 1
    amounts = split.sum(axis=1)
    return [Part(c.label, int(a) / total, c.colour) for c, a in zip(COMPONENTS, amounts, strict=True)]


def _node_traffic(result: Result) -> Html:
    """Return the bytes between the nodes that compute and the nodes that hold the memory."""
    moved = result.node_bytes
    total, local = int(moved.sum()), int(np.trace(moved))
    if not total:
        return Html("")
    away = total - local
    line = f"{bytes_text(local)} on the own node, {bytes_text(away)} ({100 * away / total:.1f}%) from other nodes"
    heading = "Which node reads and writes the memory of which"
    if not 1 < len(moved) <= NODE_LIMIT:
        return pieces.section(heading, pieces.paragraph(line))
    highest = int(moved.max())
    shades = [[(bytes_text(int(value)), int(value) / highest) for value in row] for row in moved]
    grid = pieces.shaded_table("from \\ memory of", [f"node {n}" for n in range(len(moved))], shades)
    return pieces.section(heading, pieces.paragraph(line), grid)


def _counters(row: Mapping[str, Any]) -> list[Html]:
    """Return a table for each group of columns."""
    tables = []
    for heading, names in GROUPS.items():
        known = [DESCRIBED[name] for name in names if name in row]
        rows = [(column.label, value_text(column.name, row[column.name]), column.meaning) for column in known]
        tables.append(pieces.section(heading.capitalize(), pieces.names_and_values(rows)))
    return tables


# ---- Figures in notebooks: shown as pictures, with or without ``%matplotlib inline`` in the notebook -----------------


def show_figures(style: Callable[[], AbstractContextManager[None]]) -> None:
    """Let this process's notebook, if any, show figures in ``style``, unless the notebook can show figures already."""
    shell = notebook_shell()
    if shell is None:
        return
    formatter = shell.display_formatter.formatters["image/png"]
    if Figure not in formatter.type_printers and "matplotlib.figure.Figure" not in formatter.deferred_printers:
        formatter.for_type(Figure, partial(png_bytes, style))


def png_bytes(style: Callable[[], AbstractContextManager[None]], figure: Figure) -> bytes:
    """Return the figure, as laid out, as a small picture."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
    return buffer.getvalue()
