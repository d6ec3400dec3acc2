"""`numasim view`: read the page of a sweep."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.completion import files
from numasim.cli.examples import examples
from numasim.cli.shared import say


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
    from numasim.sweep_report.reported_sweep import current_page

    page = current_page(results)
    say(page)
    if browser:
        import webbrowser

        if not webbrowser.open(page.resolve().as_uri()):
            say("numasim: no browser could be started; the page is one file that any browser opens", err=True)
