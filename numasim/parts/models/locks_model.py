"""Of which kind locks and barriers are, and where their words live (model 5; thesis chapter 6).

The words of a lock, a condition or a barrier are cache lines. ``home: master`` is what a runtime does that allocates
them in its first thread; ``home: owner`` puts each on the node of the worker that it is kept for (thesis section 6.3).
``words: memory`` reads them from their home's memory every time, as eq. 6.2 and 6.3 do; else a line comes from the
core that had it last. Whoever sleeps on a condition, or parked on a mutex, is woken in ``wake_ns`` where the word lives
on its node and in ``wake_remote_ns`` where it does not (thesis section 6.3.1).
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from numasim.parts.base import CheckedModel, Nanoseconds, PositiveCount
from numasim.parts.choices import Choices
from numasim.parts.models.meanings import LOCK_BARRIER, LOCK_FAIRNESS, LOCK_HOME, LOCK_PROBE, LOCK_WORDS
from numasim.schema.enumerations import LOCK_MEANINGS, BarrierName, LockName

__all__ = ["KINDS_OF_KEY", "BarrierName", "LockName", "LockSpec"]

KINDS_OF_KEY = {"batch": ("cohort",), "fairness": ("tas", "ttas"), "spin_ns": ("mutex",)}


class LockSpec(CheckedModel):
    """The locks and barriers of a run, all of one kind."""

    kind_key: ClassVar[str | None] = "kind"
    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = KINDS_OF_KEY

    kind: Annotated[LockName, Choices(LOCK_MEANINGS)] = Field(
        "mutex", description="Kind of all locks of the run (model 5.2)."
    )
    batch: Annotated[PositiveCount, Field(le=2**30)] = Field(
        64,
        description="Kind cohort: how many times in a row a lock is granted within one node while another node waits "
        "(Dice, Marathe and Shavit 2012).",
    )
    fairness: Annotated[Literal["near", "fair"], LOCK_FAIRNESS] = Field(
        "near",
        description="Kinds tas and ttas: who wins the race for a lock that is released (A-28).",
    )
    spin_ns: Nanoseconds = Field(
        Decimal(5000),
        description="Kind mutex: how long a waiter spins before it sleeps. The default is assumed: as long as waking "
        "it takes.",
    )
    home: Annotated[Literal["owner", "master"], LOCK_HOME] = Field(
        "master",
        description="On which node the lines of locks, atomic words, conditions and barriers live (thesis, section "
        "6.3).",
    )
    words: Annotated[Literal["cached", "memory"], LOCK_WORDS] = Field(
        "cached",
        description="Where a line comes from when another worker needs it (model 5.1).",
    )
    barrier: Annotated[BarrierName, LOCK_BARRIER] = Field(
        "flag",
        description="Kind of all barriers of the run (model 5.4). The default is what OMPi does.",
    )
    probe: Annotated[Literal["look-first", "lock-first"], LOCK_PROBE] = Field(
        "look-first",
        description="Whether a probe takes the lock of a queue before it looks at the length (A-41); it matters "
        "where queues have locks.",
    )

    def _problems(self) -> Iterator[str]:
        yield from self._of_another_kind()
