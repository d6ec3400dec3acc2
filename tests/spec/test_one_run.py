"""The cell of a sweep (one value of each axis) that `numasim run` takes, and changes of axes whose names have dots."""

from __future__ import annotations

from typing import Any

import pytest
from small_inputs import TOY_RUN

from numasim.cli import OK, main
from numasim.spec.identity import run_id
from numasim.spec.one_run import OneRun, load_one
from numasim.spec.sweep_spec import load_sweep

SWEEP: dict[str, Any] = {
    "machine": "xeon-e5-2620-2s",
    "workload": {"name": "fib", "n": 5},
    "strategy": "randomized",
    "runtime": "own",
    "workers": 8,
    "sweep": {
        "runtime.backoff.first_ns": [100, 200],
        "strategy": ["threshold", "randomized"],
        "zip": [{"workload": [{"name": "fib", "n": 4}, {"name": "strassen", "n": 64}], "seed": [4, 5]}],
    },
}  # cells: back-off 100 or 200, threshold or randomized, fib or strassen


def one(*sets: str) -> OneRun:
    return load_one(SWEEP, sets)


@pytest.mark.parametrize(
    ("sets", "index"),
    [
        ((), 2),  # the strategy that the spec itself gives; fib of 5 is no value of the axis
        (("strategy=threshold",), 0),
        (("runtime.backoff.first_ns=200",), 6),
        (("seed=5",), 3),
        (("workload=strassen", "strategy=threshold"), 1),  # the value is a mapping with this name
        (("workload={name: strassen, n: 64}",), 3),
        (("strategy=ring",), None),  # no cell has this value
        (("runtime.backoff.first_ns=300",), None),
        (("runtime=ompi",), None),  # replaces the runtime, in which the axis is a field
        (("workers=4",), 2),  # a field that is no axis
    ],
)
def test_the_first_cell_that_fits_is_run(sets: tuple[str, ...], index: int | None) -> None:
    found = one(*sets)
    assert (found.index, found.cells) == (index, 8)
    if index is not None and sets != ("workers=4",):
        cell = load_sweep(SWEEP).cells[index]
        assert run_id(found.spec, 1) == run_id(cell.spec, 1)
        assert found.spec.seed == cell.spec.seed
        assert found.axes == cell.axes


def test_a_value_beside_the_cells_is_used() -> None:
    assert one("strategy=ring").spec.strategy.name == "ring"
    assert one("runtime.backoff.first_ns=300").spec.runtime.backoff.first_ns == 300
    assert one("runtime=ompi").spec.runtime.name == "ompi"
    assert one("runtime=ompi").spec.runtime.backoff.first_ns == 0
    assert one("workload.leaf_ns=7").spec.workload.model_dump()["leaf_ns"] == 7


def test_another_cell_can_be_asked_for() -> None:
    found = one()
    assert found.other is not None
    axis, value = found.other
    assert one(f"{axis}={value}").index != found.index


@pytest.mark.parametrize(
    ("change", "axes", "cells"),
    [
        ("sweep.runtime.backoff.first_ns=[1, 2, 3]", "runtime.backoff.first_ns", 12),
        ("sweep.runtime.poll_ns=[1, 2]", "runtime.poll_ns", 16),
        ("sweep.zip[0].seed=[6, 7]", "seed", 8),
        ("sweep.strategy[1]=ring", "strategy", 8),
        ("sweep.workers={from: 2, to: 6, step: 2}", "workers", 24),
    ],
)
def test_axes_with_dots_are_changed_by_their_names(change: str, axes: str, cells: int) -> None:
    loaded = load_sweep(SWEEP, [change])
    assert len(loaded.cells) == cells
    assert axes in loaded.axes


def test_parts_of_a_range_and_of_an_exclusion_are_changed() -> None:
    spec = {**SWEEP, "sweep": {"workers": {"from": 2, "to": 8}, "exclude": [{"workers": 3}]}}
    loaded = load_sweep(spec, ["sweep.workers.step=2", "sweep.exclude[0].workers=6"])
    assert [cell.axes["workers"] for cell in loaded.cells] == [2, 4, 8]


@pytest.mark.usefixtures("folder")
def test_the_command_says_which_cell_it_runs_and_how_to_run_another(
    run_file: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TOY_RUN.replace("strassen, n: 256", "fib, n: 4").replace("workers: 24", "sweep: {workers: [2, 4]}")
    path = str(run_file(text=text))
    for sets, said in (
        ((), "the sweep has 2 cells; cell 0 is run: workers = 2; another: --set workers=4"),
        (("--set", "workers=4"), "the sweep has 2 cells; cell 1 is run: workers = 4; another: --set workers=2"),
        (
            ("--set", "workers=6"),
            "the sweep has 2 cells; none of them is run, but one beside them: workers = 6; another: --set workers=2",
        ),
    ):
        assert main(["run", path, "--json", *sets]) == OK
        assert f"numasim: {said}\n" in capsys.readouterr().err
