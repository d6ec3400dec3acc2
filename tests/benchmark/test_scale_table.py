"""The scale table from made-up measurements: its arithmetic, the reported growth, its form and its figure."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from numasim.cli import main
from numasim.engine.simulate import ENGINES
from numasim.spec.run_spec import resolve
from numasim.validate.benchmark import scale
from numasim.validate.benchmark.sampling import Finding
from numasim.validate.benchmark.scale import (
    COLUMNS,
    GROWING,
    LEAST_BYTES,
    NODES_USUAL,
    USUAL,
    costs,
    generated_machine,
    growth_sentences,
    in_own_process,
    scale_figure,
)

NOTHING = ["nothing grows faster than the logarithm of tasks, workers or nodes"]
SIZES = {(nodes, NODES_USUAL["workers"]) for nodes in GROWING["nodes"]}
SIZES |= {(USUAL["nodes"], workers) for workers in GROWING["workers"]}


def table(grows: str, ns_per_event: dict[int, float], task_bytes: float = 4000.0) -> list[Finding]:
    """Return a table in which an event takes the given nanoseconds at each size, with 2,000 events and 1,000 tasks."""
    return [
        Finding(f"{grows} grow; 8 workers", f"{size:,}", column.name, value)
        for size, cost in ns_per_event.items()
        for column, value in zip(COLUMNS, costs(1000, 2000, 2000e-9 * cost, task_bytes), strict=True)
    ]


def test_costs_follow_from_seconds_events_and_bytes() -> None:
    assert costs(400, 500, 2e-6, 1200.0) == pytest.approx((2e-6, 4.0, 5.0, 3.0))


@pytest.mark.parametrize(("nodes", "workers"), sorted(SIZES))
def test_a_generated_machine_has_its_nodes_and_a_thread_for_each_worker(nodes: int, workers: int) -> None:
    spec = {"workload": {"name": "fib", "n": 1}, "strategy": "randomized", "workers": workers}
    machine = resolve({**spec, "machine": generated_machine(nodes, workers)}).machine
    assert machine.sockets == nodes
    assert workers <= machine.threads < workers + nodes


@pytest.mark.parametrize(
    "costs_of", [{size: 3 * math.log2(size) for size in (2, 8, 64, 4096)}, {4: 10.0, 16: 24.9}], ids=["log", "noise"]
)
def test_growth_as_the_logarithm_and_noise_are_not_named(costs_of: dict[int, float]) -> None:
    assert growth_sentences(table("workers", costs_of)) == NOTHING


def test_each_step_that_grows_faster_is_named() -> None:
    named = growth_sentences(table("workers", {4: 10.0, 16: 20.0, 256: 60.0}))  # the logarithm doubles at each step
    assert named == [
        "faster than the logarithm: from 16 to 256 workers, an event takes 3.00 times as long; "
        "the logarithm grows 2.00 times"
    ]
    assert growth_sentences(table("nodes", {4: 10.0, 16: 25.1})) != NOTHING


@pytest.mark.skipif("native" not in ENGINES, reason="the table is of the native engine")
def test_a_size_is_measured_in_a_process_of_its_own() -> None:
    seconds, ns_per_event, ns_per_task, task_bytes = in_own_process(tasks=50, workers=4, nodes=2)
    assert seconds > 0
    assert ns_per_task >= ns_per_event * 54 / 50  # at least one event for each task and each worker
    assert task_bytes >= 0


def test_the_figure_shows_every_size() -> None:
    found = [*table("tasks", {10**4: 30.0, 10**5: 31.0}), *table("workers", {2: 10.0, 16: 100.0}, 0.0)]
    figure = scale_figure(found)
    upper, lower = figure.axes[:2], figure.axes[2:]
    assert [axes.get_xlabel() for axes in lower] == ["tasks", "workers"]
    for axes, sizes in zip(upper, ([10**4, 10**5], [2, 16]), strict=True):
        lines = {str(line.get_label()): list(line.get_xdata()) for line in axes.get_lines()}  # type: ignore[arg-type]
        assert lines == dict.fromkeys(("an event", "a task", "as the logarithm"), sizes)
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    drawn = [list(axes.get_lines()[0].get_ydata()) for axes in lower]  # type: ignore[arg-type]
    assert drawn == [[4.0, 4.0], [LEAST_BYTES] * 2]


def test_the_command_prints_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scale, "measure_scale", lambda progress: table("workers", {2: 10.0, 16: 100.0}))
    picture = tmp_path / "scale.png"
    assert main(["bench", "--scale", "--json", "--plot", str(picture)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["findings"]) == 2 * len(COLUMNS)
    assert len(printed["sentences"]) == 1
    assert picture.read_bytes().startswith(b"\x89PNG")
