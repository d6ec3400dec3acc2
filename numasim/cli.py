"""The command line: parses, calls, prints.

Exit status 0: done, 1: a check failed, 2: bad input, or what cannot be written, 130: interrupted, 141: nobody reads the
output any more.

Everything heavy is imported inside the command that needs it, so that help and completion answer at once. Annotations
are no texts here: typer reads those of every command whenever one is called, and texts take it three times as long.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from numasim.errors import CheckError, InputError, Interrupted, NumasimError
from numasim.files.standard_streams import guard_standard_streams

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from numasim.spec.run_spec import RunSpec

OK, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class _Commands(TyperGroup):
    """All commands; an interrupt, of which typer would say nothing, is one sentence, which says what is kept."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _told_interrupts():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with _told_interrupts():
            return super().invoke(ctx)


@contextmanager
def _told_interrupts() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise Interrupted(interrupt) from None


app = typer.Typer(
    cls=_Commands,
    help="Simulate work stealing on NUMA multicores.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
machine_app = typer.Typer(help="Machines: list, show, import, check.", no_args_is_help=True)
workload_app = typer.Typer(help="Workloads: list, show, import, export.", no_args_is_help=True)
strategy_app = typer.Typer(help="Strategies: list, show, compile.", no_args_is_help=True)
trace_app = typer.Typer(help="Traces: check.", no_args_is_help=True)
app.add_typer(machine_app, name="machine")
app.add_typer(workload_app, name="workload")
app.add_typer(strategy_app, name="strategy")
app.add_typer(trace_app, name="trace")

STATUSES = {InputError: BAD_INPUT, Interrupted: INTERRUPTED}

Spec = Annotated[str, typer.Argument(help="a YAML file, or the name of a shipped sweep")]
Sets = Annotated[list[str] | None, typer.Option("--set", help="override a field: a.b=value", metavar="FIELD=VALUE")]
EngineName = Annotated[
    str | None, typer.Option("--engine", help="the engine that simulates: native where it is built, else reference")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON for programs")]
Check = Annotated[bool, typer.Option("--check", help="check the result against the invariants of the model")]

MANY_RUNS = 10_000  # are announced before the first is started
NOT_BUILT = "numasim: the native engine is not built here; using the reference engine (slower)"


def _say(text: object, *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error."""
    print(text, file=sys.stderr if err else sys.stdout)


def _engine(name: str | None) -> str:
    """The engine ``name``, by default the fastest one available; prints a notice if that is the reference engine."""
    from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES

    if name is None and "native" not in ENGINES:
        _say(NOT_BUILT, err=True)
    return name or DEFAULT_ENGINE


@app.command()
def run(
    spec: Spec,
    sets: Sets = None,
    engine: EngineName = None,
    check: Check = False,
    as_json: Json = False,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", help="write what every worker does to this file, for Perfetto; .gz packs it"),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="write figures of the run to this directory")] = None,
) -> None:
    """Simulate once and print what happened."""
    from numasim.api import run_spec
    from numasim.report.command_output import print_run, run_figures_folder, save_figures
    from numasim.spec.run_spec import load_run

    loaded = load_run(spec, sets or ())
    over_time = plot is not None and _can_be_watched(loaded)
    with run_figures_folder(plot, over_time) as folder:
        result = run_spec(loaded, _engine(engine), check, trace=trace, over_time=over_time)
        if folder is not None:
            save_figures(result, folder)
    print_run(result, as_json)


def _can_be_watched(spec: "RunSpec") -> bool:
    """Whether a run is short enough for figures over time; prints a notice if it is not."""
    from numasim.plan.build_plan import build_plan
    from numasim.report.trace.watched_run import require_few_tasks

    try:
        require_few_tasks(build_plan(spec))
    except InputError as error:
        _say(f"numasim: {error.problem}: they are left out", err=True)
        return False
    return True


@app.command()
def sweep(
    spec: Spec,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="the results directory")] = None,
    sets: Sets = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="processes; default one per core")] = None,
    cluster: Annotated[
        str | None, typer.Option(help="a Dask scheduler's address, or local:N for N workers started here")
    ] = None,
    engine: EngineName = None,
    check: Check = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="stop at the first run that fails")] = False,
    plot: Annotated[bool, typer.Option("--plot", help="write the standard figures beside the results")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bar, no table")] = False,
) -> None:
    """Run every cell of a sweep that is not done yet, and compare the strategies."""
    from numasim.engine.simulate import require_engine, simulate_spec
    from numasim.report.command_output import print_sweep, require_plots
    from numasim.spec.sweep_spec import load_sweep
    from numasim.sweep.run_sweep import run_sweep

    engine = _engine(engine)
    require_engine(engine)
    loaded = load_sweep(spec, sets or ())
    directory = output or Path("results") / Path(spec).stem
    if plot:
        require_plots(directory)
    if loaded.runs >= MANY_RUNS and not quiet:
        typer.echo(f"numasim: {loaded.runs:,} runs: {len(loaded.cells):,} cells, {loaded.repeat:,} of each", err=True)
    outcome = run_sweep(
        loaded,
        directory,
        jobs=jobs,
        cluster=cluster,
        engine=engine,
        runner=simulate_spec,
        fail_fast=fail_fast,
        progress=not quiet,
        check=check,
    )
    if outcome.complete:
        print_sweep(outcome.directory, plot, quiet)
    if outcome.failures:
        raise CheckError(f"{len(outcome.failures)} runs failed; the first: {next(iter(outcome.failures.values()))}")


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="a shipped study, or a folder with a study.yaml")],
    table: Annotated[list[str] | None, typer.Option("--table", help="only this table or figure", metavar="ID")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="smaller runs, one of each")] = False,
    machine: Annotated[str | None, typer.Option("--machine", help="run the study on another machine")] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", help="disable a mechanism", metavar="MECHANISM")
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="processes; default one per core")] = None,
    engine: EngineName = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="the results directory")] = None,
) -> None:
    """Simulate the tables of a published study, compare and score; with all tables also without each mechanism."""
    from numasim.reproduce.reproduce import reproduce
    from numasim.reproduce.reproduce_command import report
    from numasim.reproduce.study.study import read_study

    loaded = read_study(study, table or ())
    directory = output or Path("results") / loaded.name
    found = reproduce(
        loaded,
        directory,
        quick=quick,
        machine=machine,
        without=without or (),
        ablations=not (table or quick or machine or without),
        jobs=jobs,
        engine=_engine(engine),
        progress=True,
    )
    report(found, directory)


@app.command()
def validate(
    parts: Annotated[
        list[str] | None,
        typer.Argument(help="shipped parts or paths; default: exact and virtual, or native on --machine"),
    ] = None,
    kernel: Annotated[list[str] | None, typer.Option("--kernel", help="only this kernel", metavar="NAME")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer cells, smaller programs, fewer repeats")] = False,
    machine: Annotated[str | None, typer.Option("--machine", help="a machine file, as calibrate writes it")] = None,
    runtime: Annotated[str | None, typer.Option("--runtime", help="a runtime file, as calibrate writes it")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="cells at a time, in virtual time only")] = 1,
    as_json: Json = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="the results directory")] = None,
) -> None:
    """Predict runs of the task runtime, run them, and compare; status 1 where a declared bound is broken."""
    from numasim.validate.validate_command import chosen_parts, validate_and_report

    chosen = chosen_parts(parts or (), kernel or (), machine, runtime, quick)
    validate_and_report(chosen, output or Path("results") / "validation", jobs, as_json)


@app.command()
def plot(
    results: Annotated[Path, typer.Argument(help="a results directory")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="default: RESULTS/figures")] = None,
) -> None:
    """Draw the standard figures of a results directory."""
    from numasim.report.command_output import save_sweep_plots

    for path in save_sweep_plots(results, output or results / "figures"):
        _say(path)


@app.command()
def calibrate(
    output: Annotated[Path, typer.Option("-o", "--output", help="the machine file to write")],
    runtime: Annotated[Path | None, typer.Option("--runtime", help="also write the costs of the task runtime")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer samples: seconds instead of a minute")] = False,
    name: Annotated[str | None, typer.Option("--name", help="the machine's name")] = None,
) -> None:
    """Measure this machine and write its machine file; list what could not be measured."""
    from numasim.files.writer import require_writable, write_text
    from numasim.runtime.calibrate import calibrate

    for file in filter(None, (output, runtime)):
        require_writable(file)  # before the measurements, not after them
    found = calibrate(quick=quick, name=name)
    _say(write_text(output, found.machine))
    if runtime is not None:
        _say(write_text(runtime, found.runtime))
    for gap in found.gaps:
        _say(f"not measured: {gap}", err=True)


@app.command()
def schema(kind: Annotated[str, typer.Argument(help="run, sweep, machine, strategy, runtime or workload")]) -> None:
    """Print the JSON Schema of a kind of YAML file, for editors."""
    import json

    from numasim.spec.json_schema import json_schema

    _say(json.dumps(json_schema(kind), indent=2))


@app.command()
def bench(
    as_json: Json = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="also draw what was found to this PNG or SVG")] = None,
    scale: Annotated[
        bool, typer.Option("--scale", help="instead, time and memory against tasks, workers and nodes")
    ] = False,
) -> None:
    """Measure this machine's simulation rates, side by side, and how they scale; takes a few minutes."""
    from numasim.report.figures.plots import kind_of, save

    if plot is not None:
        kind_of(plot)  # report a wrong file name before the measurements, not after them
    figure = _bench_scale(as_json) if scale else _bench_rates(as_json)
    if plot is not None:
        save(figure(), plot)


def _bench_rates(as_json: bool) -> "Callable[[], Figure]":
    from numasim.benchmark.measure import measure
    from numasim.benchmark.printing import print_findings
    from numasim.benchmark.rates_plot import rates_figure

    found = measure(progress=True)
    print_findings(found, as_json)
    return lambda: rates_figure(found)


def _bench_scale(as_json: bool) -> "Callable[[], Figure]":
    from numasim.benchmark.scale.cells import measure_scale
    from numasim.benchmark.scale.scale_plot import scale_figure
    from numasim.benchmark.scale.scale_printing import print_scale

    cells = measure_scale(progress=True)
    print_scale(cells, as_json)
    return lambda: scale_figure(cells)


@trace_app.command("check")
def trace_check(file: Path) -> None:
    """Check a trace and print what is wrong with it."""
    from numasim.report.trace.trace_lint import lint

    found = lint(file)
    for problem in found.problems:
        _say(f"{file}: {problem}")
    _say(f"{file}: {found.found}")
    if found.problems:
        raise CheckError(f"{file} is not a sound trace")


@machine_app.command("list")
def machine_list() -> None:
    """Print the shipped machines."""
    from numasim.machine.build_machine import build
    from numasim.machine.description import shape
    from numasim.parts import catalog
    from numasim.spec.single_part import read_machine

    _print_columns((name, shape(build(read_machine(name)))) for name in catalog.names("machines"))


@machine_app.command("show")
def machine_show(
    name: str,
    picture: Annotated[Path | None, typer.Option("--picture", help="also draw the topology to this PNG or SVG")] = None,
) -> None:
    """Describe a machine; with --picture, draw its topology."""
    from numasim.machine.build_machine import build
    from numasim.machine.description import describe
    from numasim.spec.single_part import read_machine

    machine = build(read_machine(name))
    if picture is not None:
        from numasim.report.figures.plots import kind_of

        kind_of(picture)  # report a wrong file name before anything is printed
    _say(describe(machine))
    if picture is not None:
        from numasim.machine.drawing import draw
        from numasim.report.figures.plots import save

        _say(save(draw(machine), picture))


@machine_app.command("import")
def machine_import(
    output: Annotated[Path, typer.Option("-o", "--output", help="the machine file to write")],
    file: Annotated[Path | None, typer.Argument(help="XML of hwloc 1, 2 or 3; default the running system")] = None,
    sysfs: Annotated[Path | None, typer.Option("--sysfs", help="a copy of another system's /sys")] = None,
    name: Annotated[str | None, typer.Option("--name", help="the machine's name")] = None,
) -> None:
    """Write the machine file of a system; values that the system does not report are assumed and marked."""
    from numasim.files.writer import write_text
    from numasim.machine.importing import import_machine

    draft = import_machine(file, sysfs, name)
    draft.check()
    _say(write_text(output, draft.text()))


@machine_app.command("check")
def machine_check(name: str) -> None:
    """Validate a machine file and print warnings about implausible values."""
    from numasim.machine.build_machine import build
    from numasim.machine.plausibility import check
    from numasim.spec.single_part import read_machine

    warnings = check(build(read_machine(name)))
    for warning in warnings:
        _say(f"warning: {warning}")
    _say(f"{name}: valid, {len(warnings)} warning{'s' if len(warnings) != 1 else ''}")


@workload_app.command("list")
def workload_list() -> None:
    """Print the workloads and their parameters."""
    from numasim.workload.registry import PARAMETERS

    _print_columns(
        (name, ", ".join(key for key in model.model_fields if key != "name")) for name, model in PARAMETERS.items()
    )


@workload_app.command("show")
def workload_show(
    text: Annotated[str, typer.Argument(help="a name or a mapping: '{name: strassen, n: 1024}'")],
) -> None:
    """Describe a workload: tasks, depth, work, bytes, closed-form facts."""
    from numasim.workload.describe import describe

    _say(describe(_workload(text)))


@workload_app.command("import")
def workload_import(file: Path) -> None:
    """Validate a task graph in JSON and describe it."""
    from numasim.workload.describe import describe
    from numasim.workload.json_io import read

    _say(describe(read(file)))


@workload_app.command("export")
def workload_export(text: str, file: Path) -> None:
    """Write the task graph of a workload as JSON."""
    from numasim.workload.json_io import write

    write(_workload(text), file)
    _say(file)


@strategy_app.command("list")
def strategy_list() -> None:
    """Print the shipped strategies."""
    from numasim.parts import catalog

    for name in catalog.names("strategies"):
        _say(name)


@strategy_app.command("show")
def strategy_show(
    name: str,
    machine: Annotated[str, typer.Option(help="the machine to compile for")] = "xeon-e5-2620-2s",
    workers: Annotated[int | None, typer.Option(help="default: every hardware thread")] = None,
    worker: Annotated[int, typer.Option(help="the worker whose plan is described")] = 0,
    runtime: Annotated[str, typer.Option(help="the runtime preset")] = "ompi",
) -> None:
    """Describe the compiled plan of a worker in plain English."""
    from numasim.plan.show_strategy import show

    _say(show(name, machine, workers, worker, runtime))


@strategy_app.command("compile")
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
    _say(path)


def _workload(text: str) -> Any:
    from numasim.spec.single_part import read_workload
    from numasim.workload.generate import generate

    return generate(read_workload(text))


def _print_columns(rows: Any) -> None:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        _say(f"{name:<{width}}  {text}".rstrip())


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let a request to terminate, as of a batch system, end a command as an interrupt from the terminal does."""
    before = signal.getsignal(signal.SIGTERM)
    if before is not signal.SIG_DFL or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; errors are one sentence on standard error."""
    try:
        guard_standard_streams()
        try:
            with _termination_as_interrupt():
                app(list(argv) if argv is not None else None, prog_name="numasim")
        finally:
            sys.stdout.flush()
    except SystemExit as leaving:  # typer prints usage errors (2)
        return int(leaving.code or OK)
    except NumasimError as error:
        print(f"numasim: {error}", file=sys.stderr)
        return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), CHECK_FAILED)
    return OK
