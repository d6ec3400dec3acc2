"""The task queues of a run: contents, lengths, watch bits and thresholds (model 4.2 and 4.3).

An entry is a task id, a `Shared` task, or a Python ``range`` of task ids that stands for as many tasks. The length is
the number of tasks, copies included. A *watch* is one bit for each queue, by which thieves choose queues. Most watches
have two lengths: a queue's bit is set at a length of at least the first, cleared at a length of at most the second, and
stays in between. Other bits are written for the queue's owner: `announced` (thieves may steal, A-42), and `asleep`. S
and s are thresholds of each queue (Vikranth's thesis, eq. 3.3 and 3.4): thieves may steal from a queue of S or more
tasks, and its owner steals elsewhere once s tasks are left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import (
    ASLEEP_MARK,
    BELOW_MAX_MARK,
    BELOW_MIN_MARK,
    MIN_MARK,
    OWNER_EXACT_MARK,
    OWNER_MARK,
)
from numasim.strategy.steal_plan import StealPlan, Thresholds

# ---- The thresholds S and s of a queue, from the (s, S) inventory model (thesis eq. 3.3 and 3.4; model 4.3) ---------
#
# S = C - lambda * T_push        s = mu * T_pop
#
# with C the capacity, lambda the arrival rate of tasks at the queue, mu the rate at which its worker executes tasks,
# and T_push, T_pop the mean times of a push and a pop. Both products are rounded up; all arithmetic is on integers. The
# strategy may name other rules or fixed values.


@dataclass(frozen=True)
class Measured:
    """The measures of a worker's queue from which the thresholds are computed."""

    capacity: int
    pushes: int
    span_ps: int  # time since the start of the run
    executed: int  # tasks that the worker has executed
    busy_ps: int  # time that the worker spent executing tasks
    peak_sum: int  # sum, over all queues, of the longest length of each queue so far
    queues: int


def first_thresholds(rule: Thresholds, capacity: list[int]) -> tuple[list[int], list[int]]:
    """Return (S, s), each [queues], before anything is measured: s = 1, and S = C - 1 (at least 1) or, by rule
    `avail`, s + 1. A value that the strategy fixes (``min_tasks`` for s, ``max_tasks`` for S) replaces these.
    """
    low = [rule.min_tasks if rule.min_tasks is not None else 1] * len(capacity)
    if rule.max_tasks is not None:
        return [rule.max_tasks] * len(capacity), low
    if rule.rule == "avail":
        return [s + 1 for s in low], low
    return [max(1, c - 1) for c in capacity], low


def computed_thresholds(rule: Thresholds, push_ps: int, pop_ps: int, seen: Measured) -> tuple[int, int]:
    """Return (S, s) of one queue from the measures of its worker; values that the strategy fixes stay."""
    low = rule.min_tasks if rule.min_tasks is not None else max(1, _ceil(seen.executed * pop_ps, seen.busy_ps))
    if rule.max_tasks is not None:
        return rule.max_tasks, low
    if rule.rule == "avail":  # a task is available if the queue holds more tasks than its owner keeps
        return low + 1, low
    if rule.rule == "fraction":  # S is a fraction of the mean, over the queues, of each queue's longest length
        return max(low + 1, seen.peak_sum * rule.fraction_ppm // (seen.queues * MILLION)), low
    return max(1, seen.capacity - _ceil(seen.pushes * push_ps, seen.span_ps)), low


def _ceil(part: int, whole: int) -> int:
    return -(-part // whole) if whole else 0


UNBOUNDED_TASKS = 2**62
ANNOUNCED_BY_OWNERS = (OWNER_MARK, OWNER_EXACT_MARK)


class Shared:
    """A task with entries in several queues; ``claimed`` once a worker has taken one: the other entries are void."""

    __slots__ = ("claimed", "task")

    def __init__(self, task: int) -> None:
        self.task = task
        self.claimed = False


class TaskQueues:
    """All queues of one run; ``entries`` and ``length`` are [queues], ``watch`` is [watches][queues]."""

    def __init__(self, plan: StealPlan, piece: int = 1, report: Callable[[int, int], None] | None = None) -> None:
        """Begin with empty queues; ``piece`` items of a range become single entries when one of them is taken.

        ``report`` is called with a queue and its length after every change of the length, except by `drop`.
        """
        count = len(plan.queues)
        self.entries: list[deque[int | range | Shared]] = [deque() for _ in range(count)]
        self.length = [0] * count
        self.total = 0
        self.iteration = 0
        self.switches = 0
        self.live: Sequence[int] = ()  # [units: cores, nodes, ...] subtrees under way in each (`LiveSubtrees`)
        self.awaited: Sequence[int] = ()  # [units] subtrees that are still to begin in each
        self.piece = piece
        self.pushes = [0] * count
        self.peak = [0] * count
        self.capacity = [int(c) or UNBOUNDED_TASKS for c in plan.queues["capacity"]]
        self.high, self.low = first_thresholds(plan.thresholds, self.capacity)
        bounds = [(int(at), int(until)) for at, until in plan.watch]
        self.watch = [bytearray(count) for _ in bounds]
        sets = list(zip(self.watch, bounds, strict=True))
        self._bounds = [(bits, bound) for bits, bound in sets if bound[0] >= BELOW_MAX_MARK]
        self._asleep = [bits for bits, bound in sets if bound[0] == ASLEEP_MARK]
        by_owner = ((bits, bound[0]) for bits, bound in sets if bound[0] in ANNOUNCED_BY_OWNERS)
        self._by_owner = [(bits, mark == OWNER_EXACT_MARK) for bits, mark in by_owner]
        self.owners_announce = bool(self._by_owner)
        self._copies = plan.copies
        self._report = report
        self._follows = bool(self.watch) or report is not None

    def push(self, q: int, task: int) -> None:
        """Put a task at the back of queue ``q``."""
        self.entries[q].append(task)
        self.length[q] += 1
        self.total += 1
        if self._follows:
            self._pushed(q, 1)

    def push_copies(self, queues: Sequence[int], task: int) -> None:
        """Put an entry of a task at the back of each of several queues."""
        shared = Shared(task)
        for q in queues:
            self.push(q, shared)  # type: ignore[arg-type]

    def push_range(self, q: int, items: range) -> None:
        """Put a range of tasks at the back of queue ``q``."""
        if len(items):
            self.entries[q].append(items)
            self.length[q] += len(items)
            self.total += len(items)
            self._pushed(q, len(items))

    def pop(self, q: int, back: int) -> int:
        """Take the task at the back (1) or the front (0) of queue ``q``, which is not empty."""
        entries = self.entries[q]
        task = entries.pop() if back else entries.popleft()
        if isinstance(task, range):
            task = self._open(entries, task, back)
        elif isinstance(task, Shared):
            task.claimed = True
            task = task.task
        self.length[q] -= 1
        self.total -= 1
        if self._follows:
            self._changed(q)
        return task

    def sift(self, q: int, back: int, most: int) -> int:
        """Drop the entries of tasks that others have claimed, among the ``most`` tasks at one end of queue ``q``: the
        back (1) or the front (0). Return how many of these tasks are left.
        """
        if not self._copies:
            return min(most, self.length[q])
        entries = self.entries[q]
        kept: list[int | range | Shared] = []
        seen = dropped = 0
        while entries and seen < most:
            entry = entries.pop() if back else entries.popleft()
            seen += len(entry) if type(entry) is range else 1
            if type(entry) is Shared and entry.claimed:
                dropped += 1
            else:
                kept.append(entry)
        (entries.extend if back else entries.extendleft)(reversed(kept))
        if dropped:
            self.length[q] -= dropped
            self.total -= dropped
            self._changed(q)
        return min(seen, most) - dropped

    def drop_claimed(self) -> None:
        """Drop the entries of all tasks that were claimed from other queues, at the end of a phase."""
        if self._copies:
            for q, length in enumerate(self.length):
                self.sift(q, 0, length)

    def is_claimed(self, q: int, back: int) -> bool:
        """Tell whether the entry at one end of the non-empty queue ``q`` is of a task claimed from another queue."""
        entry = self.entries[q][-1 if back else 0]
        return type(entry) is Shared and entry.claimed

    def _open(self, entries: deque[int | range | Shared], items: range, back: int) -> int:
        """Return the item at one end of a range; ``piece`` items there become single entries, the rest stays one."""
        count = min(self.piece, len(items))
        rest, few = (items[:-count], items[-count:]) if back else (items[count:], items[:count])
        if rest:
            (entries.append if back else entries.appendleft)(rest)
        if back:
            entries.extend(few[:-1])
            return few[-1]
        entries.extendleft(few[:0:-1])
        return few[0]

    def drop(self, q: int, back: int, count: int) -> None:
        """Drop ``count`` tasks from the range that is the entry at one end of queue ``q``."""
        entries = self.entries[q]
        items = entries.pop() if back else entries.popleft()
        assert isinstance(items, range)
        rest = items[: len(items) - count] if back else items[count:]
        if rest:
            (entries.append if back else entries.appendleft)(rest)
        self.length[q] -= count
        self.total -= count

    def peek(self, q: int, back: int) -> int:
        """Return the task that `pop` would take."""
        entry = self.entries[q][-1 if back else 0]
        if isinstance(entry, Shared):
            return entry.task
        return entry[-1 if back else 0] if isinstance(entry, range) else entry

    def mark(self, q: int) -> None:
        """Bring those watch bits of queue ``q`` that follow its length up to date."""
        n = self.length[q]
        for bits, (at, until) in self._bounds:
            if n >= self._bound(q, at):
                bits[q] = 1
            elif n <= self._bound(q, until):
                bits[q] = 0

    def owner_takes(self, q: int) -> None:
        """Announce queue ``q``, whose owner takes a task, if it has S tasks or more (by the exact rule: exactly S)."""
        for bits, exact in self._by_owner:
            if self.length[q] == self.high[q] or (not exact and self.length[q] > self.high[q]):
                bits[q] = 1

    def owner_executed(self, q: int) -> None:
        """Take back the announcement of a queue at s tasks or fewer (exact rule: at s), after its owner ran a task."""
        for bits, exact in self._by_owner:
            if self.length[q] == self.low[q] or (not exact and self.length[q] < self.low[q]):
                bits[q] = 0

    def owner_searches(self, q: int) -> None:
        """Take back the announcement of queue ``q``, whose owner begins to search."""
        for bits, _ in self._by_owner:
            bits[q] = 0

    def owner_sleeps(self, q: int, sleeps: bool) -> None:
        """Set the bit `asleep` of queue ``q`` to whether its owner sleeps or is about to."""
        for bits in self._asleep:
            bits[q] = sleeps

    def room_to_announce(self, q: int) -> int | None:
        """Return the number of free places at which the owner announces queue ``q``, if the queue begins full and its
        owner takes task after task; None if the owner never announces the queue.
        """
        room = self.capacity[q] - self.high[q]
        if not self._by_owner or room < 0:
            return None
        return room if self._by_owner[0][1] else 0

    def announce(self, q: int) -> None:
        """Set the bit `announced` of queue ``q``."""
        for bits, _ in self._by_owner:
            bits[q] = 1

    def set_thresholds(self, q: int, high: int, low: int) -> None:
        """Give queue ``q`` the thresholds S = ``high`` and s = ``low``."""
        self.high[q], self.low[q] = high, low
        self.mark(q)

    def _pushed(self, q: int, count: int) -> None:
        self.pushes[q] += count
        self.peak[q] = max(self.peak[q], self.length[q])
        self._changed(q)

    def _changed(self, q: int) -> None:
        self.mark(q)
        if self._report:
            self._report(q, self.length[q])

    def _bound(self, q: int, mark: int) -> int:
        if mark >= 0:
            return mark
        level = self.low[q] if mark in (MIN_MARK, BELOW_MIN_MARK) else self.high[q]
        return level - (mark in (BELOW_MAX_MARK, BELOW_MIN_MARK))
