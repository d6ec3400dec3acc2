"""The cells of a page: the estimate of every column in each, in few numbers; a sweep that is too long is thinned."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from numasim.report.answers.statistics import median_estimate
from numasim.report.comparison_cells import estimate, median_estimates
from numasim.report.page.page_cells import MOST_NUMBERS, page_cells


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


def test_nothing_in_the_data_ends_the_script_that_holds_it(frame_maker):
    hostile = "</script><script>alert(1)</script> & <!--"
    frame = frame_maker(workers=[2], repeats=1).replace({"strategy": {"threshold": hostile}})
    text = page_cells(frame).json
    assert not {"<", ">", "&"} & set(text)
    assert hostile in next(axis for axis in json.loads(text)["axes"] if axis["name"] == "strategy")["names"]
