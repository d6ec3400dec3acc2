"""The gain of each contribution of the thesis, program by program, on the thesis' machine and on other machines.

On the thesis' own machine all fitted parameters are set. Another machine has the values of its own file, with only the
fitted parameters of programs and runtime. The two runs of a pair share the seed, so that task durations are equal under
both variants.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import PercentFormatter

from numasim.engine.simulate import DEFAULT_ENGINE, require_engine, simulate_spec
from numasim.report.answers.statistics import Estimate, mean_interval
from numasim.report.figures.style import empty_figure, panels_of, styled
from numasim.reproduce.programs import Fields, Wanted, check_known
from numasim.reproduce.reproduce import RUNS
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study
from numasim.reproduce.table_cells import Table
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.run_sweep import collect_runs


@dataclass(frozen=True)
class Contribution:
    """The contribution of a chapter: ``variant`` of BOTS, which improves on the variant ``over``."""

    variant: str
    over: str


# The contributions of chapters 3 to 6, with the chapters' ways to initialise data.
CONTRIBUTIONS = {
    "threshold": Contribution("threshold", "randomized"),
    "stealing domains": Contribution("topology-aware", "threshold"),
    "locality binding": Contribution("locality-binding", "topology-aware"),
    "affinity-aware locks": Contribution("affinity-aware", "numa-oblivious"),
}


def speedup_gain(before: Iterable[float], after: Iterable[float]) -> float:
    """Return the geometric mean of ``before / after``, minus 1; NaN without times.

    A program with half the time and a program with twice the time have together no gain.
    """
    ratios = [math.log(old / new) for old, new in zip(before, after, strict=True)]
    return math.expm1(math.fsum(ratios) / len(ratios)) if ratios else math.nan


def effect(tables: Sequence[Table], contribution: Contribution) -> float:
    """Return the gain over all rows for which ``tables`` have the time with and without the contribution."""
    cells = (cell for table in tables for cell in table.cells if cell.quantity == "makespan_s" and cell.simulated)
    times = {(cell.variant, cell.row): cell.mean for cell in cells}
    after, before = contribution.variant, contribution.over
    rows = [row for variant, row in times if variant == after and (before, row) in times]
    return speedup_gain((times[before, row] for row in rows), (times[after, row] for row in rows))


@dataclass(frozen=True)
class Case:
    """A row of BOTS, with ``changes`` of fields of the run, such as a smaller size."""

    name: str
    row: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Gain:
    """The speed with a contribution over the speed without the contribution, minus 1: mean and 95 % interval."""

    contribution: str
    case: str
    machine: str
    gain: Estimate

    @property
    def certain(self) -> bool:
        """Return whether the interval excludes a gain of 0."""
        return self.gain.low > 0 or self.gain.high < 0


def gains(
    study: Study,
    directory: str | Path,
    cases: Sequence[Case],
    machines: Sequence[str],
    *,
    repeat: int,
    readings: Mapping[str, str] | None = None,
    jobs: int | None = None,
    engine: str = DEFAULT_ENGINE,
    progress: bool = False,
) -> tuple[Gain, ...]:
    """Simulate ``repeat`` seeds with and without each contribution of ``study``, for every case on every machine.

    ``readings`` has choices that replace the scored choices. Raise InputError for an unknown row, field, machine,
    reading or choice.
    """
    require_engine(engine)
    program = study.programs["bots"]
    check_known("row", [case.row for case in cases], program.rows)
    steps: dict[tuple[str, str, str], list[tuple[PlannedRun, PlannedRun]]] = {}
    for machine in machines:
        other = None if machine == study.machine else machine
        setting = Setting(study, machine=other, repeat=repeat, readings=readings or {})
        for name, each in CONTRIBUTIONS.items():
            for case in cases:
                changes = Fields(case.changes).assignments
                pair = (setting.runs(Wanted(program, case.row, of, changes)) for of in (each.over, each.variant))
                steps[name, case.name, machine] = list(zip(*pair, strict=True))
    runs = {run.run_id: run for pairs in steps.values() for pair in pairs for run in pair}
    done = collect_runs(
        list(runs.values()), Path(directory) / RUNS, jobs=jobs, engine=engine, runner=simulate_spec, progress=progress
    )
    times = {run: float(counters["makespan_ps"]) for run, counters in done.counters.items()}
    return tuple(Gain(*step, _gain(pairs, times)) for step, pairs in steps.items())


def _gain(pairs: Sequence[tuple[PlannedRun, PlannedRun]], times: Mapping[str, float]) -> Estimate:
    """Return the gain over the pairs of finished runs; ``times`` has the time of each finished run."""
    ended = [(old.run_id, new.run_id) for old, new in pairs if old.run_id in times and new.run_id in times]
    found = mean_interval(np.array([math.log(times[old] / times[new]) for old, new in ended], np.float64))
    return Estimate(math.expm1(found.value), math.expm1(found.low), math.expm1(found.high), found.count)


COLOUR_MAP = "RdBu"  # red and blue are distinguishable with any colour vision
MOST_COLOURED = 0.5  # larger gains have the same colour
LEAST_COLOURED = 0.02  # the least range of the colours, so that chance does not look like an effect
PANEL_COLUMNS = 2
SQUARE_INCHES = (0.92, 0.62)
MARGIN_INCHES = (1.5, 0.75)  # of a panel
TICK_CHARACTERS = 11


@styled
def gains_figure(gains: Sequence[Gain]) -> Figure:
    """Draw a panel for each contribution, with a row for each program and a column for each machine. Gains are blue.

    A gain is written in percent above half the width of the interval, in grey if the interval includes 0.
    """
    if not gains:
        return empty_figure("nothing was compared")
    names, cases, machines = (
        list(dict.fromkeys(getattr(gain, part) for gain in gains)) for part in ("contribution", "case", "machine")
    )
    columns = min(PANEL_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    width = columns * len(machines) * SQUARE_INCHES[0] + MARGIN_INCHES[0] + 1
    height = rows * (len(cases) * SQUARE_INCHES[1] + MARGIN_INCHES[1])
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = panels_of(figure, len(names), columns, sharey=True, sharex=True)
    known = [abs(gain.gain.value) for gain in gains if not math.isnan(gain.gain.value)]
    most = min(MOST_COLOURED, max([LEAST_COLOURED, *known]))
    images = [
        _panel(
            axes,
            name,
            cases,
            machines,
            {(each.case, each.machine): each for each in gains if each.contribution == name},
            most,
        )
        for axes, name in zip(panels, names, strict=True)
    ]
    panels[0].set_yticks(range(len(cases)), cases)
    wrapped = [textwrap.wrap(machine, TICK_CHARACTERS, break_on_hyphens=True) for machine in machines]
    panels[0].set_xticks(range(len(machines)), ["\n".join(each) for each in wrapped])
    bar = figure.colorbar(images[0], ax=panels, aspect=30, format=PercentFormatter(1), extend="both")
    bar.set_label("gain in speed")
    bar.outline.set_visible(False)
    return figure


def _panel(
    axes: Axes,
    name: str,
    cases: Sequence[str],
    machines: Sequence[str],
    gains: Mapping[tuple[str, str], Gain],
    most: float,
) -> AxesImage:
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
