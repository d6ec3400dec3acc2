"""`numasim plot`: draw what came of a sweep."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.completion import files
from numasim.cli.examples import examples
from numasim.cli.shared import say


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


# ---- `numasim view`: read the page of a sweep ------------------------------------------------------------------------


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
