"""The fields of a plan: names, types, shapes and bounds, in the order in which they are read.

The native engine is given them as a dict of arrays (`numasim.engine.native`), the runtime as a file
(`numasim.runtime.fields_file`). Times are in ps, sizes in bytes, shares in parts per million (ppm).
"""

from __future__ import annotations

from numasim.schema.coupling_fields import COUPLED
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
    Text,
    Word,
    ppm,
)
from numasim.schema.memory_fields import ACCESSES, MEMORY, OPEN_ACCESSES
from numasim.schema.program_fields import FAMILY, GRAPH, LOOP, PHASE, SEGMENT_TIMES, TASK_OBJECTS
from numasim.schema.strategy_fields import ADAPTIVE, BACKOFF, CONTROL, COSTS, STEAL, THRESHOLD_RULES
from numasim.schema.sync_fields import WORDS

__all__ = ["COUPLED", "FILE", "FILE_WAITS", "PLAN"]

PLAN = Structure(
    "ns_full_plan",
    "Plan",
    "Everything that an engine is given.",
    (
        Integer(name="workers", low="1", high="MOST_WORKERS", c_type="uint32_t"),
        Integer(name="nodes", low="1", high="MOST_NODES", c_type="uint32_t"),
        Array(name="node", type=I32, shape="workers", size="workers", high="nodes - 1"),
        Flag(name="skipping", note="only steals are events (model 1.7)"),
        Flag(name="skip"),
        Part(name="times", of=SEGMENT_TIMES),
        Part(name="graph", of=GRAPH),
        Flag(name="looks_at_accesses"),
        Part(name="memory", of=MEMORY, when="looks_at_accesses"),
        Part(name="accesses", of=ACCESSES, when="looks_at_accesses"),
        Array(name="open_ptr", type=I64, shape="segments + 1", member="open.ptr"),
        Part(name="open", of=OPEN_ACCESSES, when="len(open_ptr) > 0"),
        Listed(name="families", of=FAMILY),
        Flag(name="coupled", member="effects.coupled"),
        Part(name="effects", of=COUPLED, when="coupled"),
        Listed(name="phases", of=PHASE),
        Listed(
            name="loops", of=LOOP, note="by their first phase, outer ones before the loops in them; they are nested"
        ),
        Integer(name="refill", low="-1", high="LONGEST_PS", note="-1: the queue's own threshold s"),
        Flag(name="work_first"),
        Part(name="adaptive", of=ADAPTIVE),
        Integer(
            name="work_first_tiers",
            high="EVERY_TIER",
            c_type="uint32_t",
            note="of tasks that are begun as they are spawned",
        ),
        Part(name="steal", of=STEAL),
        Part(name="control", of=CONTROL),
        Part(name="thresholds", of=THRESHOLD_RULES),
        Choice(name="threshold_time", of=ThresholdTime),
        Part(name="backoff", of=BACKOFF),
        Flag(name="backoff_after_probe"),
        Flag(name="backoff_counts_empty"),
        Part(name="costs", of=COSTS),
        Array(
            name="line_ps",
            type=I64,
            shape="workers, workers",
            high="MOST_COST_PS",
            note="transfer of a cache line to each worker from each other's core; empty where no line moves",
        ),
        Part(name="words", of=WORDS),
        Choice(name="join", of=JoinKind),
        Choice(name="producer", of=ProducerKind, member="maker"),
        Flag(name="begins_released", note="a worker begins the first task whose last predecessor it has finished"),
        ppm("inline_resume_ppm"),
        Flag(name="own_dispatch", note="every worker puts new tasks into its own queue alone"),
        Flag(name="sees_marks_only"),
        Flag(name="one_queue_each"),
        Integer(name="room", high="INT64_MAX", note="tasks that all queues hold together"),
        Flag(name="looks_at_data", note="a dispatch rule asks where the objects of a new task are"),
        Part(name="objects", of=TASK_OBJECTS, when="looks_at_data"),
        Computed(name="locks_search", c_type="bool", note="a search takes locks"),
        Computed(name="locks_probes", c_type="bool", note="even for fruitless probes"),
        Computed(name="own_never_full", c_type="bool", note="every new task finds room in its worker's own queue"),
        Computed(name="inlines", c_type="bool", note="spawns are executed at once where a queue overflows"),
        Computed(name="puts_take_time", c_type="bool"),
        Computed(
            name="rules_ask_tasks", c_type="bool", note="a dispatch rule asks for the tier or the label of a task"
        ),
        Computed(name="counts_live", c_type="bool", note="a steal level depends on how many subtrees are live"),
    ),
    checked=True,
)

# ---- beside the plan, in files for the runtime ---------------------------------------------------------------------

FILE = Structure(
    "",
    "",
    "A seed, who runs what where, and what segments compute, so that one may take as long as it is measured to.",
    (
        Word(name="seed", note="of runs that are given none, and of what the file holds that is drawn before a run"),
        Array(name="subtree_end", type=I64, shape="rows", note="one more than the last row of each subtree"),
        Text(name="strategy"),
        Flag(name="controlled", note="the strategy has a controller, which is asked between iterations"),
        Array(name="thread", type=I32, shape="workers", note="hardware thread of each worker"),
        Array(name="compute_ps", type=I64, shape="segments"),
    ),
)
FILE_WAITS = Structure(
    "",
    "",
    "Where there are accesses: how long a segment waits on a node.",
    (
        Array(name="settled_ps", type=I64, shape="nodes, segments", note="for the accesses whose homes are known"),
        Array(name="local_wait_ps", type=I64, shape="nodes, segments", note="for all of them if they were local"),
    ),
)
