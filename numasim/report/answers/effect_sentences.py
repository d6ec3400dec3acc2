"""Effects in words: "steal-half is 9.0 % faster than randomized on fib with 64 workers (6.7 to 11.2), because ..."."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from numasim.engine.columns import DESCRIBED
from numasim.engine.unit_text import MISSING
from numasim.report.answers.estimated_effects import Effect
from numasim.report.answers.statistics import Estimate
from numasim.report.answers.time_parts import PartChange
from numasim.report.answers.varying_axes import Axis, Contrast, value_text
from numasim.report.components import value_text as column_text

MAKESPAN = "makespan_ps"
NO_PAIRS = "no pair of runs has values"
NO_DIFFERENCE = "no pair of runs differs"
LONGEST_VALUE = 60  # characters of a value in a sentence


@dataclass(frozen=True)
class Cell:
    """A contrast with its effect, the changes of all parts, the changes that are causes, and the setting in words."""

    contrast: Contrast
    effect: Effect
    changes: Sequence[PartChange]
    causes: Sequence[PartChange]
    where: str


@dataclass(frozen=True)
class Question:
    """The question how ``column`` differs between a value of an axis and the baseline.

    ``assumed`` is the assumption on the cores of compared machines; with an assumption, no machine is called faster.
    """

    axis: Axis
    value: int
    baseline: int
    column: str
    assumed: str = ""

    @property
    def names_column(self) -> bool:
        """Return whether the sentence names the column: "makespan is lower on X" instead of "X is faster than"."""
        return self.column != MAKESPAN or bool(self.assumed)

    @property
    def words(self) -> tuple[str, str]:
        """Return the words for a positive and for a negative difference."""
        return ("higher", "lower") if self.names_column else ("slower", "faster")

    @property
    def unsure(self) -> str:
        """Return the beginning of a sentence that reports no sure difference."""
        return self.compared(f"not surely {' or '.join(reversed(self.words))}")

    def compared(self, how: str) -> str:
        """Return ``steal-half is HOW than randomized``, or for a named column ``tasks stolen are HOW under ...``."""
        value, baseline = (_shortened(self.axis.texts[each]) for each in (self.value, self.baseline))
        if self.names_column:
            label = label_of(self.column)
            given = f"{self.assumed}, " if self.assumed else ""
            verb = "are" if any(word.endswith("s") and not word.endswith("ss") for word in label.split()) else "is"
            return f"{given}{label} {verb} {how} {self._with(value)} than {self._with(baseline)}"
        if self.axis.columns == ("workers",):
            return f"{value} {'worker is' if value == '1' else 'workers are'} {how} than {baseline}"
        return f"{f'{self.axis.name}={value}' if self._names_axis else value} is {how} than {baseline}"

    @property
    def _names_axis(self) -> bool:
        """Return whether values need the name of their axis, as numbers do: ``runtime.backoff.first_ns=100``."""
        return len(self.axis.columns) == 1 and self.axis.name not in {"machine", "workload", "strategy"}

    def _with(self, text: str) -> str:
        columns = self.axis.columns
        if columns == ("workers",):
            return f"with {text} worker{'s' * (text != '1')}"
        if columns[0] in {"machine", "workload"}:
            return f"on {text}"
        if columns == ("strategy",):
            return f"under {text}"
        return f"with {self.axis.name}={text}" if self._names_axis else f"with {text}"


def answer_sentence(question: Question, cells: Sequence[Cell]) -> str:
    """Return one sentence that answers the question: the effect in the only setting, or a summary of all settings."""
    text = _single(question, cells[0]) if len(cells) == 1 else _summary(question, cells)
    return f"{text[0].upper()}{text[1:]}." if question.names_column else f"{text}."


def _single(question: Question, cell: Cell) -> str:
    effect, column = cell.effect, question.column
    shown, relative = effect.shown, effect.relative
    if effect.sure:
        size = f"{_amount(column, shown.value, relative)} {question.words[shown.value < 0]}"
        return question.compared(size) + cell.where + _range(column, shown, relative) + _because(cell)
    text = question.unsure + cell.where
    if not effect.pairs:
        return f"{text}: {NO_PAIRS}"
    if effect.equal:
        return f"{text}: {NO_DIFFERENCE}"
    text += f": {signed(column, shown.value, relative)}" + " %" * relative
    if not pd.isna(shown.low):
        text += f" ({signed(column, shown.low, relative)} to {signed(column, shown.high, relative)})"
    return text + _too_few([cell])


def _too_few(cells: Sequence[Cell]) -> str:
    """Return the remedy if too few pairs make a sure difference impossible: ``, of 5 pairs: at least 6 are needed``."""
    pairs = max((each.effect.pairs for each in cells), default=0)
    needed = max(each.effect.needed for each in cells)
    if not pairs or pairs >= needed:
        return ""
    return f", of {'a single pair' if pairs == 1 else f'{pairs} pairs'}: at least {needed} are needed to be sure"


def _summary(question: Question, cells: Sequence[Cell]) -> str:
    """Return how many settings have a sure difference of each sign, and the sizes, with the setting of the largest."""
    compared = [each for each in cells if each.effect.pairs]
    relative = all(each.effect.relative for each in compared)
    sizes = [(each, each.effect.percent if relative else each.effect.difference) for each in compared]
    sure = [(each, shown) for each, shown in sizes if each.effect.sure]
    sides = [[each for each in sure if (each[1].value < 0) == negative] for negative in (True, False)]
    claims: list[str] = []
    for side in sorted(filter(None, sides), key=len, reverse=True):
        claims.append(_claim(question, side, relative, len(cells), first=not claims))
    if claims:
        others = len(cells) - len(sure)
        return "; ".join([*claims, *([f"in {others} no difference is sure"] if others else [])])
    text = f"{question.unsure} in any of {len(cells)} settings"
    if compared and all(each.effect.equal for each in compared):
        return f"{text}: {NO_DIFFERENCE}"
    if not compared:
        return f"{text}: {NO_PAIRS}"
    return f"{text}: {span_text(question.column, [shown.value for _, shown in sizes], relative)}{_too_few(cells)}"


def _claim(
    question: Question, side: Sequence[tuple[Cell, Estimate]], relative: bool, settings: int, first: bool
) -> str:
    """Return the clause on the settings ``side``, whose sure differences have the same sign."""
    column = question.column
    _, least = min(side, key=lambda each: abs(each[1].value))
    cell, most = max(side, key=lambda each: abs(each[1].value))
    word = question.words[most.value < 0]
    lead = question.compared(f"surely {word}") if first else word
    count = ("both" if settings == 2 else f"all {settings}") if len(side) == settings else f"{len(side)} of {settings}"
    size = _amount(column, most.value, relative)
    if len(side) > 1:
        size = f"{_amount(column, least.value, relative)} to {size}: most"
    return f"{lead} in {count} settings, by {size}{cell.where}{_range(column, most, relative)}{_because(cell)}"


def _because(cell: Cell) -> str:
    text = because_text(cell.effect, cell.causes)
    return f", because {text}" if text else ""


def because_text(effect: Effect, found: Sequence[PartChange]) -> str:
    """Return the causes: ``waiting for work falls by 8.4 %, while all else rises by 0.4 %``. The figures add up."""
    if not found:
        return ""
    rounded = [round(each.percent, 1) for each in found]
    verb = "falls" if effect.percent.value < 0 else "rises"
    verbs = [f" {verb}", *[""] * (len(found) - 1)]
    named = [
        f"{each.part.label}{does} by {abs(size):.1f} %" + (f" ({each.detail})" if each.detail else "")
        for each, does, size in zip(found, verbs, rounded, strict=True)
    ]
    rest = round(round(effect.percent.value, 1) - sum(rounded), 1)
    also = f", while all else {'falls' if rest < 0 else 'rises'} by {abs(rest):.1f} %" if rest else ""
    return " and ".join(part for part in (", ".join(named[:-1]), named[-1]) if part) + also


def label_of(column: str) -> str:
    """Return the label of a column; the label of a column that a user added is the column's name."""
    return DESCRIBED[column].label if column in DESCRIBED else column


def setting_text(columns: Sequence[str], values: Sequence[Any]) -> str:
    """Return a setting in words: `` on fib with 64 workers of opteron-8380-4s under randomized, n=10``."""
    given = {name: _shortened(value_text(value)) for name, value in zip(columns, values, strict=True)}
    words = {"workload": " on {}", "workers": " with {} workers", "machine": " of {}", "strategy": " under {}"}
    words["workers"] = " with {} worker" if given.get("workers") == "1" else words["workers"]
    words["machine"] = words["machine"] if "workers" in given else " on {}"
    named = [pattern.format(given[name]) for name, pattern in words.items() if name in given]
    return "".join(named) + "".join(f", {name}={text}" for name, text in given.items() if name not in words)


def _shortened(text: str) -> str:
    """Return a value for a sentence, shortened: a mapping may be as long as a file."""
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


# ---- Differences as text: a percentage if ``relative``, else an amount in the unit of the column ---------------------


def signed(column: str, value: float, relative: bool) -> str:
    """Return a difference with a sign, without the % of a percentage."""
    return f"{value:+.1f}" if relative else ("-" if value < 0 else "+") + column_text(column, abs(value))


def _amount(column: str, value: float, relative: bool) -> str:
    return f"{abs(value):.1f} %" if relative else column_text(column, abs(value))


def _range(column: str, shown: Estimate, relative: bool) -> str:
    """Return the interval of the size of a difference: `` (6.7 to 11.2)``."""
    ends = sorted((abs(shown.low), abs(shown.high)))
    low, high = (f"{end:.1f}" if relative else column_text(column, end) for end in ends)
    return f" ({low} to {high})"


def span_text(column: str, values: Sequence[float], relative: bool) -> str:
    """Return the smallest and the largest of several differences: ``-3.0 to +0.6 %``."""
    return " to ".join(signed(column, end, relative) for end in (min(values), max(values))) + " %" * relative


def effect_texts(column: str, row: Mapping[Any, Any]) -> tuple[str, str, str]:
    """Return the effect in a row of a comparison as ``-9.0``, ``-11.2``, ``-6.7``: the difference and its interval.

    `MISSING` stands for a missing number.
    """
    relative = not pd.isna(row["percent"])
    values = [row[("percent" if relative else "difference") + end] for end in ("", "_low", "_high")]
    value, low, high = (MISSING if pd.isna(each) else signed(column, each, relative) for each in values)
    return value, low, high
