"""The cells that a score is computed over: those of a class, those with a baseline, or a row's variants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from numasim.reproduce.table_cells import Cell, Role, Table

RANKED = ("rank-correlation", "least-rank-correlation")  # metrics of the order of a row's variants


@dataclass(frozen=True)
class ScoreRule:
    """A class of quantities and how it is scored."""

    name: str
    metric: str  # one of `METRICS`
    bound: float | None = None
    of: str = ""  # the class whose cells count, where it is not its own
    tables: tuple[str, ...] = ()  # only these; none given: all
    part: str = ""  # the quantity whose share is pooled
    question: str = "absolute"  # one of `QUESTIONS`
    null: Mapping[str, float] = field(default_factory=dict)  # by row, in place of the cells' own
    best_constant: bool = False  # the null model is the one number for all cells that scores best
    unknown: str = ""  # what cannot be known from the source


@dataclass(frozen=True)
class Pair:
    """A cell, and the cell of the same row that it is compared with."""

    cell: Cell
    baseline: Cell | None


def pairs_of(tables: Sequence[Table]) -> list[Pair]:
    """Return every cell that is not an input and has a published and a simulated number, which a ratio 0 / 0 is not."""
    found = []
    for table in tables:
        at = {(cell.row, cell.column): cell for cell in table.cells}
        cells = (
            cell for cell in table.cells if cell.role is not Role.INPUT and not math.isnan(cell.mean + cell.published)
        )
        found += [Pair(cell, at.get((cell.row, cell.baseline))) for cell in cells]
    return found


def by_column(pairs: Iterable[Pair]) -> Iterable[list[Pair]]:
    """Group the cells of a table that are scored together: those of a column that have one role and one class."""
    groups: dict[tuple[str, Role, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.cell.column, pair.cell.role, pair.cell.score), []).append(pair)
    return groups.values()


def select(pairs: Sequence[Pair], rule: ScoreRule, *, needs_baseline: bool = False) -> list[Pair]:
    """Return the cells that ``rule`` scores, those without a simulated baseline left out where they need one."""
    among = [pair for pair in pairs if not rule.tables or pair.cell.table in rule.tables]
    if rule.metric in RANKED:
        return _of_variants(among, rule)
    scored = _of_class(among, rule)
    return [pair for pair in scored if _has_baseline(pair)] if needs_baseline else scored


def _of_class(pairs: Sequence[Pair], rule: ScoreRule) -> list[Pair]:
    name = rule.of or rule.name
    return [pair for pair in pairs if pair.cell.score == name and pair.cell.role is Role.PREDICTED]


def _has_baseline(pair: Pair) -> bool:
    return pair.baseline is not None and not math.isnan(pair.baseline.mean)


def _of_variants(pairs: Sequence[Pair], rule: ScoreRule) -> list[Pair]:
    """Every variant once per row, also fitted ones, of the quantities of a class.

    A variant with the published value of an earlier one of its row is left out: published values do not order them.
    """
    quantities = {pair.cell.quantity for pair in _of_class(pairs, rule)}
    found: dict[tuple[str, str], Pair] = {}
    values: set[tuple[str, float]] = set()
    for pair in pairs:
        cell = pair.cell
        key, value = (cell.row, cell.variant), (cell.row, cell.published)
        if cell.quantity in quantities and cell.variant and key not in found and value not in values:
            found[key] = pair
            values.add(value)
    return list(found.values())
