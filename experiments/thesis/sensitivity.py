"""The dependence of the conclusions of the thesis on fitted parameters, vendor data, and readings of the text.

A conclusion is the mean effect of a contribution, or the score of a class. An effect holds if its sign stays. A score
holds if its bound stays met or stays missed. One input is changed at a time, to each end of its range
(`sensitivity.yaml`), and the tables are simulated again with one seed. Combined changes are not examined. The result is
drawn as tornado charts with a panel for each conclusion, or printed as a table.

Any change of a schedule slightly changes the duration of the program. Other seeds show the size of such changes: a bar
within the range of the seeds may be due to chance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator, PercentFormatter
from rich import box
from rich.console import Console
from rich.table import Table as Grid

from numasim.engine.simulate import DEFAULT_ENGINE, require_engine
from numasim.engine.unit_text import MISSING
from numasim.parts.yaml.document import load
from numasim.report.figures.style import empty_figure, legend_below, line_colour, panels_of, styled
from numasim.reproduce.findings import plain
from numasim.reproduce.metrics import METRICS
from numasim.reproduce.programs import Change, Fields, Scope, check_known, listed
from numasim.reproduce.reproduce import simulate
from numasim.reproduce.score_figures import BOUND_COLOUR
from numasim.reproduce.scores import class_scores
from numasim.reproduce.setting import SIDES, Setting, Side, reading_sides
from numasim.reproduce.study import Study
from numasim.reproduce.table_cells import Table

from .contributions import CONTRIBUTIONS, effect
from .fitted_ranges import fitted_ranges, fitted_sides

EFFECT = "effect"
SEEDS = 3  # seeds of the unchanged model, to estimate the effect of chance


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of a reproduction: its value with the unchanged model, and the bound up to which it holds."""

    name: str
    metric: str  # `EFFECT`, or the metric of the class
    value: float  # with the seed of the changed runs
    seeds: tuple[float, ...]  # of each seed alone
    bound: float | None  # the conclusion holds on the same side of the bound; always without a bound

    def holds(self, value: float) -> bool:
        """Return whether the conclusion holds with ``value``."""
        if self.bound is None or math.isnan(value):
            return self.bound is None
        return self._says(value) == self._says(self.value)

    def _says(self, value: float) -> bool:
        assert self.bound is not None
        return value > self.bound if self.metric == EFFECT else METRICS[self.metric].meets(value, self.bound)


@dataclass(frozen=True)
class End:
    """One end of a range: the fields that are set, and the values of the conclusions."""

    label: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Influence:
    """An input with a range: the values of the conclusions with the input at each end of the range."""

    name: str
    kind: str  # fitted, vendor or reading
    source: str  # of the range
    sides: Mapping[str, End]  # low, high, or one of them

    def reach(self, conclusion: Conclusion) -> float:
        """Return by how much the value of ``conclusion`` differs over both ends and the unchanged model, at most."""
        values = [side.values.get(conclusion.name, math.nan) for side in self.sides.values()]
        known = [conclusion.value, *(value for value in values if not math.isnan(value))]
        return max(known) - min(known)


@dataclass(frozen=True)
class Sensitivity:
    """All conclusions, all influences, and the number of runs."""

    conclusions: tuple[Conclusion, ...]
    influences: tuple[Influence, ...]
    runs: int

    def sorted_for(self, conclusion: Conclusion) -> tuple[Influence, ...]:
        """Return the influences that change ``conclusion``, the strongest first."""
        moving = (each for each in self.influences if each.reach(conclusion) > 0)
        return tuple(sorted(moving, key=lambda each: -each.reach(conclusion)))


def sensitivity(
    study: Study,
    directory: str | Path,
    *,
    only: Collection[str] = (),
    rows: Sequence[str] = (),
    jobs: int | None = None,
    engine: str = DEFAULT_ENGINE,
    progress: bool = False,
) -> Sensitivity:
    """Change every input in ``sensitivity.yaml`` of ``study``, and each reading, one at a time.

    Runs are stored as by `reproduce`. ``only`` names the inputs to change, by default all. ``rows`` names the simulated
    rows of programs, by default the rows of a quick reproduction. Raise InputError for unknown names, and for fields
    that no run has.
    """
    require_engine(engine)
    asked = load(study.folder / "sensitivity.yaml").plain()
    kinds = {each.name: ("fitted", each.source) for each in fitted_ranges(study)}
    kinds |= {each["name"]: (each["kind"], each["source"]) for each in asked["changes"]}
    kinds |= {name: ("reading", each.question) for name, each in study.readings.items()}
    check_known("range", only, kinds)
    planned = [each for each in _sides(study, asked["changes"]) if not only or each.name in only]
    base = Setting(study, quick=True, repeat=SEEDS, rows=tuple(rows))
    wanted = [(setting, asked["tables"]) for setting in (base, *(each.of(base) for each in planned))]
    (as_modelled, *changed), runs = simulate(wanted, directory, jobs=jobs, engine=engine, progress=progress)
    ends: dict[str, dict[str, End]] = {}
    for each, tables in zip(planned, changed, strict=True):
        ends.setdefault(each.name, {})[each.side] = End(each.label, values_of(study, tables))
    influences = tuple(Influence(name, *kinds[name], sides) for name, sides in ends.items())
    return Sensitivity(conclusions_of(study, as_modelled), influences, runs)


def _sides(study: Study, changes: Iterable[Mapping[str, Any]]) -> Iterable[Side]:
    """Yield every end of every range, and every other choice of the readings."""
    yield from fitted_sides(study)
    for each in changes:
        scope = Scope((), *(listed(each.get(part, ())) for part in ("programs", "rows", "variants")))
        for side in SIDES:
            if fields := Fields(each.get(side, {})):
                label = each.get("labels", {}).get(side, ", ".join(map(plain, fields.values())))
                yield Side(each["name"], side, label, (Change(fields, scope),))
    yield from (each for each in reading_sides(study) if each.side)


def conclusions_of(study: Study, tables: Sequence[Table]) -> tuple[Conclusion, ...]:
    """Return the conclusions of ``tables`` of the unchanged model; conclusions without cells are left out."""
    seeds = [values_of(study, of_seed(tables, seed)) for seed in range(SEEDS)]
    bounds = {rule.name: (rule.metric, rule.bound) for rule in study.score_rules}
    bounds |= dict.fromkeys(CONTRIBUTIONS, (EFFECT, 0.0))
    return tuple(
        Conclusion(name, bounds[name][0], value, tuple(seed[name] for seed in seeds), bounds[name][1])
        for name, value in seeds[0].items()
        if not math.isnan(value)
    )


def values_of(study: Study, tables: Sequence[Table]) -> dict[str, float]:
    """Return the effects of the contributions and the scores of the classes, by name."""
    effects = {name: effect(tables, each) for name, each in CONTRIBUTIONS.items()}
    return effects | {score.name: score.value for score in class_scores(tables, study.score_rules)}


def of_seed(tables: Sequence[Table], seed: int) -> tuple[Table, ...]:
    """Return the tables with the values of a single seed."""
    return tuple(
        replace(table, cells=tuple(replace(cell, simulated=cell.simulated[seed : seed + 1]) for cell in table.cells))
        for table in tables
    )


HEADINGS = ("conclusion", "as modelled", "other seeds", "least", "most", "holds in")

Point = tuple[str, str, float]  # name of the influence, label of the side, value


def print_robustness(found: Sensitivity, console: Console) -> None:
    """Print a row for each conclusion."""
    table = Grid(*HEADINGS, box=box.SIMPLE_HEAD)
    for row in robustness(found):
        table.add_row(*row)
    console.print(table)


def robustness(found: Sensitivity) -> list[tuple[str, ...]]:
    """Return the rows of the table: one for each conclusion, columns as in `HEADINGS`."""
    return [_row(conclusion, list(_ends(found, conclusion))) for conclusion in found.conclusions]


def _row(conclusion: Conclusion, ends: list[Point]) -> tuple[str, ...]:
    seeds = f"{_text(conclusion, min(conclusion.seeds))} to {_text(conclusion, max(conclusion.seeds))}"
    row = (conclusion.name, _text(conclusion, conclusion.value), seeds)
    if not ends:
        return (*row, MISSING, MISSING, MISSING)
    least, most = (choose(ends, key=lambda end: end[2]) for choose in (min, max))
    kept = sum(conclusion.holds(value) for _, _, value in ends)
    return (*row, _end(conclusion, least), _end(conclusion, most), f"{kept} of {len(ends)}")


def _ends(found: Sensitivity, conclusion: Conclusion) -> Iterable[Point]:
    for influence in found.influences:
        for side in influence.sides.values():
            value = side.values.get(conclusion.name, math.nan)
            if not math.isnan(value):
                yield influence.name, side.label, value


def _end(conclusion: Conclusion, end: Point) -> str:
    name, label, value = end
    return f"{_text(conclusion, value)} ({name}: {label})"


def _text(conclusion: Conclusion, value: float) -> str:
    if math.isnan(value):
        return MISSING
    percent = conclusion.metric == EFFECT or METRICS[conclusion.metric].percent
    return f"{value:.1%}" if percent else f"{value:.3f}"


COLOURS = {"low": line_colour(5), "high": line_colour(4)}
WORDS = {"low": "low or first", "high": "high or second"}
CHANCE_COLOUR, BASE_COLOUR = "#E0E0E0", "#4D4D4D"
WIDTH_INCHES = 10.2
PANEL_COLUMNS = 2
BAR_INCHES = 0.25
HEADING_INCHES = 0.85  # of a panel, with its axis
LEGEND_INCHES = 0.5
BAR_HEIGHT = 0.72
LABEL_ROOM = 0.32  # of the width of the bars, on either side


@styled
def tornado_figure(found: Sensitivity, conclusions: Sequence[str] = ()) -> Figure:
    """Draw the named conclusions, or all. Each panel says how many changes influence its conclusion."""
    shown = [each for each in found.conclusions if not conclusions or each.name in conclusions]
    if not shown or not found.influences:
        return empty_figure("there are no changes or no conclusions")
    columns = min(PANEL_COLUMNS, len(shown))
    lines = [shown[start : start + columns] for start in range(0, len(shown), columns)]
    heights = [max(len(found.sorted_for(each)) for each in line) * BAR_INCHES + HEADING_INCHES for line in lines]
    figure = Figure(figsize=(WIDTH_INCHES, sum(heights) + LEGEND_INCHES), layout="constrained")
    for axes, each in zip(panels_of(figure, len(shown), columns, height_ratios=heights), shown, strict=True):
        _panel(axes, each, found.sorted_for(each), len(found.influences))
    legend_below(figure, _handles())
    return figure


def _panel(axes: Axes, conclusion: Conclusion, influences: Sequence[Influence], of: int) -> None:
    axes.grid(visible=False, axis="y")
    axes.axvspan(min(conclusion.seeds), max(conclusion.seeds), color=CHANCE_COLOUR, linewidth=0, zorder=0)
    for place, influence in enumerate(influences):
        _bars(axes, place, conclusion, influence)
    axes.axvline(conclusion.value, color=BASE_COLOUR, linewidth=1.2)
    if conclusion.bound is not None:
        axes.axvline(conclusion.bound, color=BOUND_COLOUR, linewidth=1.6, linestyle=(0, (3, 1.5)))
    axes.set_yticks(range(len(influences)), [influence.name for influence in influences])
    axes.set_ylim(max(1, len(influences)) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    low, high = axes.get_xlim()
    axes.set_xlim(low - LABEL_ROOM * (high - low), high + LABEL_ROOM * (high - low))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    if _percent(conclusion):
        axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.set_title(f"{conclusion.name}: {_what(conclusion)}")
    axes.set_xlabel(f"moved by {len(influences)} of {of} changes", fontsize=9)


def _bars(axes: Axes, place: int, conclusion: Conclusion, influence: Influence) -> None:
    """Draw a bar for each side. Two bars in the same direction are half as high, with the shorter bar in front."""
    sides = {
        name: (side, value - conclusion.value)
        for name, side in influence.sides.items()
        if not math.isnan(value := side.values.get(conclusion.name, math.nan))
    }
    same_way = len(sides) > 1 and math.prod(length for _, length in sides.values()) > 0
    for level, (name, (side, length)) in enumerate(sorted(sides.items(), key=lambda item: -abs(item[1][1]))):
        height = BAR_HEIGHT / 2 if same_way else BAR_HEIGHT
        middle = place + (height * (0.5 if name == "high" else -0.5) if same_way else 0)
        axes.barh(middle, length, height, left=conclusion.value, color=COLOURS[name], linewidth=0, zorder=2 + level)
        if length:
            _bar_label(axes, middle, conclusion.value + length, side.label, length > 0, small=same_way)


def _bar_label(axes: Axes, y: float, x: float, text: str, right: bool, small: bool) -> None:
    axes.annotate(
        text,
        (x, y),
        (3 if right else -3, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        fontsize=6 if small else 7.5,
        zorder=5,
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
    )


def _percent(conclusion: Conclusion) -> bool:
    return conclusion.metric == EFFECT or METRICS[conclusion.metric].percent


def _what(conclusion: Conclusion) -> str:
    return "gain in speed" if conclusion.metric == EFFECT else METRICS[conclusion.metric].label


def _handles() -> list[Patch | Line2D]:
    return [
        *(Patch(color=COLOURS[side], label=WORDS[side]) for side in COLOURS),
        Line2D([], [], color=BASE_COLOUR, linewidth=1.2, label="as modelled"),
        Patch(color=CHANCE_COLOUR, label="other seeds"),
        Line2D([], [], color=BOUND_COLOUR, linewidth=1.6, linestyle=(0, (3, 1.5)), label="no gain, or asked for"),
    ]
