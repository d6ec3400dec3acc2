"""`numasim reproduce` and `validate`: hold simulated numbers against published ones, and against real runs."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.examples import examples
from numasim.cli.shared import (
    YAML,
    EngineName,
    Jobs,
    Json,
    Results,
    chosen_engine,
    parts_of_validation,
    say,
    shipped,
    studies,
)

ALL = "all"  # studies


@examples("numasim reproduce thesis --quick --table 3.2 -o results/table-3-2")
def reproduce(
    study: Annotated[
        str,
        typer.Argument(
            help="a shipped study, a folder with a study.py, or all that are shipped", autocompletion=studies
        ),
    ] = ALL,
    table: Annotated[list[str] | None, typer.Option("--table", help="only this table or figure", metavar="ID")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="smaller runs, one of each")] = False,
    machine: Annotated[
        str | None,
        typer.Option("--machine", help="run the study on another machine", autocompletion=shipped("machines", *YAML)),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", help="disable a mechanism", metavar="MECHANISM")
    ] = None,
    jobs: Jobs = None,
    engine: EngineName = None,
    output: Results = None,
) -> None:
    """Simulate the tables of a published study, compare and score. With all tables also without each mechanism.

    Without a study all that are shipped are reproduced, each in a folder of its own, with a page that leads to them.
    """
    from numasim.reproduce.load import read_study
    from numasim.reproduce.reproduce import reproduce
    from numasim.reproduce.terminal import report, report_all

    if study == ALL:
        _refuse_for_all(table=table, machine=machine, without=without)
        directory = output or Path("results") / "reproductions"
        report_all(directory, quick=quick, jobs=jobs, engine=chosen_engine(engine))
        return
    loaded = read_study(study, table or (), lambda file: say(f"numasim: executes {file}", err=True))
    directory = output or Path("results") / loaded.name
    found = reproduce(
        loaded,
        directory,
        quick=quick,
        machine=machine,
        without=without or (),
        ablations=not (table or quick or machine or without),
        jobs=jobs,
        engine=chosen_engine(engine),
        progress=True,
    )
    report(found, directory)


def _refuse_for_all(**options: object) -> None:
    """Raise InputError for an option that applies to a single study."""
    from numasim.errors import InputError
    from numasim.reproduce.load import study_names

    for name, value in options.items():
        if value:
            raise InputError(
                f"--{name} is for one study", expected=f"its name before it: one of {', '.join(study_names())}"
            )


@examples("numasim validate exact --quick --kernel fib")
def validate(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            help="shipped parts or paths; default: exact and virtual, or native on --machine",
            autocompletion=parts_of_validation,
        ),
    ] = None,
    kernel: Annotated[list[str] | None, typer.Option("--kernel", help="only this kernel", metavar="NAME")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer cells, smaller programs, fewer repeats")] = False,
    machine: Annotated[str | None, typer.Option("--machine", help="a machine file, as calibrate writes it")] = None,
    runtime: Annotated[str | None, typer.Option("--runtime", help="a runtime file, as calibrate writes it")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="cells at a time, in virtual time only")] = 1,
    as_json: Json = False,
    output: Results = None,
) -> None:
    """Predict runs of the task runtime, run them, and compare. Status 1 where a declared bound is broken."""
    from numasim.validate.validate_command import chosen_parts, validate_and_report

    chosen = chosen_parts(parts or (), kernel or (), machine, runtime, quick)
    validate_and_report(chosen, output or Path("results") / "validation", jobs, as_json)
