"""`numasim strategy` and `numasim runtime`: list, show and compile strategies; list and show runtimes."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.examples import Commands, examples
from numasim.cli.listing import print_shipped
from numasim.cli.shared import YAML, AsYaml, Json, files, print_file, say, shipped

app = Commands("Strategies: list, show, compile.", ["numasim strategy list", "numasim strategy show steal-half"])
Name = Annotated[
    str, typer.Argument(help="a shipped strategy or a YAML file", autocompletion=shipped("strategies", *YAML))
]
MachineName = Annotated[
    str, typer.Option("--machine", help="the machine to compile for", autocompletion=shipped("machines", *YAML))
]
RuntimeName = Annotated[
    str, typer.Option("--runtime", help="the runtime preset", autocompletion=shipped("runtimes", *YAML))
]


@app.command("list")
@examples("numasim strategy list", "numasim strategy list --json")
def strategy_list(as_json: Json = False) -> None:
    """Print the shipped strategies, a line each."""
    print_shipped(["strategies"], as_json)


@app.command("show")
@examples(
    "numasim strategy show topology-aware",
    "numasim strategy show topology-aware --machine opteron-875-8s --workers 16 --worker 5",
    "numasim strategy show steal-half --yaml",
)
def strategy_show(
    name: Name,
    machine: MachineName = "xeon-e5-2620-2s",
    workers: Annotated[int | None, typer.Option(help="default: every hardware thread")] = None,
    worker: Annotated[int, typer.Option(help="the worker whose plan is described")] = 0,
    runtime: RuntimeName = "ompi",
    as_yaml: AsYaml = False,
) -> None:
    """Describe the compiled plan of a worker in plain English."""
    if as_yaml:
        print_file("strategies", name)
        return
    from numasim.plan.show_strategy import show

    say(show(name, machine, workers, worker, runtime))


@app.command("compile")
@examples("numasim strategy compile topology-aware --workers 8 -o domains.plan")
def strategy_compile(
    name: Name,
    machine: MachineName = "xeon-e5-2620-2s",
    workers: Annotated[int | None, typer.Option(help="default: every hardware thread")] = None,
    runtime: RuntimeName = "ompi",
    graph: Annotated[
        Path | None,
        typer.Option(
            "--graph",
            help="the recorded task graph of a program that runs in virtual time",
            autocompletion=files(".json"),
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="seed of the victim draws")] = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="default: NAME.plan")] = None,
) -> None:
    """Write the compiled plan of a strategy. The task runtime interprets it."""
    from numasim.runtime.fields_file import compile_plan, write_plan

    path = output or Path(f"{Path(name).stem}.plan")
    write_plan(compile_plan(name, machine, workers, runtime, graph), seed, path)
    say(path)


runtimes = Commands("Runtimes: list, show.", ["numasim runtime list", "numasim runtime show ompi"])


@runtimes.command("list")
@examples("numasim runtime list", "numasim runtime list --json")
def runtime_list(as_json: Json = False) -> None:
    """Print the shipped runtimes, a line each."""
    print_shipped(["runtimes"], as_json)


@runtimes.command("show")
@examples("numasim runtime show ompi", "numasim runtime show own --yaml")
def runtime_show(
    name: Annotated[
        str, typer.Argument(help="a shipped runtime or a YAML file", autocompletion=shipped("runtimes", *YAML))
    ],
    as_yaml: AsYaml = False,
) -> None:
    """Print every cost and rule of a runtime."""
    if as_yaml:
        print_file("runtimes", name)
        return
    from numasim.spec.descriptions import describe_runtime
    from numasim.spec.single_part import read_runtime

    say(describe_runtime(read_runtime(name)))
