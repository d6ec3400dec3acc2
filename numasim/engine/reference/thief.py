"""Looking for work: own queue, rounds of probes, steals, back-off (model 4.1 to 4.4).

A *level* is an entry of the strategy's list of places to steal from; a *probe* looks at one queue for one level; a
*round* is the probes from one back-off (wait) to the next. *Idle* is a worker that searches or backs off. The *stack*
holds a worker's task in hand, on top of the tasks that wait in joins. A *slot* is a small queue before the own queue.

Interpretations of the model that are decided here:

- A round in which no queue was probed still reads the bits by which queues are marked: the next round starts at least
  the time of one local probe later.
- A worker that waits in a join checks whether the join has ended after every fruitless probe and every back-off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from numasim.engine.observe.watch import Watched
from numasim.engine.reference.actors import Worker
from numasim.engine.reference.clock import LOOK, POLL, PUT
from numasim.engine.reference.liveness import Liveness
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.producers import Producers
from numasim.engine.reference.resting import Resting
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.queue_lines import QueueLines
from numasim.engine.reference.sync.sync_objects import SyncObjects
from numasim.engine.reference.task_queues import Measured, computed_thresholds
from numasim.strategy.probe import is_due
from numasim.strategy.sync_places import NO_LOCK

NO_PROBES: Iterator[tuple[int, int]] = iter(())
PATIENCE_ROUNDS = 256  # at each multiple of this number of fruitless rounds in a row a worker checks for a deadlock
PATIENCE_PASSES = 65_536  # at each multiple of this number of steals into queues the thief checks that any task runs


class LazyQueues(Protocol):
    """Queues that a shortcut brings up to date only when another worker looks at them."""

    def observe(self, q: int) -> None:
        """Another worker is about to look at queue ``q``."""

    def stolen_from(self, q: int) -> None:
        """Another worker has taken tasks from queue ``q``."""


PassOver = Callable[[Worker, int, int], int]


class Thief(Component):
    """Finds a task for a worker that has none in hand, or whose task in hand waits in a join."""

    def __init__(
        self,
        run: RunState,
        memory: MemorySystem,
        sync: SyncObjects,
        liveness: Liveness,
        making: Producers,
        proceed: Callable[[Worker], None],
        *,
        lines: QueueLines | None,
        resting: Resting | None,
        lazy_queues: LazyQueues | None,
        pass_over: PassOver | None,
    ) -> None:
        """``proceed`` is called with a worker that has found a task, or whose join has ended.

        ``lines`` are the cache lines of queues, or None if requests for lines do not queue up (model 5.6). ``resting``
        has the rules for idle workers, or None. Two shortcuts, or None: ``lazy_queues`` are brought up to date when
        another worker looks at them; ``pass_over`` (worker, end of the back-off, time of the next change) counts the
        fruitless rounds that end before the change, and returns their time in ps, or 0.
        """
        super().__init__(run)
        self._gated = run.live.count
        self._activity_changed = memory.work.activity_changed
        self._helpers = memory.helpers
        self._sync = sync
        self._liveness = liveness
        self._proceed = proceed
        self._room_made = making.room_made
        self._lines = lines
        self._resting = resting
        self._lazy_queues = lazy_queues
        self._pass_over = pass_over
        self._strict = run.joins.strict
        self._refill = run.tables.refill
        self._polls = run.prober.polls
        self._passes = 0  # steals, if the strategy has a refill threshold: their tasks all went into queues
        self._progress_seen = (0, 0)  # `Liveness.progress` at the last check of `_pass_on`
        self._copies = run.plan.steal.copies
        self._own_end = run.tables.own_end
        self._pop_ps = run.tables.pop_ps
        self._yield_ps = run.plan.costs.yield_ps
        self._work_first = run.tables.work_first
        self._tracks_parent = run.prober.tracks_parent
        self._beginnings_matter = self._work_first or self._tracks_parent or run.joins.leaps or self._gated
        self._locks_search = run.plan.words.search
        self._locks_probes = run.plan.words.locks_probes
        self._owners_announce = run.queues.owners_announce
        self._backs_off_after_probes = run.plan.steal.backoff.after == "probe"
        self._on_paid = run.clock.reaction(self._paid)
        run.clock.react(LOOK, self._look)

    # ---- own queue -------------------------------------------------------------------------------------------------

    def seek(self, w: Worker) -> bool:
        """Begin a task of the agenda (tasks that come before queues) or of queues, or probe for a task. Return whether
        the worker has something to run now.
        """
        if self._yield_ps and w.tasks != w.looked:
            w.looked = w.tasks
            w.owed_ps += self._yield_ps
        if w.agenda and not w.stack:
            w.slot_run = 0
            self._begin(w, w.agenda.popleft())
            return True
        if self._polls and (w.polling or self._is_poll_due(w)):
            return self._poll(w)
        if self._pop_own(w, self._refill):
            return True
        if not w.idle:
            self._go_idle(w)
            self._begin_search(w)
            if self._resting and not self._resting.may_search(w):
                return self._give_up(w)
        return self._start_round(w)

    def _pop_own(self, w: Worker, keep: int | None) -> bool:
        """Begin a task of the slot, else of the own queue if it holds more than ``keep`` (None: than s; A-10)."""
        if w.slot is not None and self._queues.length[w.slot] and self._pop(w, w.slot, 0):
            w.slot_run += 1
            return True
        q = w.own
        if q is None or not self._pop(w, q, self._queues.low[q] if keep is None else keep):
            return False
        w.slot_run = 0
        return True

    def _pop(self, w: Worker, q: int, least: int) -> bool:
        """Begin the next task of queue ``q`` if it has more than ``least`` and the join allows it; return whether."""
        queues = self._queues
        end = self._own_end[q]
        if self._lines:
            self._lines.pop(w, q, end)
        if queues.length[q] <= least:
            return False
        while self._copies and not self._sift(q, end, 1):
            if queues.length[q] <= least:
                return False
        if self._strict and not self._joins.may_run(w, q, end):
            return False
        if self._owners_announce:
            queues.owner_takes(q)
        w.owed_ps += self._pop_ps
        task = queues.pop(q, end)
        if w.idle or self._beginnings_matter:
            self._begin(w, task)
        else:
            w.fails = 0
            w.stack.append(task)
        if self._producers:
            self._room_made()
        return True

    def _sift(self, q: int, end: int, most: int) -> int:
        """Drop copies of begun tasks from the ``most`` tasks at one end of a queue; return how many are left."""
        before = self._queues.length[q]
        left = self._queues.sift(q, end, most)
        if self._producers and self._queues.length[q] != before:
            self._room_made()
        return left

    def _begin(self, w: Worker, task: int) -> None:
        if w.idle:
            self.end_idle(w)
        w.fails = 0
        program = self._program
        if self._tracks_parent:  # worker 0 counts as the spawner of roots and items
            self._prober.ran(w.id, program.spawner[task] if task < program.rows else 0)
        if task < program.rows:
            if self._work_first and program.at[task] != program.start[task]:
                w.owed_ps += self._plan.costs.resume_ps
            if self._spawn_order:
                self._spawn_order.begun(w, task, program.at[task] != program.start[task])
            if self._joins.leaps:
                self._joins.begun(w, task)
            if self._gated:
                self._live.begin(w, task)
        w.stack.append(task)

    # ---- idle episodes ---------------------------------------------------------------------------------------------

    def _go_idle(self, w: Worker) -> None:
        w.idle = True
        self._activity_changed()
        w.failed = w.failed_remote = 0
        w.began = self._clock.now + w.owed_ps
        w.probing_before_ps = w.idle_steal_ps

    def _begin_search(self, w: Worker) -> None:
        if self._owners_announce and w.own is not None:
            self._queues.owner_searches(w.own)
        if self._resting:
            self._resting.begin_search(w)
        if not w.thresholds_known and w.tasks and self._plan.steal.thresholds.when == "first-drain":
            self.compute_thresholds(w)

    def end_idle(self, w: Worker) -> None:
        """End the worker's idle episode."""
        if w.naps and self._resting:
            self._resting.end_nap(w)
        w.idle = w.round_goes_on = False
        if w.polling:
            w.polling = False
            self._prober.set_polls(w.id, 0)
        self._activity_changed()
        if self._resting:
            self._resting.end_search(w)
        if self._recorder.watch:
            self._report_idle(w, w.failed, w.failed_remote)
        self._recorder.step(POLL, w.id, w.failed, w.failed_remote)

    def _report_idle(self, w: Worker, failed: int, failed_remote: int) -> None:
        """Report to the watch the worker's idle time since the last report, with its ``failed`` steal attempts."""
        assert self._recorder.watch is not None
        probing_ps = w.idle_steal_ps - w.probing_before_ps
        now = self._clock.now
        self._recorder.watch.stretch(Watched.IDLE, w.id, w.began, now, failed, failed_remote, probing_ps)
        w.probing_before_ps = w.idle_steal_ps

    def retire(self, w: Worker) -> None:
        """End the worker's part in a phase, at the end of the phase: no pending event and no owed overhead is left."""
        if self._resting:
            self._resting.retire(w)
        if w.idle:
            self._take_back(w, w.due - self._clock.now)
            self.end_idle(w)
            self._clock.cancel(w)
        self._clock.expect(w, POLL, w.due)
        w.fails = w.owed_ps = w.owed_owner_ps = w.owed_thief_ps = 0

    def _take_back(self, w: Worker, left_ps: int) -> None:
        """Subtract from the counters the last ``left_ps`` of the pending step, which lie behind the end of the phase.

        A step consists, in this order, of other overhead, of waits for cache lines at pushes, pops and joins, of waits
        for cache lines at probes and takes, and of the probe or wait.
        """
        cut = min(left_ps, w.step_ps)
        if w.rank == LOOK:
            w.idle_steal_ps -= cut
        elif w.naps:
            w.asleep_ps -= cut
        else:
            w.idle_backoff_ps -= cut
        left_ps -= cut
        thief_ps = min(left_ps, w.paid_thief_ps)
        owner_ps = min(left_ps - thief_ps, w.paid_owner_ps)
        w.line_thief_ps -= thief_ps
        w.line_owner_ps -= owner_ps
        w.overhead_ps -= left_ps - thief_ps - owner_ps

    def compute_thresholds(self, w: Worker) -> None:
        """Compute the thresholds S and s of the worker's own queue from the measures so far (`computed_thresholds`)."""
        now = self._clock.now
        if w.own is None or not now:
            return
        w.thresholds_known = True
        queues, costs = self._queues, self._plan.costs
        seen = Measured(
            capacity=queues.capacity[w.own],
            pushes=queues.pushes[w.own],
            span_ps=now,
            executed=w.tasks,
            busy_ps=w.busy_ps,
            peak_sum=sum(queues.peak),
            queues=len(queues.peak),
        )
        high, low = computed_thresholds(self._plan.steal.thresholds, costs.push_ps, costs.pop_ps, seen)
        queues.set_thresholds(w.own, high, low)

    # ---- polls between tasks (`every` of a level) ------------------------------------------------------------------

    def _is_poll_due(self, w: Worker) -> bool:
        due = any(is_due(every, w.tasks, w.polled) for every in self._polls)
        return due and not w.idle and self._joins.may_probe(w)

    def _poll(self, w: Worker) -> bool:
        """Probe the levels that are due between tasks; the worker is idle, but not one of the searching workers."""
        if not w.polling:
            w.polling = True
            self._prober.set_polls(w.id, w.tasks, w.polled)
            w.polled = w.tasks
            self._go_idle(w)
        return self._start_round(w)

    def _end_poll(self, w: Worker) -> bool:
        """Begin an own task, else a search, after the probes between tasks found nothing."""
        w.polling = False
        self._prober.set_polls(w.id, 0)
        if w.held:
            self._release_held(w)
        if self._pop_own(w, self._refill):
            return True
        self._begin_search(w)
        if self._resting and not self._resting.may_search(w):
            return self._give_up(w)
        return self._start_round(w)

    # ---- rounds ----------------------------------------------------------------------------------------------------

    def _start_round(self, w: Worker) -> bool:
        """Begin a round, or go on with one that a back-off after a probe has interrupted (A-30); return as `seek`."""
        if w.naps and self._resting:
            self._resting.end_nap(w)
        if w.round_goes_on:
            w.round_goes_on = False
            return self._next_probe(w)
        if self._locks_probes and w.owed_ps:
            self._clock.schedule_idle(w, POLL, 0)
            return False
        w.probed = False
        self._joins.set_out(w)
        w.probes = self._prober.probes(w.id, self._queues) if self._joins.may_probe(w) else NO_PROBES
        return self._next_probe(w)

    def _next_probe(self, w: Worker) -> bool:
        """Start the next probe of the round, else end the round; return whether the worker has something to run."""
        probe = next(w.probes, None)
        if probe is None:
            return self._end_poll(w) if w.polling else self._end_round(w)
        w.level, w.target = probe
        w.probed = True
        if self._locks_probes:
            self._pass_locks(w)
        else:
            self._send_probe(w)
        return False

    def _send_probe(self, w: Worker) -> None:
        if self._lines:
            takes = self._prober.amount(w.level, self._queues.length[w.target]) > 0
            self._lines.probe(w, w.target, self._tables.probe_end[w.level][w.target], takes)
        step = w.probe_ps[w.target]
        w.idle_steal_ps += step
        self._clock.schedule_idle(w, LOOK, step)

    def _end_round(self, w: Worker) -> bool:
        """After a fruitless round, begin the task taken in advance, else any own task, else back off."""
        if w.held:
            self._release_held(w)
        if self._begin_reserved(w) or self._pop_own(w, 0):
            return True
        if not w.probed:
            w.no_victim += 1
            if self._plan.steal.backoff.empty == "count":
                w.steal_attempts += 1
                w.failed += 1
        if w.probed and self._backs_off_after_probes:
            return self._start_round(w)  # the worker has backed off after each probe
        return self._back_off(w, w.probed)

    def _back_off(self, w: Worker, probed: bool) -> bool:
        """Start the next round after a wait. If all queues are empty until some instant, the shortcut `pass_over`
        counts the rounds before this instant. Raise DeadlockError if no round can ever succeed.
        """
        self._waits.count_failure(w, self._prober.victim_stream(w.id))
        if not w.fails % PATIENCE_ROUNDS and self._progress.unfinished and not self._liveness.can_go_on():
            raise self._liveness.deadlock()
        if self._resting:
            planned_ps = self._resting.wait_ps(w, probed)
            if planned_ps is None:
                return self._give_up(w)
            wait_ps = planned_ps
        else:
            wait_ps = self._waits.wait_ps(w.fails, probed)
            w.idle_backoff_ps += wait_ps
        self._joins.set_out(w)
        if (not self._queues.total or self._tables.sees_marks_only) and not any(map(any, self._queues.watch)):
            until = self._liveness.next_change()
            if self._pass_over:
                wait_ps += self._pass_over(w, self._clock.now + w.owed_ps + wait_ps, until)
        if not wait_ps:
            return self._start_round(w)
        self._clock.schedule_idle(w, POLL, wait_ps)
        return False

    def _give_up(self, w: Worker) -> bool:
        """End the worker's search: it sleeps, or makes one more round first. Return whether it has something to run."""
        assert self._resting is not None
        return not self._resting.lie_down(w) and self._start_round(w)

    # ---- steals ----------------------------------------------------------------------------------------------------

    def _look(self, w: Worker) -> None:
        """Let the probe look at its queue and steal. If the queue has a lock, the probe takes the lock first, and finds
        nothing if another worker has it.
        """
        if self._lazy_queues:
            self._lazy_queues.observe(w.target)
        count = self._found(w)
        lock = self._tables.take_lock(w.target) if count and self._locks_search else NO_LOCK
        if lock == NO_LOCK:
            self._take_effect(w, count)
        elif self._sync.is_free(lock):
            self._request(w, lock, self._look_again)
        else:
            if self._resting:
                self._resting.missed(w, w.target)
            self._take_effect(w, 0)

    def _look_again(self, w: Worker) -> None:
        """Look again, now with the queue's lock: other workers may have taken the tasks while this one waited."""
        count = self._found(w)
        if not count:
            self._sync.release(w.held.pop(), w.id)
        self._take_effect(w, count)

    def _found(self, w: Worker) -> int:
        """Return how many tasks the worker's probe takes from the queue as it is now; 0 if the level is closed to the
        worker (by a gate, a limit on the subtrees under way), or if its join forbids the task.
        """
        q, level = w.target, w.level
        if self._gated and not self._prober.passes_gate(w.id, level, self._queues):
            return 0
        count = self._prober.amount(level, self._queues.length[q])
        if self._wants_two(w) and count == 1 and self._prober.amount(level, self._queues.length[q] - 1):
            count = 2
        if self._copies and count:
            count = self._sift(q, self._tables.probe_end[level][q], count)
        if count and self._strict and not self._joins.may_run(w, q, self._tables.probe_end[level][q]):
            return 0
        return count

    def _take_effect(self, w: Worker, count: int) -> None:
        """Steal ``count`` tasks, or, if there are none, go on with the round; count steal attempts."""
        q, level = w.target, w.level
        if self._tables.attempt[level]:
            self._count_attempt(w, q, count)
        self._prober.found(w.id, level, q, count)
        if count:
            self._take(w, q, self._tables.probe_end[level][q], count)
        elif not self._missed(w):
            return
        if w.held:
            self._leave_search(w)
        else:
            self._proceed(w)

    def _count_attempt(self, w: Worker, q: int, count: int) -> None:
        home = self._tables.home(q, w.node)
        remote = home != w.node
        ledger = self._recorder.ledger
        ledger.node_attempts[w.node][home] += 1
        w.steal_attempts += 1
        w.steal_attempts_remote += remote
        if count:
            ledger.node_success[w.node][home] += 1
            w.steal_success += 1
            w.steal_success_remote += remote
            w.tasks_stolen += count
            if self._recorder.watch:
                now = self._clock.now
                self._recorder.watch.report(Watched.STEAL, w.id, now, now, q, self._tables.victim(q), count)
        else:
            w.failed += 1
            w.failed_remote += remote

    def _take(self, w: Worker, q: int, end: int, count: int) -> None:
        """Steal ``count`` tasks: begin the first and put the others into the own queue. With a refill threshold (the
        number of own tasks at which a worker steals), put all there. A worker with a helper thread: `_exchange`.
        """
        self._recorder.step(LOOK, w.id, q, count)
        if self._lines:
            self._lines.take(w, q, end)
        w.owed_ps += w.take_ps[q] + (count - 1) * self._plan.costs.move_ps
        w.slot_run = 0
        taken = [self._queues.pop(q, end) for _ in range(count)]
        if self._lazy_queues:
            self._lazy_queues.stolen_from(q)
        if self._producers:
            self._room_made()
        if self._helpers and self._helpers.has(w):
            self._exchange(w, taken)
        elif self._refill == 0:
            self._begin(w, taken.pop(0))
        else:
            w.fails = 0
            self.end_idle(w)
        for task in taken:
            assert w.own is not None  # the compiler refuses amounts above one without own queues
            self._queues.push(w.own, task)
        if taken and self._lines and w.own is not None:
            self._lines.push(w, w.own)
        if self._refill != 0:
            self._pass_on()

    def _pass_on(self) -> None:
        """Count a steal after which no task was begun; raise DeadlockError if thieves only pass tasks to and fro."""
        self._passes += 1
        if self._passes % PATIENCE_PASSES:
            return
        before, self._progress_seen = self._progress_seen, self._liveness.progress()
        if self._progress_seen == before and not self._liveness.is_under_way():
            raise self._liveness.deadlock(passed=True)

    def _missed(self, w: Worker) -> bool:
        """Go on after a fruitless probe; return whether the worker has something to run."""
        if self._joins.is_over(w) or self._begin_reserved(w):
            return True
        if self._backs_off_after_probes and not w.polling:
            if w.held:
                self._release_held(w)
            w.round_goes_on = True
            return self._back_off(w, probed=True)
        return self._next_probe(w)

    # ---- tasks of a worklist (one queue for all workers) taken in advance, so that a helper thread can prefetch -----

    def _wants_two(self, w: Worker) -> bool:
        """Tell whether the worker has a helper thread, and no task taken in advance for which the helper prefetches."""
        return self._helpers is not None and self._helpers.has(w) and w.reserved < 0

    def _exchange(self, w: Worker, taken: list[int]) -> None:
        """Begin the task taken in advance, else the first of ``taken``; the other one is now the task in advance."""
        assert self._helpers is not None
        units = [*([w.reserved] if w.reserved >= 0 else []), *taken]
        taken.clear()
        w.reserved = units[1] if len(units) > 1 else -1
        self._begin(w, units[0])
        self._helpers.follow(w)

    def _begin_reserved(self, w: Worker) -> bool:
        """Begin the task taken in advance if the queue probed last is empty; return whether it was begun."""
        if w.reserved < 0 or (w.probed and self._prober.amount(w.level, self._queues.length[w.target])):
            return False
        assert self._helpers is not None
        task, w.reserved = w.reserved, -1
        self._begin(w, task)
        self._helpers.follow(w)
        return True

    # ---- locks of the search ---------------------------------------------------------------------------------------

    def _pass_locks(self, w: Worker) -> None:
        """Release the locks that the next probe does not need, wait for those that it needs, then start the probe."""
        needed = self._tables.probe_locks(w.level, w.target)
        for lock in [lock for lock in w.held if lock not in needed]:
            w.held.remove(lock)
            self._sync.release(lock, w.id)
        missing = next((lock for lock in needed if lock not in w.held), None)
        if missing is None:
            self._send_probe(w)
        else:
            self._request(w, missing, self._pass_locks)

    def _request(self, w: Worker, lock: int, then: Callable[[Worker], None]) -> None:
        """Ask for ``lock``; ``then`` is called with the worker once it has the lock."""

        def granted(actor: int) -> None:
            self._workers[actor].held.append(lock)
            then(self._workers[actor])

        self._clock.expect(w, POLL, w.due)
        if self._recorder.watch:
            self._report_idle(w, 0, 0)
        self._sync.request(lock, w.id, granted)

    def _release_held(self, w: Worker) -> None:
        for lock in w.held:
            self._sync.release(lock, w.id)
        w.held.clear()

    def _leave_search(self, w: Worker) -> None:
        """Pay the overhead that is owed for the found task, then release the locks of the search and proceed."""
        if w.owed_ps:
            self._clock.schedule_overhead(w, PUT, 0)
            self._clock.instead(w, self._on_paid)
        else:
            self._release_held(w)
            self._proceed(w)

    def _paid(self, w: Worker) -> None:
        """Release the locks of the search and proceed, after the overhead of `_leave_search`."""
        if self._recorder.watch:
            self._recorder.watch.overhead(w.id, self._clock.now)
        self._release_held(w)
        self._proceed(w)

    def free_locks(self) -> None:
        """Take all locks of searches from the workers that hold them or wait for them, at the end of a phase."""
        if self._locks_search:
            for w in self._workers:
                w.held.clear()
            self._sync.free_search_locks()
