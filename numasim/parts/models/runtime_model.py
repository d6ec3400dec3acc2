"""A runtime as data: joins, queue capacity, polling, back-off and the costs of its operations (model 4.1, 4.2).

The thesis measured on two runtimes, its own library (chapter 3) and OMPi (chapter 3.6 on); each is a preset file.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag

from numasim.parts.base import Count, Fraction, Label, Model, Nanoseconds, PositiveCount
from numasim.schema.enumerations import MOST_UNITS_PER_S, JoinKind, ProducerKind

__all__ = [
    "MAX_TASKS",
    "BackoffSpec",
    "Capacity",
    "CostSpec",
    "FractionRule",
    "FullRule",
    "JoinKind",
    "ProducerKind",
    "QueueOrder",
    "ReleaseRule",
    "Rule",
    "RuntimeSpec",
    "Tasks",
    "ThresholdRule",
    "YesNo",
    "by_shape",
    "shape",
]

FullRule = Literal["grow", "inline", "next", "block"]
ReleaseRule = Literal["queue", "begin"]
QueueOrder = Literal["lifo-fifo", "fifo-lifo"]
ThresholdRule = Literal["literal", "avail"]
MAX_TASKS = 2**31 - 1  # queue lengths and their bounds are 32-bit in a compiled plan


def shape(value: Any) -> str:
    """Return the form in which a value was written: text, mapping or number. It selects the branch of a union."""
    if isinstance(value, str):
        return "text"
    return "mapping" if isinstance(value, Mapping | BaseModel) else "number"


def by_shape(sentence: str) -> Discriminator:
    """Choose the branch of a union by `shape`; ``sentence`` is the error when no branch fits."""
    return Discriminator(shape, custom_error_type="shape", custom_error_message=sentence)


def _yes_or_no(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if value not in ("yes", "no"):
        raise ValueError("yes or no is needed here")
    return value == "yes"


# YAML 1.2 reads yes and no as text
YesNo = Annotated[bool, BeforeValidator(_yes_or_no, json_schema_input_type=bool | Literal["yes", "no"])]
Tasks = Annotated[PositiveCount, Field(le=MAX_TASKS)]
Capacity = Annotated[
    Annotated[Literal["none"], Tag("text")] | Annotated[Tasks, Tag("number")],
    by_shape("a number of tasks, or none, is needed here"),
]


class FractionRule(Model):
    """S as a fraction of the mean peak length of the queues (A-7)."""

    fraction: Fraction


Rule = Annotated[
    Annotated[ThresholdRule, Tag("text")] | Annotated[FractionRule, Tag("mapping")],
    by_shape("a rule is literal, avail or {fraction: 0.5}"),
]


class BackoffSpec(Model):
    """Waiting after the j-th failed round: ``min(first * factor ** (j - 1), max)``; first 0 polls at once."""

    first_ns: Annotated[
        Annotated[Literal["task"], Tag("text")] | Annotated[Nanoseconds, Tag("number")],
        by_shape("nanoseconds, or task for the mean time of a task, are needed here"),
    ] = Decimal(0)
    factor: Annotated[PositiveCount, Field(le=1024)] = 2
    max_ns: Annotated[
        Annotated[Literal["none"], Tag("text")] | Annotated[Nanoseconds, Tag("number")],
        by_shape("nanoseconds, or none, are needed here"),
    ] = "none"
    after: Literal["round", "probe"] = "round"
    empty: Literal["skip", "count"] = "skip"


class CostSpec(Model):
    """The cost of each operation of the runtime in nanoseconds (model 4.1)."""

    push_ns: Nanoseconds = Decimal(0)
    locate_ns: Nanoseconds = Decimal(0)  # finding the node of a new task's data, if a dispatch rule needs it (c_tld)
    pop_ns: Nanoseconds = Decimal(0)
    join_ns: Nanoseconds = Decimal(0)
    wait_ns: Nanoseconds = Decimal(0)
    resume_ns: Nanoseconds = Decimal(0)
    probe_ns: Nanoseconds = Decimal(100)
    probe_remote_ns: Nanoseconds = Decimal(300)
    take_ns: Nanoseconds = Decimal(0)
    move_ns: Nanoseconds = Decimal(0)
    # Waking a sleeper whose node is the home of the line that it sleeps on, or that of the worker that ends its join.
    wake_ns: Nanoseconds = Decimal(0)
    wake_remote_ns: Nanoseconds = Decimal(0)  # a sleeper on another node
    fault_ns: Nanoseconds = Decimal(0)
    faults_per_s: Annotated[Count, Field(le=MOST_UNITS_PER_S)] = 0  # limit of the address space lock; 0: no limit
    fault_alpha: Fraction = Decimal(0)  # its loss for each further node with page faults
    migrate_ns: Nanoseconds = Decimal(0)  # the migration of a page to another node
    signal_ns: Nanoseconds = Decimal(0)  # letting one waiter of a condition pass, without the transfer of its line
    futex_ns: Nanoseconds = Decimal(0)  # unparking a thread, beside wake_ns
    pause_ns: Nanoseconds = Decimal(0)  # between two tries of a test-and-set lock
    # Probes, takes, joins and a worker's pushes into queues of others also pay the coherence transfer of the line.
    line: YesNo = False


class RuntimeSpec(Model):
    """A runtime preset, or one that the user composes; missing fields are as in the preset ``bare``."""

    name: Label = "custom"
    join: JoinKind = "continuation"
    capacity: Capacity = "none"
    on_full: FullRule = "grow"
    resume: Fraction = Decimal("0.7")  # on_full inline: queue again below this share of the capacity
    producer: ProducerKind = "none"  # who creates the tasks of an implicit range; none: dealt at t = 0
    release: ReleaseRule = "queue"  # of a task whose last predecessor has finished
    queue_order: QueueOrder = "lifo-fifo"  # own end, steal end
    poll_ns: Nanoseconds = Decimal(0)
    backoff: BackoffSpec = BackoffSpec.model_construct()
    s_rule: Rule = "avail"
    costs: CostSpec = CostSpec.model_construct()

    @property
    def capacity_tasks(self) -> int:
        """Capacity of a worker's queue in tasks; 0: no bound."""
        return 0 if self.capacity == "none" else int(self.capacity)
