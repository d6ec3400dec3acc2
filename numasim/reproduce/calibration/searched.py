"""Fields of a run that are searched: conversion between integers on an axis and values of a specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from numasim.reproduce.calibration.identification import Fit, Verdict
from numasim.reproduce.calibration.parameter_search import Axis, Point
from numasim.reproduce.calibration.record import Calibration, FittedParameter, RefusedParameter
from numasim.reproduce.calibration.roots import Root


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


@dataclass(frozen=True)
class Source:
    """The runs that searched parameters are set in, and the published values that they are fitted to."""

    step: int
    programs: tuple[str, ...]
    table: str
    columns: tuple[str, ...]
    fitted_rows: tuple[str, ...]


def calibration_of(searched: Sequence[Searched], found: Fit, source: Source) -> Calibration:
    """The parameters of a fit without their residual, and those that it refused."""
    by_axis = {each.axis.name: each for each in searched}
    accepted = (_fitted(by_axis[verdict.axis.name], verdict, source) for verdict in found.accepted)
    refused = (_refused(by_axis[verdict.axis.name], verdict, source) for verdict in found.refused)
    return Calibration(parameters=tuple(accepted), refused=tuple(refused))


def calibration_of_root(
    searched: Searched, root: Root, source: Source, rows: tuple[str, ...] = (), residual: float | None = None
) -> Calibration:
    """The parameter of a root, set in some rows alone where any are named, or its refusal.

    ``residual`` is that of its values, where their mean error has the root.
    """
    verdict = root.verdict if residual is None else replace(root.verdict, residual=residual)
    update = {"rows": rows}
    if verdict.refused:
        return Calibration(refused=(_refused(searched, verdict, source).model_copy(update=update),))
    return Calibration(parameters=(_fitted(searched, verdict, source).model_copy(update=update),))


def _fitted(each: Searched, verdict: Verdict, source: Source) -> FittedParameter:
    return FittedParameter(**_common(each, verdict, source), value=each.value(verdict.found))


def _refused(each: Searched, verdict: Verdict, source: Source) -> RefusedParameter:
    return RefusedParameter(
        **_common(each, verdict, source),
        found=each.value(verdict.found),
        searched=(each.value(each.axis.low), each.value(each.axis.high)),
        reason=reason(each, verdict),
    )


def _common(each: Searched, verdict: Verdict, source: Source) -> dict[str, Any]:
    return {
        "name": each.axis.name,
        "field": each.sets,
        "unit": each.unit,
        "interval": (each.value(verdict.low), each.value(verdict.high)),
        "residual": round(verdict.residual, 4),
        **vars(source),
    }


def reason(each: Searched, verdict: Verdict) -> str:
    """Why a parameter is refused, in one sentence."""
    axis, unit = each.axis, "" if each.unit == "1" else f" {each.unit}"
    low, high, found = (f"{each.value(number)}{unit}" for number in (axis.low, axis.high, verdict.found))
    if verdict.low <= axis.low and verdict.high >= axis.high:
        return f"The data cannot tell any value from {low} to {high} from the best."
    end = low if verdict.low <= axis.low else high
    if found == end:
        return f"The best value, {found}, is an end of the range that was searched."
    return f"The data cannot tell the best value, {found}, from {end}, an end of the range that was searched."


def reporter(say: Callable[[str], None], searched: Sequence[Searched]) -> Callable[[Point, float], None]:
    """Report every better point."""

    def report(point: Point, cost: float) -> None:
        values = ", ".join(f"{each.axis.name} {number}" for each, number in zip(searched, point, strict=True))
        say(f"rms error {cost:.4f}: {values}")

    return report


def judge(say: Callable[[str], None], searched: Sequence[Searched]) -> Callable[[Verdict], None]:
    """Report every verdict."""
    by_axis = {each.axis.name: each for each in searched}

    def judged(verdict: Verdict) -> None:
        each = by_axis[verdict.axis.name]
        why = f"refused. {reason(each, verdict)}" if verdict.refused else "identified"
        say(f"{verdict.axis.name} {verdict.found}, {verdict.low} to {verdict.high}: {why}")

    return judged
