"""`numasim workload`: list, show, import and export workloads."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from numasim.cli.listing import add_list
from numasim.cli.shared import YAML, Commands, examples, files, say, shipped, workloads
from numasim.errors import InputError

if TYPE_CHECKING:
    from numasim.workload.graph import Workload

app = Commands("Workloads: list, show, import, export.", ["numasim workload list", "numasim workload show fib n=10"])
add_list(app, "workload", "Print the workloads, a line each. `numasim show NAME` has their parameters.")
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

# ---- Options that give the meaning of an imported graph ----

GRAPHS = (".json", ".npz", ".xml", ".dax", ".dot", ".gv", ".graphml", ".stg", ".rec", ".csv", ".merged", ".gz")
GraphToImport = Annotated[
    Path,
    typer.Argument(
        help="a task graph: JSON, npz, WfFormat, Pegasus DAX, GraphML, DOT, STG, StarPU's tasks.rec, or a table of "
        "grain graphs; packed, where its name ends in .gz",
        autocompletion=files(*GRAPHS),
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="write the graph: npz by that ending, else JSON", autocompletion=files(".json", ".npz")
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--unit", help="what the file's unit of time is, such as 1us, or 0.5ns for cycles of 2 GHz", metavar="TIME"
    ),
]
Usual = Annotated[
    str | None, typer.Option("--usual", help="the time of tasks for which the file has none", metavar="TIME")
]
Times = Annotated[
    list[str] | None,
    typer.Option(
        "--time",
        help="the time of the tasks of a name, label or kernel, such as potrf=1us; again for another",
        metavar="NAME=TIME",
    ),
]
Cost = Annotated[
    str | None,
    typer.Option("--cost", help="DOT, GraphML: the attribute of nodes that is the time of a task", metavar="NAME"),
]
Bytes = Annotated[
    str | None,
    typer.Option("--bytes", help="DOT, GraphML: the attribute of edges that is a number of bytes", metavar="NAME"),
]
Memory = Annotated[
    bool, typer.Option("--memory/--no-memory", help="whether files that tasks share are memory that they access")
]
Names = Annotated[
    Path | None, typer.Option("--names", help="write the names of the tasks, a line each", autocompletion=files())
]

RecordedOn = Annotated[
    str | None,
    typer.Option(
        "--recorded-on",
        help="the machine whose cores took these times: a file with core_steps_per_s, as numasim calibrate writes it",
        metavar="MACHINE",
        autocompletion=shipped("machines", *YAML),
    ),
]


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


def _workload(words: list[str]) -> "Workload":
    from numasim.spec.single_part import read_workload
    from numasim.workload.registry import generate

    named = "=" not in words[0] or words[0].lstrip().startswith("{")
    return generate(read_workload(*((words[0], words[1:]) if named else ("", words))))


@app.command("import")
@examples(
    "numasim workload import fib.json",
    "numasim workload import fib.json -o fib.npz",
    "numasim workload import cholesky.graphml --names tasks.csv",
)
def workload_import(
    file: GraphToImport,
    output: Output = None,
    unit: Unit = None,
    usual: Usual = None,
    times: Times = None,
    cost: Cost = None,
    bytes_name: Bytes = None,
    memory: Memory = True,
    names: Names = None,
    recorded_on: RecordedOn = None,
) -> None:
    """Read, check and describe a task graph.

    The format is told by the content. Files that one task writes and another reads are dependences, and memory. A unit
    that the file lacks is asked for: --unit 1us.
    """
    from numasim.workload.describe import describe
    from numasim.workload.imports.import_graph import imported
    from numasim.workload.imports.read_graph import Choices

    found = imported(file, Choices.of(unit, usual, cost, bytes_name, memory, times or ()))
    workload = found.workload
    if recorded_on is not None:
        from numasim.spec.single_part import read_machine
        from numasim.workload.recording.core_rates import recorded_on as on_machine

        workload = on_machine(workload, read_machine(recorded_on))
    if output is not None:
        from numasim.workload.graph_forms import write_graph

        write_graph(workload, output)
    if names is not None:
        from numasim.files.writer import write_text

        write_text(names, found.names_as_csv())
    if found.foreign:
        say(f"{found.format}, {workload.tasks:,} tasks, {found.dependences:,} dependences")
    for remark in found.remarks:
        say(f"numasim: {remark}", err=True)
    say(describe(workload))


EXPECTED = "a file: numasim workload export fib n=8 -o fib.json"


def words_and_file(words: list[str], output: Path | None) -> tuple[list[str], Path]:
    """Return (the words that describe a workload, the output file); without ``output`` the last word is the file."""
    if output is not None:
        return words, output
    file = Path(words[-1])
    if "=" in file.name and not file.exists():
        raise InputError("the file is missing", expected=f"it behind the parameters: {' '.join(words)} graph.json")
    if len(words) == 1:
        raise InputError("the file is missing", expected=EXPECTED)
    return words[:-1], file


def export_to(workload: "Workload", file: Path) -> None:
    """Write the graph, and print the path of the file and the data that the format leaves out."""
    from numasim.workload.graph_forms import export

    for sentence in export(workload, file):
        say(f"numasim: {sentence}", err=True)
    say(file)
