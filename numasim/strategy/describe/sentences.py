"""The clauses of a plan's description: picks, conditions, groups, amounts, thresholds, back-off."""

from __future__ import annotations

from numasim.parts.unit_factors import PS_PER_NS
from numasim.strategy.decoded import Level, Row, Segment
from numasim.strategy.similarity import DataRule
from numasim.strategy.steal_plan import (
    ALL16,
    ALL32,
    BELOW_MAX_MARK,
    BELOW_MIN_MARK,
    MAX_MARK,
    MIN_MARK,
    OWNER_EXACT_MARK,
    OWNER_MARK,
    AmountKind,
    Anchor,
    Backoff,
    Counted,
    NodeRank,
    Pick,
    StealPlan,
    Thresholds,
    Tier,
    Visit,
    Weigh,
)

LISTED = 6  # longer lists of queues or groups are shortened
PICK_TEXT = {
    Pick.RANDOM: "drawn at random",
    Pick.IN_ORDER: "in this order",
    Pick.ROTATE: "along the ring from a place drawn at random",
    Pick.ROUND_ROBIN: "along the ring from where the last search ended",
    Pick.AFTER_LAST: "along the ring from the last successful victim",
    Pick.LONGEST: "the longest first",
    Pick.SHORTEST: "the shortest first",
    Pick.CYCLIC: "number (task index mod queues)",
    Pick.BLOCK: "number (task index * queues div tasks)",
}
NODE_TEXT = {
    NodeRank.MOST: "the node that most of {data} on",
    NodeRank.CHEAPEST: "the node from which {data} cheapest to reach",
    NodeRank.ANY: "a node that some of {data} on",
}
COUNTED_TEXT = {Counted.BOTH: "", Counted.READS: " that it reads", Counted.WRITES: " that it writes"}
MARK_TEXT = {MAX_MARK: "S", MIN_MARK: "s"}
OWNER_TEXT = {
    OWNER_MARK: ", of those that their owners have announced at S tasks or more, and not withdrawn at s or fewer",
    OWNER_EXACT_MARK: ", of those that their owners have announced at exactly S tasks, and not withdrawn at exactly s",
}
WHEN_TEXT = {
    "first-drain": "computed once, when the queue has drained for the first time",
    "phase": "computed in every phase",
    "fixed": "never computed, S stays just below the capacity and s at 1",
}


def is_single(row: Row) -> bool:
    """Whether ``row`` is one queue, so that there is nothing to pick."""
    return [len(segment) for group in row.groups for segment in group if segment] == [1]


def pick_clause(plan: StealPlan, level: Level, row: Row) -> str:
    """How many queues, and in which order."""
    if is_single(row):
        return group_lines(plan, row)[0]
    number = (
        "all queues" if level.tries == ALL16 else "one queue" if level.tries == 1 else f"up to {level.tries} queues"
    )
    sampled = f"out of {level.sample} drawn at random, " if level.sample != ALL16 else ""
    return f"{number}, {sampled}{PICK_TEXT[level.pick]}"


def condition_clause(plan: StealPlan, level: Level) -> str:
    """The condition that a queue must meet."""
    if level.watch < 0:
        return ""
    at, until = (int(bound) for bound in plan.watch[level.watch])
    if at in OWNER_TEXT:
        return OWNER_TEXT[at]
    name = MARK_TEXT.get(at, str(at))
    if level.invert:
        return f", of those with fewer than {name} tasks"
    if until in (BELOW_MAX_MARK, BELOW_MIN_MARK, at - 1):
        return f", of those with at least {name} tasks"
    return ", of those that have announced S tasks and not fallen to s since"


def visit_clause(level: Level, row: Row) -> str:
    """The groups that are searched."""
    if level.visit is Visit.RANDOM:
        return ", in one group drawn at random"
    if level.visit is Visit.WEIGHTED:
        return ", in one group drawn by weight"
    return ", group by group" if len(row.groups) > 1 else ""


def group_lines(plan: StealPlan, row: Row) -> list[str]:
    """Name the queues of each group by their first worker; long lists are shortened."""
    lines = ["; ".join(_segment_text(plan, segment) for segment in group if segment) for group in row.groups]
    if len(lines) <= LISTED:
        return lines
    return [*lines[: LISTED - 1], f"and {len(lines) - LISTED + 1} more groups"]


def _segment_text(plan: StealPlan, segment: Segment) -> str:
    names = [str(plan.queues["owner"][queue]) for queue in segment]
    if len(names) > LISTED:
        names = [*names[: LISTED - 2], "...", names[-1]]
    return f"{plan.families[plan.queues['family'][segment[0]]]} {', '.join(names)}"


def amount_clause(level: Level) -> str:
    """How many tasks a successful attempt takes."""
    if level.amount_kind is AmountKind.COUNT:
        return "one task" if level.amount == 1 else f"{level.amount} tasks"
    return {1: "all tasks", 2: "half of the tasks"}.get(level.amount, f"one {level.amount}-th of the tasks")


def threshold_lines(plan: StealPlan) -> list[str]:
    """How S and s are determined, if a level uses them."""
    if plan.refill is not None and not (plan.watch < 0).any():
        return []
    rule = plan.thresholds
    low = "max(1, ceil(rate of execution * pop time))" if rule.min_tasks is None else f"{rule.min_tasks}"
    return [f"Thresholds: S = {_high_text(rule)}, s = {low}; {WHEN_TEXT[rule.when]}."]


def _high_text(rule: Thresholds) -> str:
    if rule.max_tasks is not None:
        return f"{rule.max_tasks}"
    return {
        "literal": "capacity - ceil(rate of arrival * push time)",
        "avail": "s + 1",
        "fraction": f"{rule.fraction_ppm / 10_000:g} % of the mean peak length",
    }[rule.rule]


def node_clause(rule: DataRule) -> str:
    """The node, or nodes, chosen by the task's objects."""
    noun = "data{} is" if rule.weigh is Weigh.BYTES else "objects{} are"
    return NODE_TEXT[rule.rank].format(data="its " + noun.format(COUNTED_TEXT[rule.counted]))


def guard_clause(rule: Level) -> str:
    """The tasks to which a dispatch rule applies."""
    asked = rule.data
    if asked is None:
        return ""
    node = "that node" if rule.anchor is Anchor.DATA else node_clause(asked)
    least = "" if asked.min_bytes == 1 else f"at least {asked.min_bytes:,} bytes of "
    guards = {
        "the task waits for no other": asked.source,
        f"it has {least}data{COUNTED_TEXT[asked.counted]}": asked.min_bytes > 0,
        "its data is not spread evenly over the nodes": asked.uneven,
        f"{node} is the worker's own": asked.here,
        f"{node} holds at least {asked.min_share_ppm / 10_000:g} % of it": asked.min_share_ppm > 0,
    }
    said = [words for words, holds in guards.items() if holds]
    return f"; only if {', and '.join(said)}" if said else ""


def tier_names(tiers: int) -> str:
    """The tiers of a mask."""
    return " or ".join(tier.name.lower() for tier in Tier if tiers & tier)


def only_clauses(plan: StealPlan, level: Level) -> list[str]:
    """When a level or rule is in force, and for tasks of which tiers."""
    said = []
    if level.first_iteration or level.last_iteration != ALL32:
        last = "the last" if level.last_iteration == ALL32 else f"{level.last_iteration}"
        said.append(f"in iterations {level.first_iteration} to {last}")
    if level.switch >= 0:
        said.append(f"while {plan.switches[level.switch]} is {'off' if level.switched_off else 'on'}")
    if level.gated:
        said.append(f"while fewer than {plan.live_most} subtrees of its unit are live")
    if level.own_first:
        said.append("once all subtrees that are labelled for its unit have begun")
    if level.tiers:
        said.append(f"for tasks of tier {tier_names(level.tiers)}")
    return said


def backoff_sentence(backoff: Backoff) -> str:
    """Describe the wait after a failed round."""
    counted = "counts as an attempt" if backoff.empty == "count" else "is no attempt"
    tail = f"a round without a candidate {counted}."
    if backoff.first_ps == 0:
        return f"After a failed {backoff.after} it polls again after the runtime's polling interval; {tail}"
    most = "" if backoff.max_ps is None else f", at most {backoff.max_ps / PS_PER_NS:g} ns"
    grows = "" if backoff.factor == 1 else f", times {backoff.factor} each time"
    first = "the mean time of a task" if backoff.first_ps is None else f"{backoff.first_ps / PS_PER_NS:g} ns"
    return f"After a failed {backoff.after} it waits {first}{grows}{most}; {tail}"
