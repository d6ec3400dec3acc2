"""What varies becomes x; strategies are colours; nothing that differs is averaged."""

import pandas as pd
import pytest

from numasim.errors import InputError
from numasim.report.chosen_axes import ChosenAxes, choose_axes, follows_from, varying_columns

FIXED = {"machine": "m", "workload": "w", "strategy": "s", "workers": 4}


def sweep(**axes):
    """One run of every combination of the values of the axes, dots in their names written as __."""
    rows = [FIXED]
    for name, values in axes.items():
        rows = [{**row, name.replace("__", "."): value} for row in rows for value in values]
    return pd.DataFrame(rows)


def test_workers_are_x_where_they_vary():
    runs = sweep(workers=[2, 4], workload=["a", "b"], strategy=["s", "t"])
    assert choose_axes(runs) == ChosenAxes("workers", ("strategy",), ("workload",))


def test_else_numbers_that_vary_are_x():
    runs = sweep(strategy=["s", "t"], runtime__backoff__first_ns=[1, 10, 100])
    assert choose_axes(runs) == ChosenAxes("runtime.backoff.first_ns", ("strategy",), ())


def test_else_names_that_vary_are_x():
    assert choose_axes(sweep(machine=["a", "b"], strategy=["s", "t"])) == ChosenAxes("strategy", ("machine",), ())
    assert choose_axes(sweep(model__skip=[True, False])) == ChosenAxes("model.skip", (), ())


def test_where_nothing_varies_there_is_one_dot_over_its_workers():
    assert choose_axes(sweep()) == ChosenAxes("workers", (), ())


def test_what_is_left_without_strategies_is_colour_and_then_panels():
    runs = sweep(workers=[2, 4], runtime__capacity=[8, 16], runtime__costs__push_ns=[1, 2])
    assert choose_axes(runs) == ChosenAxes("workers", ("runtime.capacity",), ("runtime.costs.push_ns",))


def test_what_is_chosen_is_kept_and_the_rest_divides_into_panels():
    runs = sweep(workers=[2, 4], workload=["a", "b"], strategy=["s", "t"])
    assert choose_axes(runs, x="strategy") == ChosenAxes("strategy", ("workload",), ("workers",))
    assert choose_axes(runs, x="strategy", colour="workers") == ChosenAxes("strategy", ("workers",), ("workload",))
    assert choose_axes(runs, facet="strategy") == ChosenAxes("workers", ("workload",), ("strategy",))


def test_what_follows_from_a_chosen_axis_is_no_axis_of_its_own():
    runs = pd.concat([sweep(workload=["a"], runtime=["x"]), sweep(workload=["b"], runtime=["y"])])
    assert choose_axes(runs, x="workload") == ChosenAxes("workload", (), ())
    assert follows_from(runs, ["workload"], "runtime")
    assert not follows_from(sweep(workload=["a"], runtime=["x", "y"]), ["workload"], "runtime")


def test_workers_that_follow_from_the_machine_are_not_x():
    runs = pd.concat([sweep(machine=["small"], workers=[4]), sweep(machine=["large"], workers=[64])])
    assert choose_axes(runs).x == "machine"


def test_a_cell_without_a_value_counts_as_another_value():
    runs = pd.concat([sweep(), sweep(runtime__capacity=[8])])
    assert varying_columns(runs) == ["runtime.capacity"]


@pytest.mark.parametrize("role", ["x", "colour", "facet"])
def test_a_name_that_is_no_axis_proposes_the_nearest(role):
    with pytest.raises(InputError, match="did you mean 'workers'"):
        choose_axes(sweep(), **{role: "wrokers"})
