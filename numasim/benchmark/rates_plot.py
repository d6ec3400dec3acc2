"""Tasks per second against workers: a line for every engine and mode, a panel for every workload."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from numasim.benchmark.benchmark_findings import Findings, Rate
from numasim.benchmark.printing import HEADINGS
from numasim.report.figures.grid import legend_below, panel_grid
from numasim.report.figures.style import REFERENCE_COLOUR, line_colour, line_width, marker, styled

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
Line = tuple[str, str]  # engine and mode


@styled
def rates_figure(found: Findings) -> Figure:
    """Draw the rates on logarithmic axes, and the rate of bare SimPy timeouts to compare with."""
    lines = list(dict.fromkeys((rate.engine, rate.mode) for rate in found.rates))
    figure, panels = panel_grid(
        [(heading, "") for heading in HEADINGS.values()],
        columns=2,
        width=4.4,
        height=3.4,
        x_label="workers",
        y_label="simulated tasks per second",
    )
    for axes, workload in zip(panels, HEADINGS, strict=True):
        _fill(axes, [rate for rate in found.rates if rate.workload == workload], lines)
        _bare(axes, found.bare_timeouts_per_second)
        _log_axes(axes, sorted({rate.workers for rate in found.rates}))
    legend_below(figure, [line for line in panels[0].get_lines() if not str(line.get_label()).startswith("_")])
    return figure


def _fill(axes: Axes, rates: Sequence[Rate], lines: Sequence[Line]) -> None:
    for index, (engine, mode) in enumerate(lines):
        points = sorted((rate.workers, rate.per_second) for rate in rates if (rate.engine, rate.mode) == (engine, mode))
        axes.plot(
            [workers for workers, _ in points],
            [per_second for _, per_second in points],
            color=line_colour(index),
            marker=marker(index),
            markeredgecolor="white",
            markeredgewidth=0.6,
            linewidth=line_width(index),
            label=f"{engine}, {mode}",
            zorder=3,
        )


def _bare(axes: Axes, per_second: float) -> Line2D:
    return axes.axhline(
        per_second, color=REFERENCE_COLOUR, linestyle=(0, (4, 3)), linewidth=1.2, label="bare SimPy timeouts"
    )


def _log_axes(axes: Axes, counts: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.yaxis.set_major_locator(LogLocator(10, numticks=20))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: rate_text(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()


def rate_text(per_second: float) -> str:
    """Write a rate with a prefix: ``100 k``, ``30 M``."""
    for scale, prefix in PREFIXES:
        if per_second >= scale:
            return f"{per_second / scale:g} {prefix}"
    return f"{per_second:g}"
