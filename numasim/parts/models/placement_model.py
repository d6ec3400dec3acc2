"""Page placement as data: a policy, its options, and the phases at which it changes (model 2.2, 4.12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, Tag

from numasim.parts.base import Bytes, CheckedModel, Count, PositiveCount
from numasim.parts.models.runtime_model import YesNo, by_shape

# Fresh memory is placed by its touchers, initialised memory is on worker 0's node; `PageRule` says what else is done.
TouchPolicyName = Literal["first-touch", "next-touch", "deferred"]
PolicyName = Literal[
    TouchPolicyName,
    "first-touch-master",
    "first-touch-init",
    "parallel-first-touch",
    "interleave",
    "bind",
    "block",
    "random",
    "hash-home",
]
TAKES = {  # the keys of a policy and the policies that accept them
    "nodes": ("interleave", "random", "hash-home"),
    "node": ("bind",),
    "tasks": ("first-touch-init",),
    "grain": ("hash-home",),
}
NEEDS = {"bind": ("node", "one node", "node: 0"), "first-touch-init": ("tasks", "a number of tasks", "tasks: 64")}
MOST_TASKS = 2**20  # of a parallel initialisation
MOST_GRANULE = 2**20


@dataclass(frozen=True)
class PageRule:
    """What is done with the pages of dynamic regions while the program runs, besides placing them; times in ps.

    Stages of a plan have fields of these names (`numasim.schema.plan_fields`).
    """

    reads_place: bool = True  # reads place pages as writes do
    marks: bool = False  # every page that is placed when the policy comes into force migrates to its next toucher

    @property
    def migrates(self) -> bool:
        """Whether pages that are placed may get another home."""
        return self.marks


class PolicySpec(CheckedModel):
    """A page placement policy.

    ``nodes`` are those of interleave, random and hash-home (default: all), ``node`` is that of bind, ``tasks`` the
    number of equal tasks with which first-touch-init initialises memory, ``grain`` the bytes that hash-home keeps
    together (default: 64, a line).
    """

    policy: PolicyName
    nodes: Annotated[tuple[Count, ...], Field(min_length=1)] | None = None
    node: Count | None = None
    tasks: Annotated[PositiveCount, Field(le=MOST_TASKS)] | None = None
    grain: Annotated[Bytes, Field(ge=1)] | None = None

    def _problems(self) -> Iterator[str]:
        key, what, example = NEEDS.get(self.policy, (None, "", ""))
        if key is not None and getattr(self, key) is None:
            yield f"policy: {self.policy} needs {what}, as in {{policy: {self.policy}, {example}}}"
        for name, policies in TAKES.items():
            if getattr(self, name) is not None and self.policy not in policies:
                yield f"{name} goes with policy: {' or '.join(policies)}, not with policy: {self.policy}"

    @property
    def rule(self) -> PageRule:
        """What the policy does with pages while the program runs."""
        return PageRule(reads_place=self.policy != "deferred", marks=self.policy == "next-touch")

    @property
    def named_nodes(self) -> tuple[int, ...]:
        """The nodes that the policy names."""
        return (*(self.nodes or ()), *(() if self.node is None else (self.node,)))


class ChangeSpec(PolicySpec):
    """The policy for unplaced pages from a phase on; next-touch also lets all placed pages migrate once."""

    phase: Annotated[
        Annotated[str, Tag("text")] | Annotated[Count, Tag("number")],
        by_shape("a phase is its number, from zero, or its name"),
    ]


class PlacementSpec(PolicySpec):
    """The page placement of a run.

    ``granule`` pages are placed together while the program runs; ``touch_on_read: no`` lets reads of unplaced pages
    place nothing; ``overflow: next`` respects the memory of nodes: a page for which its node has no room goes to the
    nearest node that has; if none has, it keeps its node.
    """

    granule: Annotated[PositiveCount, Field(le=MOST_GRANULE)] = 16
    touch_on_read: YesNo = True
    overflow: Literal["none", "next"] = "none"
    changes: Annotated[tuple[ChangeSpec, ...], Field(max_length=64)] = ()

    @property
    def policies(self) -> tuple[PolicySpec, ...]:
        """The initial policy and those of the changes."""
        return (self, *self.changes)

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        hashed = any(each.policy == "hash-home" for each in self.policies)
        if hashed and (self.changes or self.overflow != "none"):
            yield "hash-home gives no page a single home, so it cannot be combined with changes or overflow: next"


def _policy(value: Any) -> Any:
    return {"policy": value} if isinstance(value, str) else value


Placed = Annotated[PlacementSpec, BeforeValidator(_policy, json_schema_input_type=PolicyName | PlacementSpec)]
