"""Modules of the thesis study: a regression, tables without runs, simple rules, conclusions, contributions."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
import scipy
from cells_by_hand import cell, table
from hypothesis import given
from hypothesis import strategies as st

import numasim as ns
from numasim.engine.simulate import simulate_spec
from numasim.parts.yaml.document import load
from numasim.reproduce.programs import Wanted
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.scores import class_scores
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import read_study
from numasim.reproduce.study_tables import cells_of, table_of
from numasim.reproduce.table_cells import Cell, Table

THESIS = read_study("thesis")
KINDS, SENSITIVITY = THESIS.part("kinds"), THESIS.part("sensitivity")
CONTRIBUTIONS, SHARES = THESIS.part("contributions"), THESIS.part("shares")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    """Return the tables of the thesis whose runs take almost no time."""
    tables = ("4.1", "5.1", "6.2", "6.4", "6.5", "regression-4-3")
    made = reproduce(read_study("thesis", tables), tmp_path_factory.mktemp("out"), quick=True, jobs=1)
    return {table.id: table for table in made.tables}


def cells(table: Table) -> dict[tuple[str, str], Cell]:
    return {(cell.row, cell.column): cell for cell in table.cells}


pair = st.tuples(*[st.floats(-100, 100, width=32)] * 2)


@given(st.lists(pair, min_size=3, max_size=20))
def test_the_regression_is_that_of_scipy(points: list[tuple[float, float]]) -> None:
    x, y = zip(*points, strict=True)
    if min(max(x) - min(x), max(y) - min(y)) < 1e-3:
        return
    expected = scipy.stats.linregress(x, y)
    mine = KINDS.least_squares(x, y)
    assert mine["slope"] == pytest.approx(expected.slope, rel=1e-6, abs=1e-6)
    assert mine["intercept"] == pytest.approx(expected.intercept, rel=1e-6, abs=1e-4)
    assert mine["r"] == pytest.approx(expected.rvalue, rel=1e-6, abs=1e-6)
    residuals = [b - mine["intercept"] - mine["slope"] * a for a, b in points]
    assert mine["residual_sum_of_squares"] == pytest.approx(sum(each**2 for each in residuals), rel=1e-6, abs=1e-6)
    assert mine["r_squared"] == pytest.approx(mine["r"] ** 2)


def test_a_machine_has_its_own_latencies(found: dict[str, Table], tmp_path: Path) -> None:
    assert {each.row for each in found["4.1"].cells} == {"0, 0", "0, 1", "1, 0", "1, 1"}
    assert all(each.simulated == (each.published,) for each in found["4.1"].cells)
    (other,) = reproduce(read_study("thesis", ["4.1"]), tmp_path, machine="tilepro64").tables
    assert {row: each for (row, _), each in cells(other).items()}["0, 0"].simulated != (77.3,)


def test_the_master_alone_puts_every_row_on_its_node(found: dict[str, Table]) -> None:
    rows = cells(found["5.1"])
    for size in ("512", "1024", "2048", "4096"):
        assert rows[size, "node_0_row_access_count"].simulated == (float(size),)
        assert rows[size, "node_1_row_access_count"].simulated == (0.0,)


def test_lock_accesses_take_as_long_as_a_line_takes_from_thread_to_thread(found: dict[str, Table]) -> None:
    """Only the first of 10,000 accesses goes to memory, which takes 77.3 ns."""
    for each in found["6.2"].cells:
        assert each.mean == pytest.approx(each.published + (77.3 - each.published) / 10_000, rel=1e-9)


def test_an_overhead_is_what_a_construct_takes_beyond_its_delay(found: dict[str, Table]) -> None:
    (run,) = Setting(THESIS, quick=True).runs(Wanted(THESIS.programs["syncbench"], "barrier", "oblivious"))
    makespan_us = simulate_spec(run.spec, run.seed).counters["makespan_ps"] / 1e6
    delays_us = 100 * 0.1  # 100 repetitions of a delay of 100 ns, which all threads have at the same time
    assert cells(found["6.4"])["barrier", "numa_oblivious_overhead_ms"].simulated == pytest.approx(
        ((makespan_us - delays_us) / 100,)
    )


def test_the_bytes_of_table_6_5_are_the_sum_over_all_constructs(found: dict[str, Table]) -> None:
    fitted = (each for each in THESIS.parameters if each.field == "workload.construct_lines")
    own, lines = {row: each.value for each in fitted for row in each.rows}, 0
    for name, row in THESIS.programs["syncbench"].rows.items():
        work = {"workload": {**row["workload"], "construct_lines": own.get(name, 0)}, "runtime": "ompi", "seed": 1}
        spec = {"machine": "xeon-e5-2620-2s", "workers": 24, **work, "strategy": "affinity-locks"}
        lines += ns.run(spec).row()["lock_handoffs_remote"]
    assert lines > 0
    assert cells(found["6.5"])["Affinity aware", "remote_gb"].simulated == (pytest.approx(64 * lines / 1e9),)


# ---- simple rules ----


def test_simple_rules_predict_what_a_colleague_would() -> None:
    """The published values of the thesis, with exact predictions: the simple rules by hand."""
    setting = Setting(THESIS)
    exact = [
        table_of(setting, each, [replace(cell, simulated=(cell.published,)) for cell in cells_of(setting, each)])
        for each in THESIS.tables.values()
    ]
    scores = {
        score.name: {each.rule: each for each in score.simple} for score in class_scores(exact, THESIS.score_rules)
    }

    serial = THESIS.published("3.4", "serial_execution_time_s")
    after = {
        "3.4": "threshold_constrained",
        "4.5": "topology_aware",
        "5.2": "locality_binding",
        "6.6": "affinity_aware",
    }
    before = {"3.4": "randomized", "4.5": "randomized", "5.2": "topology_aware", "6.6": "numa_oblivious"}
    times, steps = [], []
    for id, name in after.items():
        old, new = (THESIS.published(id, f"{each}_execution_time_s") for each in (before[id], name))
        for row in new:
            gain = 1 if id == "3.4" else 1.3
            times.append(abs(serial[row] / 12 / gain / new[row] - 1))
            steps.append(abs(old[row] / (1.3 if id == "4.5" else 1) / new[row] - 1))
    assert scores["times"]["serial time / 12, / 1.3 with second threads"].value == pytest.approx(fmean(times))
    step = scores["times, one step"]["/ 1.3 where second threads begin, else no effect"]
    assert step.value == pytest.approx(fmean(steps))

    atomic, others = 0.365 * 15.435 / 38.428 / 0.158 - 1, (2.151 / 8.661, 0.803 / 6.09, 0.127 / 2.092)
    others += (0.0082 / 0.2438, 0.024 / 0.267, 1.966 / 6.839)
    rule = scores["overheads"]["atomic by the ratio of Table 6.2, else no effect"]
    assert rule.value == pytest.approx((abs(atomic) + sum(others)) / 7)

    bytes_, errors = (
        [THESIS.published("5.3", f"{each}_remote_gb") for each in ("topology_aware", "locality_binding")],
        [],
    )
    for column in bytes_:
        for row in column:
            rate = fmean(column[other] / serial[other] for other in column if other != row)
            errors.append(abs(rate * serial[row] / column[row] - 1))
    assert scores["volumes"]["serial time x rate of the other programs"].value == pytest.approx(fmean(errors))

    assert {name: each.cells for name, each in scores["steals"].items() if "Table 3.1" in name} == {
        "attempts of Table 3.1, half remote, with domains none": 48,
        "successes of Table 3.1, half remote, with domains none": 48,
    }
    assert scores["remote-share"]["one half (equation 4.2)"].value == pytest.approx(0.5 - 1675 / 3541)
    ranks = [1.0, 1.0, 1.0, 1.0, 0.8, 0.9]  # 1 - sum of squared differences of ranks / 20, of five times
    assert scores["ranks"]["each chapter is faster than the one before"].value == pytest.approx(fmean(ranks))
    assert scores["ranks, least"]["each chapter is faster than the one before"].value == pytest.approx(0.8)


# ---- conclusions ----


def made_up() -> object:
    end, gain = SENSITIVITY.End, SENSITIVITY.Conclusion("locks", "effect", 0.02, (0.02, 0.03, -0.01), 0.0)
    times = SENSITIVITY.Conclusion("times", "mape", 0.12, (0.12, 0.12, 0.12), 0.15)
    first = {"low": end("1", {"locks": -0.04, "times": 0.2}), "high": end("9", {"locks": 0.05, "times": 0.1})}
    second = {"low": end("no", {"locks": 0.03, "times": math.nan})}
    influences = [SENSITIVITY.Influence(*each) for each in (("b", "reading", "?", second), ("a", "fitted", "?", first))]
    return SENSITIVITY.Sensitivity((gain, times), tuple(influences), 10)


def test_a_conclusion_holds_while_sign_or_verdict_stay() -> None:
    gain, times = made_up().conclusions
    assert [gain.holds(value) for value in (0.1, 0.0, -0.1, math.nan)] == [True, False, False, False]
    assert [times.holds(value) for value in (0.15, 0.16)] == [True, False]
    locks, other = SENSITIVITY.robustness(made_up())
    assert locks == ("locks", "2.0%", "-1.0% to 3.0%", "-4.0% (a: 1)", "5.0% (a: 9)", "2 of 3")
    assert other == ("times", "12.0%", "12.0% to 12.0%", "10.0% (a: 9)", "20.0% (a: 1)", "1 of 2")


def test_every_range_of_the_thesis_changes_some_run() -> None:
    tables = [THESIS.tables[name] for name in ("3.4", "3.6", "4.5", "5.2", "5.3", "6.6")]
    changes = load(THESIS.folder / "sensitivity.yaml").plain()["changes"]

    def runs(**changes: object) -> set[str]:
        setting = Setting(THESIS, quick=True, repeat=1, **changes)  # type: ignore[arg-type]
        return {run.run_id for table in tables for run in table.kind.plan(setting, table).runs}

    base, sides = runs(), list(SENSITIVITY._sides(THESIS, changes))
    changing = {each.name for each in sides if runs(changes=each.changes, readings=each.readings) - base}
    beside = {name for name, each in THESIS.readings.items() if "bots" not in each.scope.programs}
    assert changing == {each.name for each in sides} - beside


# ---- contributions and shares ----


def test_an_effect_is_the_geometric_mean_over_rows_with_both_times() -> None:
    times = {("a", "old"): 4.0, ("a", "new"): 2.0, ("b", "old"): 1.0, ("b", "new"): 2.0, ("c", "old"): 5.0}
    made = [cell(row, 1.0, time, variant=variant) for (row, variant), time in times.items()]
    one = CONTRIBUTIONS.Contribution("new", "old")
    assert CONTRIBUTIONS.effect([table(made[:3]), table(made[3:])], one) == pytest.approx(0.0)
    assert CONTRIBUTIONS.speedup_gain([4.0, 9.0], [1.0, 1.0]) == pytest.approx(5.0)
    assert math.isnan(CONTRIBUTIONS.effect([table(made[4:])], one))


def test_a_share_is_taken_seed_by_seed_and_of_what_was_published() -> None:
    def count(row: str, column: str, published: float, *simulated: float) -> Cell:
        return cell(row, published, *simulated, column=column, unit="count", score="steals", baseline="near", null=3.0)

    counts = [
        count("2", "far", 1, 3, 2),
        count("2", "near", 3, 1, 2),
        count("4", "far", 0, 1),
        count("4", "near", 0, 1),
    ]
    share = SHARES.Share("1.1", "far", ("far", "near"))
    (only,) = SHARES.share_table([table(counts)], {"remote": share}, "Shares").cells  # 0 / 0 is not a share
    assert (only.published, only.simulated, only.unit, only.column) == (0.25, (0.75, 0.5), "1", "remote")
    assert (only.score, only.baseline, only.null) == ("", "", None)
