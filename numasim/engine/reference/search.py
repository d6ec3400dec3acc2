"""Looking for work: own queue, rounds of probes, steals, back-off (the interpreter's ``free(w)``; model 4.1 to 4.4)."""

from __future__ import annotations

from collections.abc import Iterator

from simpy import Event

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.observe.trace_hash import Trace
from numasim.engine.observe.watch import Watched
from numasim.engine.reference.execution import Execution
from numasim.engine.reference.producer import Producer
from numasim.engine.reference.shortcuts.polling import CHUNK_ROUNDS, Passed, QuietRounds
from numasim.engine.reference.thresholds import Measured, computed_thresholds
from numasim.engine.reference.timeline import LOOK, POLL, PUT
from numasim.engine.reference.worker import Worker
from numasim.plan.plan import Plan

NO_PROBES: Iterator[tuple[int, int]] = iter(())
PATIENCE_ROUNDS = 256  # fruitless rounds in a row after which a worker asks whether any of them can ever succeed


class Search(Execution):
    """How a worker that has nothing to run finds something."""

    def __init__(self, plan: Plan, trace: Trace, keep_log: bool) -> None:
        super().__init__(plan, trace, keep_log)
        self.producers: list[Producer] = []
        self.team = self.workers  # who takes part in the phase
        self.quiet: dict[int, QuietRounds | None] = {}
        self.strict = plan.join == "strict"
        self.refill = self.tables.refill
        self.own_end = self.tables.own_end
        self.pop_ps = self.tables.pop_ps
        self.tracks_parent = self.prober.tracks_parent
        self.beginnings_matter = self.work_first or self.tracks_parent
        self.locks_search = plan.words.search
        self.backs_off_after_probes = plan.steal.backoff.after == "probe"
        self.callbacks |= {LOOK: [self._on_look], POLL: [self._on_poll]}

    def _room_made(self) -> None:
        """A task has left a queue; a producer may wait for that."""

    def _observe(self, q: int) -> None:
        """Somebody other than the owner is about to look at queue ``q``."""

    def _robbed(self, q: int) -> None:
        """Tasks have been taken from queue ``q`` by somebody else."""

    # ---- own queue -------------------------------------------------------------------------------------------------

    def _seek(self, w: Worker) -> bool:
        """Take the next implicit body or own task, or start to search; False when the worker is now idle."""
        if w.agenda and not w.stack:
            self._begin(w, w.agenda.popleft())
            return True
        if self._pop_own(w, self.refill):
            return True
        if not w.idle:
            self._go_idle(w)
        return self._start_round(w)

    def _pop_own(self, w: Worker, keep: int | None) -> bool:
        """Begin the next own task where the queue holds more than ``keep`` (None: its threshold s; A-10)."""
        q = w.own
        if q is None:
            return False
        queues = self.queues
        if queues.length[q] <= (queues.low[q] if keep is None else keep):
            return False
        end = self.own_end[q]
        if self.strict and not self._may_run(w, q, end):
            return False
        w.owed_ps += self.pop_ps
        task = queues.pop(q, end)
        if w.idle or self.beginnings_matter:
            self._begin(w, task)
        else:
            w.fails = 0
            w.stack.append(task)
        if self.producers:
            self._room_made()
        return True

    def _may_run(self, w: Worker, q: int, end: int) -> bool:
        """Whether the task at ``end`` is a descendant of the one that waits: a strict join runs no others."""
        if not w.stack:
            return True
        top = w.stack[-1]
        return bool(top < self.queues.peek(q, end) < self.program.subtree_end[top])

    def _begin(self, w: Worker, task: int) -> None:
        if w.idle:
            self._end_idle(w)
        w.fails = 0
        program = self.program
        if task < program.rows:
            if self.work_first and program.at[task] != program.start[task]:
                w.owed_ps += self.resume_ps
            if self.tracks_parent:
                self.prober.ran(w.id, program.spawner[task])
        w.stack.append(task)

    # ---- idle episodes ---------------------------------------------------------------------------------------------

    def _go_idle(self, w: Worker) -> None:
        w.idle = True
        self._settle_later()
        w.failed = w.failed_remote = 0
        w.began = self.now + w.owed_ps
        w.probing_before_ps = w.idle_steal_ps
        if not w.thresholds_known and w.tasks and self.plan.steal.thresholds.when == "first-drain":
            self._compute_thresholds(w)

    def _end_idle(self, w: Worker) -> None:
        w.idle = w.round_goes_on = False
        self._settle_later()
        if self.watch:
            self._tell_idle(w, w.failed, w.failed_remote)
        self._record_step(POLL, w.id, w.failed, w.failed_remote)

    def _tell_idle(self, w: Worker, failed: int, failed_remote: int) -> None:
        """Tell of the idle time since the last row; a wait for a lock cuts an episode in pieces."""
        assert self.watch is not None
        probing_ps = w.idle_steal_ps - w.probing_before_ps
        self.watch.stretch(w, Watched.IDLE, self.now, failed, failed_remote, probing_ps)
        w.probing_before_ps = w.idle_steal_ps

    def _join_is_over(self, w: Worker) -> bool:
        """Whether the nested join that an idle worker waits in has come to its end."""
        return bool(w.stack) and w.idle and not self.program.pending[w.stack[-1]]

    def _compute_thresholds(self, w: Worker) -> None:
        """S and s of the worker's queue from what it has measured so far."""
        if w.own is None or not self.now:
            return
        w.thresholds_known = True
        queues, costs = self.queues, self.plan.costs
        seen = Measured(
            capacity=queues.capacity[w.own],
            pushes=queues.pushes[w.own],
            span_ps=self.now,
            executed=w.tasks,
            busy_ps=w.busy_ps,
            peak_sum=sum(queues.peak),
            queues=len(queues.peak),
        )
        high, low = computed_thresholds(self.plan.steal.thresholds, costs.push_ps, costs.pop_ps, seen)
        queues.set_thresholds(w.own, high, low)

    # ---- rounds ----------------------------------------------------------------------------------------------------

    def _start_round(self, w: Worker) -> bool:
        """Begin a round, or go on with the one that the back-off after a probe has interrupted (A-30)."""
        if w.round_goes_on:
            w.round_goes_on = False
            return self._next_probe(w)
        if self.locks_search and w.owed_ps:
            self._schedule_idle(w, POLL, 0)
            return False
        w.probed = False
        w.probes = NO_PROBES if w.stack and self.plan.join == "own" else self.prober.probes(w.id, self.queues)
        return self._next_probe(w)

    def _next_probe(self, w: Worker) -> bool:
        """Send the next probe of the round; True where the round is over and left something to run."""
        probe = next(w.probes, None)
        if probe is None:
            return self._end_round(w)
        w.level, w.target = probe
        w.probed = True
        if self.locks_search:
            self._pass_locks(w)
        else:
            self._send_probe(w)
        return False

    def _send_probe(self, w: Worker) -> None:
        step = w.probe_ps[w.target]
        w.idle_steal_ps += step
        self._schedule_idle(w, LOOK, step)

    def _end_round(self, w: Worker) -> bool:
        """Nothing was found: what is left in the own queue, else wait and decide again."""
        if w.held:
            self._release_held(w)
        if self._pop_own(w, 0):
            return True
        if not w.probed:
            w.no_victim += 1
            if self.plan.steal.backoff.empty == "count":
                w.steal_attempts += 1
                w.failed += 1
        if w.probed and self.backs_off_after_probes:
            return self._start_round(w)  # each probe has had its wait
        w.fails += 1
        return self._back_off(w, self.tables.wait_ps(w.fails, w.probed))

    def _back_off(self, w: Worker, wait_ps: int) -> bool:
        """Poll after ``wait_ps``; where nothing can be found before some time, the polls until then are passed over."""
        w.idle_backoff_ps += wait_ps
        if not w.fails % PATIENCE_ROUNDS and self.outstanding and not self._can_go_on():
            raise self._deadlock()
        if not self.queues.total or (self.tables.sees_marks_only and not any(map(any, self.queues.watch))):
            until = self._next_change()
            if self.plan.skip and not self.settles:  # else flows may end earlier than is known yet
                wait_ps += self._pass_over(w, self.now + w.owed_ps + wait_ps, until)
        if not wait_ps:
            return self._start_round(w)
        self._schedule_idle(w, POLL, wait_ps)
        return False

    def _on_poll(self, event: Event) -> None:
        w: Worker = event.actor  # type: ignore[attr-defined]
        self.now = w.due
        self._proceed(w)

    # ---- steals ----------------------------------------------------------------------------------------------------

    def _on_look(self, event: Event) -> None:
        """A probe takes effect: steal, or go on with the round."""
        w: Worker = event.actor  # type: ignore[attr-defined]
        self.now = w.due
        q, level = w.target, w.level
        end = self.tables.probe_end[level][q]
        self._observe(q)
        count = self.prober.amount(level, self.queues.length[q])
        if count and self.strict and not self._may_run(w, q, end):
            count = 0
        if self.tables.attempt[level]:
            self._count_attempt(w, q, count)
        self.prober.found(w.id, level, q, count)
        if count:
            self._take(w, q, end, count)
        elif not self._missed(w):
            return
        if w.held:
            self._leave_search(w)
        else:
            self._proceed(w)

    def _count_attempt(self, w: Worker, q: int, count: int) -> None:
        home = self.tables.home(q, w.node)
        remote = home != w.node
        self.ledger.node_attempts[w.node][home] += 1
        w.steal_attempts += 1
        w.steal_attempts_remote += remote
        if count:
            self.ledger.node_success[w.node][home] += 1
            w.steal_success += 1
            w.steal_success_remote += remote
            w.tasks_stolen += count
            if self.watch:
                self.watch.tell(Watched.STEAL, w.id, self.now, self.now, q, self.tables.victim(q), count)
        else:
            w.failed += 1
            w.failed_remote += remote

    def _take(self, w: Worker, q: int, end: int, count: int) -> None:
        """Move ``count`` tasks: the first is begun, the others go to the own queue (with refill, all do)."""
        self._record_step(LOOK, w.id, q, count)
        w.owed_ps += w.take_ps[q] + (count - 1) * self.plan.costs.move_ps
        taken = [self.queues.pop(q, end) for _ in range(count)]
        self._robbed(q)
        if self.producers:
            self._room_made()
        if self.tables.refill == 0:
            self._begin(w, taken.pop(0))
        else:
            w.fails = 0
            self._end_idle(w)
        for task in taken:
            assert w.own is not None  # the compiler refuses amounts above one without own queues
            self.queues.push(w.own, task)

    def _missed(self, w: Worker) -> bool:
        """After a fruitless probe: whether the worker has something to run."""
        if self._join_is_over(w):
            return True
        if self.backs_off_after_probes:
            if w.held:
                self._release_held(w)
            w.fails += 1
            w.round_goes_on = True
            return self._back_off(w, self.tables.wait_ps(w.fails, True))
        return self._next_probe(w)

    # ---- locks of the search ---------------------------------------------------------------------------------------

    def _pass_locks(self, w: Worker) -> None:
        """Take the locks of the next probe, that of its level first, and send it; let go of those of the last one."""
        needed = self.tables.search_locks(w.level, w.target)
        for word in [word for word in w.held if word not in needed]:
            w.held.remove(word)
            self._release_lock(word, w.id)
        missing = next((word for word in needed if word not in w.held), None)
        if missing is None:
            self._send_probe(w)
            return

        def granted(actor: int) -> None:
            self.workers[actor].held.append(missing)
            self._pass_locks(self.workers[actor])

        w.rank = POLL  # it has no event, and is at no work
        if self.watch:
            self._tell_idle(w, 0, 0)
        self._request(missing, w.id, granted)

    def _release_held(self, w: Worker) -> None:
        for word in w.held:
            self._release_lock(word, w.id)
        w.held.clear()

    def _leave_search(self, w: Worker) -> None:
        """Something was found: pay for it, then let go of the locks."""
        if w.owed_ps:
            self._schedule_overhead(w, PUT, 0)
        else:
            self._release_held(w)
            self._proceed(w)

    # ---- passing over polls (model 1.5) ----------------------------------------------------------------------------

    def _next_change(self) -> int:
        """The time of the next event that can bring a task into a queue or end a join."""
        if not self.outstanding or self.phase_begins:
            return self.now
        due = [w.due for w in self.workers if self._is_at_work(w) or self._join_is_over(w)]
        due += [p.due for p in self.producers if p.items and not p.waiting]
        if not due:
            raise self._deadlock()
        return min(due)

    def _is_at_work(self, w: Worker) -> bool:
        """Whether the worker's pending event belongs to a task; one that waits has none."""
        return w.rank < LOOK and not w.waiting

    def _can_go_on(self) -> bool:
        """Whether anything but fruitless probes can ever happen."""
        return (
            self.phase_begins
            or any(self._is_at_work(w) or self._join_is_over(w) for w in self.workers)
            or any(p.items and not p.waiting for p in self.producers)
            or any(map(self._can_find, self.team))
        )

    def _can_find(self, w: Worker) -> bool:
        """Whether some round of the worker can bring it a task while no queue changes."""
        if w.waiting or (w.stack and self.plan.join == "own"):
            return False
        length = self.queues.length
        return any(
            self.prober.amount(level, length[q])
            and (not self.strict or self._may_run(w, q, self.tables.probe_end[level][q]))
            for level, q in self.prober.within_reach(w.id, self.queues)
        )

    def _deadlock(self) -> DeadlockError:
        return DeadlockError(self.plan, self.outstanding, self.now)

    def _pass_over(self, w: Worker, poll_ps: int, until_ps: int) -> int:
        """Count the rounds from ``poll_ps`` on that end before ``until_ps``; the time that they take."""
        quiet = self._quiet_rounds(w)
        if quiet is None:
            return 0
        passed = Passed(poll_ps)
        stream = self.prober.victim_stream(w.id)
        rounds = -1
        while rounds < passed.rounds:
            rounds = passed.rounds
            wait, steady = self.tables.next_wait_ps(w.fails + rounds + 1, quiet.probes)
            quiet.advance(passed, stream, wait, until_ps, CHUNK_ROUNDS if steady else 1)
        self._count_passed(w, quiet, passed)
        return passed.poll_ps - poll_ps

    def _quiet_rounds(self, w: Worker) -> QuietRounds | None:
        """The fruitless rounds of the worker, or None where they have to be gone through probe by probe."""
        if self.locks_search or self.backs_off_after_probes or (w.stack and self.plan.join == "own"):
            return None
        if w.id not in self.quiet or not self.tables.fixed_rounds:
            shape = self.prober.quiet_round(w.id)
            home = [self.tables.home(q, w.node) for q in range(len(w.probe_ps))]
            self.quiet[w.id] = QuietRounds(shape, self.tables.attempt, w.probe_ps, home, w.node) if shape else None
        return self.quiet[w.id]

    def _count_passed(self, w: Worker, quiet: QuietRounds, passed: Passed) -> None:
        self.prober.victim_stream(w.id).drawn += passed.draws
        w.fails += passed.rounds
        w.idle_steal_ps += passed.probing_ps
        w.idle_backoff_ps += passed.waiting_ps
        attempts = passed.attempts
        if not quiet.probes:
            w.no_victim += passed.rounds
            attempts = passed.rounds if self.plan.steal.backoff.empty == "count" else 0
        w.steal_attempts += attempts
        w.steal_attempts_remote += passed.attempts_remote
        w.failed += attempts
        w.failed_remote += passed.attempts_remote
        for home, count in passed.by_home.items():
            self.ledger.node_attempts[w.node][home] += count
