"""Whether a run can skip ahead: if workers affect each other by steals alone, only steals need be events (model 1.7).

Between two steals a worker then depends on its own queue and its speed alone. Its progress and the contents of its
queue at any instant follow from the time at which it started, and from the times at which other workers of its core
began or ceased to execute. Each `Condition` excludes one case in which this would not hold. Skipping is a property of
the plan, so that all engines agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.frozen import Frozen
from numasim.plan.coupling import may_be_scarce, noisy, priced_by_events
from numasim.plan.effects import shortest_noisy_ps
from numasim.plan.plan import Plan
from numasim.schema.enumerations import FLAG_ATTEMPT, AmountKind, Anchor, End, Pick
from numasim.strategy.steal_plan import has_own_dispatch
from numasim.workload.graph import I64, Deal, Op, Workload


class Condition(Frozen):
    """A condition of skipping; ``otherwise`` is the reason that is shown if a plan does not meet the condition."""

    holds: Callable[[Plan], bool]
    otherwise: str


def skippable(plan: Plan) -> bool:
    """Return whether an engine may skip ahead in runs of ``plan``."""
    return obstacle(plan) is None


def obstacle(plan: Plan) -> str | None:
    """Return the first obstacle to skipping ahead in runs of ``plan``, or None."""
    return next((condition.otherwise for condition in CONDITIONS if not condition.holds(plan)), None)


def _work_takes_time(plan: Plan) -> bool:
    work = plan.workload
    noise_ppm = plan.effects.task_noise_ppm
    shortest_ps = min((shortest_noisy_ps(family.low_ps, noise_ppm) for family in work.ranges), default=1)
    return not plan.coupled or (shortest_ps > 0 and bool((work.segment_compute_ps > 0).all()))


def _levels(plan: Plan) -> npt.NDArray[Any]:
    """Return the steal levels of the strategy, without the dispatch rules."""
    return plan.steal.level[: plan.steal.steal_levels]


def _one_task_a_steal(plan: Plan) -> bool:
    levels = _levels(plan)
    one = (levels["amount_kind"] == AmountKind.COUNT) & (levels["amount"] == 1) & (levels["leave"] == 0)
    return bool(one.all())


def _one_local_time(plan: Plan) -> bool:
    """Return whether the worker with the longest chain is known before the run.

    This worker is known if all workers wait equally long for local bytes, or if items are equal and each worker that
    begins a range executes an item.
    """
    work, noise_ppm = plan.workload, plan.effects.task_noise_ppm
    unlike = [family for family in work.ranges if family.moves_bytes and (noise_ppm or not family.alike)]
    latency = np.diag(plan.machine.latency_ps)[plan.workers.node].tolist()
    if (len(work.accesses) or unlike) and len(set(latency)) > 1:
        return False
    sharers = Counter(plan.workers.llc.tolist())
    bytes_of = plan.machine.llc_bytes_of_domain
    caches = {(bytes_of[domain], sharers[domain]) if bytes_of[domain] else None for domain in sharers}
    serve = plan.effects.cache != "none" and any(len(family.accesses) for family in unlike)
    return len(caches) == 1 or not serve


def _free_of_overhead(plan: Plan) -> bool:
    costs = plan.costs
    paid = costs.push_ps or costs.pop_ps or costs.join_ps or costs.wait_ps or costs.resume_ps
    paid = paid or costs.line != "no"
    return not paid or not _has_roots(plan)


def _last_of(work: Workload, code: Op) -> I64:
    """Return [rows] the position of the last op of this code in each row's program, or -1."""
    places = np.flatnonzero(work.op_code == code)
    row = np.searchsorted(work.op_ptr, places, side="right") - 1
    last = np.full(work.rows, -1, np.int64)
    last[row] = places  # if a row has several of these ops, the last assignment wins
    return last


def _has_roots(plan: Plan) -> bool:
    return any(phase.roots for phase in plan.workload.phases)


CONDITIONS: tuple[Condition, ...] = (
    # the actions of a worker between two steals must depend on nothing but its speed
    Condition(lambda plan: not priced_by_events(plan), "caches, queueing or page faults couple the workers"),
    Condition(
        lambda plan: not noisy(plan) or not _has_roots(plan),
        "the times of segments, or the speeds of who executes them, are drawn",
    ),
    # speeds change at the end of an instant, and work that takes no time would end after that
    Condition(_work_takes_time, "work takes no time, and speeds change"),
    # the only property of a queue that another worker may depend on is whether it holds a task
    Condition(
        lambda plan: np.array_equal(np.sort(plan.steal.own), np.arange(len(plan.steal.queues))), "queues are shared"
    ),
    Condition(lambda plan: not plan.steal.queues["capacity"].any(), "queues have a capacity"),
    Condition(lambda plan: not plan.costs.yield_ps, "workers yield between the tasks of a wait"),
    Condition(lambda plan: plan.inline_above < 0, "the number of unfinished tasks decides where new tasks go"),
    Condition(
        lambda plan: has_own_dispatch(plan.steal), "new tasks do not go to the spawning worker's own queue first"
    ),
    Condition(lambda plan: not len(plan.steal.watch), "the strategy watches the lengths of queues"),
    Condition(lambda plan: not len(plan.steal.chance), "the strategy enters levels at random"),
    Condition(lambda plan: not plan.steal.counts_live, "levels wait until subtrees have ended"),
    Condition(
        lambda plan: not np.isin(_levels(plan)["pick"], (Pick.LONGEST, Pick.SHORTEST)).any(),
        "the strategy compares the lengths of queues",
    ),
    Condition(
        lambda plan: not (_levels(plan)["anchor"] == Anchor.PARENT).any(), "thieves ask who spawned their last task"
    ),
    Condition(
        lambda plan: bool((_levels(plan)["flags"] & FLAG_ATTEMPT).all()), "a level takes from the worker's own unit"
    ),
    # a steal must not change the order in which its victim executes its tasks
    Condition(_one_task_a_steal, "a steal does not take exactly one task"),
    Condition(lambda plan: plan.steal.refill == 0, "workers look for work before their queue is empty"),
    Condition(lambda plan: not plan.steal.work_first, "workers put continuations into their queues"),
    Condition(
        lambda plan: not (plan.steal.queues["own_end"] == plan.steal.queues["steal_end"]).any(),
        "thieves take from the owner's end of a queue",
    ),
    Condition(
        lambda plan: plan.producer == "none" or not plan.workload.ranges, "a producer fills the queues during the run"
    ),
    # the work of a worker must be known when it starts
    Condition(
        lambda plan: all(
            not phase.serial and bool(phase.roots) != (phase.range_family is not None) for phase in plan.workload.phases
        ),
        "a phase is serial, or mixes tasks with a range",
    ),
    Condition(
        lambda plan: all(
            len(phase.roots) <= (1 if phase.deal == Deal.MASTER else plan.workers.workers)
            for phase in plan.workload.phases
        ),
        "a worker is given several bodies",
    ),
    Condition(lambda plan: not len(plan.workload.successor), "tasks depend on others than their children"),
    Condition(lambda plan: not len(plan.words), "workers wait for synchronisation objects such as locks"),
    Condition(
        lambda plan: not plan.placement.dynamic[plan.workload.accesses.region].any(),
        "pages are placed by first touch while the tasks run",
    ),
    Condition(
        _one_local_time, "local memory or caches differ between workers, so the span depends on who executes what"
    ),
    # the duration of a subtree must be the sum of its segments' durations
    Condition(lambda plan: plan.join == "continuation" or not _has_roots(plan), "joins are not continuations"),
    Condition(
        lambda plan: bool((plan.steal.queues["own_end"] == End.BACK).all()) or not _has_roots(plan),
        "workers do not take their own last task first",
    ),
    Condition(_free_of_overhead, "pushing, popping or joining takes time"),
    Condition(lambda plan: not (plan.workload.op_code == Op.CALL).any(), "tasks call others inline"),
    Condition(lambda plan: not plan.workload.groups, "tasks wait for groups of others"),
    Condition(
        lambda plan: bool((_last_of(plan.workload, Op.SPAWN) <= _last_of(plan.workload, Op.WAIT)).all()),
        "a task ends before all its children have been waited for",
    ),
    Condition(lambda plan: plan.tuning is None, "a controller is told of each task between two iterations"),
    # the last condition, because it alone takes much time to check
    Condition(lambda plan: not may_be_scarce(plan), "all workers together may ask for more bandwidth than there is"),
)
