"""Waiting for shared words: locks, atomic operations, conditions, barriers (model 5).

Every lock and every word of atomic operations is a server with one event, GRANT, and every barrier has one, RELEASE; an
actor that waits for one has none. Readings that are decided here:

- What a worker owes is paid before it touches a shared word, as a step of its own of rank PUT.
- Who waits for a lock, an atomic word or at a barrier spins, which is polling to who shares the core; who waits for a
  condition rests.
- The wait for a lock is overhead, from asking to the grant, the transfer of the line included. Who waits at a barrier
  idles there; who waits for a condition is parked.
- A lock is released by whoever executes UNLOCK, which may be another worker than took it: its line moves there.
- Signalling takes ``signal`` and the transfer of the line for each waiter that is let pass, one after the other; each
  then sleeps on for a wake-up time, which is that of the distance between it and the home of the condition
  (`numasim.engine.reference.sync.cache_lines`). A waiter that need not wait pays the transfer of the line.
- A release that nobody waits for takes no time of the worker's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from simpy import Event

from numasim.engine.observe.trace_hash import Rank, Trace, pack
from numasim.engine.observe.watch import Watched
from numasim.engine.reference.ledger import Held
from numasim.engine.reference.memory.flows import Flows
from numasim.engine.reference.producer import Producer
from numasim.engine.reference.sync.barriers import BARRIERS, Arrival, BarrierState, Opening
from numasim.engine.reference.sync.cache_lines import NOBODY, Line, LineTimes
from numasim.engine.reference.sync.lock_queues import KINDS, LINE, LockRules, Server, Waiter
from numasim.engine.reference.sync.sync_counts import Condition, WordCounts
from numasim.engine.reference.timeline import GRANT, NO_CALLBACKS, RELEASE, WAKE
from numasim.engine.reference.worker import ActorEvent, Worker, priority
from numasim.plan.plan import Plan
from numasim.workload.graph import Op
from numasim.workload.sync_parameters import Role


class Synchronisation(Flows):
    """Grants locks, opens barriers, lets waiters of conditions pass."""

    def __init__(self, plan: Plan, trace: Trace, keep_log: bool) -> None:
        super().__init__(plan, trace, keep_log)
        words = plan.words
        self.line_times = LineTimes(plan)
        self.lock_rules = LockRules(plan, self.line_times)
        self.next_holder = {Role.LOCK: KINDS[words.kind], Role.ATOMIC: KINDS[LINE]}
        self.open_barrier = BARRIERS[words.barrier]
        self.servers: dict[int, Server] = {}
        self.barriers: dict[int, BarrierState] = {}
        self.conditions: dict[int, Condition] = {}
        for ident, role in enumerate(words.role.tolist()):
            self._add_word(ident, Role(role))
        self.operations: dict[int, Callable[[Worker, int], bool]] = {
            Op.LOCK: self._lock,
            Op.UNLOCK: self._unlock,
            Op.ATOMIC: self._atomic,
            Op.BARRIER: self._arrive,
            Op.AWAIT: self._await,
            Op.SIGNAL: lambda w, word: self._signal(w, word, 1),
            Op.BROADCAST: lambda w, word: self._signal(w, word, int(words.parties[word])),
        }

    @abstractmethod
    def _proceed(self, w: Worker) -> None:
        """Let the worker execute ops until one takes time."""

    def _add_word(self, ident: int, role: Role) -> None:
        home, parties = int(self.plan.words.home[ident]), int(self.plan.words.parties[ident])
        if role == Role.BARRIER:
            self.barriers[ident] = BarrierState(ident, home, self.plan.words.worker_home.tolist(), parties)
        elif role == Role.CONDITION:
            self.conditions[ident] = Condition(Line(home))
        else:
            server = self.servers[ident] = Server(ident, Line(home), role)
            server.event = ActorEvent(self.env, server)

    def word_counts(self) -> list[WordCounts]:
        """What each word has counted, in the order of their ids."""
        counts = {ident: server.counts for ident, server in self.servers.items()}
        counts |= {ident: WordCounts.of([condition.line]) for ident, condition in self.conditions.items()}
        counts |= {ident: WordCounts.of([*barrier.lines.values()]) for ident, barrier in self.barriers.items()}
        return [counts[ident] for ident in range(len(counts))]

    # ---- locks -----------------------------------------------------------------------------------------------------

    def _request(self, word: int, actor: int, then: Callable[[int], None]) -> None:
        """Ask for a lock; ``then`` is called with the actor's id at the grant."""
        server = self.servers[word]
        server.enqueue(Waiter(self.now, actor, then))
        if not server.busy:
            server.busy = True
            self._promise(server, 0, self.line_times.to_ps(server.line, actor))

    def _promise(self, server: Server, place: int, delay_ps: int) -> None:
        """Schedule the grant to the waiter at ``place``."""
        server.next = waiter = server.waiters.pop(place)
        server.due = self.now + delay_ps
        server.event.callbacks = [self._on_grant]
        self.env.schedule(server.event, priority(Rank.GRANT, server.id), delay_ps)  # type: ignore[arg-type]
        if waiter.actor < len(self.workers):
            self._expect(self.workers[waiter.actor], GRANT, server.due)

    def _expect(self, w: Worker, rank: int, due: int) -> None:
        """A worker that waits, and does not search, will go on at ``due`` through the event of another actor."""
        if not w.idle:
            w.waiting, w.rank, w.due = False, rank, due

    def _on_grant(self, event: Event) -> None:
        server: Server = event.actor  # type: ignore[attr-defined]
        self.now = server.due
        waiter = server.next
        assert waiter is not None
        server.grant(self.line_times, waiter, self.now)
        self._end_wait(waiter)
        self.trace.details.rows.append(pack(self.now, GRANT, server.id, server.id, waiter.actor))
        waiter.then(waiter.actor)

    def _end_wait(self, waiter: Waiter) -> None:
        """What an actor has waited for a lock was overhead."""
        payer = self._payer(waiter.actor)
        payer.overhead_ps += self.now - waiter.since_ps
        if self.watch and isinstance(payer, Worker):
            payer.began = self.now
            self.watch.overhead(payer, self.now)
        elif self.watch:
            self.watch.tell(Watched.OVERHEAD, waiter.actor, waiter.since_ps, self.now)

    def _payer(self, actor: int) -> Worker | Producer:
        """The worker or producer with that id."""
        return self.workers[actor]

    def _release_lock(self, word: int, actor: int) -> None:
        """Let go of a lock; it goes to one of those that wait for it, if any."""
        server = self.servers[word]
        self._log_held(server.release(self.now))
        self.line_times.move(server.line, actor)
        if server.waiters:
            self._promise(server, *self.next_holder[server.role](self.lock_rules, server, self.now))
        else:
            server.busy = False
            server.run = 0

    def _log_held(self, held: Held) -> None:
        if self.ledger.held is not None:
            self.ledger.held.append(held)

    def _go_on(self, actor: int) -> None:
        w = self.workers[actor]
        self._stop_spinning(w)
        self._proceed(w)

    def _spin(self, w: Worker) -> None:
        """Wait, and keep the core busy with it."""
        w.waiting = w.spins = True
        self._settle_later()

    def _stop_spinning(self, w: Worker) -> None:
        w.spins = False
        self._settle_later()

    def _lock(self, w: Worker, word: int) -> bool:
        self._spin(w)
        self._request(word, w.id, self._go_on)
        return False

    def _unlock(self, w: Worker, word: int) -> bool:
        self._release_lock(word, w.id)
        return True

    def _atomic(self, w: Worker, word: int) -> bool:
        def done(actor: int) -> None:
            self._release_lock(word, actor)
            self._go_on(actor)

        self._spin(w)
        self._request(word, w.id, done)
        return False

    # ---- barriers --------------------------------------------------------------------------------------------------

    def _arrive(self, w: Worker, word: int) -> bool:
        barrier = self.barriers[word]
        barrier.arrivals.append(Arrival(self.now, w.id))
        self._spin(w)
        w.idle_barrier_ps -= self.now
        w.began = self.now
        if len(barrier.arrivals) == barrier.parties:
            self._open_later(barrier, self.open_barrier(self.line_times, barrier))
        return False

    def _open_later(self, barrier: BarrierState, opening: Opening) -> None:
        barrier.arrivals.clear()
        event = ActorEvent(self.env, (barrier, opening))
        event.callbacks = [self._on_release]
        delay = opening.time_ps - self.now
        self.env.schedule(event, priority(Rank.RELEASE, 1 + barrier.id), delay)  # type: ignore[arg-type]
        for worker in opening.leave_ps:
            self._expect(self.workers[worker], RELEASE, opening.time_ps)

    def _on_release(self, event: Event) -> None:
        barrier, (opened, leave_ps) = event.actor  # type: ignore[attr-defined]
        self.now = opened
        self._record_step(RELEASE, 1 + barrier.id, barrier.episode, 0)
        barrier.episode += 1
        for worker, leaves in leave_ps.items():
            w = self.workers[worker]
            w.idle_barrier_ps += leaves
            self._schedule(w, WAKE, leaves - opened)
            w.event.callbacks = [self._on_leave]

    def _on_leave(self, event: Event) -> None:
        """A worker goes on behind a barrier."""
        w: Worker = event.actor  # type: ignore[attr-defined]
        self.now = w.due
        self._stop_spinning(w)
        if self.watch:
            self.watch.stretch(w, Watched.BARRIER, self.now)
        self._record_step(WAKE, w.id, w.stack[-1], 0)
        self._proceed(w)

    # ---- conditions ------------------------------------------------------------------------------------------------

    def _await(self, w: Worker, word: int) -> bool:
        condition = self.conditions[word]
        if condition.permits:
            condition.permits -= 1
            w.owed_ps += self.line_times.move(condition.line, w.id)
            return True
        condition.sleepers.append(w.id)
        w.waiting = w.rests = True
        self._settle_later()
        w.parked_ps -= self.now
        w.began = self.now
        return False

    def _signal(self, w: Worker, word: int, permits: int) -> bool:
        """Let ``permits`` waiters pass: those that sleep, in the order in which they came, then later ones."""
        condition = self.conditions[word]
        spent = 0
        while permits and condition.sleepers:
            sleeper = self.workers[condition.sleepers.popleft()]
            condition.line.owner = sleeper.id
            spent += self.plan.costs.signal_ps + self.line_times.move(condition.line, w.id)
            sleeper.waiting = False
            self._schedule(sleeper, WAKE, spent + self.line_times.wake_ps(condition.line, sleeper.id))
            permits -= 1
        condition.permits += permits
        w.owed_ps += spent
        return True

    # ---- the end of a phase ----------------------------------------------------------------------------------------

    def _free_search_locks(self) -> None:
        """Nobody searches any more: take the locks of the search from whoever has them or waits for them."""
        for w in self.workers:
            w.held.clear()
        for word in range(self.plan.words.declared, len(self.plan.words)):
            server = self.servers[word]
            for waiter in (*server.waiters, *([server.next] if server.next else [])):
                self._end_wait(waiter)
                w = self.workers[waiter.actor]
                w.due, w.step_ps = self.now, 0
            if server.holder != NOBODY:
                self._log_held(server.release(self.now))
            server.waiters.clear()
            server.next = None
            server.busy = False
            server.run = 0
            server.event.callbacks = NO_CALLBACKS
            server.event = ActorEvent(self.env, server)
