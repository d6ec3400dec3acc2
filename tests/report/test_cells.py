"""Cells (runs that differ only in seeds), contenders and facets of results, medians of cells, and axes of figures.

The contender of a cell is its strategy, with all axes inside of the strategy. The facet of a cell is every other varied
value but the number of workers.
"""

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from numasim.errors import InputError
from numasim.report.answers.estimated_effects import cell_estimates
from numasim.report.comparison_cells import (
    ChosenAxes,
    choose_axes,
    facet_columns,
    finished,
    follows_from,
    groups,
    label,
    largest_panels,
    numbers,
    panels,
    varying_columns,
)

keys = st.sampled_from(["a", "b", None])


@given(st.lists(st.tuples(keys, st.integers(0, 2)), max_size=20))
def test_groups_split_the_rows_in_order_of_appearance(rows):
    frame = pd.DataFrame(rows, columns=["x", "y"])
    found = groups(frame, ["x", "y"])
    names = [tuple(None if pd.isna(value) else value for value in values) for values, _ in found]
    assert names == list(dict.fromkeys(rows))
    for name, (_, members) in zip(names, found, strict=True):
        assert list(members) == [at for at, row in enumerate(rows) if row == name]


def test_no_columns_give_one_group():
    ((values, rows),) = groups(pd.DataFrame({"x": [1, 2]}), [])
    assert values == ()
    assert list(rows) == [0, 1]
    assert groups(pd.DataFrame({"x": []}), []) == []


def test_labels_name_axes_but_not_identities():
    columns = ["workload", "workload.n", "runtime.costs.push_ns", "model.cache"]
    assert label(columns, ["matmul", 256.0, 7.5, None]) == "matmul, n=256, push_ns=7.5"


def test_facets_are_all_that_varies_except_workers_and_strategy(frame):
    assert facet_columns(frame) == ["workload"]
    assert facet_columns(frame.assign(**{"model.cache": frame["repeat"] % 2})) == ["workload", "model.cache"]
    assert facet_columns(frame.assign(**{"strategy.amount": frame["repeat"] % 2})) == ["workload"]


def test_panels_go_facet_by_facet(frame):
    shown = [(panel.subtitle, panel.title) for panel in panels(frame)]
    strategies = ["randomized", "threshold", "topology-aware"]
    assert shown == [(program, name) for program in ("matmul n=256", "strassen n=1024") for name in strategies]
    assert sum(len(panel.runs) for panel in panels(frame)) == len(frame)
    for panel in largest_panels(frame[frame.workload == "matmul n=256"]):
        assert panel.subtitle == "24 workers"
        assert (panel.runs.workers == 24).all()
        assert len(panel.runs) == 10


def test_numbers_take_every_kind_of_null():
    for column in (pd.Series([1, None]), pd.Series([1, pd.NA], dtype="Int64"), pd.Series([1, None], dtype=object)):
        np.testing.assert_array_equal(numbers(pd.DataFrame({"x": column}), "x"), [1, np.nan])


def test_a_table_without_errors_is_finished(frame):
    assert len(finished(frame.assign(error="x"))) == 0
    assert len(finished(frame.drop(columns="error"))) == len(frame)


# ---- medians of cells, against independent computations --------------------------------------------------------------


def cell(frame, strategy, workers, workload="matmul n=256"):
    return frame[(frame.strategy == strategy) & (frame.workers == workers) & (frame.workload == workload)]


def test_each_cell_has_the_medians_of_its_runs_with_their_intervals(frame):
    table = cell_estimates(frame)
    assert len(table) == 2 * 12 * 3
    assert list(table.strategy[:3]) == ["randomized", "threshold", "topology-aware"]
    assert (table.runs == 10).all()
    assert (table.failed == 0).all()
    runs, row = cell(frame, "threshold", 12), cell(table, "threshold", 12).iloc[0]
    exact = scipy.stats.quantile_test(runs.makespan_ps, p=0.5).confidence_interval(0.95)
    assert row.makespan_ps == runs.makespan_ps.median()
    assert (row.makespan_ps_low, row.makespan_ps_high) == (exact.low, exact.high)
    assert row.steal_remote_ratio == runs.steal_remote_ratio.median()
    assert row.steal_miss_ratio_low < row.steal_miss_ratio < row.steal_miss_ratio_high


def test_failed_runs_are_counted_and_left_out(frame_maker):
    frame = frame_maker(programs=["matmul n=256"], workers=[4])
    broken = frame.copy()
    broken["makespan_ps"] = broken["makespan_ps"].astype("Int64")
    hit = (frame.strategy == "threshold") & (frame.repeat < 4)
    broken.loc[hit, "makespan_ps"] = pd.NA
    broken.loc[hit, "error"] = "out of memory"
    row = cell(cell_estimates(broken), "threshold", 4).iloc[0]
    kept = frame[~hit & (frame.strategy == "threshold")]
    assert (row.runs, row.failed) == (6, 4)
    assert row.makespan_ps == kept.makespan_ps.median()
    assert row.steal_miss_ratio == kept.steal_miss_ratio.median()


def test_one_repeat_and_no_rows(frame_maker):
    table = cell_estimates(frame_maker(repeats=1))
    assert table.makespan_ps.notna().all()
    assert table.makespan_ps_low.isna().all()
    assert cell_estimates(frame_maker().iloc[:0]).empty


# ---- the axes that figures show --------------------------------------------------------------------------------------


def sweep(**axes):
    """Return one run of every combination of the values of the axes; ``__`` stands for a dot in a name."""
    rows = [{"machine": "m", "workload": "w", "strategy": "s", "workers": 4}]
    for name, values in axes.items():
        rows = [{**row, name.replace("__", "."): value} for row in rows for value in values]
    return pd.DataFrame(rows)


THREE = {"workers": [2, 4], "workload": ["a", "b"], "strategy": ["s", "t"]}


@pytest.mark.parametrize(
    ("axes", "chosen", "x", "colour", "facet"),
    [
        (THREE, {}, "workers", ("strategy",), ("workload",)),
        (
            {"strategy": ["s", "t"], "runtime__backoff__first_ns": [1, 10, 100]},
            {},
            "runtime.backoff.first_ns",
            ("strategy",),
            (),
        ),
        ({"machine": ["a", "b"], "strategy": ["s", "t"]}, {}, "strategy", ("machine",), ()),
        ({"model__skip": [True, False]}, {}, "model.skip", (), ()),
        ({}, {}, "workers", (), ()),
        (
            {"workers": [2, 4], "runtime__capacity": [8, 16], "runtime__costs__push_ns": [1, 2]},
            {},
            "workers",
            ("runtime.capacity",),
            ("runtime.costs.push_ns",),
        ),
        (THREE, {"x": "strategy"}, "strategy", ("workload",), ("workers",)),
        (THREE, {"x": "strategy", "colour": "workers"}, "strategy", ("workers",), ("workload",)),
        (THREE, {"facet": "strategy"}, "workers", ("workload",), ("strategy",)),
    ],
)
def test_axes_are_chosen_by_the_user_or_among_those_that_vary(axes, chosen, x, colour, facet):
    assert choose_axes(sweep(**axes), **chosen) == ChosenAxes(x, colour, facet)


def test_an_axis_that_follows_from_a_chosen_axis_is_no_axis_of_its_own():
    runs = pd.concat([sweep(workload=["a"], runtime=["x"]), sweep(workload=["b"], runtime=["y"])])
    assert choose_axes(runs, x="workload") == ChosenAxes("workload", (), ())
    assert follows_from(runs, ["workload"], "runtime")
    assert not follows_from(sweep(workload=["a"], runtime=["x", "y"]), ["workload"], "runtime")
    filled = pd.concat([sweep(machine=["small"], workers=[4]), sweep(machine=["large"], workers=[64])])
    assert choose_axes(filled).x == "machine"


def test_a_cell_without_a_value_counts_as_another_value():
    assert varying_columns(pd.concat([sweep(), sweep(runtime__capacity=[8])])) == ["runtime.capacity"]


@pytest.mark.parametrize("role", ["x", "colour", "facet"])
def test_a_name_that_is_no_axis_proposes_the_nearest(role):
    with pytest.raises(InputError, match="did you mean 'workers'"):
        choose_axes(sweep(), **{role: "wrokers"})
