"""Which effects of the machine are simulated, key by key (model 2.4 to 2.9), and whether an engine may skip events."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from numasim.parts.base import CheckedModel, Count, Exact, Fraction, Model, Multiple
from numasim.schema.enumerations import CacheModel, ContentionModel

__all__ = [
    "BackgroundSpec",
    "CacheModel",
    "ContentionModel",
    "LinkLoadSpec",
    "ModelSpec",
]

NodeNumber = Annotated[int, Field(ge=0)]  # also as a text, since the keys of a mapping in JSON are texts
LoadGbs = Annotated[Exact, Field(ge=0, le=100_000, description="of it in use by others, 10**9 bytes per second")]


class LinkLoadSpec(Model):
    """What others send over the link ``from`` one node ``to`` another, in this direction."""

    source: Count = Field(alias="from")
    target: Count = Field(alias="to")
    gbs: LoadGbs


class BackgroundSpec(CheckedModel):
    """What programs beside the simulated one use of memory controllers, by node, and of links, all the time."""

    nodes: dict[NodeNumber, LoadGbs] = Field(default_factory=dict)
    links: tuple[LinkLoadSpec, ...] = ()

    def __hash__(self) -> int:
        """Hash the contents: pydantic copies a default without a hash for every run of a sweep."""
        return hash((frozenset(self.nodes.items()), self.links))

    @property
    def loads(self) -> bool:
        """Whether others use anything."""
        return any(self.nodes.values()) or any(link.gbs for link in self.links)

    def _problems(self) -> Iterator[str]:
        pairs = [(link.source, link.target) for link in self.links]
        for at, (source, target) in enumerate(pairs):
            if (source, target) in pairs[:at]:
                yield f"links[{at}]: the link from node {source} to node {target} is given twice: add the loads up"

    @model_serializer
    def _contents(self) -> dict[str, Any]:
        """The loads above zero in a fixed order, so that equal loads make equal runs however they are written."""
        nodes = {node: gbs for node, gbs in sorted(self.nodes.items()) if gbs}
        links = sorted((link.source, link.target, link.gbs) for link in self.links if link.gbs)
        return {"nodes": nodes, "links": [{"from": a, "to": b, "gbs": gbs} for a, b, gbs in links]}


class ModelSpec(CheckedModel):
    """The effects of one run; each can be switched off, so that its share in a result can be told.

    ``local_share`` of each memory controller is kept for the flows of its own node (Majo and Gross, ISMM 2011);
    ``queueing: md1`` lengthens the latency of a controller that is busy but not saturated; ``smt`` says whether a
    hardware thread that shares its core is slower in computing alone or in waiting for memory as well; ``overlap`` is
    the share of the shorter of computing and waiting that hides behind the longer (1: roofline, 0: one after the
    other); ``mlp`` multiplies the number of misses that are under way at once; ``task_noise`` and ``worker_spread`` are
    relative standard deviations of the compute times of segments and of the speeds of workers, in computing and waiting
    for memory alike; ``background`` is what programs beside the simulated one take from controllers and links.
    """

    cache: CacheModel = "share"
    contention: ContentionModel = "fluid"
    queueing: Literal["none", "md1"] = "none"
    local_share: Annotated[Fraction, Field(lt=1)] = Decimal(0)  # others need some
    smt: Literal["none", "compute", "memory"] = "compute"
    clock: Literal["fixed", "turbo"] = "turbo"
    overlap: Fraction = Decimal(1)
    mlp: Multiple = Decimal(1)
    task_noise: Fraction = Decimal(0)
    worker_spread: Fraction = Decimal(0)
    background: BackgroundSpec = BackgroundSpec.model_construct()
    skip: Literal["auto", "off"] = "auto"

    def _problems(self) -> Iterator[str]:
        if self.contention == "none" and self.background.loads:
            yield (
                "background: others can take nothing away where contention is none: "
                "set contention to fluid or snapshot, or leave background out"
            )

    @model_serializer(mode="wrap")
    def _contents(self, contents_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The contents without a background that loads nothing: the identity of such a run is that of one without."""
        contents: dict[str, Any] = contents_of(self)
        if not self.background.loads:
            contents.pop("background", None)
        return contents
