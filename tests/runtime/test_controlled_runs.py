"""Controllers of runs in the task runtime: functions that change the strategy between two iterations of a program.

A controller gets measurements of the last iteration; its decisions can be written to a file and used again.

`test_virtual_against_native` checks that the measurements equal the simulator's, with controllers whose choices depend
on all measurements.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from recorded_graphs import recorded
from runtime_sources import refusal
from virtual_equality import counts_of, counts_of_run

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from engine_setup import plan_of, shipped_strategy, stealing
from registry_cells import machine, workload

from numasim.engine.iteration_control import Decision
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.plan.plan import Run
from numasim.runtime.controlled_run import encoded, run_kernel_under, run_plan
from numasim.runtime.fields_file import compile_plan, write_plan
from numasim.runtime.runtime_program import Order
from numasim.workload.phases import steps

MACHINE, WORKERS, SEED = "xeon-6130-4s", 8, 5


def controlled_run(strategy: str = "laws") -> Run:
    return Run(plan_of(workload("heat"), WORKERS, shipped_strategy(strategy), machine=machine(MACHINE)), SEED)


@pytest.mark.parametrize("strategy", ["laws", "cats"])
def test_what_a_controller_decides_is_kept_and_gone_by_again(strategy: str, program: Path, tmp_path: Path) -> None:
    run, kept = controlled_run(strategy), tmp_path / "controls"
    expected = counts_of(run.plan, simulate(run.plan, run.seed, "native"))
    assert counts_of_run(run_plan(run, program=program, keep=kept)) == expected
    assert counts_of_run(run_plan(run, program=program, replay=kept)) == expected


def test_every_run_of_a_process_asks_the_controller_anew(program: Path, tmp_path: Path) -> None:
    """A process runs a program of two iterations three times; the first run is a warm-up that does not count. If a run
    read the decisions for the next run, the next run would wait for ever, or be refused.
    """
    _, graph = recorded(program, tmp_path, "fft", n=512)
    assert sum(step.ends_iteration for step in steps(graph.phases, graph.loops)) == 2
    plan = compile_plan("laws", MACHINE, 6, "ompi", tmp_path / "fft.json")
    write_plan(plan, SEED, tmp_path / "plan")
    order = Order("fft", {"n": 512}, "virtual", "model", 6, tmp_path / "plan", seed=SEED, repeat=2, warm_up=True)
    runs = run_kernel_under(plan, order, program)
    assert len({run.seed for run in runs}) == 2
    for run in runs:
        assert counts_of_run(run) == counts_of(plan, simulate(plan, run.seed, "native"))


def test_other_decisions_make_another_run(program: Path, tmp_path: Path) -> None:
    run, kept = controlled_run(), tmp_path / "controls"
    asked = counts_of_run(run_plan(run, program=program, keep=kept))
    iterations = sum(phase.repeat for phase in run.plan.workload.phases)
    as_it_was = encoded(Decision(None, None, None, None, 0))
    kept.write_bytes(as_it_was * max(iterations, len(kept.read_bytes()) // len(as_it_was)))
    assert counts_of_run(run_plan(run, program=program, replay=kept))["trace_hash"] != asked["trace_hash"]


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"", lambda data: b"\xff" * len(data)])
def test_controls_of_another_run_are_refused(program: Path, tmp_path: Path, damage: object) -> None:
    run, kept = controlled_run(), tmp_path / "controls"
    run_plan(run, program=program, keep=kept)
    kept.write_bytes(damage(kept.read_bytes()))  # type: ignore[operator]
    with pytest.raises(InputError, match="has no controls of this plan for the iteration that comes next"):
        run_plan(run, program=program, replay=kept)


def test_controls_go_with_a_controller(program: Path, tmp_path: Path) -> None:
    path, run = tmp_path / "plan", controlled_run()
    write_plan(run.plan, run.seed, path)
    assert "the strategy has a controller, but the option `controls` is not set" in refusal(program, "plan", path)
    assert "nothing cannot be read" in refusal(program, "plan", path, "--controls", tmp_path / "nothing")
    write_plan(plan_of(workload("heat"), 4, stealing()), SEED, path)
    assert "need a plan whose strategy has a controller" in refusal(program, "plan", path, "--controls", path)


def test_a_controller_that_fails_ends_the_run_with_its_sentence(program: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def choose(program, state, measures):\n    return 1 / 0\n")
    spec = stealing({"from": "others"}, tune={"python": f"{tmp_path}/wrong.py:choose"})
    run = Run(plan_of(workload("heat"), 4, spec), SEED)
    with pytest.raises(InputError, match="failed before the first iteration"):
        run_plan(run, program=program)
