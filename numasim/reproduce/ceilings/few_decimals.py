"""Ceiling "digits": a column whose ratio to another is a number of few decimals was computed, not measured.

What was printed as a and b lies within half a last digit of them, so their ratio lies between
(a - h_a) / (b + h_b) and (a + h_a) / (b - h_b). If that interval has nothing to do with decimals, a number of d
decimals lies in it with the probability p = its width x 10^d, at most 1. Of several rows the number that do so is a sum
of unequal trials (Poisson 1837), whose tail is computed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from numasim.reproduce.ceilings.ceiling import Ceiling
from numasim.reproduce.ceilings.printed_column import half_digit, printed_column
from numasim.reproduce.ceilings.scored_class import ScoredClass
from numasim.reproduce.study.ceiling_specs import ColumnName, DigitsSpec
from numasim.reproduce.study.contents import Study
from numasim.reproduce.table_cells import Cell

HEADINGS = ("row", "ratio", "nearest", "off by", "the digits allow", "by chance", "of few decimals")


@dataclass(frozen=True)
class Ratio:
    """The ratio of two printed numbers, all exact."""

    value: Fraction
    low: Fraction  # least and most that the printed digits of both allow
    high: Fraction
    nearest: Fraction  # of the numbers with few decimals
    chance: Fraction  # that one of these lies between low and high

    @property
    def of_few_decimals(self) -> bool:
        """Whether the printed digits allow the nearest number of few decimals."""
        return self.low <= self.nearest <= self.high


def ratio_of(over: Decimal, under: Decimal, decimals: int) -> Ratio:
    """The ratio of two numbers as printed, both further from zero than half their last digit."""
    above, below = Fraction(over), Fraction(under)
    low = (above - half_digit(over)) / (below + half_digit(under))
    high = (above + half_digit(over)) / (below - half_digit(under))
    step = Fraction(1, 10**decimals)
    first, last = math.ceil(low / step), math.floor(high / step)
    near = round(above / below / step)
    if first <= last:
        near = min(max(near, first), last)
    return Ratio(above / below, low, high, near * step, min(Fraction(1), (high - low) / step))


def tail(chances: Sequence[Fraction], successes: int) -> Fraction:
    """The probability of at least so many ``successes`` in trials with these ``chances``, by adding trial to trial."""
    exactly = [Fraction(1)]
    for chance in chances:
        missed = [each * (1 - chance) for each in (*exactly, Fraction(0))]
        made = [each * chance for each in (Fraction(0), *exactly)]
        exactly = [one + other for one, other in zip(missed, made, strict=True)]
    return sum(exactly[successes:], Fraction(0))


def rounding_error(ratio: Ratio, decimals: int) -> float:
    """How far off, relatively, a value may be that was computed from a ratio rounded to ``decimals``."""
    return float(Fraction(1, 2 * 10**decimals) / ratio.nearest)


def digits_ceiling(study: Study, name: str, asked: DigitsSpec, classes: tuple[ScoredClass, ...]) -> Ceiling:
    """Whether a column is computed from another, and what error its rounding then leaves."""
    over, under = printed_column(study, asked.over), printed_column(study, asked.under)
    both = [row for row in over.values if row in under.values]
    ratios = {row: ratio_of(over.values[row], under.values[row], asked.decimals) for row in both}
    rounded = {row: ratio for row, ratio in ratios.items() if ratio.of_few_decimals}
    chance = tail([ratio.chance for ratio in ratios.values()], len(rounded))
    computed = chance <= Fraction(asked.level)
    errors = {row: rounding_error(ratio, asked.decimals) for row, ratio in rounded.items()} if computed else {}
    which, words = (asked.under, under.name) if asked.computed == "under" else (asked.over, over.name)
    found = (each.bound(lambda cell: _least(which, errors, cell)) for each in classes if each.metric == "mape")
    return Ceiling(
        name=name,
        kind="digits",
        finding=(
            f"The ratio of {over.name} to {under.name} is a number of {asked.decimals} decimals in {len(rounded)} of"
            f" {len(ratios)} rows{_listed(rounded.values(), asked.decimals)}; chance does so with probability"
            f" {_probability(chance)}. {_conclusion(words, errors)}"
        ),
        assumes=(
            "Assumes that digits of measured values have nothing to do with decimals of their ratio, row by row, that"
            " this pair of columns was named beforehand (of n pairs looked at, chance does n times as well), and that a"
            " perfect model predicts what was rounded, which lies anywhere within half a digit; one that has seen the"
            " values may come nearer."
        ),
        source=asked.because,
        bounds=tuple(bound for bound in found if bound is not None),
        no_bound=f"no cell of {words} is scored by its relative error." if errors else "nothing follows for any score.",
        headings=HEADINGS,
        rows=tuple(_row(row, ratio, asked.decimals) for row, ratio in ratios.items()),
    )


def _least(column: ColumnName, errors: Mapping[str, float], cell: Cell) -> float | None:
    """What is spread evenly over half a digit to both sides is half of that off in the mean."""
    if (cell.table, cell.column) != (column.table, column.column) or cell.row not in errors:
        return None
    return errors[cell.row] / 2


def _listed(ratios: Iterable[Ratio], decimals: int) -> str:
    texts = [f"{float(ratio.nearest):.{decimals}f}" for ratio in ratios]
    return f" ({', '.join(texts)})" if texts else ""


def _conclusion(words: str, errors: Mapping[str, float]) -> str:
    if not errors:
        return "It is not concluded that either was computed."
    most = max(errors.values())
    return f"So {words} was computed, not measured; its rounding alone leaves each value uncertain by up to {most:.2%}."


def _probability(chance: Fraction) -> str:
    return f"{float(chance):.2g}"


def _row(row: str, ratio: Ratio, decimals: int) -> tuple[str, ...]:
    allowed = float(ratio.high - ratio.low) / 2
    return (
        row,
        f"{float(ratio.value):.{decimals + 4}f}",
        f"{float(ratio.nearest):.{decimals}f}",
        f"{float(abs(ratio.value - ratio.nearest)):.1e}",
        f"±{allowed:.1e}",
        f"{float(ratio.chance):.2g}",
        "yes" if ratio.of_few_decimals else "no",
    )
