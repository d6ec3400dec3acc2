"""The fields of a plan: names, types, shapes and bounds, in the order in which they are read.

The native engine is given them as a dict of arrays (`numasim.engine.native`), the runtime as a file
(`numasim.runtime.fields_file`). Times are in ps, sizes in bytes, shares in parts per million (ppm).
"""

from __future__ import annotations

from numasim.schema.enumerations import JoinKind, ProducerKind, ThresholdTime
from numasim.schema.field_kinds import (
    I32,
    I64,
    Array,
    Choice,
    Computed,
    Flag,
    Integer,
    Listed,
    Part,
    Structure,
    of_workers,
    ppm,
)
from numasim.schema.memory_fields import ACCESSES, COUPLED, MEMORY, OPEN_ACCESSES
from numasim.schema.program_fields import FAMILY, GRAPH, LOOP, PHASE, SEGMENT_TIMES, TASK_OBJECTS
from numasim.schema.strategy_fields import ADAPTIVE, BACKOFF, CONTROL, COSTS, STEAL, THRESHOLD_RULES, WORDS

PLAN = Structure(
    "ns_full_plan",
    "Plan",
    "Everything that an engine is given.",
    (
        Integer("workers", low="1", high="MOST_WORKERS", c_type="uint32_t"),
        Integer("nodes", low="1", high="MOST_NODES", c_type="uint32_t"),
        of_workers("node", I32, "nodes - 1"),
        Flag("skipping", note="only steals are events (model 1.7)"),
        Flag("skip"),
        Part("times", SEGMENT_TIMES),
        Part("graph", GRAPH),
        Flag("looks_at_accesses"),
        Part("memory", MEMORY, when="looks_at_accesses"),
        Part("accesses", ACCESSES, when="looks_at_accesses"),
        Array("open_ptr", I64, "segments + 1", member="open.ptr"),
        Part("open", OPEN_ACCESSES, when="len(open_ptr) > 0"),
        Listed("families", FAMILY),
        Flag("coupled", member="effects.coupled"),
        Part("effects", COUPLED, when="coupled"),
        Listed("phases", PHASE),
        Listed("loops", LOOP, note="by their first phase, outer ones before the loops in them; they are nested"),
        Integer("refill", low="-1", high="LONGEST_PS", note="-1: the queue's own threshold s"),
        Flag("work_first"),
        Part("adaptive", ADAPTIVE),
        Integer(
            "work_first_tiers", high="EVERY_TIER", c_type="uint32_t", note="of tasks that are begun as they are spawned"
        ),
        Part("steal", STEAL),
        Part("control", CONTROL),
        Part("thresholds", THRESHOLD_RULES),
        Choice("threshold_time", ThresholdTime),
        Part("backoff", BACKOFF),
        Flag("backoff_after_probe"),
        Flag("backoff_counts_empty"),
        Part("costs", COSTS),
        Array(
            "line_ps",
            I64,
            "workers, workers",
            high="MOST_COST_PS",
            note="transfer of a cache line to each worker from each other's core; empty where no line moves",
        ),
        Part("words", WORDS),
        Choice("join", JoinKind),
        Choice("producer", ProducerKind, member="maker"),
        Flag("begins_released", note="a worker begins the first task whose last predecessor it has finished"),
        ppm("inline_resume_ppm"),
        Flag("own_dispatch", note="every worker puts new tasks into its own queue alone"),
        Flag("sees_marks_only"),
        Flag("one_queue_each"),
        Integer("room", high="INT64_MAX", note="tasks that all queues hold together"),
        Flag("looks_at_data", note="a dispatch rule asks where the objects of a new task are"),
        Part("objects", TASK_OBJECTS, when="looks_at_data"),
        Computed("locks_search", "bool", note="a search takes locks"),
        Computed("locks_probes", "bool", note="even for fruitless probes"),
        Computed("own_never_full", "bool", note="every new task finds room in its worker's own queue"),
        Computed("inlines", "bool", note="spawns are executed at once where a queue overflows"),
        Computed("puts_take_time", "bool"),
        Computed("rules_ask_tasks", "bool", note="a dispatch rule asks for the tier or the label of a task"),
        Computed("counts_live", "bool", note="a steal level depends on how many subtrees are live"),
    ),
    checked=True,
)
