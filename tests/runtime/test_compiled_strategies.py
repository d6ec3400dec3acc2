"""The strategy in a plan file equals the strategy that the native engine gets, for any task graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from runtime_sources import MACHINE, STRATEGIES, TUNED

from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.runtime.fields_file import compile_plan, plan_fields
from numasim.spec.run_spec import resolve
from numasim.spec.single_part import read_workload
from numasim.workload.json_form.graph_io import write
from numasim.workload.registry import generate

STRATEGY_FIELDS = ("level", "row", "seg", "queue", "weight", "watch", "chance", "data", "domains", "queues", "own")


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_strategy_of_a_plan_is_that_of_a_simulation(name: str) -> None:
    pytest.importorskip("numasim.engine.native._engine")
    plan = compile_plan(name, MACHINE, 24, "ompi")
    spec = {"machine": MACHINE, "workload": {"name": "sort", "n": 65536}, "strategy": name, "workers": 24}
    simulated = build_plan(resolve({**spec, "runtime": "ompi"}))
    found, expected = plan_fields(plan, 0), plan_fields(simulated, 0)
    for field in STRATEGY_FIELDS:
        np.testing.assert_array_equal(found[field], expected[field], err_msg=field)
    assert (plan.workload.tasks, plan.coupled) == (1, False)


@pytest.mark.parametrize("name", ["laws-nc", *TUNED])
def test_a_plan_says_whether_a_controller_is_asked(name: str) -> None:
    pytest.importorskip("numasim.engine.native._engine")
    assert plan_fields(compile_plan(name, MACHINE, 24, "ompi"), 0)["controlled"] == (name in TUNED)


def test_a_recorded_graph_is_a_part_of_the_plan(tmp_path: Path) -> None:
    write(generate(read_workload("{name: fib, n: 7}")), tmp_path / "fib.json")
    plan = compile_plan("randomized", MACHINE, 3, "own", tmp_path / "fib.json")
    assert (plan.workload.tasks, plan.workers.workers) == (41, 3)  # fib(7) makes 2 F(8) - 1 = 41 calls


def test_a_plan_with_a_graph_has_the_effects_of_a_simulation(tmp_path: Path) -> None:
    """If the plan left out the keys of ``model``, virtual time would ignore caches and contention without a message."""
    write(generate(read_workload("{name: sort, n: 65536}")), tmp_path / "sort.json")
    plan = compile_plan("randomized", MACHINE, 24, "ompi", tmp_path / "sort.json")
    spec = {"machine": MACHINE, "workload": {"file": str(tmp_path / "sort.json")}, "strategy": "randomized"}
    simulated = build_plan(resolve({**spec, "workers": 24, "runtime": "ompi"}))
    assert plan.effects == simulated.effects
    assert plan.coupled
    assert simulated.coupled


def test_every_hardware_thread_works_unless_it_is_said_how_many() -> None:
    assert compile_plan("randomized", MACHINE, None, "bare").workers.workers == 24


def test_a_wait_of_one_task_needs_a_graph() -> None:
    with pytest.raises(InputError, match="mean time of a task, which only a task graph determines; expected --graph"):
        compile_plan("randomized", MACHINE, 2, "own")
