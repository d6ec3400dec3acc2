"""Which effects of the machine are simulated, key by key (model 2.4 to 2.9), and whether an engine may skip events."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from numasim.parts.base import Fraction, Model, Multiple
from numasim.schema.enumerations import CacheModel, ContentionModel

__all__ = [
    "CacheModel",
    "ContentionModel",
    "ModelSpec",
]


class ModelSpec(Model):
    """The effects of one run; each can be switched off, so that its share in a result can be told.

    ``local_share`` of each memory controller is kept for the flows of its own node (Majo and Gross, ISMM 2011);
    ``queueing: md1`` lengthens the latency of a controller that is busy but not saturated; ``smt`` says whether a
    hardware thread that shares its core is slower in computing alone or in waiting for memory as well; ``overlap`` is
    the share of the shorter of computing and waiting that hides behind the longer (1: roofline, 0: one after the
    other); ``mlp`` multiplies the number of misses that are under way at once; ``task_noise`` and ``worker_spread`` are
    relative standard deviations of the compute times of segments and of the speeds of workers, in computing and waiting
    for memory alike.
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
    skip: Literal["auto", "off"] = "auto"
