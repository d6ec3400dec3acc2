"""`numasim calibrate` and `bench`: measure this machine, and how fast it simulates."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from numasim.cli.examples import examples
from numasim.cli.shared import YAML, Json, files, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        str | None, typer.Option("--name", help="the machine's name, or that of the OpenMP runtime")
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
    from numasim.runtime.calibrated_runtime import calibrate

    for file in filter(None, (output, runtime)):
        require_writable(file)  # before the measurements, not after them
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
    """Measure how fast this machine simulates. It takes a few minutes; with --scale it is measured how rates scale."""
    from numasim.report.figures.plots import kind_of, save

    if plot is not None:
        kind_of(plot)  # report a wrong file name before the measurements, not after them
    figure = _bench_scale(as_json) if scale else _bench_rates(as_json)
    if plot is not None:
        save(figure(), plot)


def _bench_rates(as_json: bool) -> "Callable[[], Figure]":
    from numasim.validate.benchmark.sampling import print_findings
    from numasim.validate.benchmark.simulation_rates import measure, measured_on, rates_figure

    found = measure(progress=True)
    print_findings(found, [measured_on()], as_json)
    return lambda: rates_figure(found)


def _bench_scale(as_json: bool) -> "Callable[[], Figure]":
    from numasim.validate.benchmark.sampling import print_findings
    from numasim.validate.benchmark.scale import growth_sentences, measure_scale, scale_figure

    found = measure_scale(progress=True)
    print_findings(found, growth_sentences(found), as_json)
    return lambda: scale_figure(found)
