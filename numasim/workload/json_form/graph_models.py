"""Models of the entries of a task graph in JSON. An op is a step of a task, a range many similar tasks, its items."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, Lt
from pydantic import Field, GetCoreSchemaHandler, GetPydanticSchema
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema
from pydantic_core.core_schema import custom_error_schema

from numasim.parts.base import Model
from numasim.parts.choices import Choices
from numasim.parts.unit_factors import MILLION, MOST_STEPS_PER_S
from numasim.schema.enumerations import (
    LONGEST_PS,
    MOST_ACCESS_ROWS,
    MOST_BYTES,
    MOST_COST_PS,
    MOST_ITEMS,
    MOST_NODES,
    MOST_SHARES,
    MOST_STRIDE,
)
from numasim.workload.graph import SHARED, Op
from numasim.workload.sync_parameters import MAX_PARTIES, MOST_SKEW_PPM

FORMAT = "numasim task graph 1"
MOST_PHASES = 100_000
MOST_KERNELS = 256  # a segment has 8 bits for the number of its kernel


ModeName = Annotated[
    Literal["read", "write", "read-write"],
    Choices(
        {
            "read": "The bytes are read.",
            "write": "The bytes are fetched for ownership and written back.",
            "read-write": "The bytes are read and written back.",
        }
    ),
]
PatternName = Annotated[
    Literal["sequential", "strided", "random", "chase"],
    Choices(
        {
            "sequential": "One line after the other: ten misses at once (assumed).",
            "strided": "Lines at equal distances: four misses at once (assumed).",
            "random": "Lines in any order: three misses at once (assumed).",
            "chase": "Each address depends on the load before: one miss at once.",
        }
    ),
]
MODE_MEANS = "Whether the bytes are read, written or both."
PATTERN_MEANS = "The order of the accesses, which determines how many misses are under way at once (model 2.3)."
MOST_PARTS = 65_536
MOST_WEIGHT = 2**62  # sum of the weights of a table


Amount = Annotated[int, Field(strict=True, ge=0, le=LONGEST_PS)]
Weight = Annotated[int, Field(strict=True, ge=1, le=MOST_WEIGHT)]
Node = Annotated[int, Field(strict=True, ge=0, lt=MOST_NODES)]
Share = Annotated[int, Field(strict=True, ge=1, le=MOST_SHARES)]
Part = Annotated[int, Field(strict=True, ge=0, le=MILLION)]


class AmountsEntry(Model):
    """A whole number for each item of a range: listed, or drawn from a table of ``weight``, ``low`` and ``high``."""

    items: list[Amount] = Field(default_factory=list, description="The numbers, one for each item.")
    weight: Annotated[list[Weight], Field(max_length=MOST_PARTS)] = Field(
        default_factory=list,
        description="Of a table, in place of `items`: how often each part is drawn, relative to the other parts.",
    )
    low: list[Amount] = Field(default_factory=list, description="The lowest number of each part.")
    high: list[Amount] = Field(
        default_factory=list,
        description="The highest number of each part; all numbers from the lowest to the highest are equally likely.",
    )


class NodeAccessEntry(Model):
    """Bytes that every item moves, in memory of given nodes."""

    nodes: Annotated[list[Node], Field(min_length=1)] = Field(description="The nodes.")
    shares: list[Share] = Field(
        default_factory=list,
        description="The share of each node in the bytes of an item, relative to other shares. Default: equal shares.",
    )
    mode: ModeName = Field("read", description=MODE_MEANS)
    pattern: PatternName = Field("sequential", description=PATTERN_MEANS)
    bytes: AmountsEntry = Field(description="How many bytes each item accesses on all of these nodes together.")
    returned_ppm: Part = Field(
        0, description="The part of the memory of these bytes, in millionths, that the item gives back."
    )


def _described(kind: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
    """Return pydantic's check of an op, with one error message for all mistakes, which describes all ops."""
    others = ", ".join(Op(code).name.lower() for code in SHARED if code > Op.LOCK)
    message = (
        'an op is ["run", segment], ["spawn", task], ["call", task], ["wait"], ["group"], ["end_group"], '
        f'["lock", number] or another synchronisation op: {others}'
    )
    return custom_error_schema(handler(kind), custom_error_type="op", custom_error_message=message)


Bytes = Annotated[int, Field(strict=True, ge=0, le=MOST_BYTES)]
Distance = Annotated[int, Field(strict=True, ge=0, le=MOST_STRIDE)]
Step = Annotated[int, Field(strict=True, ge=-MOST_STRIDE, le=MOST_STRIDE)]
Time = Annotated[int, Field(strict=True, ge=0, le=LONGEST_PS)]
Positive = Annotated[int, Field(strict=True, ge=1, le=MOST_ITEMS)]
Index = Annotated[int, Field(strict=True, ge=0, lt=2**32)]
OpName = Annotated[
    Literal[
        "run",
        "spawn",
        "call",
        "lock",
        "unlock",
        "atomic",
        "barrier",
        "await",
        "signal",
        "broadcast",
        "begin",
        "load",
        "store",
        "commit",
    ],
    Choices(
        {
            "run": "Execute a segment.",
            "spawn": "Make a child task, which may run anywhere.",
            "call": "Execute a child here and now.",
            "lock": "Wait for a lock.",
            "unlock": "Release a lock.",
            "atomic": "One atomic operation on a word.",
            "barrier": "Wait until all parties have arrived.",
            "await": "Wait for a condition.",
            "signal": "Let one waiter of a condition pass.",
            "broadcast": "Let as many waiters pass as the condition has parties.",
            "begin": "Begin a transaction on a memory of objects (model 4.11).",
            "load": "Open an object that is drawn from the memory, to read it.",
            "store": "Open an object that is drawn from the memory, to write it.",
            "commit": "End the transaction.",
        }
    ),
]
PlainName = Annotated[
    Literal["wait", "group", "end_group"],
    Choices(
        {
            "wait": "Wait until all children spawned so far have finished.",
            "group": "Begin a group: the tasks spawned from here on, and all their descendants.",
            "end_group": "End the innermost group that the task has begun: wait until all its tasks have finished.",
        }
    ),
]
OpEntry = Annotated[
    tuple[OpName, Index] | tuple[PlainName], Field(union_mode="left_to_right"), GetPydanticSchema(_described)
]


class RegionEntry(Model):
    """A range of memory."""

    name: str = Field(description="Name of the region, to which accesses refer.")
    bytes: Bytes = Field(description="Size of the region.")
    initialised: bool = Field(
        False,
        description="Whether the program writes the region before the parallel part, so that the pages have homes.",
    )


class AccessEntry(Model):
    """``rows`` pieces of ``row_bytes`` bytes, ``stride`` bytes apart."""

    region: str = Field(description="Name of the region.")
    offset: Bytes = Field(0, description="Offset of the access in the region.")
    row_bytes: Annotated[Bytes, Field(ge=1)] = Field(description="Bytes of each piece.")
    rows: Annotated[Positive, Field(le=MOST_ACCESS_ROWS)] = Field(1, description="Number of pieces.")
    stride: Distance = Field(0, description="Distance from the beginning of one piece to the beginning of the next.")
    mode: ModeName = Field("read", description=MODE_MEANS)
    pattern: PatternName = Field("sequential", description=PATTERN_MEANS)
    passes: Annotated[int, Field(strict=True, ge=1, lt=2**32)] = Field(
        1, description="Number of passes over the bytes."
    )


class TemplateEntry(AccessEntry):
    """An access of each item of a range; the offset is a linear function of i div d and i mod d of item i."""

    divisor: Annotated[int, Field(strict=True, ge=1, lt=2**62)] = Field(1, description="The divisor d of the number i.")
    step_div: Step = Field(0, description="Bytes added to the offset, times i div d.")
    step_mod: Step = Field(0, description="Bytes added to the offset, times i mod d.")


class SegmentEntry(Model):
    """A segment: work of a task without a break, with a compute time, a kernel and memory accesses."""

    compute_ps: Time = Field(0, description="Compute time without waits for memory.")
    kernel: str = Field("", description="Name of the kernel, which traces show.")
    accesses: list[AccessEntry] = Field(default_factory=list, description="The accesses of the segment to memory.")


class RangeEntry(Model):
    """A range: many similar tasks, its items, without entries of their own."""

    name: str = Field("", description="Name of the range.")
    count: Positive = Field(description="Number of items.")
    low_ps: Time | None = Field(None, description="The shortest compute time of an item.")
    high_ps: Time | None = Field(None, description="The longest compute time of an item; times are drawn uniformly.")
    compute_ps: AmountsEntry | None = Field(
        None,
        description="In place of `low_ps` and `high_ps`: the compute time of each item, or a table to draw times from.",
    )
    kernel: str = Field("", description="Name of the kernel.")
    accesses: list[TemplateEntry] = Field(
        default_factory=list, description="Accesses of item i, at offset + (i div d) step_div + (i mod d) step_mod."
    )
    node_accesses: list[NodeAccessEntry] = Field(
        default_factory=list,
        description="The bytes that each item accesses on given nodes; no cache serves these bytes.",
    )
    fresh: AmountsEntry | None = Field(
        None, description="The bytes of memory that each item touches for the first time; each page costs a page fault."
    )
    freed: AmountsEntry | None = Field(None, description="The bytes of memory that each item gives back, page by page.")


class TaskEntry(Model):
    """A task: its kind, its ops, and the tasks that wait for its end."""

    kind: Annotated[
        Literal["task", "call", "implicit"],
        Choices(
            {
                "task": "A task, which is counted and waits in queues.",
                "call": "The frame of an inline call.",
                "implicit": "A body that is given to one worker and cannot be stolen.",
            }
        ),
    ] = Field("task", description="The kind of the entry (model 3.1).")
    ops: list[OpEntry] = Field(
        default_factory=list,
        description='The steps of the program: ["run", segment], ["spawn", task], ["call", task], ["wait"], '
        '["group"], ["end_group"], or a synchronisation op such as ["lock", number].',
    )
    then: list[Index] = Field(default_factory=list, description="Tasks of the same phase that wait for this task.")


class WordEntry(Model):
    """A synchronisation object."""

    name: str = Field("", description="Name of the object.")
    role: Annotated[
        Literal["lock", "atomic", "condition", "objects", "barrier"],
        Choices(
            {
                "lock": "A lock.",
                "atomic": "A word for atomic operations.",
                "condition": "A condition that waiters sleep on until they are signalled.",
                "objects": "A memory of objects, for transactions (model 4.11).",
                "barrier": "A barrier.",
            }
        ),
    ] = Field(description="The kind of synchronisation object.")
    owner: Index = Field(0, description="The worker that owns the object (model 5).")
    parties: Annotated[int, Field(strict=True, ge=1, le=MAX_PARTIES)] = Field(
        1,
        description="Of a barrier: the workers for which the barrier waits. Of a condition: the waiters that a "
        "broadcast lets pass. Of objects: their number.",
    )
    skew_ppm: Annotated[int, Field(strict=True, ge=0, le=MOST_SKEW_PPM)] = Field(
        0, description="Of objects: the exponent of Zipf's law of the draws, in millionths; 0: all equally likely."
    )
    undo_ps: Annotated[int, Field(strict=True, ge=0, le=MOST_COST_PS)] = Field(
        0, description="Of objects: the time that an attempt takes to abort; at least 1,000 ps count."
    )
    same: bool = Field(
        False, description="Of objects: whether the next attempt opens the same objects, not other objects."
    )


class PhaseEntry(Model):
    """Roots and a range that start together, or a loop over phases."""

    roots: list[Index] = Field(
        default_factory=list,
        description="Numbers of the tasks with which the phase starts; a task that waits for other tasks starts when "
        "these tasks have finished. A task may be in several phases.",
    )
    range: Index | None = Field(None, description="Number of the range of the phase. Default: none.")
    deal: Annotated[
        Literal["master", "block", "cyclic"],
        Choices(
            {
                "master": "All to worker 0.",
                "block": "Number i of n to worker i * P div n.",
                "cyclic": "Number i to worker i mod P.",
            }
        ),
    ] = Field("master", description="The deal of roots and items to workers at the start.")
    serial: bool = Field(False, description="Whether worker 0 works alone while the other workers wait.")
    repeat: Positive = Field(1, description="Number of runs of the phase in a row, or of passes of the loop.")
    name: str = Field("", description="Name of the phase, to which changes of the placement refer.")
    loop: list[PhaseEntry] = Field(
        default_factory=list,
        description="In place of a phase, a loop: phases and loops that run one after the other, `repeat` times (model "
        "3.6). An entry with a loop has only `loop` and `repeat`.",
    )


class RecordedEntry(Model):
    """The system on which a program was recorded; a value that is left out is not known."""

    processor: str = Field("", description="The name of the processor.")
    clock_hz: Annotated[int, Field(strict=True, ge=0, le=10**12)] = Field(
        0, description="The highest known clock, in Hz."
    )
    core_steps_per_s: Annotated[int, Field(strict=True, ge=0, le=MOST_STEPS_PER_S)] = Field(
        0,
        description="The rate of the system's cores, as in a machine file. If the rate of the simulated machine is "
        "known, too, compute times are multiplied by this rate over the rate of the simulated machine.",
    )
    sizes: Bytes = Field(0, description="Number of sizes of accesses that were recorded.")
    guessed_sizes: Bytes = Field(
        0,
        description="How many of the recorded sizes are guesses. A dependence names an address but no size. The guess "
        "is that the data reach to the next named address or to the end of the block, or are a tile of a matrix or a "
        "cache line.",
    )


class GraphFile(Model):
    """A whole file."""

    format: Literal["numasim task graph 1"] = Field("numasim task graph 1", description="The format and its version.")
    name: str = Field("graph", description="Name of the program in results.")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Parameters of the generator, for readers.")
    kernels: Annotated[list[str], Field(max_length=MOST_KERNELS)] = Field(
        default_factory=lambda: [""],
        description="Names of the kernels of segments and ranges. Default: one kernel without a name.",
    )
    regions: list[RegionEntry] = Field(default_factory=list, description="The regions of memory of the program.")
    phases: list[PhaseEntry] | None = Field(
        None, description="The phases and loops, in order. Default: one phase of all tasks without a parent."
    )
    ranges: list[RangeEntry] = Field(
        default_factory=list, description="Ranges of items: tasks without entries (model 3.5)."
    )
    tasks: list[TaskEntry] = Field(default_factory=list, description="The tasks, numbered by their places here.")
    segments: list[SegmentEntry] = Field(
        default_factory=list, description="The segments, numbered by their places here."
    )
    words: list[WordEntry] = Field(
        default_factory=list, description="Synchronisation objects, numbered by their places here."
    )
    facts: dict[str, int] = Field(
        default_factory=dict,
        description="Whole numbers that the generator knows of the program, for readers of the file.",
    )
    recorded: RecordedEntry | None = Field(None, description="The system on which the program was recorded.")


ENTRIES: dict[str, type[Model]] = {  # by key of `GraphFile`, the model of the entries of the list
    "regions": RegionEntry,
    "phases": PhaseEntry,
    "ranges": RangeEntry,
    "tasks": TaskEntry,
    "segments": SegmentEntry,
    "words": WordEntry,
}


def member(kind: Any, name: str) -> Any:
    """Return the member of an enumeration with the name ``name`` in a file."""
    return kind[name.upper().replace("-", "_")]


def member_name(member: IntEnum) -> str:
    """Return the name of a member of an enumeration in a file. Names of ops have underscores, other names hyphens."""
    name = member.name.lower()
    return name if isinstance(member, Op) else name.replace("_", "-")


def bounds_of(field: FieldInfo) -> tuple[int, int]:
    """Return the least and the largest whole number that a field of a model may have."""
    low, high = -(2**63), 2**63 - 1
    for one in field.metadata:
        if isinstance(one, Ge):
            low = max(low, int(one.ge))  # type: ignore[call-overload]
        elif isinstance(one, Le):
            high = min(high, int(one.le))  # type: ignore[call-overload]
        elif isinstance(one, Lt):
            high = min(high, int(one.lt) - 1)  # type: ignore[call-overload]
    return low, high
