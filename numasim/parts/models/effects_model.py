"""The effects of the machine that are simulated, key by key (model 2.4 to 2.9), and whether engines may skip events.

A segment is a part of a task that computes and accesses memory; a miss is an access to memory that no cache serves.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from numasim.parts.base import CheckedModel, Count, Exact, Fraction, Model, Multiple
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.schema.enumerations import CACHE_MEANINGS, CacheModel, ContentionModel

__all__ = ["BackgroundSpec", "CacheModel", "ContentionModel", "LinkLoadSpec", "ModelSpec"]

NodeNumber = Annotated[int, Field(ge=0)]  # also as a text, because the keys of a mapping in JSON are texts
LoadGbs = Annotated[Exact, Field(ge=0, le=100_000, description="Bandwidth in use by others, 10**9 bytes per second.")]


class LinkLoadSpec(Model):
    """The traffic of other programs on the link ``from`` one node ``to`` another, in this direction."""

    source: Count = Field(alias="from", description="Node at which the link begins.")
    target: Count = Field(alias="to", description="Node at which the link ends.")
    gbs: LoadGbs = Field(
        description="Bandwidth of the link that other programs use all the time; less than the whole bandwidth."
    )


class BackgroundSpec(CheckedModel):
    """The bandwidth that other programs use all the time: of memory controllers, by node, and of links."""

    nodes: dict[NodeNumber, LoadGbs] = Field(
        default_factory=dict,
        description="Bandwidth of memory controllers that others use all the time, by node number. Default: none.",
    )
    links: tuple[LinkLoadSpec, ...] = Field(
        (), description="Bandwidth that others use of directed links, all the time. Default: none."
    )

    def __hash__(self) -> int:
        """Return a hash of the contents. Without it pydantic would copy the default value for every run of a sweep."""
        return hash((frozenset(self.nodes.items()), self.links))

    @property
    def loads(self) -> bool:
        """Return whether other programs use any bandwidth."""
        return any(self.nodes.values()) or any(link.gbs for link in self.links)

    def _problems(self) -> Iterator[str]:
        pairs = [(link.source, link.target) for link in self.links]
        for at, (source, target) in enumerate(pairs):
            if (source, target) in pairs[:at]:
                yield f"links[{at}]: the link from node {source} to node {target} is given twice: add the loads up"

    @model_serializer(mode="wrap")
    def _contents(self, _contents_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the loads above zero in a fixed order, so that equal loads give equal runs in any notation."""
        nodes = {node: gbs for node, gbs in sorted(self.nodes.items()) if gbs}
        links = sorted((link.source, link.target, link.gbs) for link in self.links if link.gbs)
        return {"nodes": nodes, "links": [{"from": a, "to": b, "gbs": gbs} for a, b, gbs in links]}


class ModelSpec(CheckedModel):
    """The effects of the machine that a run simulates; each can be switched off, to see its share in a result."""

    cache: Annotated[CacheModel, Choices(CACHE_MEANINGS)] = Field(
        "share", description="How last-level caches are simulated (model 2.4)."
    )
    contention: Annotated[ContentionModel, Choices(meanings.MODEL_CONTENTION)] = Field(
        "fluid", description="How segments share the bandwidth of memory controllers, links and caches (model 2.5)."
    )
    queueing: Annotated[Literal["none", "md1"], Choices(meanings.MODEL_QUEUEING)] = Field(
        "none", description="Whether misses wait at memory controllers that are busy but not saturated (model 2.5)."
    )
    local_share: Annotated[Fraction, Field(lt=1)] = Field(
        Decimal(0),
        description="Share of a controller's bandwidth that is kept for its own node (Majo and Gross, ISMM 2011).",
    )
    smt: Annotated[Literal["none", "compute", "memory"], Choices(meanings.MODEL_SMT)] = Field(
        "compute", description="What a hardware thread does more slowly while others on its core work (model 2.6)."
    )
    clock: Annotated[Literal["fixed", "turbo"], Choices(meanings.MODEL_CLOCK)] = Field(
        "turbo", description="Whether clocks follow the number of busy cores (model 2.6)."
    )
    overlap: Fraction = Field(
        Decimal(1),
        description="Hidden share of the shorter of computing and waiting for memory: 1 all (roofline), 0 none.",
    )
    mlp: Multiple = Field(
        Decimal(1),
        description="Factor on the number of misses under way at once, which the access pattern gives (model 2.3).",
    )
    task_noise: Fraction = Field(
        Decimal(0),
        description="Relative standard deviation of compute times, drawn alike under all strategies (model 1.4).",
    )
    worker_spread: Fraction = Field(
        Decimal(0),
        description="Relative standard deviation of the speeds of workers in computing and in waiting (model 2.6).",
    )
    background: BackgroundSpec = Field(
        BackgroundSpec.model_construct(),
        description="Bandwidth of controllers and links that other programs use all the time (A-36). Default: nothing.",
    )
    skip: Annotated[Literal["auto", "off"], Choices(meanings.MODEL_SKIP)] = Field(
        "auto",
        description="Whether engines may pass over events where that changes no result (model 1.5, 1.7 and 1.8).",
    )

    def _problems(self) -> Iterator[str]:
        if self.contention == "none" and self.background.loads:
            yield (
                "background: others can take nothing away where contention is none: "
                "set contention to fluid or snapshot, or leave background out"
            )

    @model_serializer(mode="wrap")
    def _contents(self, contents_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the contents; a background without a load is left out and does not change the identity."""
        contents = super()._contents(contents_of)
        if not self.background.loads:
            contents.pop("background", None)
        return contents
