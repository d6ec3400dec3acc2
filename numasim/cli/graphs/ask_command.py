"""`numasim ask`: what a program would do on which machine, under which strategy."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from numasim.cli.completion import YAML, files, shipped
from numasim.cli.examples import examples
from numasim.cli.graphs.import_command import GRAPHS, Bytes, Cost, RecordedOn, Times, Unit, Usual
from numasim.cli.runs import swept
from numasim.cli.shared import EngineName, Jobs, Results, chosen_engine, say
from numasim.errors import InputError

if TYPE_CHECKING:
    from numasim.objects.graph_object import Graph

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

    It is a sweep like any other: its directory has a page, the answers and the specification, and a stopped one
    resumes.
    """
    from numasim.engine.simulate import require_engine
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
        "workers": workers or [_fewest_cores(machine)],
    }
    base: dict[str, Any] = {name: values[0] for name, values in axes.items()}
    swept_axes = {name: values for name, values in axes.items() if len(values) > 1} or {"strategy": axes["strategy"]}
    spec = {**base, "workload": program, "runtime": runtime, "repeat": repeat, "seed": seed, "sweep": swept_axes}
    swept(load_sweep(spec), output or Path("results") / f"ask-{graph.stem}", engine=chosen, jobs=jobs)


def _program(file: Path, **choices: Any) -> "Graph":
    """The graph in ``file``; says what was left out, and so where the file does not say what its tasks access."""
    from numasim.engine.remarks import memory_left_out
    from numasim.objects.graph_object import Graph

    program = Graph.imported(file, **choices)
    for remark in program.remarks:
        say(f"numasim: {remark}", err=True)
    for remark in memory_left_out(program.workload, str(file)):
        say(f"numasim: {remark}", err=True)
    return program


def _fewest_cores(machines: Sequence[str]) -> int:
    """The number of cores of the machine with the fewest."""
    from numasim.objects.machine_object import Machine

    return min(Machine(name).cores for name in machines)
