"""What the cells of a sweep came to: medians against independent computations."""

import pandas as pd
import scipy

from numasim.report.answers.estimated_effects import cell_estimates


def cell(frame, strategy, workers, workload="matmul n=256"):
    chosen = (frame.strategy == strategy) & (frame.workers == workers) & (frame.workload == workload)
    return frame[chosen]


def test_one_row_per_cell_in_order_of_appearance(frame):
    table = cell_estimates(frame)
    assert len(table) == 2 * 12 * 3
    assert list(table.strategy[:3]) == ["randomized", "threshold", "topology-aware"]
    assert (table.runs == 10).all()
    assert (table.failed == 0).all()


def test_medians_and_their_intervals_are_those_of_the_runs(frame):
    runs, row = cell(frame, "threshold", 12), cell(cell_estimates(frame), "threshold", 12).iloc[0]
    exact = scipy.stats.quantile_test(runs.makespan_ps, p=0.5).confidence_interval(0.95)
    assert row.makespan_ps == runs.makespan_ps.median()
    assert (row.makespan_ps_low, row.makespan_ps_high) == (exact.low, exact.high)
    assert row.steal_miss_ratio == runs.steal_miss_ratio.median()
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
