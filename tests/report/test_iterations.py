"""Runs by iteration: the phases that count, and figures and pages of iterations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import numasim as ns
from numasim.engine.phase_rows import SUMS
from numasim.errors import InputError
from numasim.report.comparison_cells import by_iteration
from numasim.report.page.page_cells import page_iterations


def phase_run(run_id: str, phase: int, iteration: int, turn: int, time_ps: int, remote: int = 0) -> dict[str, object]:
    counted = {**dict.fromkeys(SUMS, 0), "bytes_remote": remote}
    return {"run_id": run_id, "phase": phase, "iteration": iteration, "turn": turn, "time_ps": time_ps, **counted}


def looping(run_id: str, times: list[int]) -> list[dict[str, object]]:
    """A phase that initialises, then a loop over two phases; the second phase takes a tenth of the first."""
    loop = [
        phase_run(run_id, phase, number, number, time // part, remote=number)
        for number, time in enumerate(times)
        for phase, part in ((1, 1), (2, 10))
    ]
    return [phase_run(run_id, 0, 0, 0, 7_000_000), *loop]


@pytest.fixture
def frame(frame_maker: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    return frame_maker(workers=[8], repeats=1)


def test_phases_of_an_iteration_are_added_and_those_that_run_once_are_left_out(frame: pd.DataFrame) -> None:
    run = str(frame["run_id"].iloc[0])
    found = by_iteration(frame, pd.DataFrame([*looping(run, [1000, 500]), phase_run("of no row", 0, 0, 1, 5)]))
    assert found["iteration"].tolist() == [0, 1]
    assert found["time_ps"].tolist() == [1100, 550]
    assert found["bytes_remote"].tolist() == [0, 2]
    assert set(found["strategy"]) == {frame["strategy"].iloc[0]}


def test_a_page_has_the_columns_that_are_not_zero_over_iterations(frame: pd.DataFrame) -> None:
    runs = list(dict.fromkeys(frame["run_id"]))
    rows = pd.DataFrame([row for place, run in enumerate(runs) for row in looping(run, [1000 + place, 500, 250])])
    cells = page_iterations(frame, rows)
    assert cells is not None
    assert [column["name"] for column in cells.plot["columns"]] == ["time_ps", "bytes_remote"]
    assert cells.plot["axes"][-1]["name"] == "iteration"
    assert cells.plot["axes"][-1]["values"] == [0, 1, 2]
    assert cells.plot["start"]["x"] == "iteration"
    assert page_iterations(frame, rows[rows["phase"] == 0]) is None


def test_a_page_keeps_evenly_spaced_iterations_and_says_so(frame: pd.DataFrame) -> None:
    run = str(frame["run_id"].iloc[0])
    cells = page_iterations(frame, pd.DataFrame(looping(run, [1000] * 20_000)))
    assert cells is not None
    assert len(cells.plot["repeats"]) <= 50_000 // 3
    assert cells.left_out[0].startswith("Of iterations: The plot has ")
    assert cells.left_out[0].endswith(" iterations.parquet has all.")


def test_a_figure_of_one_run_has_its_times() -> None:
    workload = {"name": "heat", "x": 64, "y": 16, "sweeps": 6}
    result = ns.run({"machine": "opteron-8380-4s", "workload": workload, "strategy": "cilk", "workers": 4})
    (line,) = ns.plot.iterations(result).axes[0].get_lines()
    summed = result.iterations.groupby("iteration")["time_ps"].sum()
    drawn, known = np.asarray(line.get_ydata(), float), summed.to_numpy(float)
    np.testing.assert_allclose(drawn / drawn[0], known / known[0])
    assert len(drawn) == 3  # a double sweep each


def test_what_cannot_be_drawn_over_iterations_is_named() -> None:
    result = ns.run({"machine": "opteron-8380-4s", "workload": {"name": "fib", "n": 4}, "workers": 2}, strategy="cilk")
    with pytest.raises(InputError, match="'makespan_ps' is not counted by iteration"):
        ns.plot.iterations(result, "makespan_ps")
    with pytest.raises(InputError, match="has iterations"):
        ns.plot.iterations(pd.DataFrame({"run_id": []}))
    assert ns.plot.iterations(result).texts[0].get_text() == "no program with iterations"
