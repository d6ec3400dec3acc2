"""Which waiter gets a lock next, and how long the handover takes, for every kind of lock (model 5.2 and 5.3).

An actor is a worker or a thread that makes tasks beside the workers. A lock stands on a cache line; a transfer brings
the line to an actor's core. A free lock goes to the first actor that asks, and is granted when the line has come. A
lock that is released while actors wait goes, after the transfer of the line and the time that its kind adds, to

- `tas`, `ttas`: the waiter with the shortest transfer from the releasing core, as on hardware, or, if the specification
  says so, the first waiter (A-28). The `tas` waiters that lose keep the line busy: each tries again every max(transfer,
  pause), and each try takes a transfer. The grant therefore takes transfer**2 / max(transfer, pause) longer for each
  of them, and half a pause, after which the winner tries again on average.
- `ticket`: the first waiter; all waiters read the word again, and half of the others before the first waiter.
- `mcs`: the first waiter, which spins on a line of its own.
- `mutex`: the first waiter. A waiter that has waited for longer than the spin time is parked and has to be woken, which
  takes longer if the waiter is not on the node of the lock.
- `barging`: no waiter, unless one spins. Then the first waiter that spins gets the lock, as any actor does that asks
  while the lock is free. The release also wakes the first waiter that sleeps, unless a wake-up is under way. The woken
  waiter tries when it is awake: it gets the lock if the lock is free, else it sleeps again, behind all other waiters.
  Once an actor has waited for 1 ms, the release hands the lock over to this actor, as a `mutex` (Go, WebKit).
- `cohort`: the first waiter of the releasing node, up to ``batch`` times in a row, then the first of another node.
- `clh`: the first waiter, which spins on the line of the waiter before. An actor that finds the lock free fetches two
  lines one after the other: the one that names the last in the queue, and the line of this last one, which says that
  the lock is free (Craig 1993; Magnusson, Landin and Hagersten 1994).
- a word of atomic operations: the first waiter; the operation is done when the actor has the line.

Waiters are in the order of their arrival; waiters that arrive at one instant are in the order of their ids. A free lock
goes to the actor whose event comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from numasim.engine.reference.actors import ActorEvent
from numasim.engine.reference.ledger import Held
from numasim.engine.reference.sync.cache_lines import NOBODY, Line, LineTimes, SyncCounts
from numasim.plan.plan import Plan
from numasim.schema.enumerations import BARGED_PS
from numasim.workload.sync_parameters import Role


class Waiter(NamedTuple):
    """An actor that waits for a lock since ``since_ps``; ``then`` is called with the actor's id at the grant."""

    since_ps: int
    actor: int
    then: Callable[[int], None]


@dataclass(slots=True, eq=False)
class Server:
    """The state and counters of one lock or word of atomic operations."""

    id: int
    line: Line
    role: Role
    event: ActorEvent = field(init=False)
    waiters: list[Waiter] = field(default_factory=list)  # without ``next`` and ``woken``
    busy: bool = False  # held, or on its way to an actor
    next: Waiter | None = None  # the waiter that gets the lock at ``due``
    woken: Waiter | None = None  # `barging`: the waiter that wakes up, and tries to take the lock at ``tries_ps``
    tries_ps: int = 0
    before: tuple[bool, int, int] = (False, 0, 0)  # (waiting, rank, due) of the worker ``next`` before it was chosen
    due: int = 0  # time of the grant to ``next``
    holder: int = NOBODY
    granted_ps: int = 0  # when the holder got the lock
    run: int = 0  # `cohort`: grants in a row within one node
    acquisitions: int = 0
    wait_ps: int = 0  # sum of the waits of all actors that got the lock
    hold_ps: int = 0  # sum of the times for which the lock was held

    def is_free(self, now: int) -> bool:
        """Tell whether an actor that asks now gets the lock: it is neither held nor on its way to an actor, or it is
        meant for the woken waiter, which has not tried yet.
        """
        return not self.busy or (self.next is not None and self.next is self.woken and now <= self.tries_ps)

    def settle(self, now: int) -> None:
        """Let the woken waiter sleep again, behind all waiters, if it tried before ``now`` and found the lock taken."""
        if self.woken is not None and self.woken is not self.next and self.tries_ps < now:
            self.waiters.append(self.woken)
            self.woken = None

    def enqueue(self, waiter: Waiter) -> None:
        """Insert the waiter in the order of (time, id)."""
        self.settle(waiter.since_ps)
        at = len(self.waiters)
        while at and self.waiters[at - 1][:2] > waiter[:2]:
            at -= 1
        self.waiters.insert(at, waiter)

    def grant(self, times: LineTimes, waiter: Waiter, now: int) -> None:
        """Give the lock to the waiter."""
        self.next = None
        if self.woken is waiter:
            self.woken = None
        self.holder, self.granted_ps = waiter.actor, now
        self.acquisitions += 1
        self.wait_ps += now - waiter.since_ps
        times.move(self.line, waiter.actor)

    def release(self, now: int) -> Held:
        """Take the lock from the holder; return who held it from when to when."""
        self.settle(now)
        held = Held(self.id, self.holder, self.granted_ps, now)
        self.hold_ps += now - self.granted_ps
        self.holder = NOBODY
        return held

    @property
    def counts(self) -> SyncCounts:
        """Return the counters."""
        return SyncCounts.of([self.line], self.acquisitions, self.wait_ps, self.hold_ps)


class Grant(NamedTuple):
    """The index in `Server.waiters` of the chosen waiter (or `WOKEN`), and the time until it has the lock."""

    place: int
    delay_ps: int


class LockRules:
    """The times and settings of a plan that the kinds of locks need."""

    def __init__(self, plan: Plan, times: LineTimes) -> None:
        words, costs = plan.words, plan.costs
        self.times = times
        self.fair, self.batch, self.spin_ps = words.fair, words.batch, words.spin_ps
        self.pause_ps, self.futex_ps = costs.pause_ps, costs.futex_ps

    def transfers_ps(self, server: Server) -> list[int]:
        """Return [waiters] the time in ps until the line is with each waiter."""
        return [self.times.to_ps(server.line, waiter.actor) for waiter in server.waiters]

    def sleeps(self, waiter: Waiter, now: int) -> bool:
        """Tell whether a waiter of a `mutex` or `barging` lock has spun for longer than the spin time."""
        return now - waiter.since_ps > self.spin_ps

    def wake_up_ps(self, server: Server, sleeper: Waiter) -> int:
        """Return the time in ps from the release until the sleeper is awake."""
        return self.futex_ps + self.times.wake_ps(server.line, sleeper.actor)

    def winner(self, transfers_ps: list[int]) -> int:
        """Return the index of the waiter that gets a `tas` or `ttas` lock, from the time until each has the line."""
        return 0 if self.fair else transfers_ps.index(min(transfers_ps))


def _test_and_set(rules: LockRules, server: Server, now: int) -> Grant:
    transfers = rules.transfers_ps(server)
    place = rules.winner(transfers)
    own = transfers.pop(place)
    queued = sum(step * step // max(step, rules.pause_ps) for step in transfers if step)
    return Grant(place, own + rules.pause_ps // 2 + queued)


def _test_and_test_and_set(rules: LockRules, server: Server, now: int) -> Grant:
    transfers = rules.transfers_ps(server)
    place = rules.winner(transfers)
    return Grant(place, transfers[place])


def _ticket(rules: LockRules, server: Server, now: int) -> Grant:
    first, *others = rules.transfers_ps(server)
    return Grant(0, first + sum(others) // 2)


def _in_line(rules: LockRules, server: Server, now: int) -> Grant:
    return Grant(0, rules.times.to_ps(server.line, server.waiters[0].actor))


def _mutex(rules: LockRules, server: Server, now: int) -> Grant:
    first = server.waiters[0]
    delay = rules.times.to_ps(server.line, first.actor)
    if rules.sleeps(first, now):
        delay += rules.wake_up_ps(server, first)
    return Grant(0, delay)


def _barging(rules: LockRules, server: Server, now: int) -> Grant:
    longest = min([*server.waiters, *([server.woken] if server.woken else [])], key=lambda waiter: waiter[:2])
    if now - longest.since_ps > BARGED_PS:
        return _hand_over(rules, server, longest, now)
    sleeper = next((at for at, waiter in enumerate(server.waiters) if rules.sleeps(waiter, now)), None)
    if server.woken is None and sleeper is not None:
        server.woken = server.waiters.pop(sleeper)
        server.tries_ps = now + rules.wake_up_ps(server, server.woken)
    spinner = next((at for at, waiter in enumerate(server.waiters) if not rules.sleeps(waiter, now)), None)
    if spinner is not None:
        return Grant(spinner, rules.times.to_ps(server.line, server.waiters[spinner].actor))
    assert server.woken is not None  # some actor waits
    return Grant(WOKEN, server.tries_ps - now + rules.times.to_ps(server.line, server.woken.actor))


def _hand_over(rules: LockRules, server: Server, waiter: Waiter, now: int) -> Grant:
    transfer = rules.times.to_ps(server.line, waiter.actor)
    if waiter is not server.woken:
        wake_up = rules.wake_up_ps(server, waiter) if rules.sleeps(waiter, now) else 0
        return Grant(server.waiters.index(waiter), transfer + wake_up)
    server.woken = None
    server.waiters.append(waiter)
    return Grant(len(server.waiters) - 1, server.tries_ps - now + transfer)


def _cohort(rules: LockRules, server: Server, now: int) -> Grant:
    node = rules.times.node
    here = node[server.line.owner]
    local = next((at for at, waiter in enumerate(server.waiters) if node[waiter.actor] == here), None)
    other = next((at for at, waiter in enumerate(server.waiters) if node[waiter.actor] != here), None)
    stays = local is not None and (server.run < rules.batch or other is None)
    place = local if stays else other
    assert place is not None  # some actor waits
    server.run = server.run % rules.batch + 1 if stays else 0
    return Grant(place, rules.times.to_ps(server.line, server.waiters[place].actor))


LINE, WOKEN = "line", -1
KINDS: dict[str, Callable[[LockRules, Server, int], Grant]] = {  # how each kind of lock chooses the next waiter
    LINE: _in_line,
    "tas": _test_and_set,
    "ttas": _test_and_test_and_set,
    "ticket": _ticket,
    "mcs": _in_line,
    "mutex": _mutex,
    "cohort": _cohort,
    "clh": _in_line,
    "barging": _barging,
}
LINES_WHEN_FREE = {"clh": 2}  # how many lines an actor fetches that finds the lock free; other kinds: one
