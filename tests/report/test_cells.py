"""Cells, contenders and facets of a results table."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from numasim.report.comparison_cells import facet_columns, finished, groups, label, largest_panels, numbers, panels

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


def test_facets_are_what_varies_except_workers_and_strategy(frame):
    assert facet_columns(frame) == ["workload"]
    assert facet_columns(frame.assign(**{"model.cache": frame["repeat"] % 2})) == ["workload", "model.cache"]
    assert facet_columns(frame.assign(**{"strategy.amount": frame["repeat"] % 2})) == ["workload"]


def test_panels_go_facet_by_facet(frame):
    shown = [(panel.subtitle, panel.title) for panel in panels(frame)]
    strategies = ["randomized", "threshold", "topology-aware"]
    assert shown == [(program, name) for program in ("matmul n=256", "strassen n=1024") for name in strategies]
    assert sum(len(panel.runs) for panel in panels(frame)) == len(frame)


def test_the_largest_panels_hold_the_most_workers(frame):
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
