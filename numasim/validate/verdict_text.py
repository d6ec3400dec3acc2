"""Values, bounds and verdicts of a validation as short text, the same on the page and on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable

from numasim.engine.unit_text import MISSING, bytes_text, count_text, ratio_text, time_text
from numasim.parts.unit_factors import PS_PER_S
from numasim.report.answers.statistics import Estimate
from numasim.validate.cell_runs import PartFindings
from numasim.validate.comparison import MOST_FACTOR, Comparison, Verdict
from numasim.validate.part_files import BoundSpec, Part
from numasim.validate.validated_quantities import QUANTITIES

TEXTS: dict[str, Callable[[float], str]] = {
    "s": lambda value: time_text(value * PS_PER_S),
    "B": bytes_text,
    "count": count_text,
    "1/s": lambda value: f"{count_text(value)}/s",
}


def value_text(quantity: str, value: float) -> str:
    """Return a value with its unit, as text."""
    return MISSING if math.isnan(value) else TEXTS.get(QUANTITIES[quantity].unit, ratio_text)(value)


def estimate_text(quantity: str, estimate: Estimate) -> str:
    """Return a value and half its interval, in percent for relative quantities: ``1.2 ms ± 3 %``."""
    text = value_text(quantity, estimate.value)
    if math.isnan(estimate.low):
        return text
    half = (estimate.high - estimate.low) / 2
    if not QUANTITIES[quantity].relative:
        return f"{text} ± {half:.3f}"
    return f"{text} ± {100 * half / abs(estimate.value):.1f} %" if estimate.value else text


def distance_text(quantity: str, distance: float) -> str:
    """Return the distance of a prediction, in percent or as a difference."""
    if math.isinf(distance):
        return "one side only"
    return f"{100 * distance:+.1f} %" if QUANTITIES[quantity].relative else f"{distance:+.3f}"


def bound_text(quantity: str, bound: BoundSpec) -> str:
    """Return a bound as text: ``within 10 % in 80 % of the cells``."""
    within = f"{float(bound.within) * 100:g} %" if QUANTITIES[quantity].relative else f"{bound.within:f}"
    return f"within {within} in {float(bound.share) * 100:g} % of the cells"


def share_text(verdict: Verdict) -> str:
    """Return how many cells satisfy the bound: ``62 of 72 (86 %)``."""
    share = f" ({100 * verdict.within / verdict.cells:.0f} %)" if verdict.cells else ""
    return f"{verdict.within} of {verdict.cells}{share}"


def outside_text(each: Comparison) -> str:
    """Return a cell outside its bound, with its values, as text."""
    predicted, measured = (estimate_text(each.quantity, side) for side in (each.predicted, each.measured))
    return (
        f"{each.cell.label}: predicted {predicted}, measured {measured}, {distance_text(each.quantity, each.distance)}"
    )


def rejected_text(found: PartFindings) -> str:
    """Return a sentence on the rejected runs."""
    return (
        f"{count_text(found.rejected_runs)} more runs were rejected: beside them, cache lines took more than"
        f" {MOST_FACTOR} times longer or shorter between workers than the machine file says"
    )


def left_out_text(part: Part) -> str:
    """Return a sentence on the numbers of workers for which the machine has too few hardware threads."""
    workers = " or ".join(map(str, part.left_out))
    return f"cells with {workers} workers are left out: {part.machine} has fewer hardware threads"


def broken_text(found: PartFindings) -> list[str]:
    """Return a sentence for each unmet bound, and a sentence on unequal counters."""
    broken = [
        f"{found.part.name}: {QUANTITIES[each.quantity].label}: {share_text(each)} cells are"
        f" {bound_text(each.quantity, each.bound).partition(' in ')[0]},"
        f" {float(each.bound.share) * 100:g} % required"
        for each in found.broken
    ]
    if found.unequal:
        seed, (name, predicted, seen) = found.unequal[0].differing[0]
        broken.append(
            f"{found.part.name}: {len(found.unequal)} of {len(found.equalities)} cells have counters that differ; first"
            f" {found.unequal[0].cell.label}, seed {seed}: {name} is {predicted} predicted and {seen} found"
        )
    return broken
