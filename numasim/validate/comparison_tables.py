"""The comparisons of a validation in machine-readable form: rows for CSV, one object for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numasim.files.owned_folder import owned_folder
from numasim.html import embedded, page_environment
from numasim.report.figures.plots import svg_text
from numasim.reproduce.csv_files import plain_csv
from numasim.validate import verdict_text
from numasim.validate.comparison import Equality, Verdict
from numasim.validate.figure import comparison_figure
from numasim.validate.part_files import Cell
from numasim.validate.run_store import PAGE, TABLE, VALIDATION, measurement_origin
from numasim.validate.run_validation import PartFindings
from numasim.validate.validated_quantities import QUANTITIES

COLUMNS = (
    *("part", "kernel", "parameters", "strategy", "workers", "quantity", "unit"),
    *("predicted", "predicted_low", "predicted_high", "measured", "measured_low", "measured_high"),
    *("repeats", "distance", "within"),
)


def validation_csv(every: Sequence[PartFindings]) -> str:
    """Return a row for each quantity of each cell. For a part whose counters must be equal, return a row for each cell,
    with the number of compared values and the number of equal values.
    """
    rows = [row for found in every for row in (*_compared(found), *_equal(found))]
    return plain_csv(COLUMNS, [[row.get(name, math.nan) for name in COLUMNS] for row in rows])


def validation_json(every: Sequence[PartFindings]) -> dict[str, Any]:
    """Return all findings as one object. Unknown values are null."""
    return {
        "met": all(found.met for found in every),
        "where": measurement_origin(),
        "parts": [
            {
                "part": found.part.name,
                "title": found.part.file.title,
                "mode": found.part.file.mode,
                "costs": found.part.file.costs,
                "machine": found.part.machine,
                "runtime": found.part.runtime,
                "cells": len(found.part.cells),
                "workers_left_out": list(found.part.left_out),
                "repeats": found.part.repeats,
                "moved": found.rejected_runs,
                "met": found.met,
                "bounds": [_verdict(each) for each in found.verdicts],
                "comparisons": [{key: _known(value) for key, value in row.items()} for row in _compared(found)],
                "equalities": [_equality(found, each) for each in found.equalities],
            }
            for found in every
        ],
    }


def _compared(found: PartFindings) -> Iterator[dict[str, Any]]:
    for each in found.comparisons:
        row = {**_cell(found, each.cell), "quantity": each.quantity, "unit": QUANTITIES[each.quantity].unit}
        for side, estimate in (("predicted", each.predicted), ("measured", each.measured)):
            row |= {side: estimate.value, f"{side}_low": estimate.low, f"{side}_high": estimate.high}
        yield {**row, "repeats": each.measured.count, "distance": each.distance, "within": each.within}


def _equal(found: PartFindings) -> Iterator[dict[str, Any]]:
    for each in found.equalities:
        values, differing = each.values, len(each.differing)
        yield {
            **_cell(found, each.cell),
            **{"quantity": "equal_counters", "unit": "count", "predicted": values, "measured": values - differing},
            **{"repeats": found.part.repeats, "distance": differing, "within": not differing},
        }


def _cell(found: PartFindings, cell: Cell) -> dict[str, Any]:
    parameters = " ".join(f"{name}={value}" for name, value in cell.program.parameters.items())
    identity = {"part": found.part.name, "kernel": cell.program.kernel, "parameters": parameters}
    return {**identity, "strategy": cell.strategy, "workers": cell.workers}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "quantity": verdict.quantity,
        "within": float(verdict.bound.within),
        "asked_share": float(verdict.bound.share),
        "cells": verdict.cells,
        "cells_within": verdict.within,
        "met": verdict.met,
        "outside": [each.cell.label for each in verdict.outside],
    }


def _equality(found: PartFindings, each: Equality) -> dict[str, Any]:
    differing = [
        {"seed": seed, "value": name, "predicted": predicted, "found": seen}
        for seed, (name, predicted, seen) in each.differing
    ]
    return {**_cell(found, each.cell), "values": each.values, "differing": differing}


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


# ---- the report: validation.csv, and index.html, which is self-contained. The page is written last -------------------

TEMPLATES = Path(__file__).with_name("templates")


def write_pages(every: Sequence[PartFindings], directory: Path) -> Path:
    """Write table and page to ``directory``, and return the page's path. Raise InputError for a failed write."""
    with owned_folder(directory, VALIDATION) as folder:
        folder.write({TABLE: validation_csv(every).encode(), PAGE: page(every).encode()})
    return directory / PAGE


def page(every: Sequence[PartFindings]) -> str:
    """Return the whole page."""
    pictures = {found.part.name: embedded(svg_text(comparison_figure(found))) for found in every if found.comparisons}
    environment = page_environment(TEMPLATES)
    environment.globals |= {"texts": verdict_text, "QUANTITIES": QUANTITIES}
    return environment.get_template("validation.html.jinja").render(
        every=every, pictures=pictures, where=measurement_origin(), met=all(found.met for found in every)
    )
