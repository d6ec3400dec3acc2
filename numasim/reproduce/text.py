"""Texts of numbers, errors, tables and scores, the same on the terminal, in Markdown and in HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from numasim.engine.unit_text import MISSING
from numasim.report.answers.statistics import Estimate, mean_interval
from numasim.reproduce.findings import Findings
from numasim.reproduce.metrics import METRICS
from numasim.reproduce.scores import TableScore
from numasim.reproduce.study import Tried
from numasim.reproduce.table_cells import (
    PRINTED_UNITS,
    TRUTH,
    Ceiling,
    Cell,
    Interval,
    ReadingRole,
    Role,
    Score,
    ScoreBound,
    Table,
)


@dataclass(frozen=True)
class Group:
    """A column of a table, with the cells by row."""

    column: str
    cells: Mapping[str, Cell]

    @property
    def first(self) -> Cell:
        """Return a cell for the attributes that all cells of the column share, such as the unit."""
        return next(iter(self.cells.values()))

    @property
    def roles(self) -> tuple[Role, ...]:
        """Return the roles of the cells, in the order of `Role`."""
        return roles_in(self.cells.values())


def roles_in(cells: Iterable[Cell]) -> tuple[Role, ...]:
    """Return the roles of the cells, in the order of `Role`."""
    present = {cell.role for cell in cells}
    return tuple(role for role in Role if role in present)


def roles_of(tables: Iterable[Table]) -> tuple[Role, ...]:
    """Return the roles that cells of the tables have, in the order of `Role`."""
    return roles_in(cell for table in tables for cell in table.cells)


def row_keys(table: Table) -> tuple[str, ...]:
    """Return the keys of the rows, in the order of the published table."""
    return tuple(dict.fromkeys(cell.row for cell in table.cells))


def column_groups(table: Table) -> tuple[Group, ...]:
    """Return the columns, in the order of the published table."""
    columns = dict.fromkeys(cell.column for cell in table.cells)
    return tuple(Group(name, {cell.row: cell for cell in table.cells if cell.column == name}) for name in columns)


def unsimulated(table: Table) -> tuple[str, ...]:
    """Return each reason why cells were not simulated, with the rows of these cells."""
    reasons: dict[str, dict[str, None]] = {}
    for cell in table.cells:
        if not cell.simulated:
            reasons.setdefault(cell.note or "not simulated", {})[cell.row] = None
    return tuple(f"{', '.join(rows)}: {reason}" for reason, rows in reasons.items())


MARKS = {Role.INPUT: "=", Role.REFERENCE: "1", Role.FITTED: "~", Role.PREDICTED: "→"}
EXPLANATIONS = {
    Role.INPUT: "The value describes the machine or the program, so it was given to the simulation.",
    Role.REFERENCE: "The value is compared with itself, so the simulation cannot miss it.",
    Role.FITTED: "Parameters were fitted to these values, so their small error is no evidence for the model.",
    Role.PREDICTED: "No fit has used this value: its error is the error of a prediction.",
}
UNIT_WORDS = {"1": "", "count": "", TRUTH: ""}
INTERVALS = (
    "± is half the 95 % interval over the seeds. Where this half is larger than the value, the least and the largest"
    " seed stand instead, since so few seeds that differ so much give no interval. Of a statement, the number of seeds"
    " with which it holds is given."
)
SMALL = 1e-3  # a smaller number is written with an exponent
MECHANISMS = 3  # most attempts to improve a score that are listed for a missed score
NEARLY_ALL = 0.995  # a ratio above this and below one is written with more digits


def number_text(value: float | None, unit: str = "") -> str:
    """Return ``value`` with four significant digits, counts without decimals, ratios near one with six decimals."""
    if value is None or math.isnan(value):
        return MISSING
    if unit == "1" and NEARLY_ALL < value < 1:
        return f"{value:.6f}"
    if value and abs(value) < SMALL:
        return f"{value:.2e}"
    if unit == "count" and abs(value) >= 10:
        return f"{value:,.0f}"
    decimals = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{decimals}f}"


def published_text(cell: Cell) -> str:
    """Return the published value or range as printed, up to trailing zeros, or a dash if nobody printed a value.

    A statement is yes or no.
    """
    if cell.within:
        return f"{cell.within.low:.10g} to {cell.within.high:.10g}"
    if math.isnan(cell.published):
        return MISSING
    if cell.unit == TRUTH:
        return yes_no(bool(cell.published))
    whole = cell.published.is_integer() and abs(cell.published) >= 1000
    return f"{cell.published:,.0f}" if whole else f"{cell.published:.10g}"


def simulated_estimate(cell: Cell) -> Estimate:
    """Return the mean and the 95 % interval over the seeds; a statement has no interval."""
    import numpy as np

    if cell.unit == TRUTH:
        return Estimate(cell.mean, math.nan, math.nan, len(cell.simulated))
    return mean_interval(np.array(cell.simulated, np.float64))


def simulated_text(cell: Cell) -> str:
    """Return the mean over the seeds with its interval (`INTERVALS`), or the number of seeds for a statement."""
    if cell.unit == TRUTH and cell.simulated:
        return f"{sum(cell.simulated):.0f} of {counted(len(cell.simulated), 'seed', 'seeds')}"
    found = simulated_estimate(cell)
    text = number_text(found.value, cell.unit)
    half = found.high - found.value
    if math.isnan(half) or half == 0:
        return text
    if half > abs(found.value):
        return (
            f"{text} ({number_text(min(cell.simulated), cell.unit)} to {number_text(max(cell.simulated), cell.unit)})"
        )
    return f"{text} ± {_plain(half)}"


def _plain(half: float) -> str:
    """Return a positive number with two significant digits and without an exponent."""
    return f"{half:,.{max(0, 1 - math.floor(math.log10(half)))}f}"


def error_text(cell: Cell) -> str:
    """Return the error: a factor for counts, a difference for ratios and percentages, otherwise percent.

    For a statement, return the number of seeds that contradict the paper.
    """
    if math.isnan(cell.mean + cell.published):
        return MISSING
    if cell.unit == TRUTH:
        wrong = sum(each != cell.published for each in cell.simulated)
        return f"{wrong} of {len(cell.simulated)} not" if wrong else MISSING
    if cell.unit == "count":
        return f"x{(cell.mean + 1) / (cell.published + 1):.2f}"
    if cell.unit == "1":
        return f"{cell.difference:+.3f}"
    if cell.unit == "%":
        return f"{cell.difference:+.1f} points"
    return MISSING if math.isnan(cell.relative_error) else f"{cell.relative_error:+.1%}"


def column_label(cell: Cell) -> str:
    """Return the name of a column as text: ``randomized execution time (s)``."""
    unit = UNIT_WORDS.get(cell.unit, cell.unit)
    printed = next((known for known in PRINTED_UNITS if cell.column.endswith(f"_{known.lower()}")), "")
    words = cell.column.removesuffix(f"_{printed.lower()}").replace("_", " ")
    if printed and printed != unit:
        return f"{words} ({printed}, taken as {unit})"
    return f"{words} ({unit})" if unit else words


def score_number(score: Score, value: float | None, cells: int = 0) -> str:
    """Return a value on the scale of the score's metric; a share of claims as a number of claims, such as 9 of 10.

    ``cells`` is the number of claims, by default the score's.
    """
    if value is None or math.isnan(value):
        return MISSING
    if METRICS[score.metric].counted:
        cells = cells or score.cells
        return f"{value * cells:.1f}".removesuffix(".0") + f" of {cells}"
    return f"{value:.1%}" if METRICS[score.metric].percent else f"{value:.3f}"


def interval_text(score: Score, interval: Interval | None) -> str:
    """Return an interval of a score, or a dash for None and for claims, whose score is a number of claims."""
    if interval is None or METRICS[score.metric].counted:
        return MISSING
    return f"{score_number(score, interval.low)} to {score_number(score, interval.high)}"


def bound_text(score: Score) -> str:
    """Return the bound that the study sets, or a dash."""
    sign = "≥" if METRICS[score.metric].rising else "≤"
    return MISSING if score.bound is None else f"{sign} {score_number(score, score.bound)}"


def met(score: Score) -> bool | None:
    """Return whether the bound is met; None without a bound."""
    return None if score.bound is None else METRICS[score.metric].meets(score.value, score.bound)


def rule_text(score: Score) -> str:
    """Return the score of the best simple rule and the name of the rule, or a dash without a rule."""
    best = next((each for each in score.simple if each.rule == score.rule), None)
    return f"{score_number(score, best.value, best.cells)} ({best.rule})" if best else MISSING


def rules_text(score: Score) -> str:
    """Return all simple rules of a score, the best first, such as ``no effect: 12.0%; a guess: 50.0%``."""
    rising = METRICS[score.metric].rising
    ordered = sorted(score.simple, key=lambda each: -each.value if rising else each.value)
    return "; ".join(f"{each.rule}: {score_number(score, each.value, each.cells)}" for each in ordered)


def worst_ablation(score: Score, found: Findings) -> tuple[str, float, float] | None:
    """Return the mechanism without which the score is worst, the score with and the score without the mechanism.

    Both scores are of the quick form. Return None without ablations of the score.
    """
    known = [(each.mechanism, named(score.name, each.scores)) for each in found.ablations]
    values = [(name, other.value) for name, other in known if other is not None and not math.isnan(other.value)]
    if len(values) < 2:
        return None
    worst = (min if METRICS[score.metric].rising else max)(values[1:], key=lambda each: each[1])
    return worst[0], values[0][1], worst[1]


def ablation_text(score: Score, found: Findings) -> str:
    """Return the score in the quick form with and without its worst ablation, or a dash without ablations."""
    worst = worst_ablation(score, found)
    if worst is None:
        return MISSING
    mechanism, whole, without = worst
    return f"{score_number(score, whole)}, without {mechanism} {score_number(score, without)}"


def beats_null(score: Score) -> bool | None:
    """Return whether a score is skill: better than the best simple rule on the same cells; None without a rule."""
    if score.null is None or score.against_null is None:
        return None
    return METRICS[score.metric].beats(score.against_null, score.null)


def yes_no(answer: bool | None) -> str:
    """Return yes or no, or a dash for None."""
    return MISSING if answer is None else "yes" if answer else "no"


def bounds_met(scores: Iterable[Score]) -> str:
    """Return how many of the bounds are met, such as ``3 of 5``."""
    return _fraction(map(met, scores))


def nulls_beaten(scores: Iterable[Score]) -> str:
    """Return how many of the scores are skill, such as ``3 of 5``."""
    return _fraction(map(beats_null, scores))


def _fraction(answers: Iterable[bool | None]) -> str:
    known = [answer for answer in answers if answer is not None]
    return f"{sum(known)} of {len(known)}"


def verdict(scores: Sequence[Score]) -> str:
    """Return a sentence on how many bounds are met and how many scores are better than the best simple rule."""
    return f"{bounds_met(scores)} bounds are met; {nulls_beaten(scores)} scores are better than the best simple rule."


def remarks(scores: Sequence[Score]) -> tuple[str, ...]:
    """Return the score on the cells of the best simple rule, for each rule that does not predict all cells."""
    return tuple(
        f"{score.name}: the best simple rule predicts some cells only, where we score"
        f" {score_number(score, score.against_null)}"
        for score in scores
        if score.against_null is not None and score.against_null != score.value
    )


def missed(scores: Sequence[Score]) -> tuple[Score, ...]:
    """Return the scores that miss their bound or are no better than the best simple rule."""
    return tuple(score for score in scores if False in (met(score), beats_null(score)))


def nearest_tried(score: Score, found: Findings) -> tuple[Tried, ...]:
    """Return at most three attempts that were not kept: the nearest for a score, or else for the class of the score."""
    classes = {rule.name: rule.of for rule in found.rules}
    names = [name for name in (score.name, classes.get(score.name)) if name]
    of_name = ([each for each in found.paper.tried if each.score == name and not each.kept] for name in names)
    among = next((tried for tried in of_name if tried), [])
    rising = METRICS[score.metric].rising
    return tuple(sorted(among, key=lambda each: -each.after if rising else each.after / each.before)[:MECHANISMS])


def ceiling_text(score: Score) -> str:
    """Return a sentence with the ceiling of a score, or that the score has none."""
    if score.ceiling is None:
        return "Ceiling: none, as no published spread or second print bounds it."
    return f"Ceiling: {score_number(score, score.ceiling)}."


def tried_number(found: Findings, tried: Tried, value: float) -> str:
    """Return a value of an attempt on the scale of the attempt's score."""
    return f"{value:.1%}" if METRICS[found.metrics[tried.score]].percent else f"{value:.3g}"


def named(name: str, scores: Sequence[Score]) -> Score | None:
    """Return the score of that name, or None."""
    return next((score for score in scores if score.name == name), None)


def degenerate(columns: Sequence[TableScore]) -> tuple[TableScore, ...]:
    """Return the predicted columns in which all predictions are alike."""
    return tuple(each for each in columns if each.degenerate and each.role is Role.PREDICTED)


def table_name(table: Table) -> str:
    """Return the title of a table: ``Table 3.4`` for 3.4, ``T-test 3.6.1`` for t-test-3-6-1."""
    kind = table.id.rstrip("0123456789.-")
    number = table.id.removeprefix(kind).strip("-").replace("-", ".")
    return f"{kind or 'table'} {number}".strip().capitalize()


def size_text(table: Table) -> str:
    """Return the number of rows and simulated columns of a table."""
    columns = counted(len(column_groups(table)), "column", "columns")
    return f"The table: {counted(len(row_keys(table)), 'row', 'rows')}, {columns}"


def left_out_of_figure(groups: Sequence[Group], shown: Sequence[Group]) -> tuple[str, ...]:
    """Return the names of the columns that the figure of a table does not show."""
    drawn = {group.column for group in shown}
    return tuple(column_label(group.first) for group in groups if group.column not in drawn)


def bound_sentence(ceiling: Ceiling) -> str:
    """Return a sentence with the scores that a ceiling bounds, or the reason why the ceiling bounds no score."""
    if not ceiling.bounds:
        return f"It bounds no score: {ceiling.no_bound}"
    return f"It bounds {'; '.join(map(_bound_text, ceiling.bounds))}."


def _bound_text(bound: ScoreBound) -> str:
    metric = METRICS[bound.metric]
    side = "at most" if metric.rising else "at least"
    value = f"{100 * bound.value:.2g}%" if metric.percent else f"{bound.value:.2g}"
    rest = "" if bound.covered == bound.cells else f"; {bound.covered} of {bound.cells} cells, the others taken as met"
    return f"{bound.score} ({metric.label} {side} {value}{rest})"


PLACE = re.compile(r"\{([^{}/]+)(?:/([^{}]*))?\}")  # the name of a score, and the part of the score, such as null


def filled(sentences: Iterable[str], scores: Sequence[Score]) -> tuple[str, ...]:
    """Return the sentences with numbers in their placeholders; a sentence with an unknown score is left out."""
    by_name = {score.name: score for score in scores}
    known = [each for each in sentences if all(name in by_name for name, _ in PLACE.findall(each))]

    def number(place: re.Match[str]) -> str:
        score = by_name[place[1]]
        words = {"rule": score.rule, "skill": "skill" if beats_null(score) else "no skill"}
        return words.get(place[2]) or score_number(score, getattr(score, place[2] or "value"))

    return tuple(PLACE.sub(number, each) for each in known)


def counted(number: int, one: str, many: str) -> str:
    """Return a number of things, such as ``2 readings``."""
    return f"{number:,} {one if number == 1 else many}"


def role_counts(
    tables: Sequence[Table], readings: Collection[ReadingRole], fitted: int, refused: int
) -> tuple[str, ...]:
    """Return how many published values, readings and parameters have each role; ``readings`` has roles of readings.

    `Cell.counted` defines which published values count.
    """
    cells = {role: sum(cell.counted and cell.role is role for table in tables for cell in table.cells) for role in Role}
    read = {role: counted(sum(each is role for each in readings), "reading", "readings") for role in ReadingRole}
    within = sum(bool(cell.within and cell.simulated) for table in tables for cell in table.cells)
    ranges = f"; of {within:,} more a range is printed" if within else ""
    return (
        f"input: {counted(cells[Role.INPUT], 'published value', 'published values')}, and "
        f"{read[ReadingRole.INPUT]} that the text decides",
        f"assumed where the text does not say: {read[ReadingRole.ASSUMED]}",
        f"fitted: {counted(fitted, 'parameter', 'parameters')}, to "
        f"{counted(cells[Role.FITTED], 'published value', 'published values')}; "
        f"{counted(refused, 'more was', 'more were')} refused",
        f"chosen with scored figures in view: {read[ReadingRole.CHOSEN]}",
        f"predicted: {counted(cells[Role.PREDICTED], 'published value', 'published values')}{ranges}",
    )


def counts_of(found: Findings) -> tuple[str, ...]:
    """Return the lines of `role_counts` of a study."""
    readings, fits = [each.role for each in found.paper.readings.values()], found.calibration
    return role_counts(found.tables, readings, len(fits.parameters), len(fits.refused))


_MARKUP = re.compile(r"([\\`*_\[\]|~#])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown_text(text: str) -> str:
    """Return ``text`` on one line, with markup escaped for Markdown."""
    plain = " ".join(_MARKUP.sub(r"\\\1", text).split())
    return "".join(_HTML.get(letter, letter) for letter in plain)


def summary_text(text: str) -> str:
    """Return ``text`` for an HTML element in Markdown, with HTML and markup escaped as HTML."""
    plain = "".join(_HTML.get(letter, letter) for letter in " ".join(text.split()))
    return _MARKUP.sub(lambda found: found[0] if found[0] == "#" else f"&#{ord(found[0])};", plain)
