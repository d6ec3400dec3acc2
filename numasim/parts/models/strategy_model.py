"""A strategy as data: queues, steal levels, dispatch rules, thresholds, back-off, placement and mapping.

Two tables of one shape, *queue set + filter + pick*: ``steal`` (levels in order, until success) and ``dispatch`` (the
first rule that yields a queue wins). A mapping of two to ten lines expresses the pseudo-code of a paper;
`numasim.strategy` compiles it for a machine and a number of workers.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, Field, Tag, ValidationInfo, field_validator, model_validator

from numasim.errors import nearest_name
from numasim.parts.base import Bytes, CheckedModel, Count, Fraction, Label, Model, PositiveCount, SignedFraction
from numasim.parts.models.locks_model import LockSpec
from numasim.parts.models.placement_model import Placed, PlacementSpec
from numasim.parts.models.runtime_model import BackoffSpec, FullRule, JoinKind, Rule, Tasks, YesNo, by_shape
from numasim.schema.enumerations import ThresholdTime

UnitName = Literal["worker", "core", "llc", "node", "socket", "machine"]
InsideName = Literal["own-core", "own-llc", "own-node", "own-socket"]
OutsideName = Literal["other-cores", "other-llcs", "other-nodes", "other-sockets"]
SourceName = Literal["own", "others", "parent", "last", "thief", InsideName, OutsideName]
TargetName = Literal["own", "any", "data", "lightest", InsideName]
StealPick = Literal["random", "in-order", "after-me", "rotate", "round-robin", "after-last", "longest", "shortest"]
DispatchPick = Literal["random", "in-order", "after-me", "rotate", "round-robin", "shortest", "cyclic", "block"]
Announcement = Literal["always", "owner", "owner-exact"]
MappingName = Literal["numa-even-cores-first", "contiguous", "smt-first", "os-order", "numa-spread", "scatter"]
BY_LENGTH = ("longest", "shortest")
COMPARABLE = 2**15  # bound of tries, sample and leave, which are 16-bit in a compiled plan
LAST_ITERATION = 2**32 - 1
Iteration = Annotated[Count, Field(le=LAST_ITERATION)]


class Grammar(Model):
    """A part of the grammar; ``later`` are keys of the full grammar that this version refuses by name."""

    later: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _refuse_later(cls, value: Any) -> Any:
        for key in value if isinstance(value, Mapping) else ():
            if key in cls.later:
                raise ValueError(f"this version does not know {key!r} ({cls.later[key]})")
        return value


def _refuse_words(later: Mapping[str, str]) -> BeforeValidator:
    def check(value: Any) -> Any:
        if isinstance(value, str) and value in later:
            raise ValueError(f"this version does not know {value!r} ({later[value]})")
        return value

    return BeforeValidator(check)


class Vicinity(Model):
    """The workers are cut into blocks of ``vicinity`` near neighbours (home scheduling)."""

    vicinity: Annotated[PositiveCount, Field(le=COMPARABLE)]


Bound = Annotated[
    Annotated[Literal["min", "max"], Tag("text")] | Annotated[Tasks, Tag("number")],
    by_shape("a number of tasks, min or max is needed here"),
]


def _exactly_one(model: Model) -> None:
    names = list(type(model).model_fields)
    if sum(getattr(model, name) is not None for name in names) != 1:
        raise ValueError(f"exactly one of {' and '.join(names)} is needed here")


class LengthCondition(Model):
    """Only queues with at least ``length``, or with fewer than ``below``, tasks now."""

    has_alternatives: ClassVar[bool] = True
    length: Bound | None = None
    below: Bound | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self)
        return self


class AmountSpec(Model):
    """``count`` tasks, or one ``share``-th of the queue rounded up; ``workers`` is the number of workers."""

    has_alternatives: ClassVar[bool] = True
    count: Tasks | None = None
    share: (
        Annotated[
            Annotated[Literal["workers"], Tag("text")] | Annotated[Tasks, Tag("number")],
            by_shape("a number, or workers, is needed here"),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self)
        return self


class ChanceSpec(Model):
    """The probability of entering a level instead of the remaining ones, and its change by success and failure."""

    first: Fraction
    most: Fraction = Decimal(1)
    hit: SignedFraction = Decimal(0)
    miss: SignedFraction = Decimal(0)
    elsewhere_hit: SignedFraction = Field(Decimal(0), alias="elsewhere-hit")
    elsewhere_miss: SignedFraction = Field(Decimal(0), alias="elsewhere-miss")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.first > self.most:
            raise ValueError(f"first is the least probability and may not exceed most, but {self.first} > {self.most}")
        return self


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


FamilyNames = Annotated[
    tuple[Label, ...], Field(min_length=1), BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])
]
Condition = Annotated[
    Annotated[Literal["announced"], Tag("text")] | Annotated[LengthCondition, Tag("mapping")],
    by_shape("a condition is announced, {length: n} or {below: n}"),
]
Amount = Annotated[
    Annotated[Literal["one", "half", "all"], Tag("text")] | Annotated[AmountSpec, Tag("mapping")],
    by_shape("an amount is one, half, all, {count: k} or {share: d}"),
]
Chance = Annotated[
    Annotated[Fraction, Tag("number")] | Annotated[ChanceSpec, Tag("mapping")],
    by_shape("a chance is a probability or a mapping that starts with {first: p}"),
]
Source = Annotated[
    Annotated[SourceName, Tag("text")] | Annotated[Vicinity, Tag("mapping")],
    by_shape("a set of queues is a name such as others or own-node, or {vicinity: 4}"),
]


def _is_symbolic(condition: Condition | None) -> bool:
    if isinstance(condition, LengthCondition):
        return bool({condition.length, condition.below} & {"min", "max"})
    return condition == "announced"


LAST_TAKES = {"source", "amount", "leave", "lock", "iterations"}
SELF_TAKES = ("others", *get_args(InsideName))


class LevelSpec(Grammar, CheckedModel):
    """One steal level: where a thief looks, under which condition, how often, and how much it takes."""

    later: ClassVar[Mapping[str, str]] = {"gated": "gates on live subtrees"}

    source: Source = Field(alias="from")
    include_self: YesNo = Field(False, alias="self")
    queue: FamilyNames | None = None
    by: Literal["core", "llc", "node", "socket", "distance"] | None = None
    visit: Literal["nearest", "random", "weighted"] = "nearest"
    pick: StealPick = "random"
    sample: Annotated[PositiveCount, Field(lt=COMPARABLE)] | None = None
    tries: Annotated[
        Annotated[Literal["all"], Tag("text")] | Annotated[PositiveCount, Field(lt=COMPARABLE), Tag("number")],
        by_shape("a number of tries, or all, is needed here"),
    ] = 1
    condition: Condition | None = Field(None, alias="if")
    amount: Amount | None = None
    leave: Annotated[Count, Field(lt=COMPARABLE)] = 0
    lock: UnitName | None = None  # the unit of the probed queue whose lock is held during the search
    who: Literal["head"] | None = None
    iterations: tuple[Iteration, Literal["last"] | Iteration] = (0, "last")
    chance: Chance | None = None

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last iteration in which the level is in force."""
        first, last = self.iterations
        return first, LAST_ITERATION if last == "last" else int(last)

    def _problems(self) -> Iterator[str]:
        idle = self.model_fields_set - LAST_TAKES
        if self.source == "last" and idle:
            keys = ", ".join(sorted(type(self).model_fields[name].alias or name for name in idle))
            yield f"from: last is one known queue, so {keys} would have no effect"
        if self.include_self and not (self.source in SELF_TAKES or isinstance(self.source, Vicinity)):
            yield f"self: yes goes with others, a unit such as own-node, or a vicinity, not with from: {self.source}"
        if self.sample is not None and self.pick not in BY_LENGTH:
            yield f"sample goes with pick: longest or shortest, not with pick: {self.pick}"
        if self.visit != "nearest" and self.by is None:
            yield f"visit: {self.visit} chooses among groups, so by: node (or core, llc, socket, distance) is needed"
        if self.span[0] > self.span[1]:
            yield f"iterations run from {self.span[0]} to {self.span[1]}, which is never"


class DispatchSpec(Grammar, CheckedModel):
    """One dispatch rule: the queue that a new task is put into, if the rule finds one with room.

    ``to: data`` is the node with the greatest similarity to the task (thesis eq. 5.2), the one from which its objects
    are ``cheapest`` to reach, or ``any`` home of one of them. The keys from ``rank`` on select and weigh the objects
    that count; those from ``bytes`` on are guards, which apply to any target: ``bytes`` is the least size of the
    objects that count, ``share`` the least part of them on the chosen node, ``uneven`` that the similarity differs
    between nodes, ``here`` that the spawner is on the chosen node, ``source`` that the task has no predecessor.
    """

    later: ClassVar[Mapping[str, str]] = {"tier": "tiers of tasks", "copy": "copies of tasks"}

    target: Annotated[TargetName, _refuse_words({"label": "labels of tasks"})] = Field(alias="to")
    queue: FamilyNames | None = None
    pick: DispatchPick = "in-order"
    sample: Annotated[PositiveCount, Field(lt=COMPARABLE)] | None = None
    condition: Condition | None = Field(None, alias="if")
    rank: Literal["most", "cheapest", "any"] = "most"
    count: Literal["both", "reads", "writes"] = "both"
    weigh: Literal["bytes", "objects"] = "bytes"
    least_bytes: Bytes = Field(0, alias="bytes")
    least_share: Fraction = Field(Decimal(0), alias="share")
    uneven: YesNo = False
    here: YesNo = False
    source: YesNo = False

    @property
    def ranks_nodes(self) -> bool:
        """Whether the rule needs the similarity of the task to nodes."""
        return self.target == "data" or bool(self.least_share) or self.uneven or self.here

    @property
    def looks_at_data(self) -> bool:
        """Whether the rule needs the task's objects."""
        return self.ranks_nodes or bool(self.least_bytes)

    @property
    def is_open(self) -> bool:
        """Whether the rule accepts every task for which there is room."""
        return self.condition is None and not self.looks_at_data and not self.source

    def _problems(self) -> Iterator[str]:
        if self.sample is not None and self.pick not in BY_LENGTH:
            yield f"sample goes with pick: shortest, not with pick: {self.pick}"
        idle = sorted(self.model_fields_set & {"rank", "weigh"}) if not self.ranks_nodes else []
        if "count" in self.model_fields_set and not self.looks_at_data:
            idle = ["count", *idle]
        if idle:
            yield f"{', '.join(idle)} would have no effect: to: {self.target} does not depend on the homes of data"
        if self.rank == "any" and self.least_share:
            yield "share refers to a single node, but rank: any may give several"


class QueueSpec(Grammar):
    """A family of queues, one a unit; a missing capacity is the runtime's for worker queues, none for others."""

    per: UnitName
    own: Literal["lifo", "fifo"] | None = None
    steal: Literal["lifo", "fifo"] | None = None
    capacity: Tasks | None = None
    full: FullRule | None = None
    lock: YesNo = False  # a probe, and a push into another worker's queue, take the queue's lock


class ThresholdSpec(Model):
    """The thresholds S (max) and s (min) of every queue: auto is thesis eq. 3.3 and 3.4 (A-6, A-7).

    ``announce`` says who announces a queue as a victim: ``always`` whoever changes it, at every change; ``owner`` the
    worker whose queue it is, where it takes a task and where it has executed one; ``owner-exact`` the same, by equality
    of lengths (A-42).
    """

    max: Annotated[
        Annotated[Literal["auto"], Tag("text")] | Annotated[Tasks, Tag("number")],
        by_shape("a number of tasks, or auto, is needed here"),
    ] = "auto"
    min: Annotated[
        Annotated[Literal["auto"], Tag("text")] | Annotated[Tasks, Tag("number")],
        by_shape("a number of tasks, or auto, is needed here"),
    ] = "auto"
    rule: Rule | None = None
    when: ThresholdTime = "first-drain"
    announce: Announcement = "always"

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if isinstance(self.max, int) and isinstance(self.min, int) and self.min >= self.max:
            raise ValueError(f"min must be less than max, but min is {self.min} and max is {self.max}")
        return self


def _one_spawn_order(value: Any) -> Any:
    if isinstance(value, Mapping):
        raise ValueError("this version knows one spawn order for all tasks: help-first or work-first")
    return value


def _own_deques() -> dict[str, QueueSpec]:
    return {"deque": QueueSpec.model_construct(per="worker")}


class StrategySpec(Grammar, CheckedModel):
    """A whole strategy, its ``like`` chain already merged."""

    later: ClassVar[Mapping[str, str]] = {
        "live": "limits on live subtrees",
        "tiers": "tiers of tasks",
        "labels": "labels of tasks",
        "helpers": "helper threads",
    }

    name: Label = "custom"
    queues: Annotated[dict[Label, QueueSpec], Field(min_length=1, max_length=64)] = Field(default_factory=_own_deques)
    steal: Annotated[tuple[LevelSpec, ...], Field(max_length=64)]
    dispatch: Annotated[tuple[DispatchSpec, ...], Field(min_length=1, max_length=64)] | None = None
    spawn: Annotated[Literal["help-first", "work-first"], BeforeValidator(_one_spawn_order)] = "help-first"
    join: Annotated[JoinKind, _refuse_words({"leapfrog": "leapfrogging joins"})] | None = None
    amount: Amount = "one"
    refill: Annotated[
        Annotated[Literal["min"], Tag("text")] | Annotated[Count, Field(le=2**30), Tag("number")],
        by_shape("a number of tasks, or min, is needed here"),
    ] = 0
    thresholds: Annotated[
        Annotated[Literal["none"], Tag("text")] | Annotated[ThresholdSpec, Tag("mapping")],
        by_shape("thresholds are none or a mapping such as {max: auto, min: auto}"),
    ] = ThresholdSpec.model_construct()
    backoff: BackoffSpec | None = None
    placement: Placed = PlacementSpec.model_construct(policy="first-touch")
    locks: LockSpec = LockSpec.model_construct()
    mapping: MappingName = "numa-even-cores-first"

    @property
    def worker_family(self) -> str | None:
        """The family whose queues are the workers' own, or None."""
        return next((name for name, family in self.queues.items() if family.per == "worker"), None)

    @property
    def announcement(self) -> Announcement:
        """Who announces queues as victims."""
        return "always" if self.thresholds == "none" else self.thresholds.announce

    def families(self, entry: LevelSpec | DispatchSpec) -> tuple[str, ...]:
        """The names of the queue families of a level or rule, by default the workers' own."""
        return entry.queue or (self.worker_family or next(iter(self.queues)),)

    @field_validator("steal", "dispatch")
    @classmethod
    def _queues_exist(cls, entries: Any, info: ValidationInfo) -> Any:
        known = info.data.get("queues")
        for at, entry in enumerate(entries or ()):
            for name in entry.queue or ():
                if known is not None and name not in known:
                    near = nearest_name(name, known)
                    hint = f"did you mean {near!r}?" if near else f"queues names {', '.join(known)}"
                    raise ValueError(f"{info.field_name}[{at}]: there is no queue {name!r}; {hint}")
        return entries

    @field_validator("dispatch")
    @classmethod
    def _last_rule_is_open(cls, rules: tuple[DispatchSpec, ...] | None) -> tuple[DispatchSpec, ...] | None:
        if rules and rules[-1].condition is not None:
            raise ValueError("the last dispatch rule may have no condition, or a task could find no queue")
        if rules and not rules[-1].is_open:
            raise ValueError(
                "the last dispatch rule may neither look at data nor have a guard, or a task could find no queue; "
                "add a rule such as {to: any, pick: shortest}"
            )
        return rules

    def _problems(self) -> Iterator[str]:
        taken = {self.worker_family}.union(*(self.families(level) for level in self.steal if level.source != "last"))
        for name in self.queues:
            if name not in taken:
                yield f"no level takes from queue {name!r}: add a steal level such as {{from: own, queue: {name}}}"
        if self.worker_family is None:
            yield from self._needs_own_queue()
        if self.thresholds == "none" and self._uses_thresholds():
            yield "a condition or refill refers to the thresholds min and max, but thresholds is none"
        if self.announcement != "always":
            yield from self._needs_announcers()

    def _needs_own_queue(self) -> Iterator[str]:
        if any((level.amount or self.amount) not in ("one", AmountSpec(count=1)) for level in self.steal):
            yield "an amount above one needs a queue per worker for the rest: add {deque: {per: worker}} to queues"
        if self.refill:
            yield "refill looks at the worker's own queue, but no queue is per: worker"

    def _needs_announcers(self) -> Iterator[str]:
        entries: list[LevelSpec | DispatchSpec] = [*self.steal, *(self.dispatch or ())]
        asked = [name for entry in entries if entry.condition == "announced" for name in self.families(entry)]
        for name in dict.fromkeys(asked):
            if name != self.worker_family:
                yield (
                    f"announce: {self.announcement} lets workers announce their own queues alone, so nobody announces "
                    f"queue {name!r}: take announce: always, or a length in the condition on it"
                )

    def _uses_thresholds(self) -> bool:
        conditions = [level.condition for level in self.steal] + [rule.condition for rule in self.dispatch or ()]
        return self.refill == "min" or any(_is_symbolic(condition) for condition in conditions)
