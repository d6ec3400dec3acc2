"""A compiled plan in plain English, as one worker sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from numasim.errors import InputError
from numasim.parts.models.locks_model import LockSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.schema.enumerations import LOCK_DESCRIPTIONS
from numasim.strategy.decoded import NO_ROW, Level, Row, decode_levels
from numasim.strategy.describe.sentences import (
    amount_clause,
    backoff_sentence,
    condition_clause,
    group_lines,
    guard_clause,
    is_single,
    listed,
    node_clause,
    only_clauses,
    pick_clause,
    shortened,
    threshold_lines,
    tier_names,
    visit_clause,
)
from numasim.strategy.steal_plan import EVERY_TIER, NO_QUEUE, Anchor, End, Full, NodeRank, StealPlan

END_TEXT = {End.FRONT: "front", End.BACK: "back"}
FULL_TEXT = {
    Full.GROW: "the queue grows",
    Full.INLINE: "its spawner runs it at once",
    Full.NEXT: "its spawner waits until some queue has room",
    Full.BLOCK: "its spawner waits until there is room",
}
JOIN_TEXT = {
    "help": "a task that waits for its children keeps its worker, which runs any other task meanwhile",
    "own": "a task that waits for its children keeps its worker, which runs tasks of its own queue meanwhile",
    "strict": "a task that waits for its children keeps its worker, which runs its descendants meanwhile",
    "continuation": "a task that waits for its children is suspended; the worker of the last child resumes it",
    "leapfrog": "a task that waits for its children keeps its worker, which steals meanwhile by levels of its thief "
    "alone, the worker that has begun a child of the task",
    "block": "a task that waits for its children keeps its worker, which parks",
}
NOT_HERE = "not for this worker: "
LEARNED = (
    "after a probe of it that finds tasks",
    "after one that finds none",
    "after a probe of another level that finds tasks",
    "after one that finds none there",
)
MOVING_TEXT = {
    Anchor.PARENT: "queues of the worker that spawned the task it ran last",
    Anchor.THIEF: "queues of the worker that stole from it last",
    Anchor.LAST: "queue of its last successful steal",
}


def describe_plan(plan: StealPlan, worker: int, runtime: RuntimeSpec) -> str:
    """Describe ``plan`` for ``worker``, a line for each level; ``runtime`` is the effective one and gives the join.

    Raises InputError for a worker that the plan does not have.
    """
    if not 0 <= worker < plan.workers:
        raise InputError(f"there is no worker {worker}", expected=f"a worker from 0 to {plan.workers - 1}")
    levels, rules = decode_levels(plan)
    lines = [
        f"Strategy {plan.name}, worker {worker} of {plan.workers}.",
        *_own_lines(plan, worker),
        *_family_lines(plan),
    ]
    lines += ["It looks for work level by level, until one brings a task:"] if levels else ["It never steals."]
    for number, level in enumerate(levels, start=1):
        lines += _numbered(number, _level_lines(plan, level, worker))
    lines += ["A new task goes to the first queue with room that these rules find:"]
    for number, rule in enumerate(rules, start=1):
        lines += _numbered(number, _rule_lines(plan, rule, worker))
    lines += [
        *threshold_lines(plan),
        backoff_sentence(plan.backoff),
        *_spawn_lines(plan, runtime),
    ]
    return "\n".join(lines)


def _numbered(number: int, lines: list[str]) -> list[str]:
    return [f"  {number}. {lines[0]}", *(f"       - {line}" for line in lines[1:])]


def _own_lines(plan: StealPlan, worker: int) -> list[str]:
    own = int(plan.own[worker])
    if own == NO_QUEUE:
        return ["It has no queue of its own."]
    lines = [f"Its own queue is {plan.families[plan.queues[own]['family']]} {worker}."]
    if plan.refill is None:
        lines.append("It looks for work already while its queue holds no more than its threshold s.")
    elif plan.refill:
        lines.append(f"It looks for work already while its queue holds no more than {plan.refill} tasks.")
    return lines


def _family_lines(plan: StealPlan) -> list[str]:
    """The queues of each family, which are alike."""
    lines = []
    for number, name in enumerate(plan.families):
        queues = plan.queues[plan.queues["family"] == number]
        queue = queues[0]
        shared = ", which is at home wherever it is asked," if queue["home"] < 0 else ""
        own_end, steal_end = END_TEXT[End(queue["own_end"])], END_TEXT[End(queue["steal_end"])]
        size = f"up to {queue['capacity']} tasks" if queue["capacity"] else "any number of tasks"
        full = f"; when one is full, {FULL_TEXT[Full(queue['full'])]}" if queue["capacity"] else ""
        lines.append(
            f"Each queue of {name} {listed(queues['owner'].tolist())}{shared} holds {size}: pushed at the back, popped "
            f"at the {own_end}, stolen from at the {steal_end}{full}."
        )
    return lines


def _level_lines(plan: StealPlan, level: Level, worker: int) -> list[str]:
    verb = "attempt" if level.attempt else "probe (not an attempt)"
    does = f"{_take_clause(level)}{_only(plan, level, worker)}"
    if level.anchor in MOVING_TEXT:
        return _moving_lines(plan, level, worker, verb, does)
    row = level.row(worker)
    here = "" if row.groups else NOT_HERE
    search = f"{here}{verb} {pick_clause(plan, level, row)}{condition_clause(plan, level)}{visit_clause(level, row)}"
    return [f"{_chance_clause(plan, level)}{search}; {does}", *_listed(plan, row)]


def _moving_lines(plan: StealPlan, level: Level, worker: int, verb: str, does: str) -> list[str]:
    """A level whose queues are those of another worker, or the one of the last success; its rows show which."""
    here = NOT_HERE if level.heads and not level.row(worker).groups else ""
    first = plan.workers if level.heads else 0
    where = f"{here}{verb} the {MOVING_TEXT[level.anchor]}, if there is one"
    how = f"{condition_clause(plan, level)}{visit_clause(level, NO_ROW)}; {does}"
    if level.anchor is Anchor.LAST:
        rows = [level.row(first + queue) for queue in range(len(plan.queues))]
        names = dict.fromkeys(
            plan.families[plan.queues["family"][queue]] for queue, row in enumerate(rows) if row.groups
        )
        of = "" if len(names) == len(plan.families) else f" and it is of {' or '.join(names)}"
        return [f"{_chance_clause(plan, level)}{where}{of}{how}"]
    row = level.row(first + worker)
    picked = pick_clause(plan, level, NO_ROW)
    return [
        f"{_chance_clause(plan, level)}{where}, {picked}{how}",
        f"of worker {worker} that is:",
        *group_lines(plan, row),
    ]


def _rule_lines(plan: StealPlan, rule: Level, worker: int) -> list[str]:
    only = f"{_only(plan, rule, worker)}{_copy_clause(rule)}"
    if rule.anchor in PLACE_TEXT:
        picked = f"{pick_clause(plan, rule, NO_ROW)}{condition_clause(plan, rule)}"
        return [f"{picked}, {PLACE_TEXT[rule.anchor](rule)}{guard_clause(rule)}{only}", *_places(plan, rule)]
    row = rule.row(0 if rule.anchor is Anchor.ALL else worker)
    if not row.groups:
        return ["not for this worker, only for a producer beside the workers"]
    picked = f"{pick_clause(plan, rule, row)}{condition_clause(plan, rule)}{guard_clause(rule)}{only}"
    return [picked, *_listed(plan, row)]


def _places(plan: StealPlan, rule: Level) -> list[str]:
    """The queues of each node, or unit, from which a rule chooses one."""
    kind = "unit" if rule.anchor is Anchor.LABEL else "node"
    rows = [f"{kind} {at}: {'; '.join(group_lines(plan, rule.row(at)))}" for at in range(rule.anchors)]
    return shortened([row for at, row in enumerate(rows) if rule.row(at).groups], f"more {kind}s")


def _copy_clause(rule: Level) -> str:
    return "; leave a copy there, and go on with the next rule" if rule.copies else ""


def _node(rule: Level) -> str:
    if rule.anchor is Anchor.DATA and rule.data is not None:
        several = ", then the shortest of these" if rule.data.rank is NodeRank.ANY else ""
        return f"{node_clause(rule.data)}{several}"
    return "the node whose queues hold the fewest tasks"


PLACE_TEXT: dict[Anchor, Callable[[Level], str]] = {
    Anchor.LIGHTEST: lambda rule: f"on {_node(rule)}",
    Anchor.DATA: lambda rule: f"on {_node(rule)}",
    Anchor.LABEL: lambda rule: f"of the {rule.anchors} units that labels name that of the task's label, if it has one",
}


def _only(plan: StealPlan, level: Level, worker: int) -> str:
    """When a level or rule is in force, and for which tasks."""
    clauses = only_clauses(plan, level, worker)
    return f"; only {', and '.join(clauses)}" if clauses else ""


def _listed(plan: StealPlan, row: Row) -> list[str]:
    return [] if is_single(row) else group_lines(plan, row)


def _take_clause(level: Level) -> str:
    words = f"take {amount_clause(level)}"
    if level.leave:
        words += f" but leave {level.leave}"
    return words


def _chance_clause(plan: StealPlan, level: Level) -> str:
    if level.chance < 0:
        return ""
    first, most, *deltas, _ = (int(part) / 10_000 for part in plan.chance[level.chance])
    changes = [f"{delta:+g} points {event}" for delta, event in zip(deltas, LEARNED, strict=True) if delta]
    learns = f" ({', '.join(changes)}; at most {most:g} %)" if changes else ""
    return f"with a chance of {first:g} %{learns}, and then instead of the remaining levels: "


def _spawn_order(plan: StealPlan) -> str:
    keeps, leaves = "goes on and leaves the child to be stolen", "runs the child and leaves the parent to be stolen"
    if plan.adaptive is not None:
        rule = plan.adaptive
        return (
            f"{keeps} if at least {rule.steals} of its tasks were stolen during its last {rule.every} spawns or it is "
            f"{rule.stack} calls deep, else {leaves}; its first {rule.every} spawns count as "
            f"{'work-first' if rule.work_first else 'help-first'}"
        )
    if plan.work_first_tiers in (0, EVERY_TIER):
        return leaves if plan.work_first else keeps
    return f"{leaves} where the child is {tier_names(plan.work_first_tiers)}, else it {keeps}"


def _spawn_lines(plan: StealPlan, runtime: RuntimeSpec) -> list[str]:
    return [f"At a spawn it {_spawn_order(plan)}.", f"Join {runtime.join}: {JOIN_TEXT[runtime.join]}."]


# ---- The locks of a strategy in plain English, below its levels and rules --------------------------------------------

FAIRNESS_TEXT = {"near": "the nearest waiter wins", "fair": "the first waiter wins"}
HOME_TEXT = {"owner": "the node of the worker that owns it", "master": "the node of worker 0"}
PROBE_TEXT = {
    "look-first": "it looks first, then tries the lock where it has seen a task, and fails where the lock is taken",
    "lock-first": "it waits for the lock, and then looks",
}
BARRIER_TEXT = {
    "central": "a central counter",
    "flag": "a flag a worker, scanned by the master",
    "tree": "a binary tree",
    "per-domain": "a counter for each node, and one for their last arrivals",
}


def lock_lines(spec: StrategySpec) -> list[str]:
    """The locks that a search takes, and the kinds of locks and barriers, a line each."""
    return [*_search_lines(spec), *_kind_lines(spec.locks)]


def _search_lines(spec: StrategySpec) -> Iterator[str]:
    for number, level in enumerate(spec.steal, start=1):
        if level.lock is not None:
            yield f"While it searches by {number}, it holds the lock of the {level.lock} whose queue it probes."
    for name, queue in spec.queues.items():
        if queue.lock:
            yield (
                f"Every {name} has a lock, which is taken to put a task into another worker's and by a probe: "
                f"{PROBE_TEXT[spec.locks.probe]}."
            )
    if spec.locks.probe != "look-first" and not any(queue.lock for queue in spec.queues.values()):
        yield f"A probe of a queue with a lock {PROBE_TEXT[spec.locks.probe]}, but no queue has one."


def _kind_lines(locks: LockSpec) -> Iterator[str]:
    kind = LOCK_DESCRIPTIONS[locks.kind].format(spin_ns=locks.spin_ns, batch=locks.batch)
    race = f", {FAIRNESS_TEXT[locks.fairness]}" if locks.kind in ("tas", "ttas") else ""
    from_memory = "" if locks.words == "cached" else ", and it is read from memory every time"
    yield f"Locks are {kind}{race}; the home of each synchronisation object is {HOME_TEXT[locks.home]}{from_memory}."
    yield f"Barriers are {BARRIER_TEXT[locks.barrier]}."
