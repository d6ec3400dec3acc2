"""`numasim strategy`: list, show and compile strategies."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.shared import say

app = typer.Typer(help="Strategies: list, show, compile.", no_args_is_help=True)


@app.command("list")
def strategy_list() -> None:
    """Print the shipped strategies."""
    from numasim.parts import catalog

    for name in catalog.names("strategies"):
        say(name)


@app.command("show")
def strategy_show(
    name: str,
    machine: Annotated[str, typer.Option(help="the machine to compile for")] = "xeon-e5-2620-2s",
    workers: Annotated[int | None, typer.Option(help="default: every hardware thread")] = None,
    worker: Annotated[int, typer.Option(help="the worker whose plan is described")] = 0,
    runtime: Annotated[str, typer.Option(help="the runtime preset")] = "ompi",
) -> None:
    """Describe the compiled plan of a worker in plain English."""
    from numasim.plan.show_strategy import show

    say(show(name, machine, workers, worker, runtime))


@app.command("compile")
def strategy_compile(
    name: str,
    machine: Annotated[str, typer.Option(help="the machine to compile for")] = "xeon-e5-2620-2s",
    workers: Annotated[int | None, typer.Option(help="default: every hardware thread")] = None,
    runtime: Annotated[str, typer.Option(help="the runtime preset")] = "ompi",
    graph: Annotated[
        Path | None, typer.Option("--graph", help="the recorded task graph of a program that runs in virtual time")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="seed of the victim draws")] = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="default: NAME.plan")] = None,
) -> None:
    """Write the compiled plan of a strategy, which the task runtime interprets."""
    from numasim.runtime.compile_plan import compile_plan
    from numasim.runtime.fields_file import write_plan

    path = output or Path(f"{Path(name).stem}.plan")
    write_plan(compile_plan(name, machine, workers, runtime, graph), seed, path)
    say(path)
