"""The fields of compiled strategies, thresholds, back-off and costs (model 4)."""

from __future__ import annotations

from numasim.schema.enumerations import ThresholdRule
from numasim.schema.field_kinds import (
    I32,
    U8,
    U32,
    U64,
    Array,
    Choice,
    Computed,
    Flag,
    Integer,
    Records,
    Structure,
    cost,
    latencies,
    ppm,
)
from numasim.schema.record_layouts import CHANCE, DATA, LEVEL, QUEUE

STEAL = Structure(
    "ns_plan",
    "",
    "A compiled strategy as an executor reads it: the tables of numasim/strategy/steal_plan.py, in memory as there.",
    (
        Records(name="level", of=LEVEL, count="levels"),
        Array(name="queue", type=U32, shape="queue entries", count="none"),
        Array(name="seg", type=U32, shape="segments + 1", points_into="len(queue)", count="none"),
        Array(name="row", type=U32, shape="rows", points_into="len(seg) - 1", count="rows", note="entries of `row`"),
        Array(
            name="weight",
            type=U64,
            shape="segments",
            size="len(seg) - 1",
            count="none",
            note="cumulative within a row, for NS_VISIT_WEIGHTED",
        ),
        Array(
            name="watch",
            type=I32,
            shape="watches, 2",
            count="watches",
            width=2,
            note="the bit is set at length >= [0], cleared at length <= [1]",
        ),
        Records(name="chance", of=CHANCE, count="chances"),
        Records(name="queues", of=QUEUE, count="queue_count"),
        Records(name="data", of=DATA, count="data_count"),
        Array(
            name="own",
            type=U32,
            shape="workers",
            size="workers",
            count="none",
            note="the worker's own queue, or NS_NO_QUEUE",
        ),
        Array(
            name="position_node",
            type=I32,
            shape="workers + 1",
            size="workers + 1",
            high="nodes - 1",
            member="node",
            count="none",
            note="of each worker, and of an extra producer",
        ),
        Array(
            name="domains",
            type=I32,
            shape="domains",
            high="nodes - 1",
            count="domain_count",
            note="the nodes that have workers, ascending",
        ),
        Array(
            name="gate",
            type=I32,
            shape="workers",
            size="workers",
            high="workers - 1",
            count="none",
            note="the unit of each worker whose live subtrees are counted",
        ),
        Integer(name="live_most", high="2147483647", note="of a unit, from which on gated levels are closed"),
        latencies("latency_ps", "from a core of the first to memory of the second", count="none"),
        Integer(name="steal_levels", high="len(level)", c_type="uint32_t"),
        Computed(name="workers", c_type="uint32_t"),
        Computed(name="nodes", c_type="uint32_t"),
        Computed(
            name="mask",
            c_type="const uint64_t *",
            note="[segments][ns_mask_words] the queues of each segment, or NULL: see policy/pick.h",
        ),
    ),
    checked=True,
    order=(
        *("level", "row", "seg", "queue", "weight", "watch", "chance", "queues", "own", "workers", "steal_levels"),
        *("levels", "rows", "watches", "chances", "queue_count", "data", "node", "domains", "latency_ps"),
        *("data_count", "nodes", "domain_count", "mask", "gate", "live_most"),
    ),
)
ADAPTIVE = Structure(
    "ns_adaptive",
    "",
    "How the spawn order of a worker adapts to what is stolen from it (model 3.3).",
    (
        Integer(
            name="adaptive_stack",
            high="LONGEST_PS",
            member="stack",
            note="calls from which on it is help-first; 0: fixed",
        ),
        Integer(name="adaptive_every", low="1", high="LONGEST_PS", member="every", note="spawns between two decisions"),
        Integer(
            name="adaptive_steals",
            high="LONGEST_PS",
            member="steals",
            note="from which on it is help-first",
        ),
        Flag(name="adaptive_first", member="work_first", note="at the start"),
    ),
)
CONTROL = Structure(
    "ns_control",
    "Control",
    "What a strategy decides for all tasks of a program at once, as it is before the first iteration (model 4.14).",
    (
        Array(name="task_tier", type=U8, shape="rows", high="4", member="tier", note="Tier; empty: all are local"),
        Array(
            name="task_label",
            type=I32,
            shape="rows",
            low="-1",
            high="MOST_WORKERS",
            member="label",
            note="the unit that each task is meant for, -1: none; empty: none has one",
        ),
        Array(
            name="item_label",
            type=I32,
            shape="items",
            high="MOST_WORKERS",
            note="the unit that each item of a range is meant for; empty: by item_units",
        ),
        Integer(name="item_units", high="MOST_WORKERS", note="items of ranges have labels below it, in equal blocks"),
        Integer(
            name="switches", low="-INT64_MAX - 1", high="INT64_MAX", c_type="uint64_t", note="a bit for each that is on"
        ),
    ),
    checked=True,
)
THRESHOLD_RULES = Structure(
    "ns_threshold_rules",
    "",
    "How the thresholds S (high) and s (low) come about; -1 where they are computed.",
    (
        Integer(name="max_tasks", low="-1", high="LONGEST_PS"),
        Integer(name="min_tasks", low="-1", high="LONGEST_PS"),
        ppm("fraction_ppm", high="1000 * MILLION"),
        Choice(name="threshold_rule", of=ThresholdRule, member="rule"),
    ),
)
BACKOFF = Structure(
    "ns_backoff",
    "",
    "How long a worker waits after fruitless rounds.",
    (
        Integer(name="backoff_first_ps", high="LONGEST_PS", member="first_ps"),
        Integer(name="backoff_factor", low="1", high="2147483648", member="factor"),
        Integer(name="backoff_max_ps", low="-1", high="LONGEST_PS", member="max_ps", note="-1: without bound"),
        cost("poll_ps", "the wait where no back-off is given"),
        cost("scan_ps", "a round without a probe takes at least this long", low="1"),
    ),
)
COSTS = Structure(
    "ns_operation_costs",
    "Costs",
    "What the operations of a runtime take.",
    (
        *(cost(name) for name in ("push_ps", "locate_ps", "pop_ps", "join_ps", "wait_ps", "resume_ps", "take_ps")),
        *(cost(name) for name in ("move_ps", "wake_ps", "wake_remote_ps", "fault_ps", "migrate_ps", "signal_ps")),
        cost("probe_near_ps"),
        cost("probe_far_ps"),
        cost("least_probe_ps", low="1"),
        Flag(name="line", note="probes, takes, joins and pushes elsewhere also pay the transfer of the cache line"),
    ),
)
