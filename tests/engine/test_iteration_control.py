"""Controllers, functions that change a strategy between two passes of a program's loop (iterations), on both engines.

Tested are the exact measures that a controller gets, and the results that engines refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, observe, plan_of, simulated, stealing, toy
from task_graphs import WAIT, Access, Run, graph, task

from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.plan.build_plan import revised
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.strategy.control.controller import Controls, Measures, Program
from numasim.workload.graph import Loop, Mode, Region, Workload
from numasim.workload.phases import Phase, steps

TWO_NODES = toy(sockets=2, cores=1)
TUNED = stealing({"from": "others"}, tune={"what": "fastest", "of": [[]]})  # the tests replace its controller
READY = Region("ready", 1 << 20, initialised=True)  # on node 0


def tree(repeat: int) -> Workload:
    """Return ``repeat`` runs of task 0, which computes 10 ns, spawns task 1 (100 ns; 128 bytes twice) and waits."""
    child = task(Run(100 * NS, (Access(0, 0, 128, passes=2), Access(0, 4096, 64, mode=Mode.WRITE))))
    work = graph(task(10 * NS, child, WAIT), regions=(READY,))
    return replace(work, phases=(replace(work.phases[0], repeat=repeat),))


def controlled(plan: Plan, controller: Callable[..., Any]) -> Plan:
    assert plan.tuning is not None
    return revised(plan, tuning=replace(plan.tuning, load=lambda: controller, name="mine:choose"))


def measured(plan: Plan) -> list[Measures]:
    """Return the measures that the controller of a run gets, the same on every engine."""
    told: dict[str, list[Measures]] = {engine: [] for engine in ENGINES}
    for engine, mine in told.items():

        def choose(program: Program, state: int | None, measures: Measures | None, mine: Any = mine) -> Any:
            assert (state is None) == (measures is None)
            mine.extend([measures] if measures is not None else [])
            return (state or 0) + 1, Controls()

        simulate(controlled(plan, choose), 1, engine, check=True)
    iterations = sum(step.ends_iteration for step in steps(plan.workload.phases, plan.workload.loops))
    first, *others = (each[: iterations - 1] for each in told.values())  # without the calls for the serial time
    for one, other in ((one, other) for each in others for one, other in zip(first, each, strict=True)):
        assert all(np.array_equal(getattr(one, field), getattr(other, field)) for field in Measures._fields)
    return first


# ---- what a controller is told -------------------------------------------------------------------------------------


def test_times_misses_and_bytes_of_each_task() -> None:
    """One worker reads 4 lines and 1 line from memory at 100 ns, up to ten at a time; the written line moves twice."""
    first, second = measured(plan_of(tree(3), 1, TUNED, machine=TWO_NODES))
    assert [each.iteration for each in (first, second)] == [0, 1]
    for each in (first, second):
        assert each.phase == 0
        assert each.misses.tolist() == [0, 5]
        assert each.bytes.tolist() == [[0, 0], [4 * 64 + 2 * 64, 0]]
        assert each.node_bytes.tolist() == [[384, 0], [0, 0]]
        assert each.task_ps.tolist() == [10 * NS, 100 * NS]  # waits of 40 and 20 ns are hidden
        assert each.worker_busy_ps.tolist() == [110 * NS]
        assert each.time_ps == 110 * NS


def test_lines_that_the_second_level_cache_has_are_no_misses() -> None:
    machine = replace(TWO_NODES, caches=replace(TWO_NODES.caches, l2_bytes=192))
    plan = plan_of(tree(2), 1, TUNED, machine=machine, effects=Effects(cache="share"))
    assert [each.misses.tolist() for each in measured(plan)] == [[0, 3]]  # the second pass finds both lines
    smaller = replace(machine, caches=replace(machine.caches, l2_bytes=191))
    plan = plan_of(tree(2), 1, TUNED, machine=smaller, effects=Effects(cache="share"))
    assert [each.misses.tolist() for each in measured(plan)] == [[0, 5]]


def test_nothing_is_asked_behind_the_last_iteration() -> None:
    assert measured(plan_of(tree(1), 1, TUNED)) == []


def test_all_that_is_told_is_constant() -> None:
    for each in measured(plan_of(tree(2), 2, TUNED)):
        for name in ("task_ps", "misses", "bytes", "node_bytes", "worker_busy_ps"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(each, name)[0] = 1


def test_profiling_costs_time_in_the_iterations_that_are_profiled() -> None:
    """Each end of a task owes 7 ns, which the worker pays before its next segment, but not at the end of a phase."""
    spec = stealing({"from": "others"}, tune={"what": "fastest", "of": [[]], "profile_ns": 7, "profiled": [1, 2]})
    work = graph(task(10 * NS, task(100 * NS), task(100 * NS), WAIT, NS))
    told = measured(plan_of(replace(work, phases=(replace(work.phases[0], repeat=5),)), 1, spec))
    assert [each.time_ps for each in told] == [211 * NS, 225 * NS, 225 * NS, 211 * NS]
    assert [each.task_ps.tolist() for each in told] == [[11 * NS, 100 * NS, 100 * NS]] * 4


def test_the_page_policy_that_is_chosen_places_what_is_touched_next() -> None:
    """A worker on node 0 touches fresh pages. The pages go to node 1 if the controller says so, and stay there."""
    placements = {"far": {"policy": "bind", "node": 1}, "next": "next-touch"}
    spec = stealing({"from": "others"}, tune={"what": "fastest", "of": [[]], "placements": placements})
    fresh = replace(tree(4), regions=(replace(READY, initialised=False),))
    choices = {
        (): [[384, 0], [384, 0], [384, 0]],
        ("far",): [[0, 384], [0, 384], [0, 384]],
        (None, "far"): [[384, 0], [384, 0], [384, 0]],  # placed pages stay
        ("far", "next"): [[0, 384], [384, 65536], [384, 0]],  # a granule migrates at its next touch
    }
    for chosen, expected in choices.items():
        told: list[Measures] = []

        def choose(program: Program, state: Any, measures: Any, names: Any = chosen, told: Any = told) -> Any:
            told.extend([measures] if measures else [])
            at = state or 0
            return at + 1, Controls(placement=names[at] if at < len(names) else None)

        simulated(controlled(plan_of(fresh, 1, spec, machine=TWO_NODES), choose), 1)
        assert [each.bytes[1].tolist() for each in told[:3]] == expected


# ---- what a controller may return ----------------------------------------------------------------------------------


WRONG = {
    "nothing": (None, "returned nothing before the first iteration; expected a tuple of a state and Controls"),
    "no state": (Controls(), "returned a Controls before the first iteration; expected a tuple of a state"),
    "a mapping": ((1, {}), "returned a tuple of a state and dict before the first iteration; expected a tuple"),
    "a switch": ((1, Controls(switches=frozenset({"far"}))), "switched 'far' on before the first iteration"),
    "a placement": ((1, Controls(placement="far")), "chose placement 'far' before the first iteration"),
    "a list": ((1, Controls(switches=["far"])), "returned switches of type list; expected a frozenset"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", WRONG)
def test_what_no_controller_may_return(case: str) -> None:
    returned, said = WRONG[case]
    with pytest.raises(InputError) as caught:
        observe(controlled(plan_of(tree(2), 1, TUNED), lambda program, state, measures: returned))
    assert f"strategy.tune.python: the controller mine:choose {said}" in str(caught.value)


def test_an_exception_is_one_sentence() -> None:
    def choose(program: Program, state: None, measures: Measures | None) -> tuple[None, Controls]:
        if measures is not None:
            raise KeyError("far")
        return None, Controls()

    with pytest.raises(InputError, match="the controller mine:choose failed after iteration 0: KeyError: 'far'"):
        observe(controlled(plan_of(tree(2), 1, TUNED), choose))


# ---- loops and phases ----------------------------------------------------------------------------------------------


def test_phases_that_stand_alone_have_iterations_of_their_own() -> None:
    work = graph(task(10 * NS), task(20 * NS))
    work = replace(work, phases=(Phase(roots=(0,)), Phase(roots=(1,), repeat=3)))
    told = measured(plan_of(work, 1, TUNED))
    assert [(each.phase, each.iteration, each.time_ps) for each in told] == [
        (0, 0, 10 * NS),
        (1, 0, 20 * NS),
        (1, 1, 20 * NS),
    ]
    assert [each.task_ps.tolist() for each in told] == [[10 * NS, 0], [0, 20 * NS], [0, 20 * NS]]


def test_a_pass_through_the_outermost_loop_is_an_iteration() -> None:
    # an outer loop of two passes: task 0, then an inner loop of three passes of task 1 twice; then task 0 alone
    phases = (Phase(roots=(0,)), Phase(roots=(1,), repeat=2), Phase(roots=(0,)))
    line = Run(20 * NS, (Access(0, 0, 64),))  # whose wait is hidden
    work = graph(task(10 * NS), task(line), regions=(READY,))
    work = replace(work, phases=phases, loops=(Loop(0, 2, 2), Loop(1, 2, 3)))
    told = measured(plan_of(work, 1, TUNED, machine=TWO_NODES))
    assert [(each.phase, each.iteration, each.time_ps) for each in told] == [(0, 0, 130 * NS), (0, 1, 130 * NS)]
    assert [each.task_ps.tolist() for each in told] == [[10 * NS, 120 * NS]] * 2
    assert [each.misses.tolist() for each in told] == [[0, 6]] * 2
    assert [each.bytes[1].tolist() for each in told] == [[6 * 64, 0]] * 2
