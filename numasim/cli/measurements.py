"""`numasim reproduce` and `validate` compare simulated numbers with published numbers and with real runs.

`calibrate` measures this machine, and `bench` the rate at which the machine simulates.
"""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.shared import (
    YAML,
    EngineName,
    Jobs,
    Json,
    Results,
    chosen_engine,
    examples,
    files,
    parts_of_validation,
    say,
    shipped,
    studies,
)

ALL = "all"  # the name that stands for all studies


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
    from numasim.reproduce.reproduce import reproduce
    from numasim.reproduce.study import read_study
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
    from numasim.reproduce.study import study_names

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


@examples(
    "numasim calibrate --quick -o machine.yaml --runtime runtime.yaml",
    "numasim calibrate --openmp gomp -o gomp.yaml",
)
def calibrate(
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="the machine file to write; with --openmp the runtime", autocompletion=files(*YAML)
        ),
    ],
    runtime: Annotated[
        Path | None,
        typer.Option("--runtime", help="also write the costs of the task runtime", autocompletion=files(*YAML)),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer samples: seconds instead of a minute")] = False,
    name: Annotated[
        str | None, typer.Option("--name", help="the name of the machine, or of the OpenMP runtime")
    ] = None,
    openmp: Annotated[
        str | None,
        typer.Option(
            "--openmp", help="instead, measure an OpenMP runtime: libomp, gomp or its file", metavar="RUNTIME"
        ),
    ] = None,
    serial: Annotated[bool, typer.Option("--serial", help="with --openmp: a team of one thread")] = False,
) -> None:
    """Measure this machine and write its machine file. What could not be measured is listed."""
    if openmp is not None:
        _calibrate_openmp(output, openmp, serial, name)
        return
    from numasim.files.writer import require_writable, write_text
    from numasim.runtime.calibrated_machine import calibrate

    for file in filter(None, (output, runtime)):
        require_writable(file)  # reports an unwritable file before the long measurements
    found = calibrate(quick=quick, name=name)
    say(write_text(output, found.machine))
    if runtime is not None:
        say(write_text(runtime, found.runtime))
    for gap in found.gaps:
        say(f"not measured: {gap}", err=True)


def _calibrate_openmp(output: Path, library: str, serial: bool, name: str | None) -> None:
    from numasim.files.writer import require_writable, write_text
    from numasim.runtime.record.openmp_costs import calibrate_openmp

    require_writable(output)
    say(write_text(output, calibrate_openmp(library, serial=serial, name=name)))


@examples("numasim bench --plot rates.png", "numasim bench --scale --json")
def bench(
    as_json: Json = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="also draw what was found to this PNG, SVG or PDF")
    ] = None,
    scale: Annotated[
        bool, typer.Option("--scale", help="instead, time and memory against tasks, workers and nodes")
    ] = False,
) -> None:
    """Measure how fast this machine simulates. With --scale, measure how the rates scale. Both take a few minutes."""
    from numasim.report.figures.plots import kind_of, save
    from numasim.validate.benchmark.sampling import print_findings

    if plot is not None:
        kind_of(plot)  # reports a wrong name of the plot before the long measurements
    if not scale:
        from numasim.validate.benchmark.simulation_rates import measure, measured_on, rates_figure

        found, draw = measure(progress=True), rates_figure
        sentences = [measured_on()]
    else:
        from numasim.validate.benchmark.scale import growth_sentences, measure_scale, scale_figure

        found, draw = measure_scale(progress=True), scale_figure
        sentences = growth_sentences(found)
    print_findings(found, sentences, as_json)
    if plot is not None:
        save(draw(found), plot)
