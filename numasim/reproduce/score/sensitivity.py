"""Which conclusions of a reproduction depend on fitted parameters, on vendor data, and on readings of the paper.

A conclusion is the mean effect of a contribution, which holds as long as it keeps its sign, or the score of a class,
which holds as long as its bound stays met or missed. One thing is changed at a time, to either end of its range, and
the tables are made again with one repeat, which shows how far each conclusion moves (a tornado chart). The combined
effect of several changes is not examined.

Any change of a program's schedule changes its duration slightly. Other seeds show by how much: a bar within their range
may be due to chance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from numasim.engine.simulate import DEFAULT_ENGINE, require_engine
from numasim.reproduce.plan.alternatives import PlannedSide, planned_sides
from numasim.reproduce.plan.setting import Setting
from numasim.reproduce.reproduce import simulate
from numasim.reproduce.score.contribution_effects import effect
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.score.scores import class_scores
from numasim.reproduce.score.scoring import score_rules
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.names import check_known
from numasim.reproduce.study.sensitivity_file import Ranges, read_ranges
from numasim.reproduce.table_cells import Table

EFFECT = "effect"
SEEDS = 3  # of the unchanged model, to estimate the effect of chance


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of a reproduction: its value as modelled, and the limit beyond which it no longer holds."""

    name: str
    metric: str  # `EFFECT`, or the metric of the class
    value: float  # of the seed with which all changes are simulated
    seeds: tuple[float, ...]  # of each seed alone
    bound: float | None  # it holds while it stays on the same side of this; None: always

    def holds(self, value: float) -> bool:
        """Whether the conclusion holds with ``value``."""
        if self.bound is None or math.isnan(value):
            return self.bound is None
        return self._says(value) == self._says(self.value)

    def _says(self, value: float) -> bool:
        assert self.bound is not None
        return value > self.bound if self.metric == EFFECT else METRICS[self.metric].meets(value, self.bound)


@dataclass(frozen=True)
class Side:
    """One end of a range: the fields that are set, and the values of the conclusions."""

    label: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Influence:
    """An input that was changed, and the ends of its range."""

    name: str
    kind: str  # fitted, vendor or reading
    source: str  # of the range
    sides: Mapping[str, Side]  # low, high, or one of them

    def reach(self, conclusion: Conclusion) -> float:
        """The length of its bar: from the least to the largest of both sides and the value as modelled."""
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
        """The influences that move ``conclusion``, the strongest first."""
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
    """Change all that ``sensitivity.yaml`` of ``study`` lists, and each reading, one at a time.

    Runs are stored as by `reproduce`.

    ``only`` names what to change, ``rows`` which rows of the programs to simulate; none given: all, but those that a
    quick reproduction leaves out. Raises `InputError` for unknown names, and for fields that no run has.
    """
    require_engine(engine)
    ranges = read_ranges(study)
    check_known("range", only, (*ranges.names, *study.file.readings))
    planned = [each for each in planned_sides(study, ranges) if not only or each.name in only]
    base = Setting(study, quick=True, repeat=SEEDS, rows=tuple(rows))
    settings = [base, *(each.of(base) for each in planned)]
    wanted = [(setting, ranges.file.tables) for setting in settings]
    (as_modelled, *changed), runs = simulate(wanted, directory, jobs=jobs, engine=engine, progress=progress)
    values = [values_of(study, tables) for tables in changed]
    return Sensitivity(conclusions_of(study, as_modelled), tuple(_influences(study, ranges, planned, values)), runs)


def conclusions_of(study: Study, tables: Sequence[Table]) -> tuple[Conclusion, ...]:
    """Return the conclusions of ``tables`` as modelled, for each seed; those without cells are left out."""
    seeds = [values_of(study, of_seed(tables, seed)) for seed in range(SEEDS)]
    bounds = {rule.name: (rule.metric, rule.bound) for rule in score_rules(study)}
    bounds |= dict.fromkeys(study.file.contributions, (EFFECT, 0.0))
    return tuple(
        Conclusion(name, bounds[name][0], value, tuple(seed[name] for seed in seeds), bounds[name][1])
        for name, value in seeds[0].items()
        if not math.isnan(value)
    )


def values_of(study: Study, tables: Sequence[Table]) -> dict[str, float]:
    """Return the effects of the contributions and the scores of the classes, by name."""
    effects = {name: effect(tables, each) for name, each in study.file.contributions.items()}
    return effects | {score.name: score.value for score in class_scores(tables, score_rules(study))}


def of_seed(tables: Sequence[Table], seed: int) -> tuple[Table, ...]:
    """Return the tables as if only one of their seeds had been simulated."""
    return tuple(
        replace(table, cells=tuple(replace(cell, simulated=cell.simulated[seed : seed + 1]) for cell in table.cells))
        for table in tables
    )


def _influences(
    study: Study, ranges: Ranges, planned: Sequence[PlannedSide], values: Sequence[Mapping[str, float]]
) -> Iterable[Influence]:
    sides: dict[str, dict[str, Side]] = {}
    for each, found in zip(planned, values, strict=True):
        sides.setdefault(each.name, {})[each.side] = Side(each.label, found)
    kinds = {each.name: ("fitted", each.source) for each in ranges.file.fitted}
    kinds |= {each.name: (each.kind, each.source) for each in ranges.file.changes}
    kinds |= {name: ("reading", each.question) for name, each in study.file.readings.items()}
    for name, ends in sides.items():
        yield Influence(name, *kinds[name], ends)
