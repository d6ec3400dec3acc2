"""Defects to be seeded into the engine, and the tests that have to notice each of them."""

from __future__ import annotations

from typing import NamedTuple


class Defect(NamedTuple):
    """``old``, which occurs once in ``file``, becomes ``new``; at least one of ``tests`` has to fail then."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


DEFECTS = (
    Defect(
        "a queue announces itself one task too late",
        "numasim/engine/reference/task_queues.py",
        "if n >= self._bound(q, at):",
        "if n > self._bound(q, at):",
        ("test_thresholds.py",),
    ),
    Defect(
        "the latch of an announced queue is lost",
        "numasim/engine/reference/task_queues.py",
        "elif n <= self._bound(q, until):",
        "else:",
        ("test_thresholds.py",),
    ),
    Defect(
        "thresholds are rounded down",
        "numasim/engine/reference/thresholds.py",
        "return -(-part // whole) if whole else 0",
        "return part // whole if whole else 0",
        ("test_thresholds.py",),
    ),
    Defect(
        "thieves take from the owner's end of the deque",
        "numasim/engine/reference/tables.py",
        'ends = {True: queues["steal_end"].tolist(), False: self.own_end}',
        "ends = {True: self.own_end, False: self.own_end}",
        ("test_search.py",),
    ),
    Defect(
        "of two thieves in one instant the higher one wins",
        "numasim/engine/reference/actors.py",
        "return 2 + (rank << 32 | actor)",
        "return 2 + (rank << 32 | 2**31 - actor)",
        ("test_event_order.py",),
    ),
    Defect(
        "a probe looks before the work of its instant ends",
        "numasim/engine/reference/actors.py",
        "return 2 + (rank << 32 | actor)",
        "return 2 + (0 if rank == Rank.LOOK else rank + 1 << 32 | actor)",
        ("test_event_order.py",),
    ),
    Defect(
        "a task that is taken in an instant has left the queue only later",
        "numasim/engine/reference/shortcuts/stretch.py",
        'np.searchsorted(self.end, now, side="right")',
        'np.searchsorted(self.end, now, side="left")',
        ("test_event_order.py",),
    ),
    Defect(
        "bytes that are read are counted twice",
        "numasim/plan/segment_times.py",
        "np.where(accesses.mode == Mode.READ, 1, 2)",
        "np.where(accesses.mode == Mode.READ, 2, 2)",
        ("test_memory.py",),
    ),
    Defect(
        "a page is placed on node 0 instead of its first toucher's",
        "numasim/engine/reference/memory/page_map.py",
        "self._room(node if wish is None else int(wish[unit]), pages)",
        "self._room(0 if wish is None else int(wish[unit]), pages)",
        ("test_memory.py",),
    ),
    Defect(
        "a page takes a hinting fault at every touch once it has been scanned",
        "numasim/engine/reference/memory/page_map.py",
        "scanned: npt.NDArray[np.bool_] = times > self._seen[region][units]",
        "scanned: npt.NDArray[np.bool_] = times > 0",
        ("test_numa_balancing.py",),
    ),
    Defect(
        "hinting faults of one node count that are not in a row",
        "numasim/engine/reference/memory/page_map.py",
        "            self._in_a_row[region][unit] = 0\n",
        "",
        ("test_numa_balancing.py",),
    ),
    Defect(
        "the last window of the address space goes on at its begin",
        "numasim/engine/reference/memory/page_map.py",
        "max(1, -(-space_bytes // rule.scan_bytes))",
        "max(1, space_bytes // rule.scan_bytes)",
        ("test_numa_balancing.py",),
    ),
    Defect(
        "victims are drawn from the streams of the back-off",
        "numasim/strategy/probe.py",
        "Stream(seed, DrawClass.VICTIM, position)",
        "Stream(seed, DrawClass.BACKOFF, position)",
        ("test_search.py",),
    ),
    Defect(
        "half of a queue is rounded down",
        "numasim/strategy/probe.py",
        "-(-length // amount) if shared",
        "length // amount if shared",
        ("test_search.py",),
    ),
    Defect(
        "the back-off is not reset by a success",
        "numasim/engine/reference/thief.py",
        "            self.end_idle(w)\n        w.fails = 0\n",
        "            self.end_idle(w)\n",
        ("test_search.py",),
    ),
    Defect(
        "moving one task too many is paid",
        "numasim/engine/reference/thief.py",
        "(count - 1) * self._plan.costs.move_ps",
        "count * self._plan.costs.move_ps",
        ("test_search.py",),
    ),
    Defect(
        "a join opens with one child to go",
        "numasim/engine/reference/executor.py",
        "        if program.pending[task]:\n",
        "        if program.pending[task] > 1:\n",
        ("test_joins.py",),
    ),
    Defect(
        "a task does not wait for its other predecessors",
        "numasim/engine/reference/executor.py",
        "if program.held[s] or not program.spawned[s]:",
        "if not program.spawned[s]:",
        ("test_joins.py",),
    ),
    Defect(
        "overhead is spent but not counted",
        "numasim/engine/reference/clock.py",
        "        owed = w.owed_ps + step_ps\n        w.owed_ps = 0\n        w.overhead_ps += owed\n",
        "        owed = w.owed_ps + step_ps\n        w.owed_ps = 0\n",
        ("test_joins.py",),
    ),
    Defect(
        "a queue that overflowed takes tasks again one task too early",
        "numasim/engine/reference/dispatcher.py",
        "length * MILLION < capacity * self._resume_ppm",
        "length * MILLION <= capacity * self._resume_ppm",
        ("test_bounded_queues.py",),
    ),
    Defect(
        "a poll is passed over at the very instant of a change",
        "numasim/engine/reference/shortcuts/polling.py",
        'np.searchsorted(last_look, until_ps, side="left")',
        'np.searchsorted(last_look, until_ps, side="right")',
        ("test_search.py",),
    ),
    Defect(
        "thief and victim change places in the table of nodes",
        "numasim/engine/reference/thief.py",
        "ledger.node_success[w.node][home] += 1",
        "ledger.node_success[home][w.node] += 1",
        ("test_search.py",),
    ),
    Defect(
        "the last word of a record is left out of its hash",
        "numasim/engine/observe/trace_hash.py",
        "for column in records.T:",
        "for column in records.T[:4]:",
        ("test_trace_hash.py",),
    ),
    Defect(
        "time that a probe still had to go counts although the phase is over",
        "numasim/engine/reference/thief.py",
        "cut = min(left_ps, w.step_ps)",
        "cut = 0",
        ("test_phases.py",),
    ),
    Defect(
        "the data of a task's children counts as its own",
        "numasim/plan/task_objects.py",
        "_ops_of_rows(work, Op.CALL)",
        "_ops_of_rows(work, Op.SPAWN)",
        ("test_objects.py",),
    ),
    Defect(
        "an object that is used twice counts twice",
        "numasim/plan/task_objects.py",
        "chosen = order[first]",
        "first[:], mode = True, accesses.mode[access[order]]\n    chosen = order[first]",
        ("test_objects.py",),
    ),
    Defect(
        "fresh memory is at home on node 0 before it is touched",
        "numasim/plan/task_objects.py",
        "return np.where(bytes_by_node.any(axis=1), home, UNBOUND).astype(np.int32)",
        "return home.astype(np.int32)",
        ("test_objects.py",),
    ),
    Defect(
        "to find a task's node costs nothing",
        "numasim/engine/reference/dispatcher.py",
        "locate_ps = self._locate_ps if self._prober.looked else 0",
        "locate_ps = 0",
        ("test_data_dispatch.py",),
    ),
    Defect(
        "an overflowing own queue keeps tasks from their data",
        "numasim/engine/reference/tables.py",
        '(queues["full"] == Full.INLINE).any()) and not steal.looks_at_data',
        '(queues["full"] == Full.INLINE).any())',
        ("test_data_dispatch.py",),
    ),
    Defect(
        "a task goes to the node that least of its data is on",
        "numasim/strategy/similarity.py",
        "max(homes, key=similarity.__getitem__)",
        "min(homes, key=similarity.__getitem__)",
        ("test_objects.py", "test_data_dispatch.py"),
    ),
    Defect(
        "a mutex never parks its waiters",
        "numasim/engine/reference/sync/lock_queues.py",
        "if now - first.since_ps > rules.spin_ps:",
        "if False:",
        ("test_locks.py",),
    ),
    Defect(
        "a cohort stays on its node one time too often",
        "numasim/engine/reference/sync/lock_queues.py",
        "server.run < rules.batch or other is None",
        "server.run <= rules.batch or other is None",
        ("test_locks.py",),
    ),
    Defect(
        "the farthest waiter wins the race for a test-and-set lock",
        "numasim/engine/reference/sync/lock_queues.py",
        "transfers_ps.index(min(transfers_ps))",
        "transfers_ps.index(max(transfers_ps))",
        ("test_locks.py",),
    ),
    Defect(
        "a lock is granted while another holds it",
        "numasim/engine/reference/sync/sync_objects.py",
        "if not server.busy:",
        "if server.next is None:",
        ("test_locks.py",),
    ),
    Defect(
        "a handoff within a node counts as remote",
        "numasim/engine/reference/sync/cache_lines.py",
        "if self.node[line.owner] == self.node[actor]:",
        "if line.owner == actor:",
        ("test_locks.py",),
    ),
    Defect(
        "a search lets go of its lock before the steal is paid for",
        "numasim/engine/reference/thief.py",
        """        if w.owed_ps:
            self._clock.schedule_overhead(w, PUT, 0)
            self._clock.instead(w, self._on_paid)
        else:
            self._release_held(w)
            self._proceed(w)""",
        """        self._release_held(w)
        self._proceed(w)""",
        ("test_search_locks.py",),
    ),
    Defect(
        "a barrier opens for one party less",
        "numasim/engine/reference/sync/sync_objects.py",
        "if len(barrier.arrivals) == barrier.parties:",
        "if len(barrier.arrivals) >= max(1, barrier.parties - 1):",
        ("test_barriers.py",),
    ),
    Defect(
        "a signal is lost where nobody waits for it yet",
        "numasim/engine/reference/sync/sync_objects.py",
        "condition.permits += permits",
        "condition.permits += 0",
        ("test_barriers.py",),
    ),
    Defect(
        "what flows ask for is reported to be in use, not what they get",
        "numasim/engine/reference/memory/flows.py",
        "load[resource] += q * flow.share >> 20",
        "load[resource] += q",
        ("test_loads.py",),
    ),
    Defect(
        "a load that is over is not reported",
        "numasim/engine/reference/memory/flows.py",
        "for resource in sorted(loads.keys() | self._loads_reported.keys()):",
        "for resource in sorted(loads.keys()):",
        ("test_loads.py",),
    ),
)
