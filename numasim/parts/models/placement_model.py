"""Page placement as data: a policy, its options, and the phases at which the policy changes (model 2.2, 4.12).

Memory is initialised if the program has written it before its parallel part, else fresh. A page is placed when it gets
its first node, and migrates when it gets another one. A granule is pages that are placed together. A phase is a part of
the program between two points at which all workers meet; a range is many similar tasks, its items.
"""

from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, Tag, model_serializer

from numasim.frozen import Frozen
from numasim.parts.base import (
    Bytes,
    CheckedModel,
    Count,
    Exact,
    Fraction,
    Model,
    Nanoseconds,
    PositiveCount,
    Seed,
    SizeText,
    YesNo,
    by_shape,
    ps,
    size_bytes,
)
from numasim.parts.choices import Choices
from numasim.parts.models import meanings

# Under these policies workers place fresh memory by touching it; initialised memory is on the node of worker 0.
TouchPolicyName = Literal["first-touch", "next-touch", "deferred", "numa-balancing"]
PolicyName = Literal[
    TouchPolicyName,
    "first-touch-master",
    "first-touch-init",
    "parallel-first-touch",
    "interleave",
    "bind",
    "block",
    "by-region",
    "random",
    "hash-home",
]
TAKES = {  # the keys of a policy and the policies that accept them
    "nodes": ("interleave", "by-region", "random", "hash-home"),
    "node": ("bind",),
    "tasks": ("first-touch-init",),
    "grain": ("interleave", "hash-home"),
    "scan": ("numa-balancing",),
}
NEEDS = {"bind": ("node", "one node", "node: 0"), "first-touch-init": ("tasks", "a number of tasks", "tasks: 64")}
Policy = Annotated[
    PolicyName,
    Choices(
        {
            "first-touch": "Initialised memory is on worker 0's node; other pages go to their first toucher's.",
            "next-touch": "As first-touch; in addition every placed page moves once to the node of its next toucher.",
            "deferred": "As first-touch, but a read never places a page.",
            "numa-balancing": "As first-touch; pages also follow the nodes that touch them, as in Linux (model 2.11).",
            "first-touch-master": "All pages are on worker 0's node.",
            "first-touch-init": "What the program has initialised was touched by tasks tasks, dealt to the workers in "
            "turn; other pages go to their first toucher.",
            "parallel-first-touch": "What the program has initialised was touched by all workers, each its part in "
            "their order; other pages go to their first toucher.",
            "interleave": "Pages are dealt to the nodes in turn.",
            "bind": "All pages are on one node.",
            "block": "The pages of a region are cut into as many equal parts as nodes have memory.",
            "by-region": "Regions are dealt to the nodes in turn, each as a whole.",
            "random": "The node of each page is drawn.",
            "hash-home": "Memory is dealt to the nodes in pieces smaller than a page.",
        }
    ),
]
NodeSet = Annotated[
    Annotated[tuple[Count, ...], Field(min_length=1), Tag("list")]
    | Annotated[
        Literal["workers"],
        Choices({"workers": "The nodes on which workers run, in the order of their ids."}),
        Tag("text"),
    ],
    by_shape("a list of nodes, or workers, is needed here"),
]
MOST_TASKS = 2**20  # most tasks of a parallel initialisation
MOST_GRANULE = 2**20
MOST_SCANNED = 2**50  # most bytes of a scan
MOST_IN_A_ROW = 255  # most hinting faults of one node in a row


class PageRule(Frozen):
    """How a policy treats pages while the program runs, besides placing them; times in ps. A scan makes pages
    inaccessible; the next access to such a page takes a hinting fault.
    """

    reads_place: bool = True  # whether reads place pages as writes do
    marks: bool = False  # whether pages placed before the policy comes into force migrate to their next toucher
    scan_delay_ps: int = 0  # from the instant at which the policy comes into force to the first scan
    scan_period_ps: int = 0  # from one scan to the next; 0: nothing is scanned
    scan_bytes: int = 1  # bytes of each scan
    hint_fault_ps: int = -1  # time of a hinting fault of a page; -1: the time of any other page fault
    migrate_after: int = 1  # hinting faults of one node in a row after which a page migrates to the node

    @property
    def migrates(self) -> bool:
        """Return whether pages that are placed may get another home."""
        return self.marks or self.scan_period_ps > 0


class ScanSpec(Model):
    """How numa-balancing scans memory, and when a hinting fault moves a page; the defaults are those of Linux."""

    delay_ns: Nanoseconds = Field(
        Decimal(1_000_000_000),
        description="Time from when the policy comes into force to the first scan; Linux: a second.",
    )
    period_ns: Annotated[Nanoseconds, Field(gt=0)] = Field(
        Decimal(1_000_000_000),
        description="Time between two scans (A-38); Linux starts with a second and adapts the time.",
    )
    size: Annotated[Bytes, Field(ge=1, le=MOST_SCANNED)] = Field(
        256 * 2**20, description="Memory that one scan makes inaccessible for once, window after window of all regions."
    )
    fault_ns: Nanoseconds | None = Field(
        None, description="Time of a hinting fault (A-39). Default: the time of any page fault, runtime.costs.fault_ns."
    )
    migrate_after: Annotated[PositiveCount, Field(le=MOST_IN_A_ROW)] = Field(
        2, description="Hinting faults of one node in a row after which a page migrates there (A-37)."
    )

    @property
    def rule(self) -> PageRule:
        """Return the rule of a policy that scans."""
        return PageRule(
            scan_delay_ps=ps(self.delay_ns),
            scan_period_ps=ps(self.period_ns),
            scan_bytes=self.size,
            hint_fault_ps=-1 if self.fault_ns is None else ps(self.fault_ns),
            migrate_after=self.migrate_after,
        )


class PolicySpec(CheckedModel):
    """A page placement policy with its options."""

    kind_key: ClassVar[str | None] = "policy"
    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = TAKES
    kind_words: ClassVar[Collection[str]] = get_args(PolicyName)

    policy: Policy = Field(description="Where pages live (model 2.2).")
    nodes: NodeSet | None = Field(
        None,
        description="Policies interleave, by-region, random and hash-home: the nodes that memory is dealt to, as a "
        "list or as workers, those on which workers run. Default: all nodes with memory.",
    )
    node: Count | None = Field(None, description="Policy bind: the node of all memory; needed there.")
    tasks: Annotated[PositiveCount, Field(le=MOST_TASKS)] | None = Field(
        None, description="Policy first-touch-init: number of equal tasks that initialise memory; needed there."
    )
    grain: Annotated[Bytes, Field(ge=1)] | None = Field(
        None,
        description="Policies interleave and hash-home: memory that stays together; under interleave whole pages "
        "count, and at least one. Default: a page under interleave, a line of 64 bytes under hash-home.",
    )
    scan: ScanSpec | None = Field(
        None, description="Policy numa-balancing: how the policy finds out which node accesses which page (model 2.11)."
    )

    def _problems(self) -> Iterator[str]:
        key, what, example = NEEDS.get(self.policy, (None, "", ""))
        if key is not None and getattr(self, key) is None:
            yield f"policy: {self.policy} needs {what}, as in {{policy: {self.policy}, {example}}}"
        yield from self._of_another_kind()

    @property
    def rule(self) -> PageRule:
        """Return how the policy treats pages while the program runs."""
        if self.policy == "numa-balancing":
            return (self.scan or ScanSpec()).rule
        return PageRule(reads_place=self.policy != "deferred", marks=self.policy == "next-touch")

    @model_serializer(mode="wrap")
    def _contents(self, contents_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the contents with all values of ``scan`` if the policy scans, and without ``scan`` otherwise."""
        contents = super()._contents(contents_of)
        if self.policy != "numa-balancing":
            contents.pop("scan", None)
        elif self.scan is None:
            contents["scan"] = ScanSpec().model_dump()
        if contents.get("adding", "") is None:
            contents.pop("adding")
        return contents

    @property
    def named_nodes(self) -> tuple[int, ...]:
        """Return the nodes that the policy names by their numbers."""
        listed = self.nodes if isinstance(self.nodes, tuple) else ()
        return (*listed, *(() if self.node is None else (self.node,)))


class ChangeSpec(PolicySpec):
    """The policy for unplaced pages from a phase on; next-touch also lets all placed pages migrate once."""

    phase: Annotated[
        Annotated[str, Tag("text")] | Annotated[Count, Tag("number")],
        by_shape("a phase is its number, from zero, or its name"),
    ] = Field(
        description="The phase, by number from 0 or by name, from which on this policy holds for all memory that is "
        "not placed yet; next-touch also lets all placed pages migrate once (model 4.12)."
    )


Granule = Annotated[
    Annotated[SizeText, Tag("text")] | Annotated[PositiveCount, Field(le=MOST_GRANULE), Tag("number")],
    by_shape("a number of pages, or a size such as 64KiB, is needed here"),
]


class PlacementSpec(PolicySpec):
    """The page placement of a run."""

    granule: Granule = Field(
        "64KiB",
        description="Memory that is placed or migrates together during the run: a number of pages, or a size of "
        "which whole pages count, and at least one (A-34).",
    )
    touch_on_read: YesNo = Field(True, description="Whether reads place pages as writes do (A-32).")
    overflow: Annotated[Literal["none", "next"], Choices(meanings.PLACEMENT_OVERFLOW)] = Field(
        "none", description="What becomes of a page whose node has no room (A-33)."
    )
    changes: Annotated[tuple[ChangeSpec, ...], Field(max_length=64)] = Field(
        (), description="Phases from which another policy is in force. Default: none."
    )
    adding: Annotated[Literal["first-touch"], Choices(meanings.PLACEMENT_ADDING)] | None = Field(
        None,
        description="What becomes of memory that is not written before the parallel part, in a program whose tasks "
        "add tasks (SkelAff, section 4.3). Default: as the policy says.",
    )

    @property
    def policies(self) -> tuple[PolicySpec, ...]:
        """Return the initial policy, and the policies of the changes."""
        return (self, *self.changes)

    def granule_pages(self, page_bytes: int) -> int:
        """Return how many pages of ``page_bytes`` bytes are placed together."""
        if isinstance(self.granule, int):
            return self.granule
        whole_pages: int = size_bytes(self.granule) // page_bytes
        return min(MOST_GRANULE, max(1, whole_pages))

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        hashed = any(each.policy == "hash-home" for each in self.policies)
        if hashed and self.adding:
            yield "hash-home gives no page a single home, so it cannot be combined with adding"
        if hashed and (self.changes or self.overflow != "none"):
            yield "hash-home gives no page a single home, so it cannot be combined with changes or overflow: next"


class TunedPlacementSpec(PlacementSpec):
    """A page placement with further policies, which a controller may put into force between two iterations."""

    tuned: tuple[PolicySpec, ...] = Field(description="The policies that a controller may choose, by number.")

    @property
    def policies(self) -> tuple[PolicySpec, ...]:
        """Return the initial policy, and the policies that a controller may choose."""
        return (*super().policies, *self.tuned)


def _policy(value: Any) -> Any:
    return {"policy": value} if isinstance(value, str) else value


AnyPolicy = Annotated[PolicySpec, BeforeValidator(_policy, json_schema_input_type=Policy | PolicySpec)]
Placed = Annotated[PlacementSpec, BeforeValidator(_policy, json_schema_input_type=Policy | PlacementSpec)]


# ----------------------------------------------------------------------------------------------------------------------
# Distributions: rules that deal the items of ranges by the location of the items' data (model 4.10; Souris 2020).

DISTRIBUTIONS = {
    "random": "Any unit, all equally likely.",
    "interleave": "Unit i mod units for item i.",
    "locality": "The unit to which the item's data is cheapest, ties to the lowest.",
    "balanced": "Largest items first: of the units, the cheapest first, the first that is not overloaded.",
    "mixed-locality-balanced": "The cheapest unit if its node has much of the item's data, else as balanced.",
    "mixed-locality-interleave": "The cheapest unit if its node has much of the item's data, else as interleave.",
}
DistributionName = Literal[
    "random", "interleave", "locality", "balanced", "mixed-locality-balanced", "mixed-locality-interleave"
]


class DistributionSpec(Model):
    """Labels of the items of ranges, by the number of bytes that each item has on each node."""

    kind_key: ClassVar[str | None] = "deal"
    kind_words: ClassVar[Collection[str]] = DISTRIBUTIONS

    deal: Annotated[DistributionName, Choices(DISTRIBUTIONS)] = Field(
        description="The rule that finds the unit of an item."
    )
    overload: Annotated[Exact, Field(ge=0, le=1000)] = Field(
        Decimal("0.1"),
        description="A unit is overloaded if its bytes exceed the mean of all units by this part of the mean (A-19).",
    )
    exclusivity: Fraction = Field(
        Decimal("0.5"),
        description="A unit has an item for itself whose bytes lie on its node to at least this part (A-20).",
    )
    pair_ns: Nanoseconds = Field(
        Decimal(50),
        description="Time in which worker 0 looks at one item and one unit, before the phase begins; assumed.",
    )
    seed: Seed = Field(0, description="Seed of what is dealt at random.")
