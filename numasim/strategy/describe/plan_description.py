"""A compiled plan in plain English, as one worker sees it."""

from __future__ import annotations

from collections.abc import Callable

from numasim.errors import InputError
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.strategy.decoded import Level, Row, decode_levels
from numasim.strategy.describe.sentences import (
    amount_clause,
    backoff_sentence,
    condition_clause,
    group_lines,
    guard_clause,
    is_single,
    node_clause,
    only_clauses,
    pick_clause,
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
NO_ROW = Row((), ())
MOVING_TEXT = {
    Anchor.PARENT: "queue of the worker that spawned the task it ran last",
    Anchor.THIEF: "queue of the worker that stole from it last",
    Anchor.LAST: "queue of its last successful steal",
}


def describe_plan(plan: StealPlan, worker: int, runtime: RuntimeSpec) -> str:
    """Describe ``plan`` for ``worker``, a line for each level; ``runtime`` is the effective one and gives the join.

    Raises InputError for a worker that the plan does not have.
    """
    if not 0 <= worker < plan.workers:
        raise InputError(f"there is no worker {worker}", expected=f"a worker from 0 to {plan.workers - 1}")
    levels, rules = decode_levels(plan)
    lines = [f"Strategy {plan.name}, worker {worker} of {plan.workers}.", *_own_lines(plan, worker)]
    lines += ["It looks for work level by level, until one brings a task:"] if levels else ["It never steals."]
    for number, level in enumerate(levels, start=1):
        lines += _numbered(number, _level_lines(plan, level, worker))
    lines += ["A new task goes to the first queue with room that these rules find:"]
    for number, rule in enumerate(rules, start=1):
        lines += _numbered(number, _rule_lines(plan, rule, worker))
    lines += [
        _full_sentence(plan),
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
    queue = plan.queues[own]
    own_end, steal_end = END_TEXT[End(queue["own_end"])], END_TEXT[End(queue["steal_end"])]
    size = f"up to {queue['capacity']} tasks" if queue["capacity"] else "any number of tasks"
    family = plan.families[queue["family"]]
    lines = [f"Its own queue, {family} {worker}, holds {size}: pushed at the back, popped at the {own_end}, "]
    lines[0] += f"stolen from at the {steal_end}."
    if plan.refill is None:
        lines.append("It looks for work already while its queue holds no more than its threshold s.")
    elif plan.refill:
        lines.append(f"It looks for work already while its queue holds no more than {plan.refill} tasks.")
    return lines


def _level_lines(plan: StealPlan, level: Level, worker: int) -> list[str]:
    verb = "attempt" if level.attempt else "probe (not an attempt)"
    if level.anchor in MOVING_TEXT:
        where = f"{verb} the {MOVING_TEXT[level.anchor]}, if there is one"
        return [f"{where}; {_take_clause(level)}{_only(plan, level)}"]
    row = level.row(worker)
    if not row.groups:
        return ["not for this worker"]
    search = f"{verb} {pick_clause(plan, level, row)}{condition_clause(plan, level)}{visit_clause(level, row)}"
    return [f"{_chance_clause(plan, level)}{search}; {_take_clause(level)}{_only(plan, level)}", *_listed(plan, row)]


def _rule_lines(plan: StealPlan, rule: Level, worker: int) -> list[str]:
    only = _only(plan, rule)
    if rule.anchor in PLACE_TEXT:
        picked = f"{pick_clause(plan, rule, NO_ROW)}{condition_clause(plan, rule)}"
        return [f"{picked}, {PLACE_TEXT[rule.anchor](rule)}{guard_clause(rule)}{only}"]
    row = rule.row(0 if rule.anchor is Anchor.ALL else worker)
    if not row.groups:
        return ["not for this worker, only for a producer beside the workers"]
    picked = f"{pick_clause(plan, rule, row)}{condition_clause(plan, rule)}{guard_clause(rule)}{only}"
    return [picked, *_listed(plan, row)]


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


def _only(plan: StealPlan, level: Level) -> str:
    """When a level or rule is in force, and for which tasks."""
    clauses = only_clauses(plan, level)
    return f"; only {', and '.join(clauses)}" if clauses else ""


def _listed(plan: StealPlan, row: Row) -> list[str]:
    return [] if is_single(row) else group_lines(plan, row)


def _full_sentence(plan: StealPlan) -> str:
    queue = plan.queues[plan.queue[-1]]  # a queue of the last rule, which is the last one tried for a task
    if not queue["capacity"]:
        return "Queues have no bound, so there is always room."
    return f"When no rule finds room for a task, {FULL_TEXT[Full(queue['full'])]}."


def _take_clause(level: Level) -> str:
    words = f"take {amount_clause(level)}"
    if level.leave:
        words += f" but leave {level.leave}"
    return words


def _chance_clause(plan: StealPlan, level: Level) -> str:
    if level.chance < 0:
        return ""
    first, most, *deltas, _ = (int(part) / 10_000 for part in plan.chance[level.chance])
    learns = f", learning up to {most:g} %" if any(deltas) else ""
    return f"with a chance of {first:g} %{learns}, and then instead of the remaining levels: "


def _spawn_order(plan: StealPlan) -> str:
    keeps, leaves = "goes on and leaves the child to be stolen", "runs the child and leaves the parent to be stolen"
    if plan.adaptive is not None:
        rule = plan.adaptive
        return (
            f"{keeps} if at least {rule.steals} of its tasks were stolen during its last {rule.every} spawns or it is "
            f"{rule.stack} calls deep, else {leaves}"
        )
    if plan.work_first_tiers in (0, EVERY_TIER):
        return leaves if plan.work_first else keeps
    return f"{leaves} where the child is {tier_names(plan.work_first_tiers)}, else it {keeps}"


def _spawn_lines(plan: StealPlan, runtime: RuntimeSpec) -> list[str]:
    return [f"At a spawn it {_spawn_order(plan)}.", f"Join {runtime.join}: {JOIN_TEXT[runtime.join]}."]
