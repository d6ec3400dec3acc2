"""Runs that differ only in the seed share a plan, and plans share equal parts; values that need the seed are drawn per
run. A cell is one specification of a sweep, which is run several times, its repeats.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Run
from numasim.plan.segment_times import segment_times
from numasim.spec.run_spec import RunSpec, resolve
from numasim.spec.single_part import read_workload
from numasim.workload.json_form.graph_io import write
from numasim.workload.one_worker import serial_ps
from numasim.workload.registry import generate

SPEC: dict[str, Any] = {
    "machine": "xeon-e5-2620-2s",
    "workload": {"name": "independent", "tasks": 50, "low_ns": 100, "high_ns": 900},
    "strategy": "randomized",
    "runtime": "bare",
    "workers": 4,
}


def spec(**changes: Any) -> RunSpec:
    return resolve({**SPEC, **changes})


WAITS_FOR_A_TASK = {"like": "randomized", "backoff": {"first_ns": "task", "factor": 2, "max_ns": 10**6}}


def test_cells_that_differ_in_seeds_and_repeats_alone_share_a_plan() -> None:
    assert build_plan(spec()) is build_plan(spec(seed=3, repeat=7))
    assert build_plan(spec()) is not build_plan(spec(model={"skip": "off"}))


def test_plans_of_different_strategies_share_all_else() -> None:
    first, second = build_plan(spec()), build_plan(spec(strategy="ring"))
    for part in ("machine", "workload", "workers", "placement"):
        assert getattr(first, part) is getattr(second, part)
    assert first.steal is not second.steal
    times = [segment_times(plan, Run(plan, seed).placement) for seed, plan in enumerate((first, second))]
    assert times[0] is times[1]


def test_plans_of_different_page_policies_have_times_of_their_own() -> None:
    bound = {"like": "randomized", "placement": {"policy": "bind", "node": 1}}
    tasks = {"name": "fft", "n": 256}
    near, far = build_plan(spec(workload=tasks)), build_plan(spec(workload=tasks, strategy=bound))
    assert near.workload is far.workload
    assert near.placement is not far.placement
    assert segment_times(near, Run(near, 0).placement) is not segment_times(far, Run(far, 0).placement)


def test_a_back_off_of_a_task_follows_the_tasks_of_each_seed() -> None:
    plan = build_plan(spec(strategy=WAITS_FOR_A_TASK))
    assert plan.steal.backoff.first_ps is None
    waits = [Run(plan, seed).first_wait_ps for seed in (1, 2)]
    assert waits == [serial_ps(plan.workload, int(plan.machine.latency_ps[0, 0]), seed) // 50 for seed in (1, 2)]
    assert waits[0] != waits[1]
    assert all(100_000 <= wait <= 900_000 for wait in waits)


def test_a_back_off_of_a_task_is_known_with_the_plan_where_no_duration_is_drawn() -> None:
    tasks = {"name": "independent", "tasks": 50, "low_ns": 400, "high_ns": 400}
    plan = build_plan(spec(strategy=WAITS_FOR_A_TASK, workload=tasks))
    assert plan.steal.backoff.first_ps == Run(plan, 7).first_wait_ps == 400_000


def test_a_back_off_of_a_task_leaves_out_what_its_strategy_pays_to_deal_items() -> None:
    rows = {"name": "reduce", "emits": 60, "rows": 6, "value_bytes": 4096, "key_filler": "disjoint-subranges"}

    def waits(pair_ns: int) -> tuple[int | None, int]:
        dealt = {"like": "phoenix-locality-numa-aware", "labels": {"deal": "locality", "pair_ns": pair_ns}}
        plan = build_plan(spec(workload=rows, strategy={**dealt, "backoff": WAITS_FOR_A_TASK["backoff"]}))
        assert plan.control.dealing == (pair_ns > 0)
        drawn = replace(plan, steal=replace(plan.steal, backoff=replace(plan.steal.backoff, first_ps=None)))
        return plan.steal.backoff.first_ps, Run(drawn, 7).first_wait_ps

    known_ps, drawn_ps = waits(50)
    assert known_ps == drawn_ps
    assert (known_ps, drawn_ps) == waits(0)


def test_only_homes_that_are_drawn_depend_on_the_seed() -> None:
    for policy, drawn in (("interleave", False), ("first-touch", False), ("random", True)):
        plan = build_plan(spec(strategy={"like": "randomized", "placement": policy}))
        assert (Run(plan, 1).placement is not Run(plan, 2).placement) == drawn


def test_a_graph_file_is_what_is_in_it_now(tmp_path: Path) -> None:
    graph = tmp_path / "graph.json"
    for tasks in (3, 7):
        write(generate(read_workload(f"{{name: independent, tasks: {tasks}, low_ns: 1, high_ns: 2}}")), graph)
        assert build_plan(spec(workload={"file": str(graph)})).workload.tasks == tasks
    gone = spec(workload={"file": str(graph)})
    graph.unlink()
    with pytest.raises(InputError, match="there is no file"):
        build_plan(gone)
