"""The order of the runs of a sweep: each plan is prepared once."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from numasim.plan.build_plan import build_plan
from numasim.spec.sweep_spec import load_sweep
from numasim.sweep.planned_runs import by_plan, plan_rows

SEEDS_OUTSIDE = """
machine: xeon-e5-2620-2s
workload: {name: fib, n: 5}
runtime: bare
workers: 4
repeat: 2
sweep:
  seed: [1, 2, 3]
  workers: [2, 3]
  strategy: [randomized, ring]
"""


def test_the_runs_of_one_plan_follow_each_other(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SEEDS_OUTSIDE)
    runs = [row.run for row in plan_rows(load_sweep(tmp_path / "sweep.yaml"))]
    ordered = by_plan(runs)
    assert sorted(run.run_id for run in ordered) == sorted(run.run_id for run in runs)
    assert [len(list(of_one)) for _, of_one in groupby(ordered, lambda run: id(build_plan(run.spec)))] == [6] * 4
    assert [run.spec.workers for run in ordered] == [2] * 12 + [3] * 12


def test_runs_of_one_plan_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SEEDS_OUTSIDE)
    runs = [row.run for row in plan_rows(load_sweep(tmp_path / "sweep.yaml"))]
    first = [run.run_id for run in by_plan(runs)[:6]]
    assert first == [run.run_id for run in runs if run.run_id in first]
