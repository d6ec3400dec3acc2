"""Lists that the reference engine reads at every event, made once from the Plan (model 4.1 and 4.4).

A range is many similar tasks, its items; family f is the rule that describes range f. Tasks of the graph have the ids
0, 1, ...; the ids of items follow, range by range. A level is an entry of the strategy's list of places to steal from.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.watch import NOBODY
from numasim.machine.routing import line_transfer_ps
from numasim.machine.topology import IntArray
from numasim.plan.plan import MIN_STEP_PS, Plan
from numasim.schema.enumerations import FLAG_ATTEMPT, FLAG_INVERT, NO_QUEUE, NONE8, Anchor, Full
from numasim.strategy.steal_plan import has_own_dispatch
from numasim.strategy.sync_places import NO_LOCK


class Tables:
    """Costs by worker and queue, ends of queues, the ids of range items."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        steal, work, costs = plan.steal, plan.workload, plan.costs
        queues = steal.queues
        self.own = [None if q == NO_QUEUE else int(q) for q in steal.own]
        self.slot = {int(queues["owner"][q]): int(q) for q in steal.slots.nonzero()[0]}  # {worker: its slot}
        self.in_a_row = queues["in_a_row"].tolist()  # tasks in a row from a slot that close it to new ones; 0: never
        self._home = queues["home"].tolist()
        self.owner = queues["owner"].tolist()
        self.own_end = queues["own_end"].tolist()
        self.full = queues["full"].tolist()
        capacity = queues["capacity"].tolist()
        self.room = sum(capacity) if all(capacity) else 2**62  # the most tasks that all queues hold together
        self.one_queue_each = sorted(q for q in self.own if q is not None) == list(range(len(queues)))
        self.attempt = [bool(flags & FLAG_ATTEMPT) for flags in steal.level["flags"].tolist()]
        ends = {True: queues["steal_end"].tolist(), False: self.own_end}
        self.probe_end = [ends[attempt] for attempt in self.attempt]
        self.work_first = steal.work_first
        self.work_first_tiers = steal.work_first_tiers
        # If tasks are dispatched by their data, a full own queue makes no worker execute its new tasks at once.
        self.overflows = bool((queues["full"] == Full.INLINE).any()) and not steal.looks_at_data
        self.inlines = self.overflows or plan.inline_above >= 0
        self.refill = steal.refill
        self.own_dispatch = has_own_dispatch(steal)
        self.own_never_full = self.own_dispatch and not any(capacity)
        levels = steal.level[: steal.steal_levels]
        watched = (levels["watch"] != NONE8) & (levels["flags"] & FLAG_INVERT == 0)
        # Whether idle workers find tasks only in queues whose bit in a watch (a condition on the length) is set.
        plain = self.own_dispatch and self.refill == 0 and plan.join != "strict" and plan.producer != "extra"
        self.sees_marks_only = plain and bool(watched.all())
        self.fixed_rounds = bool((levels["anchor"] == Anchor.ME).all())
        self.queue_lock = plan.words.queue_lock.tolist() or [NO_LOCK] * len(queues)
        self.push_ps = costs.push_ps
        self.pop_ps = costs.pop_ps
        self.again_ps = costs.pop_ps + costs.yield_ps  # between two items of a worker
        self.join_ps = costs.join_ps
        self.latency = costs.line == "latency"
        self.served = costs.line == "yes"
        self.wake_ps = (costs.wake_ps, costs.wake_remote_ps)
        self.scan_ps = max(MIN_STEP_PS, self.probe_costs_ps[0])
        self.range_base = list(accumulate((f.count for f in work.ranges), initial=work.rows))

    def victim(self, q: int) -> int:
        """Return the worker whose own queue ``q`` is, or NOBODY for a slot or a shared queue."""
        owner: int = self.owner[q]
        return owner if self.own[owner] == q else NOBODY

    def home(self, q: int, node: int) -> int:
        """Return the node of queue ``q``; a queue of the whole machine is at home on the asking ``node``."""
        home: int = self._home[q]
        return node if home < 0 else home

    def item(self, task: int) -> tuple[int, int]:
        """Return (number of the range, number of the item in the range) of the item with id ``task``."""
        if len(self.range_base) == 2:
            return 0, task - self.range_base[0]
        family = bisect_right(self.range_base, task) - 1
        return family, task - self.range_base[family]

    def item_and_count(self, task: int) -> tuple[int, int]:
        """Return (number of the range item ``task`` in its range, items of the range)."""
        family, item = self.item(task)
        return item, self.range_base[family + 1] - self.range_base[family]

    @cached_property
    def _line_ps(self) -> IntArray:
        """Return [from worker, to worker] the time in ps to move a cache line between their cores."""
        return line_transfer_ps(self._plan.machine, self._plan.workers)

    def line_ps(self, worker: int) -> list[int]:
        """Return [workers] the time to move a cache line from the core of each worker to the core of ``worker``."""
        times: list[int] = self._line_ps[:, worker].tolist()
        return times

    def probe_locks(self, level: int, q: int) -> tuple[int, ...]:
        """Return the locks that a probe of queue ``q`` by ``level`` takes: the level's, then the queue's."""
        words = self._plan.words
        of_level = words.level_lock[level, q] if len(words.level_lock) else NO_LOCK
        of_queue = NO_LOCK if words.looks_first else self.queue_lock[q]
        return tuple(int(lock) for lock in (of_level, of_queue) if lock != NO_LOCK)

    def take_lock(self, q: int) -> int:
        """Return the lock that a probe takes once it has seen a task in queue ``q``; `NO_LOCK` if it takes none."""
        return self.queue_lock[q] if self._plan.words.looks_first else NO_LOCK

    @property
    def line_matrix_ps(self) -> npt.NDArray[np.int64]:
        """Return [to worker, from worker] the time in ps to move a cache line between their cores."""
        return np.ascontiguousarray(self._line_ps.T, np.int64)

    @property
    def probe_costs_ps(self) -> tuple[int, int]:
        """Return the times in ps of a probe of a queue on the worker's node and on another node, before transfers."""
        costs = self._plan.costs
        return self._plan.machine.probe_ps or (costs.probe_ps, costs.probe_remote_ps)

    def probe_ps(self, worker: int) -> list[int]:
        """Return [queues] the time in ps of the worker's probe of each queue, up to the instant at which it looks."""
        near, far = self.probe_costs_ps
        node = int(self._plan.workers.node[worker])
        base = [far if self.home(q, node) != node else near for q in range(len(self._home))]
        return [max(MIN_STEP_PS, step) for step in self._with_line(worker, base)]

    def take_ps(self, worker: int) -> list[int]:
        """Return [queues] the overhead in ps of the worker for taking the first task of a steal from each queue."""
        return self._with_line(worker, [self._plan.costs.take_ps] * len(self._home))

    def _with_line(self, worker: int, base: list[int]) -> list[int]:
        if not self.latency:
            return base
        line = self.line_ps(worker)
        return [step + line[owner] for step, owner in zip(base, self.owner, strict=True)]
