"""A strategy compiled for a machine and described in plain English, as one worker sees the strategy.

A level is an entry of the strategy's list of places to steal from, a rule one of its list of choices of a queue for a
new task. Their candidate queues are in groups of equally near queues, from the worker or another object (the anchor).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.parts import catalog
from numasim.parts.base import Model
from numasim.parts.choices import choices_of
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.meanings import FAMILY_FULL, JOIN, THRESHOLD_WHEN
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import LockSpec
from numasim.parts.unit_factors import PS_PER_NS
from numasim.parts.yaml.document import flow_text
from numasim.schema.enumerations import (
    ALL16,
    ALL32,
    ASLEEP_MARK,
    BELOW_MAX_MARK,
    BELOW_MIN_MARK,
    EVERY_TIER,
    LOCK_DESCRIPTIONS,
    MAX_MARK,
    MIN_MARK,
    NO_QUEUE,
    OWNER_EXACT_MARK,
    OWNER_MARK,
    AmountKind,
    Anchor,
    Counted,
    End,
    Full,
    NodeRank,
    Pick,
    Tier,
    Visit,
    Weigh,
)
from numasim.spec.descriptions import left_out_lines
from numasim.spec.single_part import read_machine, read_runtime, read_strategy
from numasim.strategy.compile_strategy import compile_strategy, effective_runtime
from numasim.strategy.steal_plan import (
    NO_ROW,
    Backoff,
    DataRule,
    Level,
    Row,
    Segment,
    StealPlan,
    Thresholds,
    decode_levels,
)

# ---- The whole description -------------------------------------------------------------------------------------------

HEADINGS = {  # the headings of the fields that are shown in YAML
    "placement": "Pages",
    "tiers": "Tiers of tasks",
    "labels": "Labels of tasks",
    "live": "Subtrees that may be live",
    "tune": "A controller chooses between two iterations",
    "helpers": "Helper threads",
}
UNSAID = ("none", None)  # values of these fields that are not shown


def show(name: str, machine_name: str, workers: int | None, worker: int, runtime_name: str | None) -> str:
    """Return the description of a strategy and a runtime for ``worker``; ``workers`` None: one on each hardware thread.

    Names are shipped names or paths; without a runtime's name the runtime with the strategy's name is taken, or else
    ompi. Raises InputError if a part does not exist or the parts do not fit together.
    """
    own = name if name in catalog.schedulers() else "ompi"
    strategy, runtime = read_strategy(name), read_runtime(runtime_name or own)
    return explained(strategy, runtime, read_machine(machine_name), workers, worker)


def explained(
    strategy: StrategySpec, runtime: RuntimeSpec, machine_spec: MachineSpec, workers: int | None, worker: int
) -> str:
    """Return the description of ``strategy`` for ``worker``, with all other fields of the strategy; ``workers`` None:
    one on each hardware thread. Strategies that differ have different texts for some worker, unless a list of groups
    is shortened. Raises InputError if the parts do not fit together, and for a worker that does not exist.
    """
    machine = build(machine_spec)
    placed = map_workers(machine, workers if workers is not None else machine.threads, strategy.mapping)
    plan = compile_strategy(strategy, runtime, machine, placed)
    lines = describe_plan(plan, worker, effective_runtime(strategy, runtime))
    names = ("thread", "core", "llc", "node", "socket")
    thread, core, llc, node, socket = (int(getattr(placed, name)[worker]) for name in names)
    place = f"hardware thread {thread}: core {core}, cache domain {llc}, node {node}, socket {socket}"
    said = [*setting_lines(strategy), *lock_lines(strategy), *left_out_lines(strategy)]
    return "\n".join([lines, f"It runs on {place}.", *said])


def describe_plan(plan: StealPlan, worker: int, runtime: RuntimeSpec) -> str:
    """Return ``plan`` for ``worker`` as text, with lines for each level and rule; ``runtime`` has the strategy's own
    join, back-off and rules for idle workers. Raises InputError for a worker that the plan does not have.
    """
    if not 0 <= worker < plan.workers:
        raise InputError(f"there is no worker {worker}", expected=f"a worker from 0 to {plan.workers - 1}")
    levels, rules = decode_levels(plan)
    lines = [
        f"Strategy {plan.name}, worker {worker} of {plan.workers}.",
        *_own_lines(plan, worker),
        *_family_lines(plan),
        "It looks for work level by level, until one brings a task:" if levels else "It never steals.",
    ]
    for number, level in enumerate(levels, start=1):
        lines += _numbered(number, _level_lines(plan, level, worker))
    lines += ["A new task goes to the first queue with room that these rules find:"]
    for number, rule in enumerate(rules, start=1):
        lines += _numbered(number, _rule_lines(plan, rule, worker))
    lines += [
        threshold_line(plan),
        *(() if runtime.idle and runtime.idle.phases else (backoff_sentence(plan.backoff),)),
        f"At a spawn it {_spawn_order(plan)}.",
        f"Join {runtime.join}: {JOIN[runtime.join]}",
    ]
    if runtime.inline_above != "none":
        lines.append(f"A new task runs at once if more than {runtime.inline_above} others per worker are unfinished.")
    if runtime.idle is not None:
        lines.append(f"Workers without a task (model 4.15): {flow_text(runtime.idle.model_dump(exclude_none=True))}.")
    return "\n".join(lines)


def setting_lines(spec: StrategySpec) -> Iterator[str]:
    """Yield the other fields of ``spec`` that differ from their defaults, in YAML; the page policy always."""
    for key, heading in HEADINGS.items():
        value = getattr(spec, key)
        if key == "placement" or value not in UNSAID:
            yield f"{heading}: {flow_text(_plain(value))}."


def _plain(value: Any) -> Any:
    """Return a model as a mapping of the fields that differ from their defaults."""
    if isinstance(value, Model):
        fields = type(value).model_fields
        given = {field.alias or name: getattr(value, name) for name, field in fields.items()}
        usual = {field.alias or name: field.get_default(call_default_factory=True) for name, field in fields.items()}
        return {key: _plain(each) for key, each in given.items() if each != usual[key]}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def lock_lines(spec: StrategySpec) -> Iterator[str]:
    """Yield the locks that a search takes, and the kinds of locks and barriers, a line each."""
    for number, level in enumerate(spec.search, start=1):
        if level.lock is not None:
            yield f"While it searches by {number}, it holds the lock of the {level.lock} whose queue it probes."
    for name, queue in spec.queues.items():
        if queue.lock:
            yield f"Every {name} has a lock, which is taken by probes and to put a task into another worker's queue."
    locks = spec.locks
    yield f"Locks are {LOCK_DESCRIPTIONS[locks.kind].format(spin_ns=locks.spin_ns, batch=locks.batch)}."
    for key in ("fairness", "home", "words", "probe", "barrier"):
        if locks.has_meaning(key, locks.kind):
            word = getattr(locks, key)
            yield f"locks.{key} is {word}: {choices_of(LockSpec.model_fields[key])[word]}"


# ---- The clauses of the description: picks, conditions, groups, amounts, thresholds, back-off ------------------------

LISTED = 6  # lists of more queues or groups are shortened
PICK_TEXT = {
    Pick.RANDOM: "drawn at random",
    Pick.IN_ORDER: "in this order",
    Pick.ROTATE: "along the ring from a place drawn at random",
    Pick.PERMUTATION: "from a place drawn at random by a drawn step that comes to all of them",
    Pick.ROUND_ROBIN: "along the ring from where the last search ended",
    Pick.AFTER_LAST: "along the ring from the last successful victim",
    Pick.LONGEST: "the longest first",
    Pick.SHORTEST: "the shortest first",
    Pick.CYCLIC: "number (index of the task in its phase, mod queues)",
    Pick.BLOCK: "number (index of the task in its phase * queues div tasks of the phase)",
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


def is_single(row: Row) -> bool:
    """Return whether ``row`` is one queue, so that there is nothing to pick."""
    return [len(segment) for group in row.groups for segment in group if segment] == [1]


def pick_clause(plan: StealPlan, level: Level, row: Row) -> str:
    """Return how many queues of ``row`` are probed, and in which order; a single queue is named."""
    some = "one queue" if level.tries == 1 else f"up to {level.tries} queues"
    number = "all queues" if level.tries == ALL16 else some
    if is_single(row):
        usual = (1, Pick.RANDOM) if level.index < plan.steal_levels else (ALL16, Pick.IN_ORDER)
        if (level.tries, level.pick) == usual and level.sample == ALL16:
            return group_lines(plan, row)[0]
        number = f"{group_lines(plan, row)[0]}, {number}"
    sampled = f"out of {level.sample} drawn at random, " if level.sample != ALL16 else ""
    return f"{number}, {sampled}{PICK_TEXT[level.pick]}"


def condition_clause(plan: StealPlan, level: Level) -> str:
    """Return the condition that a queue must meet."""
    if level.watch < 0:
        return ""
    at, until = (int(bound) for bound in plan.watch[level.watch])
    if at == ASLEEP_MARK:
        return ", of those whose workers do not sleep"
    if at in OWNER_TEXT:
        return OWNER_TEXT[at]
    name = MARK_TEXT.get(at, str(at))
    if level.invert:
        return f", of those with fewer than {name} tasks"
    if until in (BELOW_MAX_MARK, BELOW_MIN_MARK, at - 1):
        return f", of those with at least {name} tasks"
    return ", of those that have announced S tasks and not fallen to s since"


def visit_clause(level: Level, row: Row) -> str:
    """Return which groups of ``row`` are searched."""
    if level.visit is Visit.RANDOM:
        return ", in one group drawn at random"
    if level.visit is Visit.WEIGHTED:
        return ", in one group drawn by weight"
    return ", group by group" if len(row.groups) > 1 else ""


def group_lines(plan: StealPlan, row: Row) -> list[str]:
    """Return the queues of each group, named by their first worker; a long list of groups is shortened."""
    lines = ["; ".join(_segment_text(plan, segment) for segment in group if segment) for group in row.groups]
    return shortened(lines, "more groups")


def shortened(lines: list[str], rest: str) -> list[str]:
    """Return ``lines``; if there are more than `LISTED` lines, the first lines and the number of the others."""
    return lines if len(lines) <= LISTED else [*lines[: LISTED - 1], f"and {len(lines) - LISTED + 1} {rest}"]


def _segment_text(plan: StealPlan, segment: Segment) -> str:
    owners = [int(plan.queues["owner"][queue]) for queue in segment]
    return f"{plan.families[plan.queues['family'][segment[0]]]} {listed(owners)}"


def listed(numbers: Sequence[int]) -> str:
    """Return ``numbers`` in their order as text; runs of equal distance are shortened to 1, 3, ..., 23."""
    said: list[str] = []
    at = 0
    while at < len(numbers):
        steps = [b - a for a, b in pairwise(numbers[at:])]
        run = 1 + next((place for place, step in enumerate(steps) if step != steps[0]), len(steps))
        if run > 4:  # numbers at equal distances
            said += [str(numbers[at]), str(numbers[at + 1]), "...", str(numbers[at + run - 1])]
        else:
            run = 1
            said.append(str(numbers[at]))
        at += run
    return ", ".join(said)


def amount_clause(level: Level) -> str:
    """Return how many tasks a successful attempt takes."""
    if level.amount_kind is AmountKind.COUNT:
        return "one task" if level.amount == 1 else f"{level.amount} tasks"
    share = {1: "all tasks", 2: "half of the tasks"}.get(level.amount, f"one {level.amount}-th of the tasks")
    rounded = f"{share}, rounded to the next number above" if level.above else share
    return f"{rounded}, at most {level.most}" if level.most else rounded


def threshold_line(plan: StealPlan) -> str:
    """Return how the thresholds S and s are determined, and whether any rule asks for S and s."""
    idle = (
        ""
        if plan.refill is None or ((plan.watch < 0) & (plan.watch != ASLEEP_MARK)).any()
        else ", which nothing asks for"
    )
    rule = plan.thresholds
    low = "max(1, ceil(rate of execution * pop time))" if rule.min_tasks is None else f"{rule.min_tasks}"
    when = THRESHOLD_WHEN[rule.when]
    return f"Thresholds{idle}: S = {_high_text(rule)}, s = {low}. When they are computed: {when}"


def _high_text(rule: Thresholds) -> str:
    if rule.max_tasks is not None:
        return f"{rule.max_tasks}"
    return {
        "literal": "capacity - ceil(rate of arrival * push time)",
        "avail": "s + 1",
        "fraction": f"{rule.fraction_ppm / 10_000:g} % of the mean peak length",
    }[rule.rule]


def node_clause(rule: DataRule) -> str:
    """Return the node or nodes that ``rule`` chooses by the task's objects (the memory that the task accesses)."""
    return NODE_TEXT[rule.rank].format(data=_data(rule))


def _data(rule: DataRule) -> str:
    noun = "data{} is" if rule.weigh is Weigh.BYTES else "objects{} are"
    return "its " + noun.format(COUNTED_TEXT[rule.counted])


def guard_clause(rule: Level) -> str:
    """Return the conditions on tasks of a dispatch rule."""
    asked = rule.data
    if asked is None:
        return ""
    node = "that node" if rule.anchor is Anchor.DATA else node_clause(asked)
    least = "" if asked.min_bytes == 1 else f"at least {asked.min_bytes:,} bytes of "
    guards = {
        "the task waits for no other": asked.source,
        f"it has {least}data{COUNTED_TEXT[asked.counted]}": asked.min_bytes > 0,
        f"{_data(asked)} not spread evenly over the nodes": asked.uneven,
        f"{node} is the worker's own": asked.here,
        f"{node} holds at least {asked.min_share_ppm / 10_000:g} % of it": asked.min_share_ppm > 0,
    }
    said = [words for words, holds in guards.items() if holds]
    return f"; only if {', and '.join(said)}" if said else ""


def tier_names(tiers: int) -> str:
    """Return the names of the tiers (places among the strategy's subtrees) of a mask."""
    return " or ".join(tier.name.lower() for tier in Tier if tiers & tier)


def only_clause(plan: StealPlan, level: Level, worker: int) -> str:
    """Return when a level or rule is in force for ``worker``, and for tasks of which tiers."""
    said = []
    if level.first_iteration or level.last_iteration != ALL32:
        last = "the last" if level.last_iteration == ALL32 else f"{level.last_iteration}"
        said.append(f"in iterations {level.first_iteration} to {last}")
    if level.switch >= 0:
        said.append(f"while {plan.switches[level.switch]} is {'off' if level.switched_off else 'on'}")
    if level.gated:
        unit = listed([w for w, unit in enumerate(plan.gate) if unit == plan.gate[worker]])
        said.append(f"while fewer than {plan.live_most} subtrees of its unit, workers {unit}, are live")
    if level.own_first:
        said.append("once all subtrees that are labelled for its unit have begun")
    if level.leap_after:
        said.append(f"in a leapfrogging join, in one round after every {level.leap_after} fruitless rounds")
    if level.tiers:
        said.append(f"for tasks of tier {tier_names(level.tiers)}")
    return f"; only {', and '.join(said)}" if said else ""


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


END_TEXT = {End.FRONT: "front", End.BACK: "back"}
NOT_HERE = "not for this worker: "
LEARNED = (
    "after a probe of it that finds tasks",
    "after one that finds none",
    "after a probe of another level that finds tasks",
    "after one that finds none there",
)
MOVING_TEXT = {
    Anchor.PARENT: "queues of the worker that spawned the task it last took",
    Anchor.THIEF: "queues of the worker that stole from it last",
    Anchor.LAST: "queue of its last successful steal",
}


def _numbered(number: int, lines: list[str]) -> list[str]:
    return [f"  {number}. {lines[0]}", *(f"       - {line}" for line in lines[1:])]


def _own_lines(plan: StealPlan, worker: int) -> list[str]:
    own = int(plan.own[worker])
    if own == NO_QUEUE:
        return ["It has no queue of its own."]
    lines = [f"Its own queue is {plan.families[plan.queues[own]['family']]} {worker}."]
    for slot in plan.queues[plan.slots & (plan.queues["owner"] == worker)]:
        most = f", at most {slot['in_a_row']} times in a row" if slot["in_a_row"] else ""
        lines.append(f"It first takes the task of {plan.families[slot['family']]} {worker}{most}.")
    if plan.refill is None:
        lines.append("It looks for work already while its queue holds no more than its threshold s.")
    elif plan.refill:
        lines.append(f"It looks for work already while its queue holds no more than {plan.refill} tasks.")
    return lines


def _family_lines(plan: StealPlan) -> list[str]:
    lines = []
    for number, name in enumerate(plan.families):
        which = plan.queues["family"] == number
        queues = plan.queues[which]
        queue = queues[0]
        shared = ", which is at home wherever it is asked," if queue["home"] < 0 else ""
        own_end, steal_end = END_TEXT[End(queue["own_end"])], END_TEXT[End(queue["steal_end"])]
        size = f"up to {queue['capacity']} tasks" if queue["capacity"] else "any number of tasks"
        rule = FAMILY_FULL[Full(queue["full"]).name.lower().replace("_", "-")]
        full = f" When one is full: {rule}" if queue["capacity"] else ""
        each_end = " Each end has a cache line." if plan.lines[which][0] > 1 else ""
        lines.append(
            f"Each queue of {name} {listed(queues['owner'].tolist())}{shared} holds {size}: pushed at the back, popped "
            f"at the {own_end}, stolen from at the {steal_end}.{full}{each_end}"
        )
    return lines


def _level_lines(plan: StealPlan, level: Level, worker: int) -> list[str]:
    verb = "attempt" if level.attempt else "probe (not an attempt)"
    leaves = f" but leave {level.leave}" if level.leave else ""
    does = f"take {amount_clause(level)}{leaves}{only_clause(plan, level, worker)}{_poll_clause(level)}"
    if level.anchor in MOVING_TEXT:
        return _moving_lines(plan, level, worker, verb, does)
    row = level.row(worker)
    here = "" if row.groups else NOT_HERE
    search = f"{here}{verb} {pick_clause(plan, level, row)}{condition_clause(plan, level)}{visit_clause(level, row)}"
    line = f"{_chance_clause(plan, level)}{search}; {does}"
    return [line] if is_single(row) else [line, *group_lines(plan, row)]


def _poll_clause(level: Level) -> str:
    if not level.every:
        return ""
    return f" (between tasks, each time that the worker has executed {level.every} more tasks; never in a round)"


def _moving_lines(plan: StealPlan, level: Level, worker: int, verb: str, does: str) -> list[str]:
    """Return the lines of a level that searches the queues of another worker, or the queue of the last success."""
    here = NOT_HERE if level.heads and not level.row(worker).groups else ""
    first = plan.workers if level.heads else 0
    where = f"{here}{verb} the {MOVING_TEXT[level.anchor]}, if there is one"
    how = f"{condition_clause(plan, level)}{visit_clause(level, NO_ROW)}; {does}"
    if level.anchor is Anchor.LAST:
        rows = [level.row(first + queue) for queue in range(len(plan.queues))]
        asked = (queue for queue, row in enumerate(rows) if row.groups)
        names = dict.fromkeys(plan.families[plan.queues["family"][queue]] for queue in asked)
        of = "" if len(names) == len(plan.families) else f" and it is of {' or '.join(names)}"
        forgets = ", and forget it if it brings nothing" if level.forgets else ""
        return [f"{_chance_clause(plan, level)}{where}{of}{how}{forgets}"]
    row = level.row(first + worker)
    picked = pick_clause(plan, level, NO_ROW)
    return [
        f"{_chance_clause(plan, level)}{where}, {picked}{how}",
        f"of worker {worker} that is:",
        *group_lines(plan, row),
    ]


def _rule_lines(plan: StealPlan, rule: Level, worker: int) -> list[str]:
    copy = "; leave a copy there, and go on with the next rule" if rule.copies else ""
    only = f"{only_clause(plan, rule, worker)}{copy}"
    if rule.anchor in (Anchor.LIGHTEST, Anchor.DATA, Anchor.LABEL):
        picked = f"{pick_clause(plan, rule, NO_ROW)}{condition_clause(plan, rule)}"
        return [f"{picked}, {_place(rule)}{guard_clause(rule)}{only}", *_places(plan, rule)]
    row = rule.row(0 if rule.anchor is Anchor.ALL else worker)
    if not row.groups:
        return ["not for this worker, only for a producer beside the workers"]
    picked = f"{pick_clause(plan, rule, row)}{condition_clause(plan, rule)}{guard_clause(rule)}{only}"
    return [picked] if is_single(row) else [picked, *group_lines(plan, row)]


def _place(rule: Level) -> str:
    if rule.anchor is Anchor.LABEL:
        return f"of the {rule.anchors} units that labels name that of the task's label, if it has one"
    if rule.anchor is Anchor.DATA and rule.data is not None:
        several = ", then the shortest of these" if rule.data.rank is NodeRank.ANY else ""
        return f"on {node_clause(rule.data)}{several}"
    return "on the node whose queues hold the fewest tasks"


def _places(plan: StealPlan, rule: Level) -> list[str]:
    """Return the queues of each node or unit, of which a rule chooses one node or unit."""
    kind = "unit" if rule.anchor is Anchor.LABEL else "node"
    rows = [f"{kind} {at}: {'; '.join(group_lines(plan, rule.row(at)))}" for at in range(rule.anchors)]
    return shortened([row for at, row in enumerate(rows) if rule.row(at).groups], f"more {kind}s")


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
