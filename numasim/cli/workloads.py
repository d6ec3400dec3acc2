"""`numasim workload`: list, show, import and export workloads."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from numasim.cli.shared import print_columns, say

if TYPE_CHECKING:
    from numasim.workload.graph import Workload

app = typer.Typer(help="Workloads: list, show, import, export.", no_args_is_help=True)


@app.command("list")
def workload_list() -> None:
    """Print the workloads and their parameters."""
    from numasim.workload.registry import PARAMETERS

    print_columns(
        (name, ", ".join(key for key in model.model_fields if key != "name")) for name, model in PARAMETERS.items()
    )


@app.command("show")
def workload_show(
    text: Annotated[str, typer.Argument(help="a name or a mapping: '{name: strassen, n: 1024}'")],
) -> None:
    """Describe a workload: tasks, depth, work, bytes, closed-form facts."""
    from numasim.workload.describe import describe

    say(describe(_workload(text)))


@app.command("import")
def workload_import(file: Path) -> None:
    """Validate a task graph in JSON and describe it."""
    from numasim.workload.describe import describe
    from numasim.workload.json_io import read

    say(describe(read(file)))


@app.command("export")
def workload_export(text: str, file: Path) -> None:
    """Write the task graph of a workload as JSON."""
    from numasim.workload.json_io import write

    write(_workload(text), file)
    say(file)


def _workload(text: str) -> "Workload":
    from numasim.spec.single_part import read_workload
    from numasim.workload.generate import generate

    return generate(read_workload(text))
