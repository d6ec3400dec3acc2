"""Steal levels and dispatch rules of a strategy: where a thief looks for tasks, and where a new task is put.

A probe is a thief's look at one queue; a round goes through the levels in order. A family is a named kind of queues,
one for each unit (worker, core, node, ...); a group is queues of a level that are equally near. Guards are conditions
of a rule on the task. The objects of a task are the pieces of memory that it accesses; the home of an object is the
node whose memory holds it. A tier is the place of a task among the subtrees that a strategy keeps together.
"""

from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field, Tag

from numasim.parts.base import Bytes, CheckedModel, Count, Fraction, LeanModel, PositiveCount, YesNo, by_shape
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.parts.models.strategy_terms import (
    BY_LENGTH,
    COMPARABLE,
    Amount,
    Chance,
    Condition,
    DispatchPick,
    FamilyNames,
    InsideName,
    Sometimes,
    Source,
    StealPick,
    TargetName,
    TierNames,
    Unit,
    Vicinity,
)

AMONG_SEVERAL = {"include_self", "by", "visit", "pick", "sample", "tries"}  # keys that choose among several queues
MOST_LEVELS = 64
MOST_PASSES = 16
SELF_TAKES = ("others", *get_args(InsideName))  # sources beside which ``self`` has a meaning


class LevelSpec(LeanModel, Sometimes, CheckedModel):
    """One steal level: where a thief looks, under which condition, how often, and how many tasks it takes."""

    left_out: ClassVar[Collection[str]] = ("from_pass", "every", "forget", "leap_after")

    source: Source = Field(
        alias="from", description="The set of queues that is searched, seen from the worker that searches (model 4.13)."
    )
    include_self: YesNo = Field(
        False,
        alias="self",
        description="Whether the worker's own queues belong to the set, so that a worker may draw itself (A-3); goes "
        "with others, units such as own-node, and vicinities.",
    )
    queue: FamilyNames | None = Field(
        None,
        description="Names of the families of queues that are searched. Default: the workers' own; of from: last "
        "all, so that the queue may be of any family.",
    )
    by: Annotated[Literal["core", "llc", "node", "socket", "distance"], Choices(meanings.LEVEL_BY)] | None = Field(
        None, description="Cuts the set into groups, nearest first. Default: one group."
    )
    visit: Annotated[Literal["nearest", "random", "weighted"], Choices(meanings.LEVEL_VISIT)] = Field(
        "nearest", description="Which groups are searched."
    )
    pick: Annotated[StealPick, Choices(meanings.LEVEL_PICK)] = Field(
        "random", description="How the queues of a group are chosen, one after the other."
    )
    sample: Annotated[PositiveCount, Field(lt=COMPARABLE)] | None = Field(
        None, description="With pick: longest or shortest, draw so many queues and take the best. Default: all queues."
    )
    tries: Annotated[
        Annotated[Literal["all"], Tag("text"), Choices(meanings.LEVEL_TRIES)]
        | Annotated[PositiveCount, Field(lt=COMPARABLE), Tag("number")],
        by_shape("a number of tries, or all, is needed here"),
    ] = Field(1, description="Queues that are probed in each group and family.")
    condition: Condition | None = Field(
        None,
        alias="if",
        description="Queues that do not meet the condition are left out before the pick. Default: no condition.",
    )
    amount: Amount | None = Field(
        None, description="How many tasks a successful probe takes. Default: the strategy's amount."
    )
    leave: Annotated[Count, Field(lt=COMPARABLE)] = Field(
        0, description="Tasks that stay in the queue: a probe of a queue with no more takes nothing."
    )
    lock: Unit | None = Field(
        None,
        description="The unit of the probed queue whose lock the worker holds while it searches. Default: no lock.",
    )
    who: Annotated[Literal["head"], Choices(meanings.LEVEL_WHO)] | None = Field(
        None, description="Which workers use the level. Default: all."
    )
    gated: YesNo = Field(
        False,
        description="Whether the level is closed while live.most subtrees of the worker's unit are live (model 4.14).",
    )
    own_first: YesNo = Field(
        False,
        description="Whether a gated level also waits until all subtrees of the worker's unit began (model 4.14).",
    )
    from_pass: Annotated[PositiveCount, Field(le=MOST_PASSES)] = Field(
        1, description="The first pass of a round in which the level is searched, if rounds have several passes."
    )
    every: Annotated[PositiveCount, Field(lt=2**32)] | None = Field(
        None,
        description="The worker polls the level, before it looks into its own queue, each time that it has executed so "
        "many more tasks; rounds leave the level out (model 4.13). Default: the level belongs to rounds.",
    )
    forget: YesNo = Field(
        False,
        description="With from: last, whether a probe that finds nothing forgets the last victim (model 4.13).",
    )
    leap_after: Annotated[PositiveCount, Field(lt=COMPARABLE)] | None = Field(
        None,
        description="With n: in a leapfrogging join, after every n fruitless rounds in a row, one round also searches "
        "this level (model 3.2). Default: such a worker searches levels from: thief alone.",
    )
    chance: Chance | None = Field(
        None,
        description="Probability of searching this level and no later one. Default: all levels are searched in turn.",
    )

    def _problems(self) -> Iterator[str]:
        idle = self.model_fields_set & AMONG_SEVERAL
        if self.source == "last" and idle:
            keys = ", ".join(sorted(type(self).model_fields[name].alias or name for name in idle))
            yield f"from: last is one known queue, so {keys} would have no effect"
        if self.forget and self.source != "last":
            yield f"forget: yes goes with from: last, not with from: {self.source}"
        if self.leap_after is not None and self.source == "thief":
            yield "leap_after lets a leapfrogging worker leave its thief, but the level is from: thief"
        if self.include_self and not (self.source in SELF_TAKES or isinstance(self.source, Vicinity)):
            yield f"self: yes goes with others, a unit such as own-node, or a vicinity, not with from: {self.source}"
        if self.sample is not None and self.pick not in BY_LENGTH:
            yield f"sample goes with pick: longest or shortest, not with pick: {self.pick}"
        if self.visit != "nearest" and self.by is None:
            yield f"visit: {self.visit} chooses among groups, so by: node (or core, llc, socket, distance) is needed"
        if self.every is not None and (self.chance is not None or self.from_pass > 1):
            yield "every takes the level out of rounds, so chance and from_pass would have no effect"
        yield from self.never()


class DispatchSpec(Sometimes, CheckedModel):
    """One dispatch rule: the queue that a new task is put into, if the rule finds a queue with room.

    The keys from ``rank`` on select and weigh the task's objects that count. The keys from ``bytes`` on are guards
    (conditions on the task), which apply to any target.
    """

    target: Annotated[TargetName, Choices(meanings.DISPATCH_TARGET)] = Field(
        alias="to", description="The set of queues that the new task may be put into."
    )
    queue: FamilyNames | None = Field(None, description="Names of the families of queues. Default: the workers' own.")
    pick: Annotated[DispatchPick, Choices(meanings.DISPATCH_PICK)] = Field(
        "in-order", description="How a queue of the set is chosen."
    )
    sample: Annotated[PositiveCount, Field(lt=COMPARABLE)] | None = Field(
        None,
        description="With pick: shortest, draw so many queues and take the shortest. Default: all queues of the set.",
    )
    condition: Condition | None = Field(
        None, alias="if", description="Queues that do not meet the condition are left out. Default: no condition."
    )
    rank: Annotated[Literal["most", "cheapest", "any"], Choices(meanings.DISPATCH_RANK)] = Field(
        "most", description="Which nodes the task's objects choose (thesis, equation 5.2)."
    )
    count: Annotated[Literal["both", "reads", "writes"], Choices(meanings.DISPATCH_COUNT)] = Field(
        "both", description="Which of the task's objects count."
    )
    weigh: Annotated[Literal["bytes", "objects"], Choices(meanings.DISPATCH_WEIGH)] = Field(
        "bytes", description="What an object adds to the similarity of its home (A-13)."
    )
    least_bytes: Bytes = Field(
        0,
        alias="bytes",
        description="The rule holds only if the objects that count have at least so many bytes together.",
    )
    least_share: Fraction = Field(
        Decimal(0),
        alias="share",
        description="The rule holds only if the chosen node has at least this share of the objects' weight.",
    )
    uneven: YesNo = Field(
        False, description="The rule holds only if nodes differ in their similarity to the task (A-31)."
    )
    here: YesNo = Field(False, description="The rule holds only if the spawning worker is on a chosen node.")
    source: YesNo = Field(False, description="The rule holds only if the task has no predecessor.")
    tier: TierNames | None = Field(
        None,
        description="The rule holds only for tasks of these tiers; where a continuation is put (spawn: work-first), "
        "the tier of the spawned child counts. Default: any.",
    )
    copies: YesNo = Field(
        False,
        alias="copy",
        description="Whether the rule leaves an entry of the task in its queue and the next rules are tried as well; "
        "the worker that takes an entry first has the task (model 4.13).",
    )

    @property
    def ranks_nodes(self) -> bool:
        """Return whether the rule needs the similarity of the task to nodes."""
        return self.target == "data" or bool(self.least_share) or self.uneven or self.here

    @property
    def looks_at_data(self) -> bool:
        """Return whether the rule needs the task's objects."""
        return self.ranks_nodes or bool(self.least_bytes)

    @property
    def is_open(self) -> bool:
        """Return whether the rule accepts every task for which there is room, at any time."""
        asks = self.looks_at_data or self.source or self.target == "label" or self.tier is not None
        return not self.copies and self.condition is None and self.is_always and not asks

    def _problems(self) -> Iterator[str]:
        if self.sample is not None and self.pick not in BY_LENGTH:
            yield f"sample goes with pick: shortest, not with pick: {self.pick}"
        if self.condition == "awake":
            yield "if: awake is a condition of steal levels alone"
        idle = sorted(self.model_fields_set & {"rank", "weigh"}) if not self.ranks_nodes else []
        if "count" in self.model_fields_set and not self.looks_at_data:
            idle = ["count", *idle]
        if idle:
            yield f"{', '.join(idle)} would have no effect: to: {self.target} does not depend on the homes of data"
        if self.rank == "any" and self.least_share:
            yield "share refers to a single node, but rank: any may give several"
        yield from self.never()
