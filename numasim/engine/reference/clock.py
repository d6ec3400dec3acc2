"""The clock of a run, and the only module that knows SimPy's environment (model 1.2).

An actor is a worker, producer, lock or barrier. Every actor has at most one pending event. The rank of an event is its
kind. The SimPy priority of an event is made of the event's rank and the actor's id, so that the events of one instant
happen in the order of the model, never in the order of scheduling. No other module writes ``now``.

Interpretations of the model that are decided here:

- The overheads of a worker (pop, take, join, resume, ...) are owed until the worker schedules its next event, and then
  pass before that event.
- A cancelled event does not move the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from simpy import Environment, Event
from simpy.core import EmptySchedule

from numasim.engine.check.deadlock import LATEST_PS, TooLongError
from numasim.engine.observe.trace_hash import Rank
from numasim.engine.reference.actors import ActorEvent, Worker, priority

SEG_END, GRANT, RELEASE, WAKE, PUT, LOOK, POLL, ABORT = (int(rank) for rank in list(Rank)[: Rank.ABORT + 1])
EVENTS_PER_BATCH = 4096

Reaction = list[Callable[[Event], None]]  # SimPy's callbacks of an event
NOTHING: Reaction = []


class Actor(Protocol):
    """An actor has a pending event, due at the time ``due`` in ps."""

    event: ActorEvent
    due: int


A = TypeVar("A", bound=Actor)


class Clock:
    """``now`` is the time of the present event, in picoseconds; ``events`` counts the events that have happened."""

    def __init__(self) -> None:
        self.now = 0
        self.events = 0
        self._env = Environment(0)
        self._schedule = self._env.schedule
        self._by_rank = [NOTHING] * len(Rank)
        self._stopped = False

    # ---- events and reactions --------------------------------------------------------------------------------------

    def new_event(self, actor: Actor | None = None) -> ActorEvent:
        """Return an event for an actor, not yet scheduled."""
        return ActorEvent(self._env, actor)

    def reaction(self, handler: Callable[[A], None]) -> Reaction:
        """Return the reaction that calls ``handler`` with the actor when the actor's event is due."""

        def happen(event: Event) -> None:
            actor: A = event.actor  # type: ignore[attr-defined]
            self.now = actor.due
            handler(actor)

        return [happen]

    def react(self, rank: int, handler: Callable[[Worker], None]) -> None:
        """Let events of workers of ``rank`` call ``handler`` with the worker."""
        self._by_rank[rank] = self.reaction(handler)

    # ---- workers' events -------------------------------------------------------------------------------------------

    def schedule(self, w: Worker, rank: int, delay_ps: int) -> None:
        """Make an event of ``rank``, ``delay_ps`` from now, the worker's pending event."""
        if self.now + delay_ps > LATEST_PS:
            raise TooLongError
        self._put(w, rank, delay_ps)

    def _put(self, w: Worker, rank: int, delay_ps: int) -> None:
        w.rank = rank
        w.due = self.now + delay_ps
        event = w.event
        event.callbacks = self._by_rank[rank]
        self._schedule(event, w.priority[rank], delay_ps)  # type: ignore[arg-type]

    def schedule_overhead(self, w: Worker, rank: int, step_ps: int) -> None:
        """Schedule a step that is all overhead, together with the overhead that is owed."""
        w.owed_ps += step_ps
        self.schedule(w, rank, w.pay())

    def schedule_idle(self, w: Worker, rank: int, step_ps: int) -> None:
        """Schedule the end of a probe or a wait of ``step_ps``, which begins after the overhead that is owed."""
        w.step_ps = step_ps
        self.schedule(w, rank, w.pay() + step_ps)

    def instead(self, w: Worker, reaction: Reaction) -> None:
        """Let the worker's pending event call ``reaction`` instead of the handler of its rank."""
        w.event.callbacks = reaction

    def schedule_flow(self, w: Worker, due_ps: int) -> None:
        """Make the end of the worker's segment or item its pending event, at the latest right behind `LATEST_PS`."""
        self._put(w, SEG_END, min(due_ps, LATEST_PS + 1) - self.now)

    def reschedule_flow(self, w: Worker, due_ps: int) -> None:
        """Move the pending end of the worker's segment, item or run of items to ``due_ps``; its reaction stays."""
        reaction = w.event.callbacks
        self.cancel(w)
        self.schedule_flow(w, due_ps)
        w.event.callbacks = reaction

    def refuse(self) -> None:
        """Raise `TooLongError` if the present time is after `LATEST_PS`."""
        if self.now > LATEST_PS:
            raise TooLongError

    def expect(self, w: Worker, rank: int, due_ps: int) -> None:
        """Note that the worker, which has no pending event, goes on by another actor's event at ``due_ps``."""
        w.rank, w.due = rank, due_ps

    # ---- other actors' events --------------------------------------------------------------------------------------

    def schedule_actor(self, actor: Actor, rank: Rank, ident: int, due_ps: int, reaction: Reaction) -> None:
        """Schedule the event of an actor that is not a worker, ordered within its instant by (``rank``, ``ident``)."""
        actor.due = due_ps
        if due_ps > LATEST_PS:
            raise TooLongError
        actor.event.callbacks = reaction
        self._schedule(actor.event, priority(rank, ident), due_ps - self.now)  # type: ignore[arg-type]

    def cancel(self, actor: Actor) -> None:
        """Let the actor's pending event pass without effect, and give the actor a new event, not yet scheduled."""
        actor.event.callbacks = NOTHING
        actor.event = ActorEvent(self._env, actor)

    def at_end_of_instant(self, order: int, handler: Callable[[], None]) -> None:
        """Call ``handler`` after all other events of this instant; handlers are called in ascending ``order``."""
        event = ActorEvent(self._env)
        event.callbacks = [lambda _: handler()]
        self._schedule(event, priority(Rank.END_OF_INSTANT, order), 0)  # type: ignore[arg-type]

    # ---- the run ---------------------------------------------------------------------------------------------------

    def run(self, after_batch: Callable[[], None]) -> bool:
        """Let events happen until `stop`; return False if no events are left and `stop` was not called.
        ``after_batch`` is called between two events, after every `EVENTS_PER_BATCH` events.
        """
        step = self._env.step
        try:
            while not self._stopped:
                step()
                self.events += 1
                if not self.events % EVENTS_PER_BATCH:
                    after_batch()
        except EmptySchedule:
            return False
        return True

    def stop(self) -> None:
        """Let no further event happen."""
        self._stopped = True
