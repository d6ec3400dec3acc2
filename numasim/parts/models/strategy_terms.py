"""The words and values of which the rules of a strategy consist: sets of queues, conditions, amounts, chances.

A level is an entry of the strategy's list of places to steal from, a rule one of its list of choices of a queue for a
new task. S and s are thresholds of each queue: thieves may steal from a queue of S or more tasks, and its owner steals
at s. A tier is the place of a task among the subtrees that the strategy keeps together: free (above), root (the topmost
task) or local (below); a subtree is live from the begin of its root until all its tasks have ended.
"""

from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, Tag

from numasim.parts.base import (
    CheckedModel,
    Count,
    Fraction,
    Label,
    LeanModel,
    Model,
    Nanoseconds,
    PositiveCount,
    SignedFraction,
    by_shape,
)
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.parts.models.runtime_model import Tasks
from numasim.schema.enumerations import LOCK_MEANINGS, BarrierName, LockName

UnitName = Literal["worker", "core", "llc", "node", "socket", "machine"]
InsideName = Literal["own-core", "own-llc", "own-node", "own-socket"]
OutsideName = Literal["other-cores", "other-llcs", "other-nodes", "other-sockets"]
SourceName = Literal["own", "others", "parent", "last", "thief", InsideName, OutsideName]
TargetName = Literal["own", "any", "data", "label", "lightest", InsideName]
TierName = Literal["free", "root", "local"]
StealPick = Literal[
    "random", "in-order", "after-me", "rotate", "round-robin", "permutation", "after-last", "longest", "shortest"
]
DispatchPick = Literal["random", "in-order", "after-me", "rotate", "round-robin", "shortest", "cyclic", "block"]
Announcement = Literal["always", "owner", "owner-exact"]
MappingName = Literal["numa-even-cores-first", "contiguous", "smt-first", "os-order", "numa-spread", "scatter"]
BY_LENGTH = ("longest", "shortest")
MOST_SWITCHES = 64
Unit = Annotated[UnitName, Choices(meanings.UNIT)]
COMPARABLE = 2**15  # the bound of ``tries``, ``sample`` and ``leave``, which have 16 bits in a compiled plan
LAST_ITERATION = 2**32 - 1
Iteration = Annotated[Count, Field(le=LAST_ITERATION)]


Iterations = tuple[Iteration, Annotated[Literal["last"], Choices(meanings.LEVEL_ITERATIONS)] | Iteration]


def span_of(iterations: Iterations) -> tuple[int, int]:
    """Return the first and the last iteration as numbers."""
    first, last = iterations
    return first, LAST_ITERATION if last == "last" else int(last)


class Sometimes(Model):
    """When a level or a rule is used: in which iterations of the program, and with which switch on or off."""

    iterations: Iterations = Field(
        (0, "last"),
        description="First and last iteration, from 0, in which the level or rule is used (model 3.6). Default: all.",
    )
    when: Label | None = Field(
        None,
        description="Name of a switch: the level or rule is used only while the switch is on. Switches are off until a "
        "controller turns them on (model 4.14).",
    )
    unless: Label | None = Field(
        None, description="Name of a switch: the level or rule is used only while the switch is off."
    )

    @property
    def span(self) -> tuple[int, int]:
        """Return the first and the last iteration in which the level or rule is in force."""
        return span_of(self.iterations)

    @property
    def switch(self) -> str | None:
        """Return the switch on which the level or rule depends, or None."""
        return self.when or self.unless

    @property
    def is_always(self) -> bool:
        """Return whether the level or rule is in force all the time."""
        return self.span == (0, LAST_ITERATION) and self.switch is None

    def never(self) -> Iterator[str]:
        """Yield the problems: iterations that are never reached, and two switches at once."""
        if self.span[0] > self.span[1]:
            yield f"iterations run from {self.span[0]} to {self.span[1]}, which is never"
        if self.when is not None and self.unless is not None:
            yield "when and unless do not go together: give one of them"


class Vicinity(Model):
    """The workers near a worker: all workers are cut into blocks of ``vicinity`` near neighbours (home scheduling)."""

    vicinity: Annotated[PositiveCount, Field(le=COMPARABLE)] = Field(
        description="Workers of a block of near neighbours: the nearest groups are paired again and again, and the "
        "resulting order is cut into blocks (home scheduling, model 4.9)."
    )


Bound = Annotated[
    Annotated[Literal["min", "max"], Tag("text"), Choices(meanings.BOUND)] | Annotated[Tasks, Tag("number")],
    by_shape("a number of tasks, min or max is needed here"),
]


class OneOfAll(CheckedModel):
    """A model of which exactly one field is given."""

    def _problems(self) -> Iterator[str]:
        names = list(type(self).model_fields)
        if sum(getattr(self, name) is not None for name in names) != 1:
            yield f"exactly one of {' and '.join(names)} is needed here"


class LengthCondition(OneOfAll):
    """The condition that a queue now has at least ``length`` tasks, or fewer than ``below`` tasks."""

    length: Bound | None = Field(
        None, description="Only queues that hold at least so many tasks; max and min are the thresholds S and s."
    )
    below: Bound | None = Field(
        None, description="Only queues that hold fewer than so many tasks; max and min are the thresholds S and s."
    )


class AmountSpec(LeanModel, CheckedModel):
    """``count`` tasks, or the ``share``-th part of the queue, rounded; ``workers`` is the number of workers."""

    left_out: ClassVar[Collection[str]] = ("most", "round")
    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "count": ("count",),
        "share": ("share",),
        "most": ("share",),
        "round": ("share",),
    }

    count: Tasks | None = Field(None, description="This number of tasks, or all tasks if the queue holds fewer.")
    share: (
        Annotated[
            Annotated[Literal["workers"], Tag("text"), Choices(meanings.AMOUNT_SHARE)]
            | Annotated[Tasks, Tag("number")],
            by_shape("a number, or workers, is needed here"),
        ]
        | None
    ) = Field(None, description="The queue is divided by this number; workers is the number of workers.")
    round: Annotated[Literal["up", "above"], Choices(meanings.AMOUNT_ROUND)] = Field(
        "up", description="With share, how the quotient becomes a number of tasks."
    )
    most: Tasks | None = Field(None, description="With share, the most tasks that a probe takes. Default: no bound.")

    def _problems(self) -> Iterator[str]:
        if (self.count is None) == (self.share is None):
            yield "exactly one of count and share is needed here"
        for name in ("most", "round"):
            if name in self.model_fields_set and self.share is None:
                yield f"{name} goes with share"


class ChanceSpec(CheckedModel):
    """The probability that a thief searches a level in place of all later levels, and how probes change it."""

    first: Fraction = Field(description="Probability at the start, which is also the least probability.")
    most: Fraction = Field(Decimal(1), description="The largest probability.")
    hit: SignedFraction = Field(
        Decimal(0), description="Change of the probability by a probe of this level that finds tasks."
    )
    miss: SignedFraction = Field(
        Decimal(0), description="Change of the probability by a probe of this level that finds none."
    )
    elsewhere_hit: SignedFraction = Field(
        Decimal(0),
        alias="elsewhere-hit",
        description="Change of the probability by a probe of another level that finds tasks.",
    )
    elsewhere_miss: SignedFraction = Field(
        Decimal(0),
        alias="elsewhere-miss",
        description="Change of the probability by a probe of another level that finds none.",
    )

    def _problems(self) -> Iterator[str]:
        if self.first > self.most:
            yield f"first is the least probability and may not exceed most, but {self.first} > {self.most}"


class LiveSpec(Model):
    """The most subtrees of tier root that may be live in each unit, for levels with ``gated: yes``."""

    per: Unit = Field(
        description="Live subtrees are counted for each unit of this kind: for the unit whose worker began the root."
    )
    most: Tasks = Field(
        description="Gated levels are closed to a worker while this number of subtrees of its unit is live."
    )


SpawnOrder = Annotated[Literal["help-first", "work-first"], Choices(meanings.SPAWN_ORDER)]


class AdaptiveSpec(Model):
    """A spawn order that adapts to the steals from the worker, within a bound on the worker's stack (SLAW; A-50)."""

    stack: Tasks = Field(
        256, description="A task that is this number of calls deep on its worker's stack spawns help-first."
    )
    every: Tasks = Field(50, description="Number of spawns after which the worker decides anew.")
    steals: Tasks = Field(
        1, description="Help-first is chosen if thieves took so many tasks since the last decision, else work-first."
    )
    first: SpawnOrder = Field("help-first", description="The order before the worker's first decision.")


class SpawnSpec(CheckedModel):
    """A spawn order that differs between spawns: by the tier of the child, or by the tasks stolen from the worker."""

    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "adaptive": ("adaptive",),
        **dict.fromkeys(get_args(TierName), ("tier",)),
    }

    adaptive: AdaptiveSpec | None = Field(
        None, description="By what is stolen from the worker, within a bound on its stack."
    )
    free: SpawnOrder = Field("help-first", description="At the spawn of a task of tier free.")
    root: SpawnOrder = Field("help-first", description="At the spawn of a task of tier root.")
    local: SpawnOrder = Field("help-first", description="At the spawn of a task of tier local.")

    @property
    def by_tier(self) -> bool:
        """Return whether the order depends on the tier of the child."""
        return self.adaptive is None

    def _problems(self) -> Iterator[str]:
        given = self.model_fields_set
        if not given:
            yield "a spawn order by tier needs one of free, root and local, another one adaptive"
        if "adaptive" in given and len(given) > 1:
            yield "a spawn order either adapts or goes by the tier of the child: give adaptive alone"


class TierDepth(Model):
    """Tiers by depth in the tree of tasks."""

    depth: Count = Field(
        description="Tasks of this depth are roots, above it free, below it local; a phase's roots have depth 0."
    )


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


FamilyNames = Annotated[
    tuple[Label, ...], Field(min_length=1), BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])
]
TierNames = Annotated[
    tuple[Annotated[TierName, Choices(meanings.TIER)], ...],
    Field(min_length=1),
    BeforeValidator(_listed, json_schema_input_type=TierName | tuple[TierName, ...]),
]
Condition = Annotated[
    Annotated[Literal["announced", "awake"], Tag("text"), Choices(meanings.CONDITION)]
    | Annotated[LengthCondition, Tag("mapping")],
    by_shape("a condition is announced, awake, {length: n} or {below: n}"),
]
Amount = Annotated[
    Annotated[Literal["one", "half", "all"], Tag("text"), Choices(meanings.AMOUNT)]
    | Annotated[AmountSpec, Tag("mapping")],
    by_shape("an amount is one, half, all, {count: k} or {share: d}"),
]
Chance = Annotated[
    Annotated[Fraction, Tag("number")] | Annotated[ChanceSpec, Tag("mapping")],
    by_shape("a chance is a probability or a mapping that starts with {first: p}"),
]
Source = Annotated[
    Annotated[SourceName, Tag("text"), Choices(meanings.SOURCE)] | Annotated[Vicinity, Tag("mapping")],
    by_shape("a set of queues is a name such as others or own-node, or {vicinity: 4}"),
]


def is_symbolic(condition: Condition | None) -> bool:
    """Return whether a condition asks for the thresholds S or s, or for the status that follows from them."""
    if isinstance(condition, LengthCondition):
        return bool({condition.length, condition.below} & {"min", "max"})
    return condition == "announced"


# ---- The kinds of locks and barriers, and the homes of their words (model 5; thesis chapter 6) -----------------------
#
# The words of a lock, a condition or a barrier are cache lines; the home of a line is the node whose memory holds it.
# ``home: master`` describes a runtime that allocates all lines in its first thread; ``home: owner`` puts each line on
# the node of the worker for which the line is kept (thesis section 6.3). With ``words: memory`` every read comes from
# the memory of the home, as in thesis eq. 6.2 and 6.3; with ``words: cached`` the line comes from the core that had the
# line last. Waking a worker that sleeps on a condition or a mutex takes ``wake_ns`` if the line lives on the worker's
# node, else ``wake_remote_ns`` (thesis section 6.3.1).


class LockSpec(CheckedModel):
    """The locks and barriers of a run; all locks are of one kind, and all barriers."""

    kind_key: ClassVar[str | None] = "kind"
    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "batch": ("cohort",),
        "fairness": ("tas", "ttas"),
        "spin_ns": ("mutex", "barging"),
    }

    kind: Annotated[LockName, Choices(LOCK_MEANINGS)] = Field(
        "mutex", description="Kind of all locks of the run (model 5.2)."
    )
    batch: Annotated[PositiveCount, Field(le=2**30)] = Field(
        64,
        description="Kind cohort: grants in a row on a node while another node waits (Dice, Marathe and Shavit 2012).",
    )
    fairness: Annotated[Literal["near", "fair"], Choices(meanings.LOCK_FAIRNESS)] = Field(
        "near", description="Kinds tas and ttas: who wins the race for a lock that is released (A-28)."
    )
    spin_ns: Nanoseconds = Field(
        Decimal(5000),
        description="Kinds mutex and barging: how long a waiter spins before it sleeps; assumed: as long as waking.",
    )
    home: Annotated[Literal["owner", "master"], Choices(meanings.LOCK_HOME)] = Field(
        "master",
        description="The node of the lines of locks, atomic words, conditions and barriers (thesis, section 6.3).",
    )
    words: Annotated[Literal["cached", "memory"], Choices(meanings.LOCK_WORDS)] = Field(
        "cached", description="Where a line comes from when another worker needs the line (model 5.1)."
    )
    barrier: Annotated[BarrierName, Choices(meanings.LOCK_BARRIER)] = Field(
        "flag", description="Kind of all barriers of the run (model 5.4). The default is what OMPi does."
    )
    probe: Annotated[Literal["look-first", "lock-first"], Choices(meanings.LOCK_PROBE)] = Field(
        "look-first", description="Whether a probe takes a queue's lock before it looks at the length (A-41)."
    )

    def _problems(self) -> Iterator[str]:
        yield from self._of_another_kind()
