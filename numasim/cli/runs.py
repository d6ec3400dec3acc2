"""`numasim run` and `sweep` simulate; `compare`, `plot` and `view` show the results of a sweep.

A sweep has axes, lists of values of fields; a cell is one combination of values, which is run once or repeatedly.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from numasim.cli.shared import (
    Check,
    EngineName,
    Jobs,
    Json,
    Results,
    Sets,
    Spec,
    chosen_engine,
    examples,
    files,
    say,
    schedulers,
)
from numasim.errors import CheckError, InputError

if TYPE_CHECKING:
    from numasim.engine.result import Result
    from numasim.report.answers.question import Comparison
    from numasim.spec.one_run import OneRun
    from numasim.spec.run_spec import RunSpec
    from numasim.spec.sweep_spec import SweepSpec

MANY_RUNS = 10_000  # from this number on, a sweep prints its number of runs before the first run starts
MANY_TASKS = 1_000_000  # from this number on, a command prints that a task graph is being built


@examples(
    "numasim run quickstart",
    "numasim run thesis-remote-steals --set workload.n=64 --set strategy=steal-half --set workers=8",
    "numasim run thesis-remote-steals --set workload='{name: fib, n: 15}' --trace fib.json.gz --json",
    "numasim run thesis-remote-steals --as rayon --set workload.n=64",
)
def run(
    spec: Spec,
    sets: Sets = None,
    engine: EngineName = None,
    check: Check = False,
    as_json: Json = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            help="write what every worker does to this file, for Perfetto; NAME.paje and NAME.prv for "
            "Paje and Paraver; .gz packs it",
        ),
    ] = None,
    schedule: Annotated[
        Path | None,
        typer.Option(
            "--schedule",
            help="write which worker executed which task from when to when: .npz, .wf.json (WfFormat), .dot, .gv or "
            ".graphml",
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="write figures of the run to this directory")] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--as", help="the scheduler of a task runtime: strategy and runtime of this name", autocompletion=schedulers
        ),
    ] = None,
) -> None:
    """Simulate once and print what happened. Of a sweep one cell is run, chosen by --set AXIS=VALUE."""
    from numasim.api import run_spec
    from numasim.report.command_output import print_run, run_figures_folder, save_figures
    from numasim.spec.one_run import load_one
    from numasim.spec.run_spec import of_scheduler

    one = load_one(spec, [*(of_scheduler(scheduler) if scheduler else ()), *(sets or ())])
    loaded = one.spec
    for output, what in ((trace, "trace"), (schedule, "schedule")):
        if output is not None and output.exists() and Path(spec).exists() and output.samefile(spec):
            raise InputError(f"the {what} would replace {spec}, which is run", expected="the name of another file")
    _announce_cell(one)
    _announce_tasks([loaded])
    over_time = plot is not None and _can_be_watched(loaded)
    with run_figures_folder(plot, over_time) as folder:
        result = run_spec(loaded, chosen_engine(engine), check, trace=trace, over_time=over_time, schedule=schedule)
        if folder is not None:
            save_figures(result, folder)
    print_run(result, as_json)
    if not as_json:
        _try_assumed(loaded, result, chosen_engine(engine))
    if trace is not None:
        from numasim.report.trace.watched_run import notice

        if sentence := notice(trace):
            say(f"numasim: {sentence}", err=True)


def _try_assumed(spec: "RunSpec", result: "Result", engine: str) -> None:
    """Print how half and twice of each assumed value of the machine would change the result (native engine only)."""
    from numasim.api import run_spec
    from numasim.engine.assumed_values import depended_on, lines, tried

    if depended_on(result.assumed, result.counters):
        found = (
            tried(spec, result.counters, lambda changed: run_spec(changed, engine).counters)
            if engine == "native"
            else None
        )
        for line in lines(found):
            say(f"      {line}")


def _announce_cell(one: "OneRun") -> None:
    """Print which cell of a sweep is run, and the options that run another cell."""
    if one.cells == 1:
        return
    from numasim.parts.yaml.document import flow_text

    values = ", ".join(f"{axis} = {flow_text(value)}" for axis, value in one.axes.items())
    another = f"; another: --set {one.other[0]}={one.other[1]}" if one.other else ""
    which = "none of them is run, but one beside them" if one.index is None else f"cell {one.index} is run"
    say(f"numasim: the sweep has {one.cells:,} cells; {which}: {values}{another}", err=True)


def _announce_tasks(specs: "Iterable[RunSpec]") -> None:
    """Print the size of the largest task graph if building the graph takes long."""
    from numasim.workload.totals import SizedParameters

    workloads = {id(spec.workload): spec.workload for spec in specs}.values()
    tasks = [each.totals().rows for each in workloads if isinstance(each, SizedParameters)]
    if max(tasks, default=0) >= MANY_TASKS:
        say(f"numasim: a task graph of up to {max(tasks):,} tasks is built first", err=True)


def _can_be_watched(spec: "RunSpec") -> bool:
    """Return whether a run has few enough tasks for figures over time; print a notice if it has too many."""
    from numasim.plan.build_plan import build_plan
    from numasim.report.trace.watched_run import require_few_tasks

    try:
        require_few_tasks(build_plan(spec))
    except InputError as error:
        say(f"numasim: {error.problem}: they are left out", err=True)
        return False
    return True


@examples(
    "numasim sweep thesis-remote-steals --set workload.n=64 --set repeat=2 --jobs 1 -o results/small",
    "numasim sweep thesis-remote-steals --set workload.n=64 --set 'sweep.workers=[8, 24]' -j 1 -o results/remote",
)
def sweep(
    spec: Spec,
    output: Results = None,
    sets: Sets = None,
    jobs: Jobs = None,
    cluster: Annotated[
        str | None, typer.Option(help="a Dask scheduler's address, or local:N for N workers started here")
    ] = None,
    engine: EngineName = None,
    check: Check = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="stop at the first run that fails")] = False,
    plot: Annotated[bool, typer.Option("--plot", help="write the standard figures beside the results")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bar, no table")] = False,
) -> None:
    """Run the missing cells of a sweep, and say what differs."""
    from numasim.engine.simulate import require_engine
    from numasim.report.command_output import require_plots
    from numasim.spec.sweep_spec import load_sweep

    engine = chosen_engine(engine)
    require_engine(engine)
    loaded = load_sweep(spec, sets or ())
    directory = output or Path("results") / Path(spec).stem
    if plot:
        require_plots(directory)
    if not quiet:
        _announce_tasks(cell.spec for cell in loaded.cells)
        if loaded.runs >= MANY_RUNS:
            say(f"numasim: {loaded.runs:,} runs: {len(loaded.cells):,} cells, {loaded.repeat:,} of each", err=True)
    how = {"jobs": jobs, "cluster": cluster, "engine": engine, "fail_fast": fail_fast, "check": check}
    swept(loaded, directory, plot=plot, quiet=quiet, **how)


def swept(loaded: "SweepSpec", directory: Path, *, plot: bool = False, quiet: bool = False, **how: Any) -> None:
    """Run the missing cells of a sweep and print what differs; ``how`` are options of `reported_sweep`."""
    from numasim.engine.simulate import simulate_spec
    from numasim.report.command_output import print_sweep
    from numasim.report.sweep_result import reported_sweep

    outcome = reported_sweep(loaded, directory, runner=simulate_spec, progress=not quiet, **how)
    if outcome.complete:
        print_sweep(outcome.directory, plot, quiet, [cell.spec for cell in loaded.cells])
    if outcome.failures:
        raise CheckError(f"{len(outcome.failures)} runs failed; the first: {next(iter(outcome.failures.values()))}")


@examples(
    "numasim compare results/small --axis workers --baseline 8",
    "numasim compare results/small --axis strategy --column steal_remote_ratio --json",
)
def compare(
    results: Annotated[Path, typer.Argument(help="a results directory", autocompletion=files())],
    axis: Annotated[
        str | None, typer.Option(help="what to compare: an axis of the sweep, machine, workload, strategy or workers")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="the value to compare with; default the first")] = None,
    column: Annotated[str, typer.Option(help="a numeric column of results")] = "makespan_ps",
    as_json: Json = False,
) -> None:
    """Compare the runs of a sweep along any axis, in any column."""
    from numasim.report.sweep_result import SweepResult

    found = SweepResult(results).compare(axis, baseline, column)
    if as_json:
        import json

        say(json.dumps(_plain(found), indent=1))
        return
    from rich.console import Console

    from numasim.report.answers.answer_table import render_comparison

    render_comparison(found, Console())


def _plain(found: "Comparison") -> dict[str, Any]:
    """Return a comparison as an object of JSON, with null for missing values."""
    rows = found.table.astype(object).to_dict("records")
    return {
        "axis": found.axis,
        "baseline": found.baseline,
        "column": found.column,
        "sentences": found.sentences,
        "rows": [{str(name): _value(value) for name, value in row.items()} for row in rows],
        "notes": found.notes,
    }


def _value(value: Any) -> Any:
    import numpy as np
    import pandas as pd

    if isinstance(value, np.generic):
        value = value.item()
    return None if value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value


@examples(
    "numasim plot results/small -o figures-of-small",
    "numasim plot results/small --column steal_miss_ratio --x workers -o miss-ratio.pdf",
)
def plot(
    results: Annotated[Path, typer.Argument(help="a results directory", autocompletion=files())],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="default: RESULTS/figures; of one column a file, default: COLUMN.png"),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="draw this column of the results table instead")
    ] = None,
    x: Annotated[
        str | None, typer.Option("--x", metavar="AXIS", help="the axis along x; default: the axis that varies")
    ] = None,
    colour: Annotated[
        str | None, typer.Option("--colour", metavar="AXIS", help="the axis of the colours; default: the strategies")
    ] = None,
    facet: Annotated[
        str | None, typer.Option("--facet", metavar="AXIS", help="the axis of the panels; default: what else varies")
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="write the standard figures as PDF, too")] = False,
) -> None:
    """Draw the results of a sweep. These are the standard figures, or any column over any axis: PNG, SVG or PDF."""
    from numasim.report.command_output import save_column_figure, save_sweep_plots

    if column is None and not any((x, colour, facet)):
        for path in save_sweep_plots(results, output or results / "figures", pdf):
            say(path)
        return
    name = column or "makespan_ps"
    say(save_column_figure(results, output or Path(f"{name}.png"), name, x=x, colour=colour, facet=facet))


@examples("numasim view results/small", "numasim view results/small --no-browser")
def view(
    results: Annotated[Path, typer.Argument(help="a results directory", autocompletion=files())],
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="open the page, or only write it where it is not current")
    ] = True,
) -> None:
    """Open the page of a sweep in the browser.

    A page that is missing, or older than the results, is written anew.
    """
    from numasim.report.sweep_result import current_page

    page = current_page(results)
    say(page)
    if browser:
        import webbrowser

        if not webbrowser.open(page.resolve().as_uri()):
            say("numasim: no browser could be started; the page is one file that any browser opens", err=True)
