"""Which waiter gets a lock next, and how long the handover takes, for every kind of lock (model 5.2 and 5.3).

A free lock goes to the first actor that asks, and is granted when the line has come. A lock that is released while
other actors wait goes, after the transfer of the line and the time that the kind of lock adds, to

- `tas`, `ttas`: the waiter with the shortest transfer from the releasing core, as on hardware, or the first waiter
  (A-28). The `tas` waiters that lose keep the line busy: each tries again every max(transfer, pause), and each try
  takes a transfer. The release therefore waits for transfer**2 / max(transfer, pause) for each of them. The winner
  tries again after half a pause on average.
- `ticket`: the first waiter; all waiters read the word again, and half of the others before the first waiter.
- `mcs`: the first waiter, which spins on a line of its own.
- `mutex`: the first waiter. A waiter that has waited for longer than the spin time is parked and has to be woken, which
  takes longer if the waiter is not on the node of the lock.
- `cohort`: the first waiter of the releasing node, up to ``batch`` times in a row, then the first of another node.
- `clh`: the first waiter, which spins on the place of the waiter before. An actor that finds the lock free fetches two
  lines one after the other: the tail, which names the last place, and the last place, which says that the lock is free
  (Craig 1993; Magnusson, Landin and Hagersten 1994).
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
from numasim.workload.sync_parameters import Role


class Waiter(NamedTuple):
    """An actor that waits for a lock, and the call with which it goes on."""

    since_ps: int
    actor: int
    then: Callable[[int], None]


@dataclass(slots=True, eq=False)
class Server:
    """The state and counters of one lock."""

    id: int
    line: Line
    role: Role
    event: ActorEvent = field(init=False)
    waiters: list[Waiter] = field(default_factory=list)
    busy: bool = False  # from the instant at which the lock is promised to an actor until its release without a waiter
    next: Waiter | None = None  # the waiter that gets the lock at ``due``
    due: int = 0
    holder: int = NOBODY
    granted_ps: int = 0
    run: int = 0  # grants in a row within one node
    acquisitions: int = 0
    wait_ps: int = 0
    hold_ps: int = 0

    def enqueue(self, waiter: Waiter) -> None:
        """Insert the waiter behind all waiters that came earlier."""
        at = len(self.waiters)
        while at and self.waiters[at - 1][:2] > waiter[:2]:
            at -= 1
        self.waiters.insert(at, waiter)

    def grant(self, times: LineTimes, waiter: Waiter, now: int) -> None:
        """Give the lock to the waiter."""
        self.next = None
        self.holder, self.granted_ps = waiter.actor, now
        self.acquisitions += 1
        self.wait_ps += now - waiter.since_ps
        times.move(self.line, waiter.actor)

    def release(self, now: int) -> Held:
        """Take the lock from the holder; return the holder, and the time for which the lock was held."""
        held = Held(self.id, self.holder, self.granted_ps, now)
        self.hold_ps += now - self.granted_ps
        self.holder = NOBODY
        return held

    @property
    def counts(self) -> SyncCounts:
        """Return the counters."""
        return SyncCounts.of([self.line], self.acquisitions, self.wait_ps, self.hold_ps)


class Grant(NamedTuple):
    """The place of the chosen waiter, and the time until the waiter has the lock."""

    place: int
    delay_ps: int


class LockRules:
    """Times and rules of the kinds of locks, from a plan."""

    def __init__(self, plan: Plan, times: LineTimes) -> None:
        words, costs = plan.words, plan.costs
        self.times = times
        self.fair, self.batch, self.spin_ps = words.fair, words.batch, words.spin_ps
        self.pause_ps, self.futex_ps = costs.pause_ps, costs.futex_ps

    def transfers_ps(self, server: Server) -> list[int]:
        """Return [waiters] the time until the line is with each waiter."""
        return [self.times.to_ps(server.line, waiter.actor) for waiter in server.waiters]

    def winner(self, transfers_ps: list[int]) -> int:
        """Return the place of the waiter that wins the race for the line."""
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
    if now - first.since_ps > rules.spin_ps:
        delay += rules.futex_ps + rules.times.wake_ps(server.line, first.actor)
    return Grant(0, delay)


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


LINE = "line"
KINDS: dict[str, Callable[[LockRules, Server, int], Grant]] = {  # how each kind of lock chooses the next waiter
    LINE: _in_line,
    "tas": _test_and_set,
    "ttas": _test_and_test_and_set,
    "ticket": _ticket,
    "mcs": _in_line,
    "mutex": _mutex,
    "cohort": _cohort,
    "clh": _in_line,
}
LINES_WHEN_FREE = {"clh": 2}  # the lines that an actor that finds the lock free fetches, if more than one
