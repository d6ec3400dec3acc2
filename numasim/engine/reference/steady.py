"""Shortcut: production in steady state: equal items are taken and refilled without any other event (model 1.8).

A producer is a thread that makes the items (similar tasks) of a range and puts them into the workers' own queues. While
every worker has work and all items of a worker take equally long, worker w takes an item from its queue at ``end[w] + k
* period[w]``, k = 0, 1, ..., and the producer refills one queue for each item taken, in the order of its round-robin
cursor. `follow` computes only the times of these takes, and ends at the last instant, before the items run out, at
which every queue is full again and the producer waits. All counters and the trace hash (of the main events) come out as
if every item had been an event; the hash of all events of such a run is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heapreplace

from numasim.engine.reference.actors import Producer, Worker
from numasim.engine.reference.clock import SEG_END
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.run_state import RunState

LEFT_PER_WORKER = 4  # items per worker that are left to be simulated event by event


@dataclass(frozen=True)
class Steady:
    """The state in which every queue is full and the producer waits; times in ps; worker w takes from queue w."""

    waiting_since: int
    cursor: int  # the queue that the producer tries first for the next item
    end: Sequence[int]  # [workers] when each worker takes its next item
    period: Sequence[int]  # [workers] the time that each worker needs for an item
    spare: Sequence[int]  # [workers] tasks that each worker's queue may lose before the worker would steal
    announces: Sequence[int | None]  # [workers] free places at which each worker marks its queue for thieves
    push_ps: int  # the producer's time for an item
    left: int  # items that the producer has still to make


@dataclass(frozen=True)
class Moment:
    """An instant at which the producer has refilled all takes before ``time_ps``, and waits since ``waiting_since``."""

    time_ps: int
    waiting_since: int
    cursor: int
    announced: Sequence[int] = ()  # workers that announce their queues before ``time_ps``


def taken_before(steady: Steady, time_ps: int) -> list[int]:
    """Return [workers] how many items each worker takes before ``time_ps``."""
    pairs = zip(steady.end, steady.period, strict=True)
    return [max(0, -(-(time_ps - end) // period)) for end, period in pairs]


def follow(steady: Steady) -> Moment | None:
    """Return the last `Moment` of the steady state; None if none saves events, or if some items take no time."""
    if not all(steady.period):
        return None
    workers = len(steady.end)
    allowed = steady.left - LEFT_PER_WORKER * workers
    takes = [(end, w) for w, end in enumerate(steady.end)]
    heapify(takes)
    rooms = [0] * workers
    waiting_since, cursor = steady.waiting_since, steady.cursor % workers
    next_push: int | None = None
    announced_ps: dict[int, int] = {}
    moment = None
    opened = filled = 0
    while opened < allowed:
        time_ps, w = takes[0]
        while next_push is not None and next_push < time_ps:
            while not rooms[cursor]:
                cursor = cursor + 1 if cursor + 1 < workers else 0
            rooms[cursor] -= 1
            cursor = cursor + 1 if cursor + 1 < workers else 0
            filled += 1
            waiting_since = next_push
            next_push = next_push + steady.push_ps if filled < opened else None
        if next_push is None:
            moment = Moment(time_ps, waiting_since, cursor)
            next_push = time_ps + steady.push_ps
        if rooms[w] == steady.spare[w]:
            break
        if rooms[w] == steady.announces[w]:
            announced_ps.setdefault(w, time_ps)
        heapreplace(takes, (time_ps + steady.period[w], w))
        rooms[w] += 1
        opened += 1
    if moment is None or opened <= LEFT_PER_WORKER * workers:
        return None
    return replace(moment, announced=[w for w, time_ps in announced_ps.items() if time_ps < moment.time_ps])


class SteadyProduction:
    """Moves a run in steady production on by many items at once, without events."""

    def __init__(self, run: RunState, memory: MemorySystem) -> None:
        self._run = run
        self._memory = memory
        self._own = [w.own for w in run.workers if w.own is not None]
        self._may_be_steady = (
            not run.plan.effects.task_noise_ppm
            and run.tables.one_queue_each
            and not run.plan.words.search
            and all(times.uniform for times in memory.ranges)
        )

    def producer_waits(self, p: Producer) -> None:
        """Move the run on by as many items as possible, now that producer ``p`` waits, if the state is steady."""
        prober = self._run.prober
        rule = prober.dealing_rule(p.id)
        if rule is not None and len(p.items) < p.try_below and self._is_steady():
            family, _ = self._run.tables.item(p.items[0])
            steady = self._steady_state(p, family, prober.turn(p.id, rule))
            moment = follow(steady)
            p.try_below = len(p.items) // 2
            if moment is not None:
                prober.turn_to(p.id, rule, moment.cursor)
                self._move_on(p, family, moment, taken_before(steady, moment.time_ps))

    def _is_steady(self) -> bool:
        run, rows = self._run, self._run.program.rows
        return (
            self._may_be_steady
            and not self._memory.work.unsettled
            and run.queues.total == run.tables.room
            and all(w.rank == SEG_END and w.due > run.clock.now for w in run.workers)
            and all(len(w.stack) == 1 and w.stack[0] >= rows and not w.agenda for w in run.workers)
            and all(isinstance(entry, int) and entry >= rows for entries in run.queues.entries for entry in entries)
        )

    def _steady_state(self, p: Producer, family: int, cursor: int) -> Steady:
        tables, queues, workers = self._run.tables, self._run.queues, self._run.workers
        low = [max(low, tables.refill or 0) for low in queues.low]
        own = self._own
        return Steady(
            waiting_since=self._run.clock.now,
            cursor=cursor,
            end=[w.due for w in workers],
            period=[tables.again_ps + self._memory.work.item_ps(w, family) for w in workers],
            spare=[max(0, queues.capacity[q] - low[q] - 2) for q in own],
            announces=[queues.room_to_announce(q) for q in own],
            push_ps=tables.push_ps,
            left=len(p.items),
        )

    def _move_on(self, p: Producer, family: int, moment: Moment, taken: list[int]) -> None:
        """Go over to the state at ``moment``, at which worker w has taken ``taken[w]`` more items than now."""
        run, made = self._run, sum(taken)
        for w, count in zip(run.workers, taken, strict=True):
            self._pass_items(w, family, count)
        for worker in moment.announced:
            run.queues.announce(self._own[worker])
        self._renumber(made)
        run.progress.pass_over(made)
        p.items = p.items[made:]
        p.overhead_ps += made * run.tables.push_ps
        p.parked_ps += moment.waiting_since - p.waiting_since - made * run.tables.push_ps
        p.waiting_since = moment.waiting_since
        run.recorder.ledger.passed_items[family] += made
        run.recorder.trace.forgo_details()

    def _pass_items(self, w: Worker, family: int, taken: int) -> None:
        """Count ``taken`` more items for a worker and move the end of its item in hand by their time."""
        tables, clock = self._run.tables, self._run.clock
        w.tasks += taken
        w.overhead_ps += taken * tables.again_ps
        assert w.own is not None
        self._run.queues.pushes[w.own] += taken
        due = w.due + taken * (tables.again_ps + self._memory.work.item_ps(w, family))
        self._memory.work.pass_items(w, family, taken, due)
        clock.reschedule_flow(w, due)

    def _renumber(self, made: int) -> None:
        """Replace each item in hand and in the queues by the item that comes ``made`` places later in the range."""
        for w in self._run.workers:
            w.stack[0] += made
        for entries in self._run.queues.entries:
            for place, item in enumerate(entries):
                assert isinstance(item, int)  # a producer makes items one by one
                entries[place] = item + made
