"""Helper threads of a strategy: how far they run ahead of their workers, and what they cost (model 4.11)."""

from decimal import Decimal

from pydantic import Field

from numasim.parts.base import Bytes, Fraction, Model, Nanoseconds


class HelperSpec(Model):
    """Helpers on idle cores, one for each worker whose last-level cache has such a core (Goes et al., section 4.2)."""

    lifespan: Bytes = Field(
        description="How far a helper runs ahead: so many bytes of what its worker's next unit reads. With 0 there are "
        "no helpers.",
    )
    work: Fraction = Field(
        Decimal(0),
        description="Share of a unit's computing that its helper does as well, to find out what the unit reads.",
    )
    start_ns: Nanoseconds = Field(
        Decimal(0), description="What a worker pays for its helper at the begin of each phase that is not serial."
    )
    restart_ns: Nanoseconds = Field(
        Decimal(0), description="What it pays in addition after each attempt that aborts, since the helper begins anew."
    )
