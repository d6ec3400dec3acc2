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
from numasim.report.answers.varying_axes import Axis, value_text
from numasim.report.comparison_cells import value_text as column_text

MAKESPAN = "makespan_ps"
NO_PAIRS = "no pair of runs has values"
NO_DIFFERENCE = "no pair of runs differs"
LONGEST_VALUE = 60  # characters of a value in a sentence


@dataclass(frozen=True)
class Question:
    """A value of an axis against its baseline, in a column.

    ``assumed`` is what is taken for granted of the cores of machines that are compared: then none is called faster.
    """

    axis: Axis
    value: int
    baseline: int
    column: str
    assumed: str = ""

    @property
    def names_column(self) -> bool:
        """Whether the sentence is about a column by its name."""
        return self.column != MAKESPAN or bool(self.assumed)

    def compared(self, what: str) -> str:
        """``steal-half is WHAT than randomized``; for other columns than the makespan, whose difference is."""
        value, baseline = (_shortened(self.axis.texts[each]) for each in (self.value, self.baseline))
        if self.names_column:
            label = label_of(self.column)
            given = f"{self.assumed}, " if self.assumed else ""
            verb = "are" if any(word.endswith("s") and not word.endswith("ss") for word in label.split()) else "is"
            return f"{given}{label} {verb} {what} {self._with(value)} than {self._with(baseline)}"
        if self.axis.columns == ("workers",):
            return f"{value} {'worker is' if value == '1' else 'workers are'} {what} than {baseline}"
        return f"{f'{self.axis.name}={value}' if self._names_axis else value} is {what} than {baseline}"

    @property
    def words(self) -> tuple[str, str]:
        """What a positive and a negative difference are called."""
        return ("higher", "lower") if self.names_column else ("slower", "faster")

    def size(self, shown: Estimate, relative: bool) -> str:
        """``9.0 % faster``, ``0.120 higher``."""
        return f"{self.amount(abs(shown.value), relative)} {self.words[shown.value < 0]}"

    def range(self, shown: Estimate, relative: bool) -> str:
        """`` (6.7 to 11.2)``: the interval of the size."""
        low, high = sorted((abs(shown.low), abs(shown.high)))
        if relative:
            return f" ({low:.1f} to {high:.1f})"
        return f" ({column_text(self.column, low)} to {column_text(self.column, high)})"

    def signed(self, shown: Estimate, relative: bool) -> str:
        """``-1.2 % (-3.0 to +0.6)``, with which nothing is claimed."""
        text = self.signed_amount(shown.value, relative) + " %" * relative
        if pd.isna(shown.low):
            return text
        return f"{text} ({self.signed_amount(shown.low, relative)} to {self.signed_amount(shown.high, relative)})"

    def amount(self, size: float, relative: bool) -> str:
        """An absolute value: a percentage, or in the unit of the column."""
        return f"{size:.1f} %" if relative else column_text(self.column, size)

    def signed_amount(self, value: float, relative: bool) -> str:
        """A difference with its sign, without the % of a percentage."""
        return signed(self.column, value, relative)

    @property
    def _names_axis(self) -> bool:
        """Whether values say nothing without the name of their axis, as those of ``runtime.backoff.first_ns`` do."""
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


@dataclass(frozen=True)
class Answered:
    """A question in one setting: its effect, the parts that explain it, and where that is."""

    effect: Effect
    causes: Sequence[PartChange]
    where: str


def answer_sentence(question: Question, answers: Sequence[Answered]) -> str:
    """The answer of a question in one sentence: of its only setting, or a summary of several."""
    text = _single(question, answers[0]) if len(answers) == 1 else _summary(question, answers)
    return f"{text[0].upper()}{text[1:]}." if question.names_column else f"{text}."


def _single(question: Question, answer: Answered) -> str:
    effect = answer.effect
    if effect.sure:
        found = question.compared(question.size(effect.shown, effect.relative)) + answer.where
        return found + question.range(effect.shown, effect.relative) + _because(answer)
    text = question.compared(f"not surely {' or '.join(reversed(question.words))}") + answer.where
    if not effect.pairs:
        return f"{text}: {NO_PAIRS}"
    if effect.equal:
        return f"{text}: {NO_DIFFERENCE}"
    return f"{text}: {question.signed(effect.shown, effect.relative)}{_too_few([answer])}"


def _too_few(answers: Sequence[Answered]) -> str:
    """What to do where no difference could be sure: ``, of 5 pairs, at least 6 are needed to be sure``."""
    pairs = [each.effect.pairs for each in answers if each.effect.pairs]
    needed = max(each.effect.needed for each in answers)
    if not pairs or max(pairs) >= needed:
        return ""
    counted = "a single pair" if max(pairs) == 1 else f"{max(pairs)} pairs"
    return f", of {counted}: at least {needed} are needed to be sure"


def _summary(question: Question, answers: Sequence[Answered]) -> str:
    compared = [each for each in answers if each.effect.pairs]
    relative = all(each.effect.relative for each in compared)
    sizes = [(each, each.effect.percent if relative else each.effect.difference) for each in compared]
    sure = [(each, shown) for each, shown in sizes if each.effect.sure]
    sides = [[each for each in sure if each[1].value < 0], [each for each in sure if each[1].value > 0]]
    claims: list[str] = []
    for side in sorted(filter(None, sides), key=len, reverse=True):
        claims.append(_claim(question, side, relative, len(answers), first=not claims))
    if not claims and compared and all(each.effect.equal for each in compared):
        return f"{_unsure(question, len(answers))}: {NO_DIFFERENCE}"
    if not claims:
        return _no_claim(question, [shown.value for _, shown in sizes], relative, len(answers)) + _too_few(answers)
    others = len(answers) - len(sure)
    return "; ".join([*claims, *([f"in {others} no difference is sure"] if others else [])])


def _claim(
    question: Question, side: Sequence[tuple[Answered, Estimate]], relative: bool, settings: int, first: bool
) -> str:
    """In how many settings the difference has one sign, from the least to the most, and where that is."""
    _, least = min(side, key=lambda each: abs(each[1].value))
    answer, most = max(side, key=lambda each: abs(each[1].value))
    word = question.words[most.value < 0]
    lead = question.compared(f"surely {word}") if first else word
    count = ("both" if settings == 2 else f"all {settings}") if len(side) == settings else f"{len(side)} of {settings}"
    size, ends = question.amount(abs(most.value), relative), question.range(most, relative)
    if len(side) > 1:
        size = f"{question.amount(abs(least.value), relative)} to {size}: most"
    return f"{lead} in {count} settings, by {size}{answer.where}{ends}{_because(answer)}"


def _no_claim(question: Question, values: Sequence[float], relative: bool, settings: int) -> str:
    text = _unsure(question, settings)
    if not values:
        return f"{text}: {NO_PAIRS}"
    low, high = (question.signed_amount(end, relative) for end in (min(values), max(values)))
    return f"{text}: {low} to {high}" + " %" * relative


def _unsure(question: Question, settings: int) -> str:
    return question.compared(f"not surely {' or '.join(reversed(question.words))}") + f" in any of {settings} settings"


def _because(answer: Answered) -> str:
    text = because_text(answer.effect, answer.causes)
    return f", because {text}" if text else ""


def because_text(effect: Effect, found: Sequence[PartChange]) -> str:
    """``waiting for work falls by 8.4 % ... while all else rises by 0.4 %``: the printed figures add up."""
    if not found:
        return ""
    rounded = [round(each.percent, 1) for each in found]
    verb = "falls" if effect.percent.value < 0 else "rises"
    verbs = [f" {verb}", *[""] * (len(found) - 1)]
    details = [f" ({each.detail})" if each.detail else "" for each in found]
    named = [
        f"{each.part.label}{does} by {abs(size):.1f} %{detail}"
        for each, does, size, detail in zip(found, verbs, rounded, details, strict=True)
    ]
    rest = round(round(effect.percent.value, 1) - sum(rounded), 1)
    also = f", while all else {'falls' if rest < 0 else 'rises'} by {abs(rest):.1f} %" if rest else ""
    return joined(named) + also


def label_of(column: str) -> str:
    """What a column is called; one that a user added, by its name."""
    return DESCRIBED[column].label if column in DESCRIBED else column


def effect_text(column: str, row: Mapping[Any, Any]) -> str:
    """The effect in a row of a comparison, with its interval, for tables: ``-9.0% (-11.2 -6.7)``."""
    if not row["pairs"]:
        return MISSING
    relative = not pd.isna(row["percent"])
    value, *ends = (row[("percent" if relative else "difference") + end] for end in ("", "_low", "_high"))
    text = signed(column, value, relative) + "%" * relative
    if pd.isna(ends[0]):
        return text
    low, high = (signed(column, end, relative) for end in ends)
    return f"{text} ({low} {high})"


def direction(words: tuple[str, str], value: float) -> str:
    """``, slower`` or ``, faster``, behind a difference with its sign; nothing behind none."""
    return f", {words[value < 0]}" if value and not pd.isna(value) else ""


def signed(column: str, value: float, relative: bool) -> str:
    """A difference with its sign: a percentage without the %, or in the unit of the column."""
    return f"{value:+.1f}" if relative else ("-" if value < 0 else "+") + column_text(column, abs(value))


def short_because(found: Sequence[PartChange]) -> str:
    """The causes for a table: ``waiting for work -8.4, contention -1.0``."""
    return ", ".join(f"{each.part.label} {each.percent:+.1f}" for each in found)


def setting_text(columns: Sequence[str], values: Sequence[Any]) -> str:
    """Where a contrast was made: `` on fib with 64 workers of opteron-8380-4s under randomized, n=10``."""
    given = {name: _shortened(value_text(value)) for name, value in zip(columns, values, strict=True)}
    words = {"workload": " on {}", "workers": " with {} workers", "machine": " of {}", "strategy": " under {}"}
    words["workers"] = " with {} worker" if given.get("workers") == "1" else words["workers"]
    words["machine"] = words["machine"] if "workers" in given else " on {}"
    named = [pattern.format(given[name]) for name, pattern in words.items() if name in given]
    return "".join(named) + "".join(f", {name}={text}" for name, text in given.items() if name not in words)


def _shortened(text: str) -> str:
    """A value in a sentence: a mapping may be as long as a file."""
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def joined(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)
