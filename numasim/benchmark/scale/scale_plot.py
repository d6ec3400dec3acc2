"""The scale table as a figure: the time of an event and of a task above, the memory of a task below, and a column for
tasks, workers and nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from numasim.benchmark.scale.cells import NODES, TASKS, WORKERS, Cell
from numasim.report.figures.grid import legend_below
from numasim.report.figures.style import REFERENCE_COLOUR, line_colour, line_width, marker, styled

GROWING = (TASKS, WORKERS, NODES)
TIMES = {"ns_per_event": "an event", "ns_per_task": "a task"}
LEAST_BYTES = 0.1  # what is drawn of less
TICKS = 6  # at most, of sizes


@styled
def scale_figure(cells: Sequence[Cell]) -> Figure:
    """Draw the costs on logarithmic axes; a dashed line grows as the logarithm of what grows."""
    figure = Figure(figsize=(10.5, 5.6), layout="constrained")
    panels = figure.subplots(2, len(GROWING), sharey="row", sharex="col", squeeze=False)
    for column, grows in enumerate(GROWING):
        row = sorted((cell for cell in cells if cell.grows == grows), key=lambda cell: int(getattr(cell, grows)))
        if not row:
            continue
        times, memory = panels[0][column], panels[1][column]
        times.set_title(_title(row[0], grows), loc="left", fontsize=9)
        _draw_times(times, row, grows)
        _draw_memory(memory, row, grows)
        memory.set_xlabel(grows)
    panels[0][0].set_ylabel("engine's time, ns")
    panels[1][0].set_ylabel("memory, bytes per task")
    legend_below(figure, panels[0][0].get_lines())
    return figure


def _title(cell: Cell, grows: str) -> str:
    fixed = [f"{getattr(cell, size):,} {size}" for size in GROWING if size != grows]
    return f"{grows} grow; {', '.join(fixed)}"


def _draw_times(axes: Axes, row: Sequence[Cell], grows: str) -> None:
    sizes = [int(getattr(cell, grows)) for cell in row]
    for index, (cost, label) in enumerate(TIMES.items()):
        _line(axes, index, sizes, [getattr(cell, cost) for cell in row], label)
    base = min(row, key=lambda cell: cell.ns_per_event / math.log(getattr(cell, grows)))
    unit = base.ns_per_event / math.log(getattr(base, grows))
    axes.plot(
        sizes,
        [unit * math.log(size) for size in sizes],
        color=REFERENCE_COLOUR,
        linestyle=(0, (4, 3)),
        linewidth=1.2,
        label="as the logarithm",
    )
    _log_axes(axes, sizes)


def _draw_memory(axes: Axes, row: Sequence[Cell], grows: str) -> None:
    sizes = [int(getattr(cell, grows)) for cell in row]
    _line(axes, len(TIMES), sizes, [max(LEAST_BYTES, cell.bytes_per_task) for cell in row], "memory of a task")
    _log_axes(axes, sizes)


def _line(axes: Axes, index: int, sizes: Sequence[int], costs: Sequence[float], label: str) -> None:
    axes.plot(
        sizes,
        costs,
        color=line_colour(index),
        marker=marker(index),
        markeredgecolor="white",
        markeredgewidth=0.6,
        linewidth=line_width(index),
        label=label,
        zorder=3,
    )


def _log_axes(axes: Axes, sizes: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    shown = sizes[:: -(-len(sizes) // TICKS)]
    axes.set_xticks(shown, [_short(size) for size in shown])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _short(size: int) -> str:
    """Powers of ten above a thousand as such, else the number."""
    power = round(math.log10(size))
    return f"$10^{{{power}}}$" if size == 10**power and power > 3 else f"{size:,}"
