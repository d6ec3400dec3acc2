"""The repeats of a cell share what does not hang on their seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.spec.run_spec import RunSpec, resolve
from numasim.spec.single_part import read_workload
from numasim.workload.generate import generate
from numasim.workload.json_io import write

SPEC: dict[str, Any] = {
    "machine": "xeon-e5-2620-2s",
    "workload": {"name": "independent", "tasks": 50, "low_ns": 100, "high_ns": 900},
    "strategy": "randomized",
    "runtime": "bare",
    "workers": 4,
}


def spec(**changes: Any) -> RunSpec:
    return resolve({**SPEC, **changes})


def test_repeats_differ_in_their_seed_alone() -> None:
    cell = spec()
    first, second = build_plan(cell, 1), build_plan(cell, 2)
    assert (first.seed, second.seed) == (1, 2)
    assert first.steal is second.steal
    assert first.skippable == second.skippable == build_plan(spec(), 2).skippable


def test_cells_of_equal_contents_have_plans_of_their_own() -> None:
    assert build_plan(spec(workers=2), 1).workers.workers == 2
    assert build_plan(spec(workers=3), 1).workers.workers == 3


def test_a_back_off_of_a_task_follows_the_tasks_of_each_seed() -> None:
    strategy = {"like": "randomized", "backoff": {"first_ns": "task", "factor": 2, "max_ns": 10**6}}
    cell = spec(strategy=strategy)
    waits = [build_plan(cell, seed).steal.backoff.first_ps for seed in (1, 2)]
    assert waits == [build_plan(spec(strategy=strategy), seed).steal.backoff.first_ps for seed in (1, 2)]
    assert waits[0] != waits[1]
    assert all(100_000 <= wait <= 900_000 for wait in waits)


def test_a_graph_file_is_what_is_in_it_now(tmp_path: Path) -> None:
    graph = tmp_path / "graph.json"
    for tasks in (3, 7):
        write(generate(read_workload(f"{{name: independent, tasks: {tasks}, low_ns: 1, high_ns: 2}}")), graph)
        assert build_plan(spec(workload={"file": str(graph)}), 1).workload.tasks == tasks
    gone = spec(workload={"file": str(graph)})
    graph.unlink()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        build_plan(gone, 1)
