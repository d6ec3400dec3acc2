"""A runtime as data: joins, queue capacity, polling, back-off and the costs of its operations (model 4.1, 4.2).

A join is what a worker does at a wait for children; a round is a searching worker's probes (looks at queues) up to its
next wait; a range is many similar tasks, its items. Vikranth's thesis measured two runtimes, its own library (chapter
3) and OMPi (chapter 3.6 on); both are shipped.
"""

from collections.abc import Collection
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, Tag

from numasim.parts.base import Count, Fraction, Label, LeanModel, Model, Nanoseconds, PositiveCount, Sentence, by_shape
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.parts.models.idle_model import IdleSpec
from numasim.schema.enumerations import MOST_BYTES, MOST_UNITS_PER_S, JoinKind, LineName, ProducerKind

FullRule = Literal["grow", "inline", "next", "block"]
FamilyFullRule = Literal[FullRule, "displace", "spill-oldest", "spill-newest"]
ReleaseRule = Literal["queue", "begin"]
QueueOrder = Literal["lifo-fifo", "fifo-lifo"]
ThresholdRule = Literal["literal", "avail"]
Join = Annotated[JoinKind, Choices(meanings.JOIN)]
Full = Annotated[FullRule, Choices(meanings.FULL)]
FamilyFull = Annotated[FamilyFullRule, Choices(meanings.FAMILY_FULL)]
Threshold = Annotated[ThresholdRule, Choices(meanings.THRESHOLD)]
MAX_TASKS = 2**31 - 1  # a compiled plan holds queue lengths and their bounds in 32 bits

Tasks = Annotated[PositiveCount, Field(le=MAX_TASKS)]
Capacity = Annotated[
    Annotated[Literal["none"], Tag("text"), Choices(meanings.CAPACITY)] | Annotated[Tasks, Tag("number")],
    by_shape("a number of tasks, or none, is needed here"),
]


LeavesOut = Annotated[
    tuple[Sentence, ...],
    Field(description="Rules of the real scheduler that the file leaves out, a sentence each; runs ignore them."),
]


class FractionRule(Model):
    """The threshold S as a fraction of the mean peak length of the queues (A-7)."""

    fraction: Fraction = Field(
        description="S is this fraction of the mean, over all queues, of their longest lengths so far (A-7)."
    )


Rule = Annotated[
    Annotated[Threshold, Tag("text")] | Annotated[FractionRule, Tag("mapping")],
    by_shape("a rule is literal, avail or {fraction: 0.5}"),
]


class BackoffSpec(Model):
    """Waiting after the j-th failed round in a row: ``min(first * factor ** (j - 1), max)``; first 0: poll at once."""

    first_ns: Annotated[
        Annotated[Literal["task"], Tag("text"), Choices(meanings.BACKOFF_FIRST_NS)]
        | Annotated[Nanoseconds, Tag("number")],
        by_shape("nanoseconds, or task for the mean time of a task, are needed here"),
    ] = Field(
        Decimal(0),
        description="Wait after the first failed round, or task: a task's mean time (thesis, 3.3.1). Default: poll_ns.",
    )
    factor: Annotated[PositiveCount, Field(le=1024)] = Field(
        2, description="Factor from each wait to the next, as long as nothing is found."
    )
    max_ns: Annotated[
        Annotated[Literal["none"], Tag("text"), Choices(meanings.CAPACITY)] | Annotated[Nanoseconds, Tag("number")],
        by_shape("nanoseconds, or none, are needed here"),
    ] = Field("none", description="The longest wait.")
    after: Annotated[Literal["round", "probe"], Choices(meanings.BACKOFF_AFTER)] = Field(
        "round", description="After which event a worker waits (A-30)."
    )
    empty: Annotated[Literal["skip", "count"], Choices(meanings.BACKOFF_EMPTY)] = Field(
        "skip", description="Whether a round in which no queue was probed counts as a failed steal attempt (A-9)."
    )


def _line_word(value: Any) -> Any:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


LineRule = Annotated[LineName, Choices(meanings.COST_LINE), BeforeValidator(_line_word)]


class CostSpec(LeanModel):
    """The cost of each operation of the runtime in nanoseconds (model 4.1)."""

    left_out: ClassVar[Collection[str]] = ("unpark_ns", "look_ns", "deep_ns", "deep_wake_ns", "yield_ns")

    push_ns: Nanoseconds = Field(
        Decimal(0), description="Putting a task into a queue; also the pace of a producer of range items."
    )
    locate_ns: Nanoseconds = Field(
        Decimal(0),
        description="Finding the node of a new task's data for a dispatch rule that asks (thesis, section 5.5).",
    )
    pop_ns: Nanoseconds = Field(Decimal(0), description="Taking a task from the own queue.")
    join_ns: Nanoseconds = Field(
        Decimal(0), description="Finishing a child task: counting the child off at its parent."
    )
    wait_ns: Nanoseconds = Field(Decimal(0), description="Passing a wait for children.")
    resume_ns: Nanoseconds = Field(
        Decimal(0), description="Going on with a task that was left at a join, or stolen as a continuation."
    )
    probe_ns: Nanoseconds = Field(
        Decimal(100),
        description="A probe of a queue on the own node; at least 1 ns counts. A machine's measured probe times win.",
    )
    probe_remote_ns: Nanoseconds = Field(
        Decimal(300),
        description="A probe of a queue on another node; at least 1 ns counts. A machine's measured probe times win.",
    )
    take_ns: Nanoseconds = Field(Decimal(0), description="The first task of a steal.")
    move_ns: Nanoseconds = Field(Decimal(0), description="Each further task of a steal.")
    wake_ns: Nanoseconds = Field(
        Decimal(0), description="Waking a sleeper on the node of its line, or of the worker that ends its join."
    )
    wake_remote_ns: Nanoseconds = Field(
        Decimal(0), description="Waking a sleeper on another node (thesis, section 6.3.1)."
    )
    fault_ns: Nanoseconds = Field(Decimal(0), description="A page fault, which places a page.")
    faults_per_s: Annotated[Count, Field(le=MOST_UNITS_PER_S)] = Field(
        0,
        description="Page faults per second that the address space's lock allows for all workers; 0: any (model 2.5).",
    )
    fault_alpha: Fraction = Field(
        Decimal(0),
        description="Loss of faults_per_s with more nodes: u nodes divide the limit by 1 + fault_alpha (u - 1).",
    )
    unmap_ns: Nanoseconds = Field(
        Decimal(0), description="Giving back a page. Nobody else faults or gives back memory meanwhile (model 2.5)."
    )
    shootdown_ns: Nanoseconds = Field(
        Decimal(0),
        description="Flush of translation buffers after giving back pages, for each other thread, with the lock held.",
    )
    unmap_batch: Annotated[Count, Field(le=MOST_BYTES)] = Field(
        0, description="Pages that are given back with one flush; 0: all that an item gives back (model 2.5)."
    )
    migrate_ns: Nanoseconds = Field(Decimal(0), description="The migration of a page to another node.")
    signal_ns: Nanoseconds = Field(
        Decimal(0), description="Letting one waiter of a condition pass, without the transfer of its line."
    )
    futex_ns: Nanoseconds = Field(
        Decimal(0), description="Unparking a thread that sleeps on a lock (kinds mutex and barging), beside wake_ns."
    )
    pause_ns: Nanoseconds = Field(Decimal(0), description="The pause between two tries of a test-and-set lock.")
    unpark_ns: Nanoseconds = Field(
        Decimal(0),
        description="Waking a worker that sleeps because it found no task, paid by the worker that wakes it; wake_ns "
        "or wake_remote_ns later the sleeper looks for a task (model 4.15).",
    )
    look_ns: Nanoseconds = Field(
        Decimal(0),
        description="With idle.wake.whom: lowest, looking at one worker's place for a sleeper, from worker 0 on.",
    )
    deep_ns: Nanoseconds = Field(
        Decimal(0),
        description="After a longer sleep, waking takes deep_wake_ns more, as the core is in a deep idle state.",
    )
    deep_wake_ns: Nanoseconds = Field(Decimal(0), description="See deep_ns.")
    yield_ns: Nanoseconds = Field(
        Decimal(0),
        description="Giving the processor to the operating system after each task but the last of a wait, as LLVM's "
        "OpenMP does unless OMP_WAIT_POLICY is active (model 4.1).",
    )
    line: LineRule = Field(
        "no", description="Whether transfers of cache lines of queues and of joins' counters are paid (model 4.1, 5.6)."
    )


class RuntimeSpec(LeanModel):
    """A shipped runtime, or a runtime that the user composes; missing fields are as in the runtime ``bare``."""

    left_out: ClassVar[Collection[str]] = ("idle", "leaves_out", "inline_above")

    name: Label = Field("custom", description="Name of the runtime.")
    join: Join = Field(
        "continuation", description="What a worker does at a wait whose children have not all finished (model 3.2)."
    )
    capacity: Capacity = Field("none", description="Tasks that a worker's own queue holds (A-4).")
    on_full: Full = Field(
        "grow", description="What happens to a new task when the queue that it is put into is full (model 4.1)."
    )
    resume: Fraction = Field(
        Decimal("0.7"),
        description="With on_full: inline, tasks are queued again below this share of the capacity, as in OMPi.",
    )
    inline_above: Capacity = Field(
        "none",
        description="A worker executes a new task at once if more than this number of other tasks for each worker are "
        "unfinished; 64 in GCC's libgomp (model 4.1).",
    )
    producer: Annotated[ProducerKind, Choices(meanings.RUNTIME_PRODUCER)] = Field(
        "none", description="Who makes the items of a range (A-1)."
    )
    release: Annotated[ReleaseRule, Choices(meanings.RUNTIME_RELEASE)] = Field(
        "queue", description="What becomes of a task whose last predecessor has finished (A-40)."
    )
    queue_order: Annotated[QueueOrder, Choices(meanings.RUNTIME_QUEUE_ORDER)] = Field(
        "lifo-fifo", description="At which end of its own queue a worker takes, and at which end others steal (A-29)."
    )
    poll_ns: Nanoseconds = Field(Decimal(0), description="Wait between failed rounds where there is no back-off.")
    backoff: BackoffSpec = Field(
        BackoffSpec.model_construct(),
        description="Waits after failed rounds; the backoff of a strategy replaces them. Default: none.",
    )
    idle: IdleSpec | None = Field(
        None,
        description="Rules for workers without a task (model 4.15); a strategy's rules win. Default: the back-off.",
    )
    s_rule: Rule = Field(
        "avail", description="How the threshold S of a queue is computed, unless the strategy has a rule (A-7)."
    )
    costs: CostSpec = Field(
        CostSpec.model_construct(),
        description="Times of the runtime's operations (model 4.1). Default: probes alone take time.",
    )
    leaves_out: LeavesOut = ()

    def inline_above_tasks(self, workers: int) -> int:
        """Return the bound of ``inline_above`` for all ``workers`` together, in tasks; -1: no bound."""
        return -1 if self.inline_above == "none" else int(self.inline_above) * workers

    @property
    def capacity_tasks(self) -> int:
        """Return the capacity of a worker's queue in tasks; 0: no bound."""
        return 0 if self.capacity == "none" else int(self.capacity)
