"""Tables that are more than one run a cell: statistics against scipy, totals, latencies, placement, lock accesses."""

from __future__ import annotations

from pathlib import Path

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

import numasim as ns
from numasim.engine.simulate import simulate_spec
from numasim.reproduce.kinds.regression import least_squares
from numasim.reproduce.kinds.t_test import paired_t_test
from numasim.reproduce.plan.setting import Setting, Wanted
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.study.study import Study, read_study
from numasim.reproduce.table_cells import Cell, Table

THESIS_MACHINE = {"machine": "xeon-e5-2620-2s", "workers": 24}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    """Tables of the thesis whose runs take no time."""
    tables = ("4.1", "5.1", "6.2", "6.4", "6.5", "regression-4-3")
    directory = tmp_path_factory.mktemp("out")
    made = reproduce(read_study("thesis", tables), directory, quick=True, jobs=1)
    return {table.id: table for table in made.tables}


def cells(table: Table) -> dict[tuple[str, str], Cell]:
    return {(cell.row, cell.column): cell for cell in table.cells}


pair = st.tuples(*[st.floats(-100, 100, width=32)] * 2)


@given(st.lists(pair, min_size=3, max_size=20))
def test_the_t_test_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    differences = [first - second for first, second in pairs]
    if max(differences) - min(differences) < 1e-3:
        return
    expected = scipy.stats.ttest_rel(*zip(*pairs, strict=True), alternative="greater")
    mine = paired_t_test(differences)
    assert mine["t"] == pytest.approx(expected.statistic, rel=1e-6, abs=1e-9)
    assert mine["p_one_sided"] == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-9)


@given(st.lists(pair, min_size=3, max_size=20))
def test_the_regression_is_that_of_scipy(points: list[tuple[float, float]]) -> None:
    x, y = zip(*points, strict=True)
    if min(max(x) - min(x), max(y) - min(y)) < 1e-3:
        return
    expected = scipy.stats.linregress(x, y)
    mine = least_squares(x, y)
    assert mine["slope"] == pytest.approx(expected.slope, rel=1e-6, abs=1e-6)
    assert mine["intercept"] == pytest.approx(expected.intercept, rel=1e-6, abs=1e-4)
    assert mine["r"] == pytest.approx(expected.rvalue, rel=1e-6, abs=1e-6)
    residuals = [b - mine["intercept"] - mine["slope"] * a for a, b in points]
    assert mine["residual_sum_of_squares"] == pytest.approx(sum(each**2 for each in residuals), rel=1e-6, abs=1e-6)
    assert mine["r_squared"] == pytest.approx(mine["r"] ** 2)


def test_the_printed_t_test_is_not_that_of_the_printed_table() -> None:
    """Table 3.5 gives mean 0.1848, a sum of squares of 0.530 and t 1.390; 0.26, 1.24 and 1.29 are printed."""
    study = read_study("thesis")
    first, second = (study.published("3.5", f"{name}_speedup") for name in ("threshold_constrained", "randomized"))
    mine = paired_t_test([first[row] - second[row] for row in first])
    assert (round(mine["mean"], 4), round(mine["t"], 3)) == (0.1848, 1.390)
    assert round(mine["sum_of_squares"], 3) == 0.530
    printed = study.published("t-test-3-6-1", "printed")
    assert printed["p_one_sided"] == pytest.approx(scipy.stats.t.sf(printed["t"], df=5), abs=1e-6)


def test_equation_4_3_agrees_with_itself() -> None:
    printed = read_study("thesis").published("regression-4-3", "printed")
    assert printed["r"] ** 2 == pytest.approx(printed["r_squared"], abs=1e-9)


def test_a_regression_is_over_as_many_runs_as_the_thesis_made(found: dict[str, Table]) -> None:
    table = found["regression-4-3"]
    points = tuple(table.extra.values())
    assert [len(axis) for axis in points] == [50, 50]
    expected = least_squares(*points)
    assert {row: cell.simulated for (row, _), cell in cells(table).items()} == {
        name: (value,) for name, value in expected.items()
    }


def test_the_machine_has_the_latencies_of_table_4_1(found: dict[str, Table]) -> None:
    assert {cell.row for cell in found["4.1"].cells} == {"0, 0", "0, 1", "1, 0", "1, 1"}
    assert all(cell.simulated == (cell.published,) for cell in found["4.1"].cells)


def test_another_machine_shows_its_own_latencies(tmp_path: Path) -> None:
    (table,) = reproduce(read_study("thesis", ["4.1"]), tmp_path, machine="tilepro64").tables
    by_row = {row: cell for (row, _), cell in cells(table).items()}
    assert by_row["0, 0"].simulated != (77.3,)


def test_the_master_alone_puts_every_row_on_its_node(found: dict[str, Table]) -> None:
    rows = cells(found["5.1"])
    for size in ("512", "1024", "2048", "4096"):
        assert rows[size, "node_0_row_access_count"].simulated == (float(size),)
        assert rows[size, "node_1_row_access_count"].simulated == (0.0,)


def test_lock_accesses_take_as_long_as_a_line_takes_from_thread_to_thread(found: dict[str, Table]) -> None:
    """The first of 10,000 accesses goes to memory instead, 77.3 ns."""
    for cell in found["6.2"].cells:
        assert cell.mean == pytest.approx(cell.published + (77.3 - cell.published) / 10_000, rel=1e-9)


def test_an_overhead_is_what_a_construct_takes_beyond_its_delay(found: dict[str, Table], thesis: Study) -> None:
    (run,) = Setting(thesis, quick=True).runs(Wanted(thesis.programs["syncbench"], "barrier", "oblivious"))
    makespan_us = simulate_spec(run.spec, run.seed).counters["makespan_ps"] / 1e6
    delays_us = 100 * 0.1  # 100 repetitions of 100 ns, one thread's after the other's never
    assert cells(found["6.4"])["barrier", "numa_oblivious_overhead_ms"].simulated == pytest.approx(
        ((makespan_us - delays_us) / 100,)
    )


def test_a_total_is_the_sum_over_all_constructs(found: dict[str, Table], thesis: Study) -> None:
    lines = 0
    own = {
        row: each.value for each in thesis.parameters for row in each.rows if each.field == "workload.construct_lines"
    }
    for name, row in thesis.programs["syncbench"].file.rows.items():
        work = {"workload": {**row["workload"], "construct_lines": own.get(name, 0)}}
        spec = {**THESIS_MACHINE, **work, "strategy": "affinity-locks", "runtime": "ompi", "seed": 1}
        lines += ns.run(spec).row()["lock_handoffs_remote"]
    assert lines > 0
    assert cells(found["6.5"])["Affinity aware", "remote_gb"].simulated == (pytest.approx(64 * lines / 1e9),)


@pytest.fixture
def thesis() -> Study:
    return read_study("thesis")
