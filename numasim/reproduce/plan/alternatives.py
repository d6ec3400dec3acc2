"""What might as well have been otherwise: other choices of readings, ends of ranges; each changes one thing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from numasim.parts.yaml.nodes import Node, Place, from_python
from numasim.reproduce.plan.setting import Change, Setting
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.plain_value import plain
from numasim.reproduce.study.sensitivity_file import SIDES, ChangedRange, FittedRange, Ranges


@dataclass(frozen=True)
class PlannedSide:
    """An end of a range before it is simulated: ``side`` is low or high, ``label`` describes it."""

    name: str
    side: str
    label: str
    changes: tuple[Change, ...] = ()
    readings: Mapping[str, str] = field(default_factory=dict)

    def of(self, base: Setting) -> Setting:
        """``base`` with this changed, and one repeat."""
        return replace(base, repeat=1, changes=self.changes, readings=self.readings)


def planned_sides(study: Study, ranges: Ranges) -> Iterable[PlannedSide]:
    """Yield every end of every range, with what is set there, and every other choice of the readings."""
    yield from parameter_sides(study, ranges)
    for number, change in enumerate(ranges.file.changes):
        for side in SIDES:
            if getattr(change, side):
                yield _changed(ranges.document, number, change, side)
    yield from (each for each in reading_sides(study) if each.side)


def parameter_sides(study: Study, ranges: Ranges) -> Iterable[PlannedSide]:
    """Yield both ends of the range of every fitted parameter."""
    for number, fitted in enumerate(ranges.file.fitted):
        for side in SIDES:
            written = ranges.document.follow(("fitted", number, side))
            assert written is not None
            yield _scaled(study, fitted, side, written.place)


def reading_sides(study: Study) -> Iterable[PlannedSide]:
    """Yield every choice of a reading beside the one that is scored; from the third on they are no side of a range."""
    for name, reading in study.file.readings.items():
        for side, choice in itertools.zip_longest(SIDES[: len(reading.others)], reading.others, fillvalue=""):
            yield PlannedSide(name, side, choice, readings={name: choice})


def _scaled(study: Study, fitted: FittedRange, side: str, place: Place) -> PlannedSide:
    factor = fitted.low if side == "low" else fitted.high
    parameters = [parameter for parameter in study.parameters if parameter.name in fitted.parameters]
    values = [_times(parameter.value, factor) for parameter in parameters]
    changes = [
        Change(from_python({parameter.field: value}, place), parameter.programs, parameter.rows)
        for parameter, value in zip(parameters, values, strict=True)
    ]
    return PlannedSide(fitted.name, side, f"x {factor}", tuple(changes))


def _times(value: str | int | Decimal, factor: Decimal) -> int | Decimal:
    """Scale a fitted value; a whole number stays one."""
    return round(value * factor) if isinstance(value, int) else (Decimal(value) * factor).normalize()


def _changed(document: Node, number: int, change: ChangedRange, side: str) -> PlannedSide:
    fields = document.follow(("changes", number, side))
    assert fields is not None
    labels: Mapping[str, str] = {str(key): label for key, label in change.labels.items()}
    values = ", ".join(map(plain, getattr(change, side).values()))
    one = Change(fields, change.programs, change.rows, change.variants)
    return PlannedSide(change.name, side, labels.get(side, values), (one,))
