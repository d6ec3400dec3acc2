"""The figures of the benchmark: tasks per second against workers, and how time and memory grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from numasim.report.figures.grid import legend_below, panel_grid
from numasim.report.figures.style import REFERENCE_COLOUR, line_colour, line_width, marker, styled
from numasim.validate.benchmark.benchmark_findings import Findings
from numasim.validate.benchmark.printing import HEADINGS
from numasim.validate.benchmark.scale import NODES, TASKS, WORKERS, Cell

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
GROWING = (TASKS, WORKERS, NODES)
TIMES = {"ns_per_event": "an event", "ns_per_task": "a task"}
LEAST_BYTES = 0.1  # what is drawn of less
TICKS = 6  # at most, of sizes
DASHED: dict[str, Any] = {"color": REFERENCE_COLOUR, "linestyle": (0, (4, 3)), "linewidth": 1.2}


@styled
def rates_figure(found: Findings) -> Figure:
    """Draw the rates on logarithmic axes, and the rate of bare SimPy timeouts to compare with.

    There is a line for every engine and mode, a panel for every workload.
    """
    figure, panels = panel_grid(
        [(heading, "") for heading in HEADINGS.values()],
        columns=2,
        width=4.4,
        height=3.4,
        x_label="workers",
        y_label="simulated tasks per second",
    )
    counts = sorted({rate.workers for rate in found.rates})
    for axes, workload in zip(panels, HEADINGS, strict=True):
        for index, line in enumerate(dict.fromkeys((rate.engine, rate.mode) for rate in found.rates)):
            mine = [rate for rate in found.rates if (rate.engine, rate.mode) == line and rate.workload == workload]
            rates = {rate.workers: rate.per_second for rate in mine}
            _line(axes, index, sorted(rates), [rates[workers] for workers in sorted(rates)], ", ".join(line))
        axes.axhline(found.bare_timeouts_per_second, label="bare SimPy timeouts", **DASHED)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.yaxis.set_major_locator(LogLocator(10, numticks=20))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: rate_text(value)))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
    legend_below(figure, [line for line in panels[0].get_lines() if not str(line.get_label()).startswith("_")])
    return figure


def rate_text(per_second: float) -> str:
    """Write a rate with a prefix: ``100 k``, ``30 M``."""
    for scale, prefix in PREFIXES:
        if per_second >= scale:
            return f"{per_second / scale:g} {prefix}"
    return f"{per_second:g}"


@styled
def scale_figure(cells: Sequence[Cell]) -> Figure:
    """Draw the costs on logarithmic axes; a dashed line grows as the logarithm of what grows.

    The time of an event and of a task is above, the memory of a task below. Tasks, workers and nodes have columns.
    """
    figure = Figure(figsize=(10.5, 5.6), layout="constrained")
    panels = figure.subplots(2, len(GROWING), sharey="row", sharex="col", squeeze=False)
    for column, grows in enumerate(GROWING):
        row = sorted((cell for cell in cells if cell.grows == grows), key=lambda cell: int(getattr(cell, grows)))
        if not row:
            continue
        times, memory = panels[0][column], panels[1][column]
        fixed = [f"{getattr(row[0], size):,} {size}" for size in GROWING if size != grows]
        times.set_title(f"{grows} grow; {', '.join(fixed)}", loc="left", fontsize=9)
        sizes = [int(getattr(cell, grows)) for cell in row]
        for index, (cost, label) in enumerate(TIMES.items()):
            _line(times, index, sizes, [getattr(cell, cost) for cell in row], label)
        unit = min(cell.ns_per_event / math.log(size) for cell, size in zip(row, sizes, strict=True))
        times.plot(sizes, [unit * math.log(size) for size in sizes], label="as the logarithm", **DASHED)
        least = [max(LEAST_BYTES, cell.bytes_per_task) for cell in row]
        _line(memory, len(TIMES), sizes, least, "memory of a task")
        for axes in (times, memory):
            _log_axes(axes, sizes)
        memory.set_xlabel(grows)
    panels[0][0].set_ylabel("engine's time, ns")
    panels[1][0].set_ylabel("memory, bytes per task")
    legend_below(figure, panels[0][0].get_lines())
    return figure


def _line(axes: Axes, index: int, sizes: Sequence[int], values: Sequence[float], label: str) -> None:
    mark: dict[str, Any] = {"marker": marker(index), "markeredgecolor": "white", "markeredgewidth": 0.6}
    axes.plot(sizes, values, color=line_colour(index), linewidth=line_width(index), label=label, zorder=3, **mark)


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
