"""Heat map of the gains of contributions: a panel for each, a row per program, a column per machine, gains in blue."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import PercentFormatter

from numasim.report.figures.grid import empty_figure
from numasim.report.figures.style import styled
from numasim.reproduce.score.contributions import Gain

COLOUR_MAP = "RdBu"  # red and blue are distinguishable with any colour vision
MOST_COLOURED = 0.5  # larger gains have the same colour
LEAST_COLOURED = 0.02  # so that chance does not look like an effect
PANEL_COLUMNS = 2
SQUARE_INCHES = (0.92, 0.62)
MARGIN_INCHES = (1.5, 0.75)  # of a panel
TICK_CHARACTERS = 11


@styled
def gains_figure(gains: Sequence[Gain]) -> Figure:
    """Draw every gain in percent with half the width of its interval below; grey where the interval includes 0."""
    if not gains:
        return empty_figure("nothing was compared")
    names, cases, machines = (
        _once(getattr(gain, part) for gain in gains) for part in ("contribution", "case", "machine")
    )
    columns = min(PANEL_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    width = columns * len(machines) * SQUARE_INCHES[0] + MARGIN_INCHES[0] + 1
    height = rows * (len(cases) * SQUARE_INCHES[1] + MARGIN_INCHES[1])
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True, sharex=True)
    known = [abs(gain.gain.value) for gain in gains if not math.isnan(gain.gain.value)]
    most = min(MOST_COLOURED, max([LEAST_COLOURED, *known]))
    images = [
        _panel(axes, name, {(gain.case, gain.machine): gain for gain in gains if gain.contribution == name}, most)
        for axes, name in zip(panels.flat, names, strict=False)
    ]
    _ticks(panels[0, 0], cases, machines)
    for unused in panels.flat[len(names) :]:
        unused.remove()
    bar = figure.colorbar(images[0], ax=panels, aspect=30, format=PercentFormatter(1), extend="both")
    bar.set_label("gain in speed")
    bar.outline.set_visible(False)
    return figure


def _panel(axes: Axes, name: str, gains: dict[tuple[str, str], Gain], most: float) -> AxesImage:
    cases, machines = _once(case for case, _ in gains), _once(machine for _, machine in gains)
    values = np.array([[gains[case, machine].gain.value for machine in machines] for case in cases])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    image = axes.imshow(values, cmap=COLOUR_MAP, vmin=-most, vmax=most, aspect="auto")
    for row, case in enumerate(cases):
        for column, machine in enumerate(machines):
            _write(axes, column, row, gains[case, machine], most)
    axes.set_title(name)
    return image


def _write(axes: Axes, x: int, y: int, gain: Gain, most: float) -> None:
    found = gain.gain
    if math.isnan(found.value):
        axes.text(x, y, "failed", ha="center", va="center", fontsize=8)
        return
    half = (found.high - found.low) / 2
    dark = abs(found.value) > 0.6 * most
    ink = "white" if dark else "black" if gain.certain or math.isnan(half) else "#6E6E6E"
    weight = "bold" if gain.certain else "normal"
    axes.text(x, y - 0.1, f"{found.value:+.1%}", ha="center", va="center", fontsize=9, color=ink, weight=weight)
    if not math.isnan(half):
        axes.text(x, y + 0.2, f"±{100 * half:.1f}", ha="center", va="center", fontsize=7, color=ink)


def _ticks(axes: Axes, cases: Sequence[str], machines: Sequence[str]) -> None:
    axes.set_yticks(range(len(cases)), cases)
    axes.set_xticks(range(len(machines)), ["\n".join(_lines(machine)) for machine in machines])


def _lines(machine: str) -> list[str]:
    return textwrap.wrap(machine, TICK_CHARACTERS, break_on_hyphens=True)


def _once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
