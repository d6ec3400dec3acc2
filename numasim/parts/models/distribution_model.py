"""How the items of ranges are dealt by where their data lies: distributions as labels (model 4.10; Souris 2020)."""

from collections.abc import Collection
from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from numasim.parts.base import Exact, Fraction, Model, Nanoseconds, Seed
from numasim.parts.choices import Choices

DISTRIBUTIONS = Choices(
    {
        "random": "Any unit, all equally likely.",
        "interleave": "Unit i mod units for item i.",
        "locality": "The unit to which the item's data is cheapest, ties to the lowest.",
        "balanced": "Largest items first: of the units, the cheapest first, the first that is not overloaded.",
        "mixed-locality-balanced": "The cheapest unit where its node has a large share of the item's data, else as "
        "balanced.",
        "mixed-locality-interleave": "The cheapest unit where its node has a large share of the item's data, else as "
        "interleave.",
    }
)
DistributionName = Literal[
    "random", "interleave", "locality", "balanced", "mixed-locality-balanced", "mixed-locality-interleave"
]


class DistributionSpec(Model):
    """Labels of the items of ranges by how many bytes each has on which node."""

    kind_key: ClassVar[str | None] = "deal"
    kind_words: ClassVar[Collection[str]] = DISTRIBUTIONS.meanings

    deal: Annotated[DistributionName, DISTRIBUTIONS] = Field(description="The rule that finds the unit of an item.")
    overload: Annotated[Exact, Field(ge=0, le=1000)] = Field(
        Decimal("0.1"),
        description="A unit is overloaded beyond the mean number of bytes of all units by this part of it (A-19).",
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
