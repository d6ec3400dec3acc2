"""Fields of a run that are searched: conversion between integers on an axis and values of a specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from numasim.reproduce.calibration.parameter_search import Axis, Point
from numasim.reproduce.calibration.record import FittedParameter


@dataclass(frozen=True)
class Searched:
    """A field whose value is a multiple of ``grain``, searched on ``axis``."""

    axis: Axis
    sets: str
    grain: Decimal
    unit: str

    def value(self, number: int) -> int | Decimal:
        """The value of the field at an integer on the axis."""
        exact = number * self.grain
        return int(exact) if exact == int(exact) else exact.normalize()


def values_at(searched: Sequence[Searched], point: Point) -> dict[str, Any]:
    """Dotted fields at a point of a search."""
    return {each.sets: each.value(number) for each, number in zip(searched, point, strict=True)}


def parameters_at(
    searched: Sequence[Searched],
    point: Point,
    *,
    step: int,
    programs: tuple[str, ...],
    table: str,
    columns: tuple[str, ...],
    fitted_rows: tuple[str, ...],
) -> tuple[FittedParameter, ...]:
    """The parameters of a point of a search, without residuals."""
    return tuple(
        FittedParameter(
            name=each.axis.name,
            field=each.sets,
            programs=programs,
            value=each.value(number),
            unit=each.unit,
            step=step,
            table=table,
            columns=columns,
            fitted_rows=fitted_rows,
        )
        for each, number in zip(searched, point, strict=True)
    )


def reporter(say: Callable[[str], None], searched: Sequence[Searched]) -> Callable[[Point, float], None]:
    """Report every better point."""

    def report(point: Point, cost: float) -> None:
        values = ", ".join(f"{each.axis.name} {number}" for each, number in zip(searched, point, strict=True))
        say(f"rms error {cost:.4f}: {values}")

    return report
