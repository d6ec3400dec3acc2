"""Amounts of range items in JSON, and accesses that name nodes: as models, and the way to and from arrays."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from numasim.errors import InputError
from numasim.parts.base import Model
from numasim.parts.choices import Choices
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import LONGEST_PS, MOST_NODES, MOST_SHARES, Mode
from numasim.workload.amounts import Amounts
from numasim.workload.graph import NodeAccess, Pattern

# ---- How accesses are called in files of task graphs -----------------------------------------------------------------

ModeName = Annotated[
    Literal["read", "write", "read-write"],
    Choices(
        {
            "read": "They are read.",
            "write": "They are fetched for ownership and written back.",
            "read-write": "They are read and written back.",
        }
    ),
]
PatternName = Annotated[
    Literal["sequential", "strided", "random", "chase"],
    Choices(
        {
            "sequential": "One after the other: ten misses at once (assumed).",
            "strided": "At equal distances: four misses at once (assumed).",
            "random": "Anywhere: three misses at once (assumed).",
            "chase": "Each address depends on the load before: one miss at once.",
        }
    ),
]
MODE_MEANS = "Whether the bytes are read, written or both."
PATTERN_MEANS = "The order of the accesses, which says how many misses are under way at once (model 2.3)."


MOST_PARTS = 65_536
MOST_WEIGHT = 2**62  # of all parts of a table together
Path = tuple[str | int, ...]


def whole(value: Any) -> Any:
    """Refuse what is no whole number, such as 1.0 and true."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number is needed here")
    return value


Amount = Annotated[int, Field(strict=True, ge=0, le=LONGEST_PS)]  # checked without Python: there may be millions
Weight = Annotated[int, Field(strict=True, ge=1, le=MOST_WEIGHT)]
Node = Annotated[int, BeforeValidator(whole), Field(ge=0, lt=MOST_NODES)]
Share = Annotated[int, BeforeValidator(whole), Field(ge=1, le=MOST_SHARES)]
Part = Annotated[int, BeforeValidator(whole), Field(ge=0, le=MILLION)]


class AmountsEntry(Model):
    """A whole number for each item: ``items``, or a table to draw them from, whose parts have equally many columns."""

    items: list[Amount] = Field(default_factory=list, description="The numbers, one for each item.")
    weight: Annotated[list[Weight], Field(max_length=MOST_PARTS)] = Field(
        default_factory=list,
        description="Of a table, in place of `items`: how often each part is drawn, relative to the others.",
    )
    low: list[Amount] = Field(default_factory=list, description="The lowest number of each part.")
    high: list[Amount] = Field(
        default_factory=list,
        description="The highest number of each part; all from the lowest to the highest are equally likely.",
    )


class NodeAccessEntry(Model):
    """Bytes of every item that are at home on given nodes."""

    nodes: Annotated[list[Node], Field(min_length=1)] = Field(description="The nodes.")
    shares: list[Share] = Field(
        default_factory=list,
        description="What part of an item's bytes each of them has, relative to the others. Default: equal parts.",
    )
    mode: ModeName = Field("read", description=MODE_MEANS)
    pattern: PatternName = Field("sequential", description=PATTERN_MEANS)
    bytes: AmountsEntry = Field(description="How many bytes each item accesses on all of these nodes together.")
    returned_ppm: Part = Field(
        0,
        description="The part of the memory of these bytes, in millionths, that the item gives back where it is.",
    )


def amounts_of(entry: AmountsEntry, count: int, path: Path) -> Amounts:
    """The amounts of ``count`` items; an `InputError` where there is not one for each, or a table has holes."""
    if entry.items and entry.weight:
        raise InputError("both numbers and a table are given", path=(*path, "weight"), expected="one of them")
    if not entry.items and not entry.weight:
        raise InputError("no numbers are given", path=(*path, "items"), expected=f"{count} numbers, or a table")
    parts = len(entry.weight)
    for key, right in (("items", 0 if parts else count), ("low", parts), ("high", parts)):
        given = len(getattr(entry, key))
        if given != right:
            what = "one for each item" if key == "items" else "one for each weight"
            raise InputError(f"there are {given} numbers", path=(*path, key), expected=f"{right}, {what}")
    if sum(entry.weight) > MOST_WEIGHT:
        problem = f"the weights add up to {sum(entry.weight):,}"
        raise InputError(problem, path=(*path, "weight"), expected=f"at most {MOST_WEIGHT:,}")
    for part, (low, high) in enumerate(zip(entry.low, entry.high, strict=True)):
        if low > high:
            raise InputError(f"the part ends at {high}", path=(*path, "high", part), expected=f"{low} or more")
    return Amounts.of_items(entry.items) if entry.items else Amounts.of_table(entry.weight, entry.low, entry.high)


def node_access_of(entry: NodeAccessEntry, count: int, path: Path) -> NodeAccess:
    """The access of such an entry of ``count`` items."""
    nodes, shares = tuple(entry.nodes), tuple(entry.shares) or (1,) * len(entry.nodes)
    if len(shares) != len(nodes):
        raise InputError(
            f"there are {len(shares)} shares", path=(*path, "shares"), expected=f"{len(nodes)}, one for each node"
        )
    if sum(shares) > MOST_SHARES:
        raise InputError(
            f"the shares add up to {sum(shares):,}", path=(*path, "shares"), expected=f"at most {MOST_SHARES:,}"
        )
    mode, pattern = Mode[entry.mode.upper().replace("-", "_")], Pattern[entry.pattern.upper()]
    amounts = amounts_of(entry.bytes, count, (*path, "bytes"))
    return NodeAccess(nodes, shares, int(mode), int(pattern), amounts, entry.returned_ppm)


def amounts_entry(amounts: Amounts) -> dict[str, list[int]]:
    """The entry of amounts."""
    if len(amounts.items):
        return {"items": amounts.items.tolist()}
    return {"weight": amounts.weight.tolist(), "low": amounts.low.tolist(), "high": amounts.high.tolist()}


def node_access_entry(access: NodeAccess) -> dict[str, Any]:
    """The entry of a node access."""
    returned = {"returned_ppm": access.returned_ppm} if access.returned_ppm else {}
    return {
        "nodes": list(access.nodes),
        "shares": list(access.shares),
        "mode": Mode(access.mode).name.lower().replace("_", "-"),
        "pattern": Pattern(access.pattern).name.lower(),
        "bytes": amounts_entry(access.amounts),
        **returned,
    }
