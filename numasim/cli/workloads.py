"""`numasim workload`: list, show, import and export workloads."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from numasim.cli.completion import workloads
from numasim.cli.examples import Commands, examples
from numasim.cli.graphs.import_command import export_to, words_and_file, workload_import
from numasim.cli.listing import print_shipped
from numasim.cli.shared import Json, say

if TYPE_CHECKING:
    from numasim.workload.graph import Workload

app = Commands("Workloads: list, show, import, export.", ["numasim workload list", "numasim workload show fib n=10"])
Words = Annotated[
    list[str],
    typer.Argument(
        help="a name and parameters: strassen n=1024; or a mapping: '{name: strassen, n: 1024}'",
        metavar="NAME [PARAMETER=VALUE]...",
        autocompletion=workloads,
    ),
]
Exported = Annotated[
    list[str],
    typer.Argument(
        help="a name and parameters, or a graph such as ./graph.json; and the file, without -o",
        metavar="NAME [PARAMETER=VALUE]... [FILE]",
        autocompletion=workloads,
    ),
]


@app.command("list")
@examples("numasim workload list", "numasim workload list --json")
def workload_list(as_json: Json = False) -> None:
    """Print the workloads, a line each. `numasim show NAME` has their parameters."""
    print_shipped(["workloads"], as_json)


@app.command("show")
@examples(
    "numasim workload show fib n=10",
    "numasim workload show strassen n=1024 cutoff=64",
    "numasim workload show '{name: strassen, n: 1024, cutoff: 64}'",
)
def workload_show(words: Words) -> None:
    """Describe a workload: its tasks, depth, work, bytes and facts."""
    from numasim.workload.describe import describe

    say(describe(_workload(words)))


@app.command("export")
@examples(
    "numasim workload export fib n=8 -o fib.json",
    "numasim workload export ./fib.json -o fib.npz",
    "numasim workload export cholesky tiles=8 -o cholesky.graphml",
)
def workload_export(
    words: Exported,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="the file, if it is not the last word: .json, .npz, .wf.json (WfFormat), .dot, .gv or .graphml",
        ),
    ] = None,
) -> None:
    """Write a task graph, in the form that its file name says."""
    workload_words, file = words_and_file(words, output)
    export_to(_workload(workload_words), file)


app.command("import")(workload_import)


def _workload(words: list[str]) -> "Workload":
    from numasim.spec.single_part import read_workload
    from numasim.workload.generate import generate

    named = "=" not in words[0] or words[0].lstrip().startswith("{")
    return generate(read_workload(*((words[0], words[1:]) if named else ("", words))))
