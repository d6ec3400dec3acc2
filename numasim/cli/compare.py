"""`numasim compare`: any question to the results of a sweep."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from numasim.cli.completion import files
from numasim.cli.examples import examples
from numasim.cli.shared import Json, say

if TYPE_CHECKING:
    from numasim.report.answers.question import Comparison


@examples(
    "numasim compare results/small --axis workers --baseline 8",
    "numasim compare results/small --axis strategy --column steal_remote_ratio --json",
)
def compare(
    results: Annotated[Path, typer.Argument(help="a results directory", autocompletion=files())],
    axis: Annotated[
        str | None, typer.Option(help="what to compare: an axis of the sweep, machine, workload, strategy or workers")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="the value to compare with; default the first")] = None,
    column: Annotated[str, typer.Option(help="a numeric column of results")] = "makespan_ps",
    as_json: Json = False,
) -> None:
    """Compare the runs of a sweep along any axis, in any column."""
    from numasim.report.sweep_result import SweepResult

    found = SweepResult(results).compare(axis, baseline, column)
    if as_json:
        import json

        say(json.dumps(_plain(found), indent=1))
        return
    from rich.console import Console

    from numasim.report.answers.answer_table import render_comparison

    render_comparison(found, Console())


def _plain(found: "Comparison") -> dict[str, Any]:
    """A comparison as an object of JSON: what is missing is null."""
    rows = found.table.astype(object).to_dict("records")
    return {
        "axis": found.axis,
        "baseline": found.baseline,
        "column": found.column,
        "sentences": found.sentences,
        "rows": [{str(name): _value(value) for name, value in row.items()} for row in rows],
        "notes": found.notes,
    }


def _value(value: Any) -> Any:
    import numpy as np
    import pandas as pd

    if isinstance(value, np.generic):
        value = value.item()
    return None if value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value
