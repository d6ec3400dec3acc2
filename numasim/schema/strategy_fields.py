"""The fields of compiled strategies, thresholds, back-off and costs (model 4)."""

from __future__ import annotations

from numasim.schema.enumerations import BarrierName, LockName, Role, ThresholdRule
from numasim.schema.field_kinds import (
    I32,
    I64,
    U8,
    U32,
    U64,
    Array,
    Choice,
    Computed,
    Flag,
    Integer,
    Part,
    Records,
    Structure,
    cost,
    latencies,
    of_words,
    of_workers,
    pointer,
    ppm,
)
from numasim.schema.record_layouts import CHANCE, DATA, LEVEL, QUEUE

# ---- The fields of synchronisation objects (model 5) ----------------------------------------------------------------


LOCK_RULES = Structure(
    "ns_lock_rules",
    "",
    "What the kinds of locks go by.",
    (
        Flag("lock_fair", member="fair"),
        Integer("lock_batch", low="1", high="LONGEST_PS", member="batch"),
        Integer("spin_ps", high="LONGEST_PS"),
        cost("pause_ps"),
        cost("futex_ps"),
        Computed("wake_ps", "int64_t"),
        Computed("wake_remote_ps", "int64_t"),
    ),
)
TRANSFERS = Structure(
    "ns_transfers",
    "",
    "What it takes to move a cache line to a worker.",
    (
        Computed("between_ps", "const int64_t *", note="[workers][workers] to each from each other's core"),
        latencies("word_memory_ps", "to a core of the first node from memory of the second", "memory_ps", "none"),
        Computed("node", "const int32_t *", note="[workers]"),
        Computed("workers", "uint32_t"),
        Computed("nodes", "uint32_t"),
        Flag("words_cached", member="cached", note="or words live in memory alone"),
    ),
)
WORDS = Structure(
    "ns_plan_words",
    "Words",
    "Synchronisation objects in their places (numasim/strategy/sync_places.py); those of the program come first.",
    (
        Array("word_role", U8, "words", high=str(int(max(Role))), member="role", note="Role"),
        of_words("word_home", I32, "nodes - 1", member="home"),
        of_workers("worker_home", I32, "nodes - 1", note="where a word that is kept for each worker lives"),
        of_words("word_parties", I64, "MOST_WORKERS", low="1", member="parties"),
        of_words(
            "word_undo",
            I64,
            "MOST_COST_PS",
            member="undo_ps",
            note="after an attempt on a memory of objects that aborts",
        ),
        of_words(
            "word_same", U8, "1", member="same", note="the next attempt on a memory of objects opens the same ones"
        ),
        Array(
            "word_weight",
            I64,
            "weights",
            low="1",
            high="MOST_BYTES",
            member="weight",
            note="of the objects of memories that are not drawn uniformly, summed up to and with each object",
        ),
        pointer(
            "word_weight_ptr",
            "words + 1",
            "len(word_role) + 1",
            "len(word_weight)",
            member="weight_ptr",
            note="of each memory of objects; empty where its objects are equally likely",
        ),
        Integer("words_declared", high="len(word_role)", c_type="uint32_t", member="declared"),
        Array("level_lock", I32, "steal levels, queues", note="or empty; -1: none"),
        Array("queue_lock", I32, "queues", note="or empty; -1: none"),
        Flag("looks_first", note="a probe looks into a queue before it takes the queue's lock"),
        Choice("lock_kind", LockName, member="kind"),
        Choice("barrier_kind", BarrierName, member="barrier"),
        Part("rules", LOCK_RULES),
        Part("transfers", TRANSFERS),
    ),
    checked=True,
)


STEAL = Structure(
    "ns_plan",
    "",
    "A compiled strategy as an executor reads it: the tables of numasim/strategy/steal_plan.py, in memory as there.",
    (
        Records("level", LEVEL, count="levels"),
        Array("queue", U32, "queue entries", count="none"),
        Array("seg", U32, "segments + 1", points_into="len(queue)", count="none"),
        Array("row", U32, "rows", points_into="len(seg) - 1", count="rows", note="entries of `row`"),
        Array(
            "weight",
            U64,
            "segments",
            size="len(seg) - 1",
            count="none",
            note="cumulative within a row, for NS_VISIT_WEIGHTED",
        ),
        Array(
            "watch",
            I32,
            "watches, 2",
            count="watches",
            width=2,
            note="the bit is set at length >= [0], cleared at length <= [1]",
        ),
        Records("chance", CHANCE, count="chances"),
        Records("queues", QUEUE, count="queue_count"),
        Records("data", DATA, count="data_count"),
        of_workers("own", U32, count="none", note="the worker's own queue, or NS_NO_QUEUE"),
        Array(
            "position_node",
            I32,
            "workers + 1",
            size="workers + 1",
            high="nodes - 1",
            member="node",
            count="none",
            note="of each worker, and of an extra producer",
        ),
        Array(
            "domains",
            I32,
            "domains",
            high="nodes - 1",
            count="domain_count",
            note="the nodes that have workers, ascending",
        ),
        of_workers(
            "gate", I32, "workers - 1", count="none", note="the unit of each worker whose live subtrees are counted"
        ),
        Integer("live_most", high="2147483647", note="of a unit, from which on gated levels are closed"),
        latencies("latency_ps", "from a core of the first to memory of the second", count="none"),
        Integer("steal_levels", high="len(level)", c_type="uint32_t"),
        Computed("workers", "uint32_t"),
        Computed("nodes", "uint32_t"),
        Computed(
            "mask",
            "const uint64_t *",
            note="[segments][ns_mask_words] the queues of each segment, or NULL: see masks.h",
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
            "adaptive_stack", high="LONGEST_PS", member="stack", note="calls from which on it is help-first; 0: fixed"
        ),
        Integer("adaptive_every", low="1", high="LONGEST_PS", member="every", note="spawns between two decisions"),
        Integer("adaptive_steals", high="LONGEST_PS", member="steals", note="from which on it is help-first"),
        Flag("adaptive_first", member="work_first", note="at the start"),
    ),
)
CONTROL = Structure(
    "ns_control",
    "Control",
    "What a strategy decides for all tasks of a program at once, as it is before the first iteration (model 4.14).",
    (
        Array("task_tier", U8, "rows", high="4", member="tier", note="Tier; empty: all are local"),
        Array(
            "task_label",
            I32,
            "rows",
            low="-1",
            high="MOST_WORKERS",
            member="label",
            note="the unit that each task is meant for, -1: none; empty: none has one",
        ),
        Array(
            "item_label",
            I32,
            "items",
            high="MOST_WORKERS",
            note="the unit that each item of a range is meant for; empty: by item_units",
        ),
        Integer("item_units", high="MOST_WORKERS", note="items of ranges have labels below it, in equal blocks"),
        Integer(
            "switches", low="-INT64_MAX - 1", high="INT64_MAX", c_type="uint64_t", note="a bit for each that is on"
        ),
    ),
    checked=True,
)
THRESHOLD_RULES = Structure(
    "ns_threshold_rules",
    "",
    "How the thresholds S (high) and s (low) come about; -1 where they are computed.",
    (
        Integer("max_tasks", low="-1", high="LONGEST_PS"),
        Integer("min_tasks", low="-1", high="LONGEST_PS"),
        ppm("fraction_ppm", high="1000 * MILLION"),
        Choice("threshold_rule", ThresholdRule, member="rule"),
    ),
)
BACKOFF = Structure(
    "ns_backoff",
    "",
    "How long a worker waits after fruitless rounds.",
    (
        Integer("backoff_first_ps", high="LONGEST_PS", member="first_ps"),
        Integer("backoff_factor", low="1", high="2147483648", member="factor"),
        Integer("backoff_max_ps", low="-1", high="LONGEST_PS", member="max_ps", note="-1: without bound"),
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
        Flag("line", note="probes, takes, joins and pushes elsewhere also pay the transfer of the cache line"),
    ),
)
