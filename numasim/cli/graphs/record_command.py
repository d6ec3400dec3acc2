"""`numasim record`: an OpenMP program as a task graph."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from numasim.cli.completion import files
from numasim.cli.examples import examples
from numasim.cli.graphs.import_command import RecordedOn
from numasim.cli.shared import say

if TYPE_CHECKING:
    from numasim.runtime.record.recording import Order


@examples("numasim record -o fib.json -- ./fib 20")
def record(
    command: Annotated[
        list[str],
        typer.Argument(help="the program and its arguments, behind --", metavar="-- PROGRAM [ARGUMENT]..."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="the task graph: JSON, or NAME.npz; default PROGRAM.json",
            autocompletion=files(".json", ".npz"),
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats", min=1, max=1000, help="runs; default 3 to 30 (short programs: from 15), until they settle"
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            min=1,
            max=1024,
            help="threads of the program, which have turns; default 1, unless it divides work by their number",
        ),
    ] = None,
    openmp: Annotated[
        Path | None, typer.Option("--openmp", help="LLVM's OpenMP runtime, libomp.so", autocompletion=files(".so"))
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="the name of the graph; default that of the program")
    ] = None,
    recorded_on: RecordedOn = None,
    parallel_part: Annotated[
        bool, typer.Option("--parallel-part", help="leave out what the program does between its parallel regions")
    ] = False,
) -> None:
    """Run an OpenMP program and write its tasks as a task graph."""
    from numasim.files.writer import require_writable
    from numasim.runtime.record.recording import Order
    from numasim.spec.single_part import read_machine

    file = output or Path(f"{Path(command[0]).name}.json")
    require_writable(file)  # before the runs, not after them
    machine = None if recorded_on is None else read_machine(recorded_on)
    order = Order(tuple(command), threads, repeats, openmp, name or "", machine, parallel_part=parallel_part)
    _record(order, file)


def _record(order: "Order", file: Path) -> None:
    from numasim.runtime.record.recording import lines_of
    from numasim.runtime.record.recording import record as record_program
    from numasim.workload.graph_forms import write_graph

    found = record_program(order)
    write_graph(found.workload, file)
    for line in lines_of(found):
        say(line, err=True)
    say(file)
