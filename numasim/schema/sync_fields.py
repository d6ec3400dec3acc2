"""The fields of synchronisation objects (model 5)."""

from __future__ import annotations

from numasim.schema.enumerations import BarrierName, LockName, Role
from numasim.schema.field_kinds import (
    I32,
    I64,
    U8,
    Array,
    Choice,
    Computed,
    Flag,
    Integer,
    Part,
    Structure,
    cost,
    latencies,
)

LOCK_RULES = Structure(
    "ns_lock_rules",
    "",
    "What the kinds of locks go by.",
    (
        Flag(name="lock_fair", member="fair"),
        Integer(name="lock_batch", low="1", high="LONGEST_PS", member="batch"),
        Integer(name="spin_ps", high="LONGEST_PS"),
        cost("pause_ps"),
        cost("futex_ps"),
        Computed(name="wake_ps", c_type="int64_t"),
        Computed(name="wake_remote_ps", c_type="int64_t"),
    ),
)
TRANSFERS = Structure(
    "ns_transfers",
    "",
    "What it takes to move a cache line to a worker.",
    (
        Computed(name="between_ps", c_type="const int64_t *", note="[workers][workers] to each from each other's core"),
        latencies("word_memory_ps", "to a core of the first node from memory of the second", "memory_ps", "none"),
        Computed(name="node", c_type="const int32_t *", note="[workers]"),
        Computed(name="workers", c_type="uint32_t"),
        Computed(name="nodes", c_type="uint32_t"),
        Flag(name="words_cached", member="cached", note="or words live in memory alone"),
    ),
)
WORDS = Structure(
    "ns_plan_words",
    "Words",
    "Synchronisation objects in their places (numasim/strategy/sync_places.py); those of the program come first.",
    (
        Array(name="word_role", type=U8, shape="words", high=str(int(max(Role))), member="role", note="Role"),
        Array(name="word_home", type=I32, shape="words", size="len(word_role)", high="nodes - 1", member="home"),
        Array(
            name="worker_home",
            type=I32,
            shape="workers",
            size="workers",
            high="nodes - 1",
            note="where a word that is kept for each worker lives",
        ),
        Array(
            name="word_parties",
            type=I64,
            shape="words",
            size="len(word_role)",
            low="1",
            high="MOST_WORKERS",
            member="parties",
        ),
        Array(
            name="word_undo",
            type=I64,
            shape="words",
            size="len(word_role)",
            high="MOST_COST_PS",
            member="undo_ps",
            note="after an attempt on a memory of objects that aborts",
        ),
        Array(
            name="word_same",
            type=U8,
            shape="words",
            size="len(word_role)",
            high="1",
            member="same",
            note="the next attempt on a memory of objects opens the same ones",
        ),
        Array(
            name="word_weight",
            type=I64,
            shape="weights",
            low="1",
            high="MOST_BYTES",
            member="weight",
            note="of the objects of memories that are not drawn uniformly, summed up to and with each object",
        ),
        Array(
            name="word_weight_ptr",
            type=I64,
            shape="words + 1",
            size="len(word_role) + 1",
            points_into="len(word_weight)",
            member="weight_ptr",
            note="of each memory of objects; empty where its objects are equally likely",
        ),
        Integer(name="words_declared", high="len(word_role)", c_type="uint32_t", member="declared"),
        Array(name="level_lock", type=I32, shape="steal levels, queues", note="or empty; -1: none"),
        Array(name="queue_lock", type=I32, shape="queues", note="or empty; -1: none"),
        Flag(name="looks_first", note="a probe looks into a queue before it takes the queue's lock"),
        Choice(name="lock_kind", of=LockName, member="kind"),
        Choice(name="barrier_kind", of=BarrierName, member="barrier"),
        Part(name="rules", of=LOCK_RULES),
        Part(name="transfers", of=TRANSFERS),
    ),
    checked=True,
)
