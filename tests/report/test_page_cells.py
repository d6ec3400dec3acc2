"""The data of the plots on a sweep's page: estimates of cells (runs that differ only in seeds), fewer points for large
sweeps, and runs by iteration.
"""

import math

import numpy as np
import pandas as pd
import pytest

import numasim as ns
from numasim.engine.phase_rows import SUMS
from numasim.errors import InputError
from numasim.report.answers.statistics import median_estimate
from numasim.report.comparison_cells import by_iteration, estimate, median_estimates
from numasim.report.sweep_page import MOST_NUMBERS, page_cells, page_iterations


def cells_of(frame):
    return page_cells(frame).plot


def column(plot, name):
    return next(each for each in plot["columns"] if each["name"] == name)


def test_every_cell_has_the_estimate_of_its_runs(frame_maker):
    frame = frame_maker(workers=[2, 8], repeats=4)
    plot = cells_of(frame)
    assert [axis["name"] for axis in plot["axes"]] == ["workload", "workers", "strategy"]
    assert plot["repeats"] == [4] * 12
    for cell in range(12):
        chosen = {axis["name"]: axis["values"][axis["of"][cell]] for axis in plot["axes"]}
        runs = frame[np.logical_and.reduce([frame[name] == value for name, value in chosen.items()])]
        for name in ("makespan_ps", "steal_miss_ratio", "idle_steal_ps"):
            found, shown = estimate(runs, name), column(plot, name)
            for end in ("value", "low", "high"):
                numbers = shown[end]
                exact = pytest.approx(getattr(found, end), rel=1e-6, nan_ok=True)
                of_cell = numbers[cell] if isinstance(numbers, list) else numbers
                assert (math.nan if of_cell is None else of_cell) == exact


def test_medians_of_many_cells_are_those_of_each():
    rng = np.random.default_rng(3)
    cell_of = rng.integers(0, 9, 60).astype(np.intp)
    cell_of[:9], cell_of[9:18] = np.arange(9), 0
    values = np.where(rng.random(60) < 0.1, math.nan, rng.normal(5, 2, 60))
    for cell, found in enumerate(zip(*median_estimates(values, cell_of), strict=True)):
        alone = median_estimate(values[cell_of == cell])
        assert found == pytest.approx((alone.value, alone.low, alone.high), nan_ok=True)


def test_numbers_are_in_order_and_what_is_not_set_comes_last(frame_maker):
    frame = frame_maker(programs=["matmul n=256"], strategies=["randomized"], workers=[8], repeats=3)
    (axis,) = cells_of(frame.assign(**{"runtime.capacity": [64.0, math.nan, 8.0]}))["axes"]
    assert (axis["values"], axis["names"], axis["of"]) == ([8, 64, None], ["8", "64", "not set"], [1, 2, 0])


def test_a_column_of_equal_numbers_is_one_number_and_one_without_numbers_is_left_out(frame_maker):
    frame = frame_maker(workers=[2], repeats=2).assign(imc_busy_max=math.nan)
    plot = cells_of(frame)
    assert column(plot, "lock_wait_ps")["value"] == 0
    assert "imc_busy_max" not in [each["name"] for each in plot["columns"]]


def test_a_single_run_of_each_cell_has_no_interval(frame_maker):
    assert column(cells_of(frame_maker(workers=[2], repeats=1)), "makespan_ps")["low"] is None


def test_failed_runs_do_not_count_and_without_others_there_is_no_plot(frame_maker):
    frame = frame_maker(workers=[2], repeats=2)
    assert cells_of(frame.assign(error=frame["repeat"].map({0: None, 1: "x"})))["repeats"] == [1] * 6
    assert page_cells(frame.assign(error="x")) is None


@pytest.mark.parametrize(
    ("workers", "column_name", "x"), [([2, 8], "efficiency", "workers"), ([2], "makespan_ps", "strategy")]
)
def test_the_plot_begins_with_the_axes_of_static_figures(frame_maker, workers, column_name, x):
    start = cells_of(frame_maker(workers=workers, repeats=1))["start"]
    assert (start["column"], start["x"]) == (column_name, x)
    assert "workload" in (start["colour"], start["facet"])


def test_a_page_of_more_cells_than_it_holds_says_what_it_leaves_out(frame_maker):
    few = frame_maker(programs=["matmul n=256"], workers=[8], repeats=2)
    capacities = np.repeat(np.arange(667), len(few))
    found = page_cells(pd.concat([few] * 667, ignore_index=True).assign(**{"runtime.capacity": capacities}))
    lists = [each[end] for each in found.plot["columns"] for end in ("value", "low", "high")]
    assert sum(len(numbers) for numbers in lists if isinstance(numbers, list)) <= MOST_NUMBERS
    assert len(found.json) < 1_500_000
    kept = next(axis for axis in found.plot["axes"] if axis["name"] == "runtime.capacity")["values"]
    assert (kept[0], kept[-1]) == (0, 666)
    shown = len(found.plot["repeats"])
    assert shown == 3 * len(kept)
    assert found.left_out == (
        f"The plot has {shown:,} of 2,001 cells: {len(kept):,} of 667 values of runtime.capacity."
        " The results table has all.",
    )


# ---- iterations ----


def phase_run(run_id, phase, iteration, turn, time_ps, remote=0):
    counted = {**dict.fromkeys(SUMS, 0), "bytes_remote": remote}
    return {"run_id": run_id, "phase": phase, "iteration": iteration, "turn": turn, "time_ps": time_ps, **counted}


def looping(run_id, times):
    """Return the times of phases: one that initialises, then a loop over two, the second a tenth of the first."""
    loop = [
        phase_run(run_id, phase, number, number, time // part, remote=number)
        for number, time in enumerate(times)
        for phase, part in ((1, 1), (2, 10))
    ]
    return [phase_run(run_id, 0, 0, 0, 7_000_000), *loop]


@pytest.fixture
def eight(frame_maker):
    return frame_maker(workers=[8], repeats=1)


def test_phases_of_an_iteration_are_added_and_those_that_run_once_are_left_out(eight):
    run = str(eight["run_id"].iloc[0])
    found = by_iteration(eight, [pd.DataFrame([*looping(run, [1000, 500]), phase_run("of no row", 0, 0, 1, 5)])])
    assert found["iteration"].tolist() == [0, 1]
    assert found["time_ps"].tolist() == [1100, 550]
    assert found["bytes_remote"].tolist() == [0, 2]
    assert set(found["strategy"]) == {eight["strategy"].iloc[0]}


def test_a_page_has_the_columns_that_are_not_zero_over_iterations(eight):
    runs = list(dict.fromkeys(eight["run_id"]))
    rows = pd.DataFrame([row for place, run in enumerate(runs) for row in looping(run, [1000 + place, 500, 250])])
    cells = page_iterations(eight, [rows])
    assert cells is not None
    assert [column["name"] for column in cells.plot["columns"]] == ["time_ps", "bytes_remote"]
    assert cells.plot["axes"][-1]["name"] == "iteration"
    assert cells.plot["axes"][-1]["values"] == [0, 1, 2]
    assert cells.plot["start"]["x"] == "iteration"
    assert page_iterations(eight, [rows[rows["phase"] == 0]]) is None


def test_a_page_keeps_evenly_spaced_iterations_and_says_so(eight):
    run = str(eight["run_id"].iloc[0])
    cells = page_iterations(eight, [pd.DataFrame(looping(run, [1000] * 20_000))])
    assert cells is not None
    assert len(cells.plot["repeats"]) <= 50_000 // 3
    assert cells.left_out[0].startswith("Of iterations: The plot has ")
    assert cells.left_out[0].endswith(" iterations.parquet has all.")


def test_a_figure_of_one_run_has_its_times():
    workload = {"name": "heat", "x": 64, "y": 16, "sweeps": 6}
    result = ns.run({"machine": "opteron-8380-4s", "workload": workload, "strategy": "cilk", "workers": 4})
    (line,) = ns.plot.iterations(result).axes[0].get_lines()
    summed = result.iterations.groupby("iteration")["time_ps"].sum()
    drawn, known = np.asarray(line.get_ydata(), float), summed.to_numpy(float)
    np.testing.assert_allclose(drawn / drawn[0], known / known[0])
    assert len(drawn) == 3  # each iteration is a double sweep


def test_what_cannot_be_drawn_over_iterations_is_named():
    result = ns.run({"machine": "opteron-8380-4s", "workload": {"name": "fib", "n": 4}, "workers": 2}, strategy="cilk")
    with pytest.raises(InputError, match="'makespan_ps' is not counted by iteration"):
        ns.plot.iterations(result, "makespan_ps")
    with pytest.raises(InputError, match="has iterations"):
        ns.plot.iterations(pd.DataFrame({"run_id": []}))
    assert ns.plot.iterations(result).texts[0].get_text() == "no program with iterations"
