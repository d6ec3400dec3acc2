"""Times that 63 bits do not hold are refused in virtual time as they are by the simulator's engines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from virtual_equality import counts_of, counts_of_run, run_plan

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from engine_difference import outcome
from engine_setup import plan_of, runtime, stealing
from task_graphs import Run as Segment
from task_graphs import body, graph, phase, task

from numasim.engine.check.deadlock import TOO_LATE
from numasim.engine.result import Result
from numasim.errors import InputError
from numasim.plan.plan import Plan, Run
from numasim.workload.graph import Deal, Workload

LONGEST_PS = 2**60
MOST_NS = 9_000_000_000_000
SEED = 1


def side_by_side(workers: int, length_ps: int) -> Workload:
    """A body of four equal segments for each worker."""
    bodies = [body(*[Segment(length_ps)] * 4) for _ in range(workers)]
    return graph(*bodies, phases=(phase(*range(workers), deal=Deal.CYCLIC),))


PLANS = {
    "one worker": plan_of(graph(task(*[Segment(LONGEST_PS)] * 5)), 1),
    "three workers": plan_of(side_by_side(3, LONGEST_PS // 4 * 3), 3),
    "a back-off": plan_of(
        side_by_side(2, LONGEST_PS), 2, stealing(), runtime(backoff={"first_ns": MOST_NS, "factor": 1024})
    ),
}


def refusal(program: Path, plan: Plan) -> str:
    with pytest.raises(InputError) as refused:
        run_plan(program, Run(plan, SEED))
    return str(refused.value)


@pytest.mark.parametrize("name", PLANS)
def test_the_same_times_are_refused_in_the_same_words(program: Path, name: str) -> None:
    expected = outcome(Run(PLANS[name], SEED), "reference")
    assert isinstance(expected, str)
    words = TOO_LATE if TOO_LATE in expected else "the times of 3 workers add up to more than 2**63 ps"
    assert words in expected
    assert words in refusal(program, PLANS[name])


def test_the_longest_times_are_equal(program: Path) -> None:
    plan = plan_of(side_by_side(3, LONGEST_PS // 2), 3)
    result = outcome(Run(plan, SEED), "reference")
    assert isinstance(result, Result)
    assert counts_of_run(run_plan(program, Run(plan, SEED))) == counts_of(plan, result)
