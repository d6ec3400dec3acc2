"""`numasim compare`, `plot` and `view`: the results of a sweep as answers, figures and a page."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from numasim.cli.examples import examples
from numasim.cli.shared import Json, files, say

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
    """Return a comparison as an object of JSON, with null for missing values."""
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


@examples(
    "numasim plot results/small -o figures-of-small",
    "numasim plot results/small --column steal_miss_ratio --x workers -o miss-ratio.pdf",
)
def plot(
    results: Annotated[Path, typer.Argument(help="a results directory", autocompletion=files())],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="default: RESULTS/figures; of one column a file, default: COLUMN.png"),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="draw this column of the results table instead")
    ] = None,
    x: Annotated[
        str | None, typer.Option("--x", metavar="AXIS", help="the axis along x; default: the one that varies")
    ] = None,
    colour: Annotated[
        str | None, typer.Option("--colour", metavar="AXIS", help="the axis of the colours; default: the strategies")
    ] = None,
    facet: Annotated[
        str | None, typer.Option("--facet", metavar="AXIS", help="the axis of the panels; default: what else varies")
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="write the standard figures as PDF, too")] = False,
) -> None:
    """Draw the results of a sweep. These are the standard figures, or any column over any axis: PNG, SVG or PDF."""
    from numasim.report.command_output import save_column_figure, save_sweep_plots

    if column is None and not any((x, colour, facet)):
        for path in save_sweep_plots(results, output or results / "figures", pdf):
            say(path)
        return
    name = column or "makespan_ps"
    say(save_column_figure(results, output or Path(f"{name}.png"), name, x=x, colour=colour, facet=facet))


@examples("numasim view results/small", "numasim view results/small --no-browser")
def view(
    results: Annotated[Path, typer.Argument(help="a results directory", autocompletion=files())],
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="open the page, or only write it where it is not current")
    ] = True,
) -> None:
    """Open the page of a sweep in the browser.

    A page that is missing, or older than the results, is written anew.
    """
    from numasim.report.sweep_result import current_page

    page = current_page(results)
    say(page)
    if browser:
        import webbrowser

        if not webbrowser.open(page.resolve().as_uri()):
            say("numasim: no browser could be started; the page is one file that any browser opens", err=True)
