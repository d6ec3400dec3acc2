"""One run as a notebook shows it: what came out, where the time went, what crossed between nodes, all counters."""

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
from numasim.engine.result import LOCKS, MEMORY, OUTCOME, STEALS, TRANSACTIONS, Result
from numasim.engine.unit_text import bytes_text
from numasim.html import Html, Part, notebook_shell
from numasim.report.comparison_cells import value_text
from numasim.report.components import COMPONENTS

HEADLINE = ("makespan_ps", "speedup", "efficiency", "steal_miss_ratio", "steal_remote_ratio")
GROUPS = {"Outcome": OUTCOME, "Steals": STEALS, "Memory": MEMORY, "Locks": LOCKS + TRANSACTIONS}
NODE_LIMIT = 8  # nodes with a bar and a row of the table each; of more only the sums are shown

IntArray = npt.NDArray[np.int64]


def result_html(result: Result) -> str:
    """The HTML of one run; the same result gives the same text."""
    row = result.row()
    return pieces.panel(
        _title(row, result.worker_count),
        _headline(row),
        *(pieces.note(remark) for remark in result.remarks),
        _time_split(result),
        _node_traffic(result),
        pieces.folded("All counters", pieces.side_by_side(*_counters(row))),
    )


def _title(row: Mapping[str, Any], workers: int) -> str:
    names = [str(row[name]) for name in ("workload", "machine", "strategy") if name in row]
    return ", ".join([*names, f"{workers} worker" + "s" * (workers > 1)])


def _headline(row: Mapping[str, Any]) -> Html:
    """The few numbers that are asked for first, in a line."""
    shown = (
        pieces.joined(f"{DESCRIBED[name].label} ", pieces.element("b", value_text(name, row[name])))
        for name in HEADLINE
        if row.get(name) is not None
    )
    return pieces.paragraph(Html(" · ".join(shown)))


def _time_split(result: Result) -> Html:
    """The bar of all workers, its legend, and a bar for each node where they are few."""
    kept = result.per_worker["role"] == "worker"
    split = np.stack([result.per_worker[component.column][kept] for component in COMPONENTS])
    node = result.per_worker["node"][kept]
    parts = _parts(split)
    nodes = np.unique(node)
    each: list[Html] = []
    if 1 < len(nodes) <= NODE_LIMIT:
        each = [_node_bar(int(n), int((node == n).sum()), _parts(split[:, node == n])) for n in nodes]
    return pieces.section("Where the workers' time goes", pieces.bar(parts, height=20), pieces.legend(parts), *each)


def _parts(split: IntArray) -> list[Part]:
    """The components of ``split`` [components, workers] as shares of its sum."""
    total = int(split.sum()) or 1
    amounts = split.sum(axis=1)
    return [Part(c.label, int(a) / total, c.colour) for c, a in zip(COMPONENTS, amounts, strict=True)]


def _node_bar(node: int, workers: int, parts: list[Part]) -> Html:
    name = f"node {node}, {workers} worker" + "s" * (workers > 1)
    return pieces.joined(
        pieces.element("div", name, style="font-size: 11px; margin-top: 4px"), pieces.bar(parts, height=8)
    )


def _node_traffic(result: Result) -> Html:
    """The bytes between the nodes that compute and the nodes that hold the memory."""
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
    """A table for each group of columns."""
    return [
        pieces.section(heading, pieces.names_and_values([_counter(name, row[name]) for name in names if name in row]))
        for heading, names in GROUPS.items()
    ]


def _counter(name: str, value: Any) -> tuple[str, str, str]:
    return DESCRIBED[name].label, value_text(name, value), DESCRIBED[name].meaning


# ---- Figures in notebooks: shown as pictures there, whether or not the notebook has said ``%matplotlib inline`` ------

DPI = 100  # notebooks are kept with their pictures


def show_figures(style: Callable[[], AbstractContextManager[None]]) -> None:
    """Let the notebook whose kernel this process is, if any, show figures in ``style``, unless it knows how to."""
    shell = notebook_shell()
    if shell is None:
        return
    formatter = shell.display_formatter.formatters["image/png"]
    if Figure not in formatter.type_printers and "matplotlib.figure.Figure" not in formatter.deferred_printers:
        formatter.for_type(Figure, partial(png_bytes, style))


def png_bytes(style: Callable[[], AbstractContextManager[None]], figure: Figure) -> bytes:
    """The figure as it stands, as a small picture."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
    return buffer.getvalue()
