"""`numasim record` writes a program as a task graph; `ask` predicts the graph's run time on machines."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from numasim.cli.runs import swept
from numasim.cli.shared import YAML, EngineName, Jobs, Results, chosen_engine, examples, files, say, shipped
from numasim.cli.workloads import GRAPHS, Bytes, Cost, RecordedOn, Times, Unit, Usual
from numasim.errors import InputError

if TYPE_CHECKING:
    from numasim.objects.graph_object import Graph
    from numasim.runtime.record.recording import Order

STRATEGIES = ("randomized", "nearest-first", "topology-aware", "steal-half")

Program = Annotated[
    Path,
    typer.Argument(
        help="a task graph in any form that `numasim workload import` reads, or as `numasim record` writes it",
        autocompletion=files(*GRAPHS),
    ),
]
Machines = Annotated[
    list[str] | None,
    typer.Option(
        "--machine",
        "-m",
        help="a machine: its name or file; again for another",
        autocompletion=shipped("machines", *YAML),
    ),
]
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        "-s",
        help=f"a strategy; again for another; default {', '.join(STRATEGIES)}",
        autocompletion=shipped("strategies", *YAML),
    ),
]
Runtime = Annotated[
    str,
    typer.Option(
        "--runtime",
        help="the task runtime: its name or file; under bare only probes cost time, under own and ompi all of tasks",
        autocompletion=shipped("runtimes", *YAML),
    ),
]
Workers = Annotated[
    list[int] | None,
    typer.Option(
        "--workers", "-w", min=1, help="a number of workers; again for another; default the cores of the smallest"
    ),
]


@examples(
    "numasim workload export fib n=8 -o fib.json",
    "numasim ask fib.json --machine epyc-9654-2s --machine xeon-8480-2s-cxl -s randomized -s steal-half -o results/fib",
)
def ask(
    graph: Program,
    machine: Machines = None,
    strategy: Strategies = None,
    workers: Workers = None,
    runtime: Runtime = "bare",
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="runs of each cell, with seeds of their own")] = 12,
    seed: Annotated[int, typer.Option("--seed", help="the seed of the first run")] = 1,
    unit: Unit = None,
    usual: Usual = None,
    times: Times = None,
    cost: Cost = None,
    bytes_name: Bytes = None,
    recorded_on: RecordedOn = None,
    output: Results = None,
    jobs: Jobs = None,
    engine: EngineName = None,
) -> None:
    """Simulate a task graph on machines under strategies.

    The runs are a sweep like any other: the results directory has a page, the answers and the specification, and a
    stopped sweep resumes.
    """
    from numasim.engine.simulate import require_engine
    from numasim.objects.machine_object import Machine
    from numasim.spec.sweep_spec import load_sweep

    chosen = chosen_engine(engine)
    require_engine(chosen)
    if not machine:
        raise InputError(
            "no machine is given", place="--machine", expected="one of those of numasim machine list, or a file"
        )
    program = _program(graph, unit=unit, usual=usual, times=times or (), cost=cost, bytes=bytes_name)
    program = program if recorded_on is None else program.recorded_on(recorded_on)
    axes: dict[str, list[Any]] = {
        "machine": machine,
        "strategy": strategy or list(STRATEGIES),
        "workers": workers or [min(Machine(name).cores for name in machine)],
    }
    base: dict[str, Any] = {name: values[0] for name, values in axes.items()}
    swept_axes = {name: values for name, values in axes.items() if len(values) > 1} or {"strategy": axes["strategy"]}
    spec = {**base, "workload": program, "runtime": runtime, "repeat": repeat, "seed": seed, "sweep": swept_axes}
    swept(load_sweep(spec), output or Path("results") / f"ask-{graph.stem}", engine=chosen, jobs=jobs)


def _program(file: Path, **choices: Any) -> "Graph":
    """Return the graph in ``file``; print what the import left out, and whether the tasks have no memory accesses."""
    from numasim.engine.remarks import memory_left_out
    from numasim.objects.graph_object import Graph

    program = Graph.imported(file, **choices)
    for remark in program.remarks:
        say(f"numasim: {remark}", err=True)
    for remark in memory_left_out(program.workload, str(file)):
        say(f"numasim: {remark}", err=True)
    return program


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
        str | None, typer.Option("--name", help="the name of the graph; default: the name of the program")
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
    require_writable(file)  # reports an unwritable file before the program runs
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
