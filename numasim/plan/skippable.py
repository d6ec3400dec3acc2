"""Whether a run can skip ahead: where no memory traffic couples the workers, only steals need be events (model 1.7).

Between two steals a worker then depends on its own queue and its speed alone: its progress and the content of its queue
at any instant follow from the time at which it started, and from when others on its core began or ceased to execute.
Each condition excludes one case in which this would not hold. It is a
property of the plan, so that all engines agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numasim.plan.coupling import may_be_scarce, noisy, priced_by_events
from numasim.plan.effects import shortest_noisy_ps
from numasim.plan.plan import Plan
from numasim.schema.enumerations import FLAG_ATTEMPT, AmountKind, Anchor, End, Pick
from numasim.strategy.steal_plan import has_own_dispatch
from numasim.workload.graph import I64, Deal, Op, Phase, Workload


@dataclass(frozen=True)
class Condition:
    """A condition that a skippable plan meets; ``otherwise`` says what couples the workers of a plan that does not."""

    holds: Callable[[Plan], bool]
    otherwise: str


def skippable(plan: Plan) -> bool:
    """Whether an engine may skip ahead in runs of ``plan``."""
    return obstacle(plan) is None


def obstacle(plan: Plan) -> str | None:
    """The first obstacle to skipping ahead in runs of ``plan``, or None."""
    return next((condition.otherwise for condition in CONDITIONS if not condition.holds(plan)), None)


def _prices_stand(plan: Plan) -> bool:
    return not priced_by_events(plan)


def _drawn_beforehand(plan: Plan) -> bool:
    return not noisy(plan) or not _has_roots(plan)


def _work_takes_time(plan: Plan) -> bool:
    work = plan.workload
    noise_ppm = plan.effects.task_noise_ppm
    shortest_ps = min((shortest_noisy_ps(family.low_ps, noise_ppm) for family in work.ranges), default=1)
    return not plan.coupled or (shortest_ps > 0 and bool((work.segment_compute_ps > 0).all()))


def _one_queue_each(plan: Plan) -> bool:
    return np.array_equal(np.sort(plan.steal.own), np.arange(len(plan.steal.queues)))


def _new_tasks_stay(plan: Plan) -> bool:
    return has_own_dispatch(plan.steal)


def _no_watch(plan: Plan) -> bool:
    return not len(plan.steal.watch)


def _no_chance(plan: Plan) -> bool:
    return not len(plan.steal.chance)


def _no_gates(plan: Plan) -> bool:
    return not plan.steal.counts_live


def _no_lengths(plan: Plan) -> bool:
    levels = plan.steal.level[: plan.steal.steal_levels]
    return not np.isin(levels["pick"], (Pick.LONGEST, Pick.SHORTEST)).any()


def _no_parent(plan: Plan) -> bool:
    levels = plan.steal.level[: plan.steal.steal_levels]
    return not (levels["anchor"] == Anchor.PARENT).any()


def _attempts_only(plan: Plan) -> bool:
    levels = plan.steal.level[: plan.steal.steal_levels]
    return bool((levels["flags"] & FLAG_ATTEMPT).all())


def _one_task_a_steal(plan: Plan) -> bool:
    levels = plan.steal.level[: plan.steal.steal_levels]
    one = (levels["amount_kind"] == AmountKind.COUNT) & (levels["amount"] == 1) & (levels["leave"] == 0)
    return bool(one.all())


def _no_refill(plan: Plan) -> bool:
    return plan.steal.refill == 0


def _help_first(plan: Plan) -> bool:
    return not plan.steal.work_first


def _thieves_at_the_steal_end(plan: Plan) -> bool:
    return not (plan.steal.queues["own_end"] == plan.steal.queues["steal_end"]).any()


def _no_producer(plan: Plan) -> bool:
    return plan.producer == "none" or not plan.workload.ranges


def _plain_phases(plan: Plan) -> bool:
    return all(
        not phase.serial and bool(phase.roots) != (phase.range_family is not None) for phase in plan.workload.phases
    )


def _a_root_each(plan: Plan) -> bool:
    return all(_most_roots(phase, plan.workers.workers) <= 1 for phase in plan.workload.phases)


def _most_roots(phase: Phase, workers: int) -> int:
    """The largest number of roots that one worker gets."""
    return len(phase.roots) if phase.deal == Deal.MASTER else -(-len(phase.roots) // workers)


def _no_dependences(plan: Plan) -> bool:
    return not len(plan.workload.successor)


def _settled_pages(plan: Plan) -> bool:
    return not plan.placement.dynamic[plan.workload.accesses.region].any()


def _one_local_time(plan: Plan) -> bool:
    """Whether it is known who has the longest chain: all workers wait equally long for local bytes, or items are alike,
    of which each worker that begins a range executes one.
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


def _no_synchronisation(plan: Plan) -> bool:
    return not len(plan.words)


def _last_child_resumes(plan: Plan) -> bool:
    return plan.join == "continuation" or not _has_roots(plan)


def _boundless(plan: Plan) -> bool:
    return not plan.steal.queues["capacity"].any()


def _last_in_first_out(plan: Plan) -> bool:
    return bool((plan.steal.queues["own_end"] == End.BACK).all()) or not _has_roots(plan)


def _free_of_overhead(plan: Plan) -> bool:
    costs = plan.costs
    paid = costs.push_ps or costs.pop_ps or costs.join_ps or costs.wait_ps or costs.resume_ps or costs.line
    return not paid or not _has_roots(plan)


def _no_calls(plan: Plan) -> bool:
    return not (plan.workload.op_code == Op.CALL).any()


def _no_groups(plan: Plan) -> bool:
    return not plan.workload.groups


def _fully_strict(plan: Plan) -> bool:
    work = plan.workload
    return bool((_last_of(work, Op.SPAWN) <= _last_of(work, Op.WAIT)).all())


def _last_of(work: Workload, code: Op) -> I64:
    """[rows] the position of the last op of this code in each row's program, or -1."""
    places = np.flatnonzero(work.op_code == code)
    row = np.searchsorted(work.op_ptr, places, side="right") - 1
    last = np.full(work.rows, -1, np.int64)
    last[row] = places  # where a row has several, the last assignment wins
    return last


def _enough_for_all(plan: Plan) -> bool:
    return not may_be_scarce(plan)


def _no_controller(plan: Plan) -> bool:
    return plan.tuning is None


def _has_roots(plan: Plan) -> bool:
    return any(phase.roots for phase in plan.workload.phases)


CONDITIONS: tuple[Condition, ...] = (
    # what a worker does between two steals must depend on nothing but its speed
    Condition(_prices_stand, "caches, queueing or page faults couple the workers"),
    Condition(_drawn_beforehand, "the times of segments, or the speeds of who executes them, are drawn"),
    # speeds change at the end of an instant, and what takes no time would end behind that
    Condition(_work_takes_time, "work takes no time, and speeds change"),
    # the only property of a queue that another worker may depend on is whether it holds a task
    Condition(_one_queue_each, "queues are shared"),
    Condition(_boundless, "queues have a capacity"),
    Condition(_new_tasks_stay, "new tasks do not go to the spawning worker's own queue first"),
    Condition(_no_watch, "the strategy watches the lengths of queues"),
    Condition(_no_chance, "the strategy enters levels at random"),
    Condition(_no_gates, "levels wait until subtrees have ended"),
    Condition(_no_lengths, "the strategy compares the lengths of queues"),
    Condition(_no_parent, "thieves ask who spawned their last task"),
    Condition(_attempts_only, "a level takes from the worker's own unit"),
    # a steal must not change the order in which its victim executes its tasks
    Condition(_one_task_a_steal, "a steal does not take exactly one task"),
    Condition(_no_refill, "workers look for work before their queue is empty"),
    Condition(_help_first, "workers put continuations into their queues"),
    Condition(_thieves_at_the_steal_end, "thieves take from the owner's end of a queue"),
    Condition(_no_producer, "a producer fills the queues during the run"),
    # the work of a worker must be known when it starts
    Condition(_plain_phases, "a phase is serial, or mixes tasks with a range"),
    Condition(_a_root_each, "a worker is given several bodies"),
    Condition(_no_dependences, "tasks depend on others than their children"),
    Condition(_no_synchronisation, "workers wait for synchronisation objects such as locks"),
    Condition(_settled_pages, "pages are placed by first touch while the tasks run"),
    Condition(
        _one_local_time, "local memory or caches differ between workers, so the span depends on who executes what"
    ),
    # the duration of a subtree must be the sum of its segments' durations
    Condition(_last_child_resumes, "joins are not continuations"),
    Condition(_last_in_first_out, "workers do not take their own last task first"),
    Condition(_free_of_overhead, "pushing, popping or joining takes time"),
    Condition(_no_calls, "tasks call others inline"),
    Condition(_no_groups, "tasks wait for groups of others"),
    Condition(_fully_strict, "a task ends before all its children have been waited for"),
    Condition(_no_controller, "a controller is told of each task between two iterations"),
    # the last one, since it is the only one that takes time to find out
    Condition(_enough_for_all, "all workers together may ask for more bandwidth than there is"),
)
