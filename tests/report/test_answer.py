"""The table that a sweep ends with: numbers against independent computations, then its text."""

import math

import pandas as pd
import pytest
import scipy

from numasim.engine.result import TIME
from numasim.report.answers.answer import answer


def cell(frame, strategy, workers, workload="matmul n=256"):
    chosen = (frame.strategy == strategy) & (frame.workers == workers) & (frame.workload == workload)
    return frame[chosen]


def test_one_row_per_cell_in_order_of_appearance(frame):
    table = answer(frame)
    assert len(table) == 2 * 12 * 3
    assert list(table.strategy[:3]) == ["randomized", "threshold", "topology-aware"]
    assert (table.runs == 10).all()
    assert (table.failed == 0).all()


def test_means_and_ratios_are_those_of_the_runs(frame):
    runs, row = cell(frame, "threshold", 12), cell(answer(frame), "threshold", 12).iloc[0]
    low, high = scipy.stats.t.interval(0.95, 9, runs.makespan_ps.mean(), scipy.stats.sem(runs.makespan_ps))
    assert row.makespan_ps == runs.makespan_ps.mean()
    assert (row.makespan_ps_low, row.makespan_ps_high) == pytest.approx((low, high))
    assert row.steal_miss_ratio == runs.steal_false.sum() / runs.steal_attempts.sum()
    assert row.steal_remote_ratio == runs.steal_attempts_remote.sum() / runs.steal_attempts.sum()
    assert row.steal_miss_ratio_low < row.steal_miss_ratio < row.steal_miss_ratio_high


def test_difference_is_paired_by_seed_whatever_the_row_order(frame):
    shuffled = pd.concat([frame.iloc[:1], frame.iloc[1:].sample(frac=1, random_state=3)])
    row = cell(answer(shuffled), "topology-aware", 8).iloc[0]
    pairs = cell(frame, "randomized", 8).merge(cell(frame, "topology-aware", 8), on="seed", suffixes=("_a", "_b"))
    change = (pairs.makespan_ps_b - pairs.makespan_ps_a).to_numpy()
    assert row.difference_ps == pytest.approx(change.mean())
    half = scipy.stats.t.ppf(0.975, 9) * scipy.stats.sem(change)
    assert row.difference_ps_high - row.difference_ps == pytest.approx(half)
    assert row.difference_percent == pytest.approx(100 * change.sum() / pairs.makespan_ps_a.sum())
    assert row.first_better == (change > 0).mean()
    assert row.pairs == 10


def test_pairs_do_not_depend_on_whether_the_seed_is_that_of_the_sweep_or_of_the_run(frame):
    same = answer(frame.assign(seed=7))
    pd.testing.assert_frame_equal(same, answer(frame))


def test_the_first_strategy_is_not_compared_with_itself(frame):
    row = cell(answer(frame), "randomized", 8).iloc[0]
    assert row.pairs == 0
    assert math.isnan(row.difference_percent)
    assert row.explained_by is None or pd.isna(row.explained_by)


def two_runs(frame_maker, **changes):
    """One repeat of two strategies with a known time split; ``changes`` are those of the second one."""
    frame = frame_maker(programs=["matmul n=256"], strategies=["randomized", "threshold"], workers=[4], repeats=1)
    frame[list(TIME)] = 100
    for name, value in changes.items():
        frame.loc[1, name] = value
    frame["makespan_ps"] = frame[list(TIME)].sum(axis=1) // 4
    return answer(frame).iloc[1]


def test_explanation_is_the_largest_change_in_the_direction_of_the_difference(frame_maker):
    row = two_runs(frame_maker, idle_steal_ps=190, inflation_numa_ps=20, work_local_ps=0)
    assert row.difference_percent == pytest.approx(100 * (90 - 80 - 100) / 900, abs=0.5)
    assert row.explained_by == "work_local_ps"
    assert row.explained_percent == pytest.approx(100 * -100 / 900)


def test_no_difference_needs_no_explanation(frame_maker):
    row = two_runs(frame_maker)
    assert row.explained_by is None
    assert math.isnan(row.explained_percent)


def test_failed_runs_are_counted_and_left_out(frame_maker):
    frame = frame_maker(programs=["matmul n=256"], workers=[4])
    broken = frame.copy()
    broken["makespan_ps"] = broken["makespan_ps"].astype("Int64")
    hit = (frame.strategy == "threshold") & (frame.repeat < 4)
    broken.loc[hit, "makespan_ps"] = pd.NA
    broken.loc[hit, "error"] = "out of memory"
    row = cell(answer(broken), "threshold", 4).iloc[0]
    kept = frame[~hit & (frame.strategy == "threshold")]
    assert (row.runs, row.failed, row.pairs) == (6, 4, 6)
    assert row.makespan_ps == kept.makespan_ps.mean()
    assert row.steal_miss_ratio == kept.steal_false.sum() / kept.steal_attempts.sum()


def test_axes_outside_the_strategy_separate_settings_and_inside_separate_contenders(frame_maker):
    frame = frame_maker(programs=["matmul n=256"], strategies=["randomized"], workers=[4], repeats=4)
    doubled = pd.concat(
        [frame.assign(**{"strategy.amount": amount, "model.cache": cache}) for cache in "ab" for amount in (1, 2)]
    )
    doubled.loc[doubled["strategy.amount"] == 2, "makespan_ps"] *= 2
    table = answer(doubled)
    assert list(table["strategy.amount"]) == [1, 2, 1, 2]
    assert list(table.pairs) == [0, 4, 0, 4]
    assert list(table.difference_percent[1::2]) == [100.0, 100.0]


def test_one_repeat_and_no_rows(frame_maker):
    table = answer(frame_maker(repeats=1))
    assert table.makespan_ps.notna().all()
    assert table.makespan_ps_low.isna().all()
    assert answer(frame_maker().iloc[:0]).empty
