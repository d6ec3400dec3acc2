"""The rules for workers without a task: how long workers spin, when workers sleep, and who wakes them (model 4.15).

A round is a searching worker's probes (looks at queues) up to its next wait. A worker without a task goes through
``phases`` of fruitless rounds, then announces that it goes to sleep, looks again, and sleeps. A worker that puts a task
into a queue (a push) may wake a sleeper. The rules are those of task runtimes of today, such as Rayon, Tokio, Go,
oneTBB and Julia.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, Tag

from numasim.parts.base import CheckedModel, Count, LeanModel, Nanoseconds, PositiveCount, YesNo, by_shape
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.schema.enumerations import ChainRule, RecheckRule, WakeRule, WhomRule

MOST_ROUNDS = 2**31 - 1


class IdlePhase(CheckedModel):
    """A stretch of fruitless rounds, each followed by the same wait."""

    rounds: Annotated[PositiveCount, Field(le=MOST_ROUNDS)] | None = Field(
        None, description="Number of fruitless rounds that the phase has."
    )
    for_ns: Nanoseconds | None = Field(
        None, description="Time from the first fruitless round of the phase after which the phase ends."
    )
    pause_ns: Nanoseconds | None = Field(
        None, description="Wait after each round, in which the worker keeps its core busy; 0: none."
    )
    yield_ns: Nanoseconds | None = Field(
        None, description="Wait after each round for a yield to the operating system, which finds no other thread."
    )
    nap_ns: Nanoseconds | None = Field(
        None, description="Wait after each round in which the worker sleeps on a timer, off its core."
    )
    crowded: YesNo = Field(
        False,
        description="Whether the wait grows with the number S of searching workers, by S / log2(S), as in OpenCilk.",
    )

    def _problems(self) -> Iterator[str]:
        if (self.rounds is None) == (self.for_ns is None):
            yield "a phase has either rounds or for_ns"
        if sum(each is not None for each in (self.pause_ns, self.yield_ns, self.nap_ns)) != 1:
            yield "a phase has one of pause_ns, yield_ns and nap_ns"

    @property
    def wait_ns(self) -> Decimal:
        """Return the wait after each round."""
        return next(each for each in (self.pause_ns, self.yield_ns, self.nap_ns) if each is not None)


class SearcherCap(CheckedModel):
    """The most workers that search at a time; a worker beyond this cap goes to sleep without a round of probes."""

    count: PositiveCount | None = Field(None, description="A worker searches if fewer than so many workers search.")
    share: PositiveCount | None = Field(
        None,
        description="With d: a worker searches if d times the number of searching workers is below the number of all "
        "workers.",
    )
    busy_share: PositiveCount | None = Field(
        None,
        description="With d: a worker searches if d times the number of searching workers is below the number of "
        "workers that are not idle.",
    )

    def _problems(self) -> Iterator[str]:
        if sum(each is not None for each in (self.count, self.share, self.busy_share)) != 1:
            yield "a cap is one of count, share and busy_share"


class SleepSpec(CheckedModel):
    """How a worker goes to sleep after its phases."""

    recheck: Annotated[RecheckRule, Choices(meanings.IDLE_RECHECK)] = Field(
        "each", description="Which workers look again after they have announced their sleep."
    )
    first_ns: Annotated[Nanoseconds, Field(gt=0)] | None = Field(
        None, description="The sleep ends by itself after this time. Default: only another worker ends the sleep."
    )
    factor: Annotated[PositiveCount, Field(le=1024)] = Field(
        1, description="Factor from each sleep that ended by itself to the next."
    )
    max_ns: Nanoseconds | None = Field(
        None, description="The longest such sleep, at least first_ns. Default: first_ns."
    )
    misses: YesNo = Field(
        False,
        description="Whether a wake-up may be missed: a task that comes between a worker's last probe and its sleep "
        "wakes nobody. Needed with recheck: none.",
    )

    def _problems(self) -> Iterator[str]:
        if self.recheck == "none" and not self.misses and self.first_ns is None:
            yield "recheck: none can miss a wake-up for good: add misses: yes, or first_ns to end each sleep"
        if self.first_ns is None and (self.max_ns is not None or self.factor != 1):
            yield "factor and max_ns go with first_ns"
        if self.first_ns is not None and self.max_ns is not None and self.max_ns < self.first_ns:
            yield f"the longest sleep, max_ns {self.max_ns}, is shorter than the first, first_ns {self.first_ns}"
        if self.factor != 1 and self.max_ns is None:
            yield "factor needs max_ns, up to which sleeps grow"


class WakeSpec(LeanModel):
    """Which push wakes which sleeper."""

    left_out: ClassVar[Collection[str]] = ("missed",)

    at: Annotated[WakeRule, Choices(meanings.WAKE_AT)] = Field(
        "no-searcher", description="Which tasks that are put into a queue wake a sleeper."
    )
    whom: Annotated[WhomRule, Choices(meanings.WAKE_WHOM)] = Field("newest", description="Which sleeper is woken.")
    chain: Annotated[Count, Field(le=MOST_ROUNDS)] = Field(
        1, description="How many more sleepers are woken by a worker that chain_by names."
    )
    chain_by: Annotated[ChainRule, Choices(meanings.IDLE_CHAIN)] = Field(
        "last-searcher", description="Which workers wake so many more sleepers."
    )
    counted: YesNo = Field(
        True, description="Whether a woken worker counts as searching from the moment at which it is woken."
    )
    cancel: YesNo = Field(
        True,
        description="Whether a worker that has announced its sleep and does not sleep yet is called back at no cost.",
    )
    missed: YesNo = Field(
        False,
        description="Whether a probe that fails because another worker has the queue's lock wakes a sleeper (.NET).",
    )


class IdleSpec(CheckedModel):
    """What a worker does that finds no task (model 4.15)."""

    phases: tuple[IdlePhase, ...] = Field(
        (),
        description="Phases of fruitless rounds, one after the other. Default: the back-off, or a sleep at once if "
        "workers sleep.",
    )
    searchers: Annotated[
        Annotated[Literal["any"], Tag("text"), Choices(meanings.IDLE_SEARCHERS)]
        | Annotated[SearcherCap, Tag("mapping")],
        by_shape("a cap such as {share: 2}, or any, is needed here"),
    ] = Field("any", description="How many workers may search at a time.")
    sleep: Annotated[
        Annotated[Literal["never"], Tag("text"), Choices(meanings.IDLE_SLEEP)] | Annotated[SleepSpec, Tag("mapping")],
        by_shape("a mapping such as {recheck: each}, or never, is needed here"),
    ] = Field("never", description="How a worker sleeps after its phases.")
    wake: WakeSpec = Field(WakeSpec.model_construct(), description="Who is woken, by which task.")
    between_ns: Annotated[
        Annotated[Literal["never"], Tag("text"), Choices(meanings.IDLE_SLEEP)] | Annotated[Nanoseconds, Tag("number")],
        by_shape("nanoseconds, or never, are needed here"),
    ] = Field(
        "never",
        description="A worker without a part in a serial phase sleeps after this time, and worker 0 has to wake it for "
        "the next phase.",
    )

    @property
    def _chains(self) -> bool:
        """Return whether a worker wakes sleepers when it finds a task: always, or if it was the last searcher."""
        return self.wake.chain > 0 and self.wake.chain_by != "woken"

    def _problems(self) -> Iterator[str]:
        if self.sleep == "never":
            given: list[Any] = [name for name in ("searchers", "wake") if name in self.model_fields_set]
            for name in given:
                yield f"{name} goes with sleep: add sleep such as {{recheck: each}}"
        elif self.wake.at in ("no-searcher", "empty-queue") and not (self._chains or self.sleep.misses):
            yield (
                f"with wake.at: {self.wake.at} and no chain, tasks may wait while workers sleep: give wake.chain 1 or "
                "more with chain_by: last-searcher or finder, or sleep.misses: yes"
            )
        if not self.phases and self.sleep == "never" and self.between_ns == "never":
            yield "idle says nothing: give phases, sleep or between_ns"
