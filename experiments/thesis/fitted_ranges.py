"""The plausible ranges of the fitted parameters: a list under the key ``fitted`` of ``sensitivity.yaml``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from numasim.parts.yaml.document import load
from numasim.reproduce.calibration_file import Value
from numasim.reproduce.programs import Change, Fields, Scope, listed
from numasim.reproduce.setting import SIDES, Side
from numasim.reproduce.study import Study


@dataclass(frozen=True)
class FittedRange:
    """A range of fitted ``parameters``: from ``low`` times to ``high`` times the fitted value. ``source`` is the reason
    for the range.
    """

    name: str
    parameters: tuple[str, ...]
    low: Decimal
    high: Decimal
    source: str


def fitted_ranges(study: Study) -> tuple[FittedRange, ...]:
    """Return the ranges of the fitted parameters."""
    return tuple(
        FittedRange(
            each["name"], listed(each["parameters"]), Decimal(each["low"]), Decimal(each["high"]), each["source"]
        )
        for each in load(study.folder / "sensitivity.yaml").plain()["fitted"]
    )


def fitted_sides(study: Study) -> Iterable[Side]:
    """Yield both ends of the range of every fitted parameter."""
    for fitted in fitted_ranges(study):
        for side, factor in zip(SIDES, (fitted.low, fitted.high), strict=True):
            yield Side(fitted.name, side, f"x {factor}", tuple(_scaled(study, fitted, factor)))


def _scaled(study: Study, fitted: FittedRange, factor: Decimal) -> Iterable[Change]:
    for parameter in study.parameters:
        if parameter.name in fitted.parameters:
            scope = Scope(programs=parameter.programs, rows=parameter.rows)
            yield Change(Fields({parameter.field: _times(parameter.value, factor)}), scope)


def _times(value: Value, factor: Decimal) -> int | Decimal:
    """Return a fitted value times ``factor``; whole numbers stay whole."""
    return round(value * factor) if isinstance(value, int) else (Decimal(value) * factor).normalize()
