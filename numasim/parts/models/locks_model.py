"""Of which kind locks and barriers are, and where their words live (model 5; thesis chapter 6).

The words of a lock, a condition or a barrier are cache lines. ``home: master`` is what a runtime does that allocates
them in its first thread; ``home: owner`` puts each on the node of the worker that it is kept for (thesis section 6.3).
``words: memory`` reads them from their home's memory every time, as eq. 6.2 and 6.3 do; else a line comes from the
core that had it last. Whoever sleeps on a condition, or parked on a mutex, is woken in ``wake_ns`` where the word lives
on its node and in ``wake_remote_ns`` where it does not (thesis section 6.3.1).
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from numasim.parts.base import CheckedModel, Nanoseconds, PositiveCount
from numasim.schema.enumerations import BarrierName, LockName

__all__ = ["KINDS_OF_KEY", "BarrierName", "LockName", "LockSpec"]

KINDS_OF_KEY = {"batch": ("cohort",), "fairness": ("tas", "ttas"), "spin_ns": ("mutex",)}


class LockSpec(CheckedModel):
    """The locks and barriers of a run, all of one kind."""

    kind_key: ClassVar[str | None] = "kind"

    kind: LockName = "mutex"
    batch: Annotated[PositiveCount, Field(le=2**30)] = 64  # cohort: grants in a row within one node
    fairness: Literal["near", "fair"] = "near"  # tas, ttas: who wins the race for the line
    spin_ns: Nanoseconds = Decimal(5000)  # mutex: a waiter parks after that long; assumed: as long as waking it takes
    home: Literal["owner", "master"] = "master"
    words: Literal["cached", "memory"] = "cached"
    barrier: BarrierName = "flag"  # what OMPi does
    probe: Literal["look-first", "lock-first"] = "look-first"  # of a queue that has a lock

    def _problems(self) -> Iterator[str]:
        for key, kinds in KINDS_OF_KEY.items():
            if key in self.model_fields_set and self.kind not in kinds:
                yield f"{key} goes with kind: {' or '.join(kinds)}, not with kind: {self.kind}"
