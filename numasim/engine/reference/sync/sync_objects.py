"""Synchronisation objects: waiting for locks, atomic words, conditions and barriers (model 5).

An actor is a worker or a thread that makes tasks beside the workers. Every lock and every word of atomic operations is
a server with one event, GRANT, and every barrier has one event, RELEASE; an actor that waits for an object has no
event. A line is the cache line of an object; a transfer brings it to an actor's core.

Interpretations of the model that are decided here:

- An actor that waits for a lock, an atomic word or at a barrier spins: it slows other workers of its core as a worker
  that searches does. An actor that waits for a condition sleeps.
- The wait for a lock or atomic word counts as overhead, from asking to the grant, the transfer of the line included;
  the wait at a barrier as idle time; the wait for a condition as time parked.
- The worker that executes UNLOCK releases the lock, even if another worker took it: the line moves to the releasing
  worker.
- A signal takes the cost ``signal``, then a transfer of the line for each waiter that it lets pass. Each of these
  waiters sleeps on for a wake-up time, which depends on the distance between the waiter and the home of the condition
  (`numasim.engine.reference.sync.cache_lines`). An actor that need not wait pays the transfer of the line.
- A release without waiters takes no time of the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.observe.watch import Watched
from numasim.engine.reference.actors import ActorEvent, Worker
from numasim.engine.reference.clock import GRANT, RELEASE, WAKE
from numasim.engine.reference.ledger import Held
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.barriers import BARRIERS, Arrival, BarrierState, Opening
from numasim.engine.reference.sync.cache_lines import NOBODY, Condition, Line, LineTimes, SyncCounts
from numasim.engine.reference.sync.lock_queues import KINDS, LINE, LINES_WHEN_FREE, WOKEN, LockRules, Server, Waiter
from numasim.workload.graph import Op
from numasim.workload.sync_parameters import Role


@dataclass(slots=True, eq=False)
class Release:
    """The event at which a barrier opens, and the times at which its parties (the workers at it) go on."""

    barrier: BarrierState
    opening: Opening
    event: ActorEvent
    due: int = field(init=False)

    def __post_init__(self) -> None:
        """Set the actor of the event."""
        self.event.actor = self


class SyncObjects(Component):
    """Grants locks, opens barriers, lets waiters of conditions pass.

    ``operations`` are the ops on synchronisation objects by their code: each is called with a worker that owes no
    overhead and the id of the object, and returns False if the worker has to wait.
    """

    def __init__(self, run: RunState, memory: MemorySystem, proceed: Callable[[Worker], None]) -> None:
        """``proceed`` is called with a worker that need not wait any more."""
        super().__init__(run)
        self._activity_changed = memory.work.activity_changed
        self._proceed = proceed
        words = run.plan.words
        self._line_times = LineTimes(run.plan)
        self._lock_rules = LockRules(run.plan, self._line_times)
        self._kind = {Role.LOCK: words.kind, Role.ATOMIC: LINE}
        self._open_barrier = BARRIERS[words.barrier]
        self._on_grant = self._clock.reaction(self._grant)
        self._on_release = self._clock.reaction(self._release_barrier)
        self._on_leave = self._clock.reaction(self._leave_barrier)
        self._servers: dict[int, Server] = {}
        self._barriers: dict[int, BarrierState] = {}
        self._conditions: dict[int, Condition] = {}
        places = zip(words.role.tolist(), words.home.tolist(), words.parties.tolist(), strict=True)
        for ident, (role, home, parties) in enumerate(places):
            if role == Role.BARRIER:
                self._barriers[ident] = BarrierState(ident, home, words.worker_home.tolist(), parties)
            elif role == Role.CONDITION:
                self._conditions[ident] = Condition(Line(home))
            else:
                server = self._servers[ident] = Server(ident, Line(home), Role(role))
                server.event = self._clock.new_event(server)
        self.operations: dict[int, Callable[[Worker, int], bool]] = {
            Op.LOCK: self._lock,
            Op.UNLOCK: self._unlock,
            Op.ATOMIC: self._atomic,
            Op.BARRIER: self._arrive,
            Op.AWAIT: self._await,
            Op.SIGNAL: lambda w, ident: self._signal(w, ident, 1),
            Op.BROADCAST: lambda w, ident: self._signal(w, ident, int(words.parties[ident])),
        }

    def counts(self) -> list[SyncCounts]:
        """Return [objects] the counters of each object."""
        counts = {ident: server.counts for ident, server in self._servers.items()}
        counts |= {ident: SyncCounts.of([condition.line]) for ident, condition in self._conditions.items()}
        counts |= {ident: SyncCounts.of([*barrier.lines.values()]) for ident, barrier in self._barriers.items()}
        return [counts[ident] for ident in range(len(counts))]

    # ---- locks -----------------------------------------------------------------------------------------------------

    def is_free(self, ident: int) -> bool:
        """Tell whether an actor that asks for the lock now gets it."""
        return self._servers[ident].is_free(self._clock.now)

    def request(self, ident: int, actor: int, then: Callable[[int], None]) -> None:
        """Ask for a lock; ``then`` is called with the actor's id at the grant."""
        server = self._servers[ident]
        free = server.is_free(self._clock.now)
        server.enqueue(Waiter(self._clock.now, actor, then))
        if free:
            self._take_back(server)
            server.busy = True
            lines = LINES_WHEN_FREE.get(self._kind[server.role], 1)
            self._promise(server, len(server.waiters) - 1, lines * self._line_times.to_ps(server.line, actor))

    def _take_back(self, server: Server) -> None:
        """Undo `_promise` to the woken waiter of a `barging` lock, since another actor takes the lock first."""
        if server.next is None:
            return
        self._clock.cancel(server)
        if server.next.actor < len(self._workers):
            w = self._workers[server.next.actor]
            w.waiting, w.rank, w.due = server.before
        server.next = None

    def _promise(self, server: Server, place: int, delay_ps: int) -> None:
        """Schedule the grant to the waiter at ``place``, or to the woken waiter."""
        server.next = waiter = server.woken if place == WOKEN else server.waiters.pop(place)
        assert waiter is not None
        self._clock.schedule_actor(server, Rank.GRANT, server.id, self._clock.now + delay_ps, self._on_grant)
        if waiter.actor < len(self._workers):
            w = self._workers[waiter.actor]
            server.before = w.waiting, w.rank, w.due
            self._expect(w, GRANT, server.due)

    def _expect(self, w: Worker, rank: int, due: int) -> None:
        """Note that a worker that waits, unless for a lock of a search, goes on by another actor's event at ``due``."""
        if not w.idle:
            w.waiting = False
            self._clock.expect(w, rank, due)

    def _grant(self, server: Server) -> None:
        waiter = server.next
        assert waiter is not None
        server.grant(self._line_times, waiter, self._clock.now)
        self._end_wait(waiter)
        self._recorder.detail(GRANT, server.id, server.id, waiter.actor)
        waiter.then(waiter.actor)

    def _end_wait(self, waiter: Waiter) -> None:
        now, watch = self._clock.now, self._recorder.watch
        if waiter.actor >= len(self._workers):
            self._producers[-1].overhead_ps += now - waiter.since_ps
            if watch:
                watch.report(Watched.OVERHEAD, waiter.actor, waiter.since_ps, now)
            return
        w = self._workers[waiter.actor]
        w.overhead_ps += now - waiter.since_ps
        if watch:
            w.began = now
            watch.overhead(w.id, now)

    def release(self, ident: int, actor: int) -> None:
        """Release a lock, whose line is then with ``actor``; if actors wait, schedule the grant to one of them."""
        server = self._servers[ident]
        self._log_held(server.release(self._clock.now))
        self._line_times.move(server.line, actor)
        if server.waiters or server.woken:
            self._promise(server, *KINDS[self._kind[server.role]](self._lock_rules, server, self._clock.now))
        else:
            server.busy = False
            server.run = 0

    def _log_held(self, held: Held) -> None:
        if self._recorder.ledger.held is not None:
            self._recorder.ledger.held.append(held)

    def _go_on(self, actor: int) -> None:
        w = self._workers[actor]
        self._stop_spinning(w)
        self._proceed(w)

    def _spin(self, w: Worker) -> None:
        w.waiting = w.spins = True
        self._activity_changed()

    def _stop_spinning(self, w: Worker) -> None:
        w.spins = False
        self._activity_changed()

    def _lock(self, w: Worker, ident: int) -> bool:
        self._spin(w)
        self.request(ident, w.id, self._go_on)
        return False

    def _unlock(self, w: Worker, ident: int) -> bool:
        self.release(ident, w.id)
        return True

    def _atomic(self, w: Worker, ident: int) -> bool:
        def done(actor: int) -> None:
            self.release(ident, actor)
            self._go_on(actor)

        self._spin(w)
        self.request(ident, w.id, done)
        return False

    # ---- barriers --------------------------------------------------------------------------------------------------

    def _arrive(self, w: Worker, ident: int) -> bool:
        barrier = self._barriers[ident]
        barrier.arrivals.append(Arrival(self._clock.now, w.id))
        self._spin(w)
        w.idle_barrier_ps -= self._clock.now
        w.began = self._clock.now
        if len(barrier.arrivals) == barrier.parties:
            self._open_later(barrier, self._open_barrier(self._line_times, barrier))
        return False

    def _open_later(self, barrier: BarrierState, opening: Opening) -> None:
        barrier.arrivals.clear()
        release = Release(barrier, opening, self._clock.new_event())
        self._clock.schedule_actor(release, Rank.RELEASE, 1 + barrier.id, opening.time_ps, self._on_release)
        for worker in opening.leave_ps:
            self._expect(self._workers[worker], RELEASE, opening.time_ps)

    def _release_barrier(self, release: Release) -> None:
        barrier, (opened, leave_ps) = release.barrier, release.opening
        self._recorder.step(RELEASE, 1 + barrier.id, barrier.episode, 0)
        barrier.episode += 1
        for worker, leaves in leave_ps.items():
            w = self._workers[worker]
            w.idle_barrier_ps += leaves
            self._clock.schedule(w, WAKE, leaves - opened)
            self._clock.instead(w, self._on_leave)

    def _leave_barrier(self, w: Worker) -> None:
        self._stop_spinning(w)
        if self._recorder.watch:
            self._recorder.watch.stretch(Watched.BARRIER, w.id, w.began, self._clock.now)
        self._recorder.step(WAKE, w.id, w.stack[-1], 0)
        self._proceed(w)

    # ---- conditions ------------------------------------------------------------------------------------------------

    def _await(self, w: Worker, ident: int) -> bool:
        condition = self._conditions[ident]
        if condition.permits:
            condition.permits -= 1
            w.owed_ps += self._line_times.move(condition.line, w.id)
            return True
        condition.sleepers.append(w.id)
        w.waiting = w.rests = True
        self._activity_changed()
        w.parked_ps -= self._clock.now
        w.began = self._clock.now
        return False

    def _signal(self, w: Worker, ident: int, permits: int) -> bool:
        """Let ``permits`` workers pass the condition: sleeping ones, in the order of arrival, then those to come."""
        condition = self._conditions[ident]
        spent = 0
        while permits and condition.sleepers:
            sleeper = self._workers[condition.sleepers.popleft()]
            condition.line.owner = sleeper.id
            spent += self._plan.costs.signal_ps + self._line_times.move(condition.line, w.id)
            sleeper.waiting = False
            self._clock.schedule(sleeper, WAKE, spent + self._line_times.wake_ps(condition.line, sleeper.id))
            permits -= 1
        condition.permits += permits
        w.owed_ps += spent
        return True

    # ---- the end of a phase ----------------------------------------------------------------------------------------

    def free_search_locks(self) -> None:
        """Take the locks of queues and levels from their holders and waiters, since no worker searches any more."""
        for ident in range(self._plan.words.declared, len(self._plan.words)):
            server = self._servers[ident]
            promised = {waiter.actor: waiter for waiter in (server.next, server.woken) if waiter is not None}
            for waiter in (*server.waiters, *promised.values()):
                self._end_wait(waiter)
                w = self._workers[waiter.actor]
                w.step_ps = 0
                self._clock.expect(w, w.rank, self._clock.now)
            if server.holder != NOBODY:
                self._log_held(server.release(self._clock.now))
            server.waiters.clear()
            server.next = server.woken = None
            server.busy = False
            server.run = 0
            self._clock.cancel(server)
