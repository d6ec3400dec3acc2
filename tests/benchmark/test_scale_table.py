"""The scale table from made-up measurements: its arithmetic, what grows too fast, its form and its figure."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from numasim.cli import main
from numasim.engine.simulate import ENGINES
from numasim.spec.run_spec import resolve
from numasim.validate.benchmark.benchmark_figures import LEAST_BYTES, scale_figure
from numasim.validate.benchmark.printing import print_scale
from numasim.validate.benchmark.scale import (
    NODES,
    TASKS,
    WORKERS,
    Cell,
    ScaleEffort,
    Shape,
    cell_of,
    faster_than_logarithm,
    generated_machine,
    in_own_process,
    shapes,
)

EFFORT = ScaleEffort()
native = pytest.mark.skipif("native" not in ENGINES, reason="the table is of the native engine")


def row(grows: str, costs: dict[int, float]) -> list[Cell]:
    """Cells in which an event takes so many nanoseconds at each size."""
    usual = {TASKS: 1000, WORKERS: 8, NODES: 2}
    return [
        cell_of(grows, Shape(**{**usual, grows: size}), events=2000, seconds=2000e-9 * cost, task_bytes=4000.0)
        for size, cost in costs.items()
    ]


def test_costs_follow_from_seconds_events_and_bytes() -> None:
    cell = cell_of(TASKS, Shape(400, 8, 2), events=500, seconds=2e-6, task_bytes=1200.0)
    assert (cell.grows, cell.tasks, cell.workers, cell.nodes, cell.events) == (TASKS, 400, 8, 2, 500)
    assert cell.ns_per_event == pytest.approx(4.0)
    assert cell.ns_per_task == pytest.approx(5.0)
    assert cell.bytes_per_task == 3.0


@pytest.mark.parametrize("shape", [shape for _, shape in shapes(EFFORT)], ids=str)
def test_a_generated_machine_has_its_nodes_and_a_thread_for_each_worker(shape: Shape) -> None:
    spec = {"workload": {"name": "fib", "n": 1}, "strategy": "randomized", "workers": shape.workers}
    machine = resolve({**spec, "machine": generated_machine(shape.nodes, shape.workers)}).machine
    assert machine.sockets == shape.nodes
    assert shape.workers <= machine.threads < shape.workers + shape.nodes


def test_what_grows_as_the_logarithm_is_not_named() -> None:
    assert faster_than_logarithm(row(WORKERS, {size: 3 * math.log2(size) for size in (2, 8, 64, 4096)})) == []


def test_each_step_that_grows_faster_is_named() -> None:
    named = faster_than_logarithm(row(WORKERS, {4: 10.0, 16: 20.0, 256: 60.0}))  # the logarithm doubles at each
    assert named == ["from 16 to 256 workers, an event takes 3.00 times as long; the logarithm grows 2.00 times"]


def test_noise_is_allowed_for() -> None:
    assert faster_than_logarithm(row(NODES, {4: 10.0, 16: 24.9})) == []
    assert len(faster_than_logarithm(row(NODES, {4: 10.0, 16: 25.1}))) == 1


@native
def test_a_cell_is_measured_in_a_process_of_its_own() -> None:
    events, seconds, task_bytes = in_own_process(Shape(tasks=50, workers=4, nodes=2))
    assert events >= 50 + 4
    assert seconds > 0
    assert task_bytes >= 0


def cells() -> list[Cell]:
    return [
        *row(TASKS, {10**4: 30.0, 10**5: 31.0}),
        *row(WORKERS, {2: 10.0, 16: 100.0}),
        *row(NODES, {2: 12.0, 4: 13.0}),
    ]


def test_the_table_is_printed_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    print_scale(cells(), as_json=False)
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines()]
    assert ["1,000", "16", "2", "0.000200", "100", "200", "4.00"] in lines
    assert "faster than the logarithm: from 2 to 16 workers, an event takes 10.00 times as long" in printed
    print_scale(row(NODES, {2: 1.0}), as_json=False)
    assert "nothing grows faster" in capsys.readouterr().out


def test_the_table_is_printed_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    print_scale(cells(), as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["cells", "faster_than_logarithm"]
    assert len(printed["cells"]) == 6
    assert len(printed["faster_than_logarithm"]) == 1


def test_the_figure_shows_every_cell() -> None:
    figure = scale_figure(cells())
    upper, lower = figure.axes[:3], figure.axes[3:6]
    assert [axes.get_xlabel() for axes in lower] == [TASKS, WORKERS, NODES]
    for axes, sizes in zip(upper, ([10**4, 10**5], [2, 16], [2, 4]), strict=True):
        lines = {str(line.get_label()): list(line.get_xdata()) for line in axes.get_lines()}  # type: ignore[arg-type]
        assert lines == dict.fromkeys(("an event", "a task", "as the logarithm"), sizes)
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [list(axes.get_lines()[0].get_ydata()) for axes in lower][1] == [4.0, 4.0]  # type: ignore[arg-type]
    nothing = scale_figure([cell_of(TASKS, Shape(10, 2, 2), 10, 1.0, 0.0)])
    assert list(nothing.axes[3].get_lines()[0].get_ydata()) == [LEAST_BYTES]  # type: ignore[arg-type]


def test_the_command_prints_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("numasim.validate.benchmark.scale.measure_scale", lambda progress: cells())
    picture = tmp_path / "scale.png"
    assert main(["bench", "--scale", "--json", "--plot", str(picture)]) == 0
    assert len(json.loads(capsys.readouterr().out)["cells"]) == 6
    assert picture.read_bytes().startswith(b"\x89PNG")
