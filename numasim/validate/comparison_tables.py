"""The comparisons of a validation: rows for CSV, one object for JSON, a figure and the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from numasim.files.owned_folder import owned_folder
from numasim.html import embedded, page_environment
from numasim.report.answers.statistics import Estimate
from numasim.report.figures.plots import svg_text
from numasim.report.figures.style import REFERENCE_COLOUR, legend_below, line_colour, marker, panel_grid, styled
from numasim.reproduce.csv_files import plain_csv
from numasim.validate import verdict_text
from numasim.validate.cell_runs import PartFindings
from numasim.validate.comparison import Comparison, Equality
from numasim.validate.part_files import Cell
from numasim.validate.run_store import PAGE, TABLE, VALIDATION, measurement_origin
from numasim.validate.validated_quantities import QUANTITIES

COLUMNS = (
    *("part", "kernel", "parameters", "strategy", "workers", "quantity", "unit"),
    *("predicted", "predicted_low", "predicted_high", "measured", "measured_low", "measured_high"),
    *("repeats", "distance", "within"),
)


def validation_json(every: Sequence[PartFindings]) -> dict[str, Any]:
    """Return all findings as one object. Unknown values are null."""
    return {
        "met": all(found.met for found in every),
        "where": measurement_origin(),
        "parts": [
            {
                "part": found.part.name,
                "title": found.part.file.title,
                "mode": found.part.file.mode,
                "costs": found.part.file.costs,
                "machine": found.part.machine,
                "runtime": found.part.runtime,
                "cells": len(found.part.cells),
                "workers_left_out": list(found.part.left_out),
                "repeats": found.part.repeats,
                "moved": found.rejected_runs,
                "met": found.met,
                "bounds": [
                    {
                        "quantity": each.quantity,
                        "within": float(each.bound.within),
                        "asked_share": float(each.bound.share),
                        "cells": each.cells,
                        "cells_within": each.within,
                        "met": each.met,
                        "outside": [one.cell.label for one in each.outside],
                    }
                    for each in found.verdicts
                ],
                "comparisons": [{key: _known(value) for key, value in row.items()} for row in _compared(found)],
                "equalities": [_equality(found, each) for each in found.equalities],
            }
            for found in every
        ],
    }


def _compared(found: PartFindings) -> Iterator[dict[str, Any]]:
    """Yield a row for each compared quantity of each cell."""
    for each in found.comparisons:
        row = {**_cell(found, each.cell), "quantity": each.quantity, "unit": QUANTITIES[each.quantity].unit}
        for side, estimate in (("predicted", each.predicted), ("measured", each.measured)):
            row |= {side: estimate.value, f"{side}_low": estimate.low, f"{side}_high": estimate.high}
        yield {**row, "repeats": each.measured.count, "distance": each.distance, "within": each.within}


def _equal(found: PartFindings) -> Iterator[dict[str, Any]]:
    """Yield a row for each cell whose counters must be equal: how many values were compared, and how many are equal."""
    for each in found.equalities:
        values, differing = each.values, len(each.differing)
        yield {
            **_cell(found, each.cell),
            **{"quantity": "equal_counters", "unit": "count", "predicted": values, "measured": values - differing},
            **{"repeats": found.part.repeats, "distance": differing, "within": not differing},
        }


def _cell(found: PartFindings, cell: Cell) -> dict[str, Any]:
    parameters = " ".join(f"{name}={value}" for name, value in cell.program.parameters.items())
    identity = {"part": found.part.name, "kernel": cell.program.kernel, "parameters": parameters}
    return {**identity, "strategy": cell.strategy, "workers": cell.workers}


def _equality(found: PartFindings, each: Equality) -> dict[str, Any]:
    differing = [
        {"seed": seed, "value": name, "predicted": predicted, "found": seen}
        for seed, (name, predicted, seen) in each.differing
    ]
    return {**_cell(found, each.cell), "values": each.values, "differing": differing}


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


# ---- the report: validation.csv, and index.html, which is self-contained. The page is written last -------------------

TEMPLATES = Path(__file__).with_name("templates")


def write_pages(every: Sequence[PartFindings], directory: Path) -> Path:
    """Write table and page to ``directory``, and return the page's path. Raise InputError for a failed write."""
    pictures = {found.part.name: embedded(svg_text(comparison_figure(found))) for found in every if found.comparisons}
    environment = page_environment(TEMPLATES)
    environment.globals |= {"texts": verdict_text, "QUANTITIES": QUANTITIES}
    page = environment.get_template("validation.html.jinja").render(
        every=every, pictures=pictures, where=measurement_origin(), met=all(found.met for found in every)
    )
    rows = [row for found in every for row in (*_compared(found), *_equal(found))]
    table = plain_csv(COLUMNS, [[row.get(name, math.nan) for name in COLUMNS] for row in rows])
    with owned_folder(directory, VALIDATION) as folder:
        folder.write({TABLE: table.encode(), PAGE: page.encode()})
    return directory / PAGE


# ---- the figure: a panel for each quantity, a point with two intervals for each cell, and the bound as a band --------

PANELS_ABREAST, PANEL_INCHES = 2, 3.6
BAND_COLOUR, OUTSIDE_COLOUR = "#DCEBDC", "#000000"
PREFIXED = ("s", "B", "count", "1/s")  # units that get the prefixes m, µ, k and M
WIDE = 4.0  # an axis is logarithmic if its largest value is more than this multiple of its smallest value
MANY_DECADES = 300.0  # from this ratio of largest to smallest value on, only powers of ten have labels


@styled
def comparison_figure(found: PartFindings) -> Figure:
    """Draw every quantity that was compared in at least one cell."""
    shown = {name: [each for each in found.comparisons if each.quantity == name] for name in QUANTITIES}
    shown = {name: those for name, those in shown.items() if those}
    units = {name: f" ({QUANTITIES[name].unit})" * (QUANTITIES[name].unit not in ("ratio", "1")) for name in shown}
    programs = list(dict.fromkeys(cell.program.kernel for cell in found.part.cells))
    titles = [(f"{QUANTITIES[name].label}{unit}", "") for name, unit in units.items()]
    shape: dict[str, Any] = {"columns": PANELS_ABREAST, "width": PANEL_INCHES, "height": PANEL_INCHES - 0.4}
    figure, panels = panel_grid(titles, x_label="predicted", y_label="measured", share_y=False, **shape)
    for (name, those), axes in zip(shown.items(), panels, strict=False):
        _panel(axes, name, those, programs, found)
    legend_below(figure, _handles(programs, found))
    return figure


def _panel(axes: Axes, name: str, those: Sequence[Comparison], programs: Sequence[str], found: PartFindings) -> None:
    """Draw a quantity. Axes are logarithmic if distances are relative and the values are far apart."""
    quantity = QUANTITIES[name]
    values = np.array([value for each in those for value in (each.predicted.value, each.measured.value)])
    values = values[~np.isnan(values)]
    low, high = float(values.min(initial=math.inf)), float(values.max(initial=-math.inf))
    logarithmic = quantity.relative and low > 0 and high > WIDE * low
    if logarithmic:
        axes.set(xscale="log", yscale="log")
        low, high = low / 1.3, high * 1.3
    else:
        room = 0.08 * (high - low) or 0.08 * abs(high) or 1.0
        low, high = max(0.0, low - room) if low >= 0 else low - room, high + room
    for axis in (axes.xaxis, axes.yaxis):
        if logarithmic:  # choose labels that do not overlap
            axis.set_major_locator(LogLocator(subs=(1, 3) if high / low < MANY_DECADES else (1,)))
            axis.set_minor_formatter(NullFormatter())
        if quantity.unit in PREFIXED:
            axis.set_major_formatter(EngFormatter())
    axes.set(xlim=(low, high), ylim=(low, high))
    axes.plot([low, high], [low, high], color=REFERENCE_COLOUR, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    if name in found.part.file.bounds:
        within = float(found.part.file.bounds[name].within)
        predicted = np.geomspace(low, high, 100) if low > 0 else np.linspace(low, high, 100)
        if quantity.relative:
            below, above = predicted / (1 + within), predicted / (1 - within)
        else:
            below, above = predicted - within, predicted + within
        axes.fill_between(predicted, below, above, color=BAND_COLOUR, linewidth=0, zorder=0)
    for each in those:
        _point(axes, each, programs.index(each.cell.program.kernel))


def _point(axes: Axes, each: Comparison, number: int) -> None:
    x, y = each.predicted, each.measured
    outside = each.within is False
    edge = (OUTSIDE_COLOUR, 1.4) if outside else (line_colour(number), 0.5)
    mark: dict[str, Any] = {"marker": marker(number), "markeredgecolor": edge[0], "markeredgewidth": edge[1]}
    style: dict[str, Any] = {"color": line_colour(number), "elinewidth": 0.9, "alpha": 0.85, "zorder": 3}
    axes.errorbar(x.value, y.value, xerr=_bars(x), yerr=_bars(y), **mark, **style)


def _bars(estimate: Estimate) -> list[list[float]] | None:
    """Return the lengths of the error bar below and above the value; None if there is no interval."""
    if math.isnan(estimate.low):
        return None
    return [[max(0.0, estimate.value - estimate.low)], [max(0.0, estimate.high - estimate.value)]]


def _handles(programs: Sequence[str], found: PartFindings) -> list[Artist]:
    handles: list[Artist] = [
        Line2D([], [], color=line_colour(number), marker=marker(number), linestyle="", label=program)
        for number, program in enumerate(programs)
    ]
    handles.append(Line2D([], [], color=REFERENCE_COLOUR, linewidth=0.9, linestyle=(0, (4, 2)), label="equal"))
    if found.part.file.bounds:
        handles.append(Patch(facecolor=BAND_COLOUR, label="within the bound"))
        ring: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": OUTSIDE_COLOUR, "linestyle": ""}
        handles.append(Line2D([], [], marker="o", label="outside its bound", **ring))
    return handles
