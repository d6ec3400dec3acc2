"""The result of a sensitivity study as a table: the range of each conclusion, and under how many changes it holds."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table

from numasim.engine.unit_text import MISSING
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.score.sensitivity import EFFECT, Conclusion, Sensitivity

HEADINGS = ("conclusion", "as modelled", "other seeds", "least", "most", "holds in")

End = tuple[str, str, float]  # name of the influence, label of the side, value


def print_robustness(found: Sensitivity, console: Console) -> None:
    """Print a row for each conclusion."""
    table = Table(*HEADINGS, box=box.SIMPLE_HEAD)
    for row in robustness(found):
        table.add_row(*row)
    console.print(table)


def robustness(found: Sensitivity) -> list[tuple[str, ...]]:
    """Return the rows of the table: one for each conclusion, columns as in `HEADINGS`."""
    return [_row(conclusion, list(_ends(found, conclusion))) for conclusion in found.conclusions]


def _row(conclusion: Conclusion, ends: list[End]) -> tuple[str, ...]:
    seeds = f"{_text(conclusion, min(conclusion.seeds))} to {_text(conclusion, max(conclusion.seeds))}"
    row = (conclusion.name, _text(conclusion, conclusion.value), seeds)
    if not ends:
        return (*row, MISSING, MISSING, MISSING)
    least, most = (choose(ends, key=lambda end: end[2]) for choose in (min, max))
    kept = sum(conclusion.holds(value) for _, _, value in ends)
    return (*row, _end(conclusion, least), _end(conclusion, most), f"{kept} of {len(ends)}")


def _ends(found: Sensitivity, conclusion: Conclusion) -> Iterable[End]:
    for influence in found.influences:
        for side in influence.sides.values():
            value = side.values.get(conclusion.name, math.nan)
            if not math.isnan(value):
                yield influence.name, side.label, value


def _end(conclusion: Conclusion, end: End) -> str:
    name, label, value = end
    return f"{_text(conclusion, value)} ({name}: {label})"


def _text(conclusion: Conclusion, value: float) -> str:
    if math.isnan(value):
        return MISSING
    percent = conclusion.metric == EFFECT or METRICS[conclusion.metric].percent
    return f"{value:.1%}" if percent else f"{value:.3f}"
