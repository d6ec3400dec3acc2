"""Executing tasks: ops, segments, spawns, joins, dependences (model 3.1 to 3.3 and 4.1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from simpy import Event

from numasim.engine.observe.trace_hash import Trace, pack
from numasim.engine.observe.watch import Watched
from numasim.engine.reference.ledger import Executed
from numasim.engine.reference.memory.flows import GRAPH, Flow
from numasim.engine.reference.memory.object_map import ObjectMap
from numasim.engine.reference.sync.synchronisation import Synchronisation
from numasim.engine.reference.task_programs import END
from numasim.engine.reference.timeline import PUT, SEG_END, WAKE
from numasim.engine.reference.worker import Worker
from numasim.parts.unit_factors import MILLION
from numasim.plan.plan import Plan
from numasim.plan.segment_times import AccessTimes
from numasim.strategy.similarity import Objects
from numasim.strategy.steal_plan import Full
from numasim.strategy.sync_places import NO_LOCK
from numasim.workload.graph import FIRST_SHARED, Kind, Op

RUN, SPAWN, CALL, WAIT = (int(op) for op in Op if op < FIRST_SHARED)
TASK, CALLED = int(Kind.TASK), int(Kind.CALL)
PRODUCTION = -1  # on a worker's stack: it creates the items of an implicit range


class Execution(Synchronisation):
    """What a worker does with the tasks on its stack. A layer above says how it finds the next one."""

    def __init__(self, plan: Plan, trace: Trace, keep_log: bool) -> None:
        super().__init__(plan, trace, keep_log)
        self.objects = ObjectMap(plan, self.pages) if plan.steal.looks_at_data else None
        self.access_times = AccessTimes(plan)
        self.outstanding = 0  # tasks of the phase that have not finished
        self.phase_span_ps = 0
        self.phase_begins = False  # not all workers know yet what they have been given
        self.blocked: dict[int, int] = {}  # task in a blocking join -> its worker
        self.callbacks |= {SEG_END: [self._on_segment_end], PUT: [self._on_put], WAKE: [self._on_wake]}
        joins: dict[str, Callable[[Worker, int, int], bool]] = {
            "help": self._seek_in_join,
            "own": self._seek_in_join,
            "strict": self._seek_in_join,
            "continuation": self._detach,
            "block": self._block,
        }
        self.join = joins[plan.join]
        self.start_item = self._start_item
        self.one_family = len(self.ranges) == 1
        self.log = self.ledger.log
        self.details = self.trace.details.rows
        self.has_dependences = bool(self.program.successors)
        self.joins_cost = bool(self.tables.join_ps or self.tables.line)
        self.resume_ps = plan.costs.resume_ps
        self.puts_take_time = bool(self.tables.push_ps or len(plan.words.queue_lock))
        self.work_first = self.tables.work_first
        self.inlines = self.tables.inlines
        self.rules_ask = len(plan.steal.data) > 0
        self.dispatch_costs = self.tables.line or self.objects is not None
        self.open_accesses = self.times.open_accesses
        self.segment_end = self.callbacks[SEG_END]

    @abstractmethod
    def _seek(self, w: Worker) -> bool:
        """Put a task on the worker's stack, or let it idle and return False."""

    @abstractmethod
    def _produce(self, w: Worker) -> None:
        """Create the next item of the range that the worker produces."""

    @abstractmethod
    def _end_idle(self, w: Worker) -> None:
        """End the worker's idle episode."""

    @abstractmethod
    def _release_held(self, w: Worker) -> None:
        """Let go of the locks that the worker's search holds."""

    @abstractmethod
    def _end_phase_after_instant(self) -> None:
        """The last task of the phase has finished."""

    # ---- ops -------------------------------------------------------------------------------------------------------

    def _proceed(self, w: Worker) -> None:
        """Execute ops until one takes time, or until the worker has nothing to do and looks for work."""
        program, stack, outbox = self.program, w.stack, w.outbox
        rows, place, codes, operands = program.rows, program.at, program.code, program.operand
        while True:
            if outbox:
                self._schedule_overhead(w, PUT, self.tables.push_ps)
                return
            if not stack and not self._seek(w):
                return
            task = stack[-1]
            if task >= rows:
                self.start_item(w, task)
                return
            if task == PRODUCTION:
                self._produce(w)
                continue
            at = place[task]
            code = codes[at]
            if code == RUN:
                self._start_segment(w, task, operands[at])
                return
            if code == END:
                self._finish(w, task)
            elif code == WAIT:
                if not self._wait(w, task, at):
                    return
            elif code >= FIRST_SHARED:
                if not self._use_word(w, task, code, operands[at]):
                    return
            else:
                place[task] = at + 1
                (self._spawn if code == SPAWN else self._call)(w, task, operands[at])

    def _use_word(self, w: Worker, task: int, code: int, word: int) -> bool:
        """An op on a shared word, after paying what is owed. False: the worker waits."""
        if w.owed_ps:
            self._schedule_overhead(w, PUT, 0)
            return False
        self.program.at[task] += 1
        return self.operations[code](w, word)

    def _start_segment(self, w: Worker, task: int, segment: int) -> None:
        if self.coupled:
            self._start_flow(w, task, segment)
            return
        total, local = w.total_ps[segment], w.local_ps[segment]
        if segment in self.open_accesses:
            total = self._touch(w, segment)
        w.ran.append(segment)
        self.program.path_ps[task] += local
        w.segment = segment
        self._work(w, task, total, local)

    def _start_item(self, w: Worker, task: int) -> None:
        family, item = (0, task - self.program.rows) if self.one_family else self.tables.item(task)
        if self.coupled:
            self._start_flow(w, task, 0, family)
            return
        times = self.ranges[family]
        total, local = times.item(w.node, item)
        if times.moves_bytes:
            self.ledger.ran_items[family][w.node].append(item)
        if local > self.phase_span_ps:
            self.phase_span_ps = local
        w.segment = 0
        self._work(w, task, total, local)

    def _work(self, w: Worker, task: int, total_ps: int, local_ps: int) -> None:
        """Start a stretch of work, with the overhead that is owed in front of it."""
        owed = w.owed_ps
        if owed:
            w.owed_ps = 0
            w.overhead_ps += owed
        w.work_local_ps += local_ps
        w.inflation_numa_ps += total_ps - local_ps
        delay = owed + total_ps
        w.began = self.now + owed
        if self.log is not None:
            self.log.append(Executed(task, w.segment, w.id, self.now + owed, self.now + delay))
        w.rank = SEG_END
        w.due = self.now + delay
        w.event.callbacks = self.segment_end
        self.env.schedule(w.event, w.priority[SEG_END], delay)  # type: ignore[arg-type]

    def _worked(self, w: Worker, flow: Flow) -> None:
        if flow.family == GRAPH:
            self.program.path_ps[flow.task] += flow.local_ps
        else:
            self.phase_span_ps = max(self.phase_span_ps, flow.local_ps)

    def _touch(self, w: Worker, segment: int) -> int:
        """Time of a segment that places or moves pages; their faults and migrations are owed overhead."""
        wait = int(self.times.settled_ps[w.node, segment])
        for access in self.times.open_accesses[segment]:
            touch = self.pages.touch(access, w.node)
            traffic, wait_ps = self.access_times.of(access, w.node, touch.bytes_by_home)
            wait += wait_ps
            migrated = int(touch.migrated.sum())
            w.owed_ps += touch.placed * self.plan.costs.fault_ps + migrated * self.plan.costs.migrate_ps
            self.ledger.page_faults += touch.placed
            self.ledger.pages_migrated += migrated
            self.ledger.node_bytes[w.node] += traffic + touch.migrated * self.plan.machine.page_bytes
        return max(int(self.times.compute_ps[segment]), wait)

    def _on_segment_end(self, event: Event) -> None:
        w: Worker = event.actor  # type: ignore[attr-defined]
        self.now = now = w.due
        if self.coupled:
            self._end_flow(w)
        task = w.stack[-1]
        self.details.append(pack(now, SEG_END, w.id, task, w.segment))
        if self.watch:
            self.watch.stretch(w, Watched.WORK, now, task, w.segment, self._kernel(w, task))
        if task < self.program.rows:
            self.program.at[task] += 1
        else:
            w.stack.pop()
            w.tasks += 1
            self.outstanding -= 1
            if not self.outstanding:
                self._end_phase_after_instant()
        self._proceed(w)

    def _kernel(self, w: Worker, task: int) -> int:
        """The kernel that the worker executes."""
        work = self.plan.workload
        if task < self.program.rows:
            return int(work.segment_kernel[w.segment])
        return work.ranges[self.tables.item(task)[0]].kernel

    # ---- the end of a task -----------------------------------------------------------------------------------------

    def _finish(self, w: Worker, task: int) -> None:
        """Bookkeeping of a finished task: its parent's join, the tasks that depend on it."""
        program = self.program
        w.stack.pop()
        path, parent, kind = program.path_ps[task], program.parent[task], program.kind[task]
        if kind == TASK:
            w.tasks += 1
        elif kind == CALLED:
            program.path_ps[parent] = path
            w.stack.append(parent)
            return
        if path > self.phase_span_ps:
            self.phase_span_ps = path
        if parent >= 0:
            if self.joins_cost:
                w.owed_ps += self.tables.join_ps + (w.line_ps[program.spawner[task]] if self.tables.line else 0)
            if path > program.joined_ps[parent]:
                program.joined_ps[parent] = path
            left = program.pending[parent] = program.pending[parent] - 1
            if not left and program.waiting[parent]:
                program.waiting[parent] = 0
                self._resume(w, parent)
        if self.has_dependences and task in program.successors:
            self._release(w, task, path)
        self.outstanding -= 1
        if not self.outstanding:
            self._end_phase_after_instant()

    def _resume(self, w: Worker, parent: int) -> None:
        """The last child has finished: go on with the parent here, or wake the worker that is blocked in it."""
        if self.plan.join == "block":
            sleeper = self.workers[self.blocked.pop(parent)]
            sleeper.waiting = False
            wake_ps = self.tables.wake_ps[sleeper.node != w.node]
            self._schedule(sleeper, WAKE, max(wake_ps, sleeper.due - self.now))
            return
        program = self.program
        if program.joined_ps[parent] > program.path_ps[parent]:
            program.path_ps[parent] = program.joined_ps[parent]
        w.owed_ps += self.resume_ps
        w.stack.append(parent)

    def _release(self, w: Worker, task: int, path_ps: int) -> None:
        """Put the spawned successors whose last predecessor this was."""
        program = self.program
        for s in program.successors[task]:
            program.path_ps[s] = max(program.path_ps[s], path_ps)
            program.held[s] -= 1
            if program.spawned[s] and not program.held[s]:
                self._offer(w, s)

    # ---- spawning and placing --------------------------------------------------------------------------------------

    def _spawn(self, w: Worker, task: int, child: int) -> None:
        program = self.program
        program.pending[task] += 1
        self.outstanding += 1
        program.spawner[child] = w.id
        if program.path_ps[task] > program.path_ps[child]:
            program.path_ps[child] = program.path_ps[task]
        if self.has_dependences:
            program.spawned[child] = 1
            if program.held[child]:
                return
        if self.inlines and self._must_inline(w):
            w.stack.append(child)
        elif self.work_first:
            w.stack[-1] = child
            self._offer(w, task)
        elif self.puts_take_time:
            w.outbox.append(child)
        else:
            self._put(w, child)

    def _call(self, w: Worker, task: int, callee: int) -> None:
        """An inline call: the caller is off the stack until the callee's end puts it back, wherever that is."""
        self.program.path_ps[callee] = self.program.path_ps[task]
        w.stack[-1] = callee

    def _must_inline(self, w: Worker) -> bool:
        """Whether spawns are executed at once: from a full own queue on, until it has fallen below the resume fill."""
        q = w.own
        if q is None or self.tables.full[q] != Full.INLINE:
            return False
        length, capacity = self.queues.length[q], self.queues.capacity[q]
        if length >= capacity:
            self.tables.overflowed[q] = True
        elif length * MILLION < capacity * self.plan.inline_resume_ppm:
            self.tables.overflowed[q] = False
        return self.tables.overflowed[q]

    def _offer(self, w: Worker, task: int) -> None:
        """Put a task into a queue: at once, or where that takes time, as the worker's next step."""
        if self.puts_take_time:
            w.outbox.append(task)
        else:
            self._put(w, task)

    def _on_put(self, event: Event) -> None:
        w: Worker = event.actor  # type: ignore[attr-defined]
        self.now = w.due
        if self.watch:
            self.watch.overhead(w, self.now)
        if w.held:  # what a search has found is paid for
            self._release_held(w)
        elif w.outbox and not self._put_next(w):
            return
        self._proceed(w)

    def _put_next(self, w: Worker) -> bool:
        """Put the next task of the outbox into a queue; False: the worker waits for the queue's lock."""
        q = self._choose(w, w.outbox[0])
        lock = NO_LOCK if q < 0 or q == w.own else self.tables.queue_lock[q]
        if lock == NO_LOCK:
            self._put_into(w, q, w.outbox.popleft())
            return True
        self._request(lock, w.id, lambda actor: self._put_locked(self.workers[actor], q, lock))
        return False

    def _put_locked(self, w: Worker, q: int, lock: int) -> None:
        """The lock of a queue is the worker's: put the task there, or elsewhere if it has become full meanwhile."""
        full = self.queues.length[q] >= self.queues.capacity[q]
        if not full:
            self._put_into(w, q, w.outbox.popleft())
        self._release_lock(lock, w.id)
        if not full or self._put_next(w):
            self._proceed(w)

    def _put(self, w: Worker, task: int) -> None:
        self._put_into(w, self._choose(w, task), task)

    def _choose(self, w: Worker, task: int) -> int:
        """The queue for a new task; negative where every queue that the dispatch rules name is full."""
        if w.boundless_own is not None:
            return w.boundless_own
        q = self._place(w.id, task)
        if self.dispatch_costs:
            w.owed_ps += self._dispatch_ps(w, q)
        return q

    def _put_into(self, w: Worker, q: int, task: int) -> None:
        if q < 0:
            w.stack.append(task)
        else:
            self.queues.push(q, task)
            self.details.append(pack(self.now, PUT, w.id, task, q))

    def _place(self, position: int, task: int) -> int:
        """The queue that the dispatch rules find for a task; negative where every one that they name is full."""
        index, count = self.tables.index_and_count(task)
        about = self._about(task) if self.rules_ask else ()
        return self.prober.place(position, self.queues, index, count, *about)

    def _about(self, task: int) -> tuple[Sequence[Objects], bool]:
        """(the task's objects, if dispatch asks where they are; whether it waits for no other task)."""
        if task >= self.program.rows:
            return self.objects.of_item(*self.tables.item(task)) if self.objects else (), True
        return self.objects.of_task(task) if self.objects else (), not self.program.predecessors[task]

    def _dispatch_ps(self, w: Worker, q: int) -> int:
        """What it took the worker to decide on queue ``q``, and to move its cache line here where it is not its own."""
        locate_ps = self.plan.costs.locate_ps if self.prober.looked else 0
        elsewhere = self.tables.line and q >= 0 and q != w.own
        return locate_ps + (w.line_ps[self.tables.owner[q]] if elsewhere else 0)

    # ---- joins -----------------------------------------------------------------------------------------------------

    def _wait(self, w: Worker, task: int, at: int) -> bool:
        """WAIT: go on where every child has finished, else what the runtime's join does. False: nothing to run now."""
        program = self.program
        if program.pending[task]:
            return self.join(w, task, at)
        if w.idle:
            self._end_idle(w)
        program.at[task] = at + 1
        if program.joined_ps[task] > program.path_ps[task]:
            program.path_ps[task] = program.joined_ps[task]
        w.owed_ps += self.plan.costs.wait_ps
        return True

    def _seek_in_join(self, w: Worker, task: int, at: int) -> bool:
        """Joins `help`, `own` and `strict`: other tasks run nested on the stack until the children have finished."""
        return self._seek(w)

    def _detach(self, w: Worker, task: int, at: int) -> bool:
        """Join `continuation`: the task leaves the worker; its last child's worker goes on with it."""
        self.program.at[task] = at + 1
        self.program.waiting[task] = 1
        w.stack.pop()
        return True

    def _block(self, w: Worker, task: int, at: int) -> bool:
        """Join `block`: the worker pays what it owes and sleeps until the last child has finished."""
        self.program.waiting[task] = 1
        self.blocked[task] = w.id
        w.waiting = True
        w.due = w.began = self.now + w.owed_ps
        w.overhead_ps += w.owed_ps
        w.parked_ps -= w.due
        w.owed_ps = 0
        w.rests = True
        self._settle_later()
        return False

    def _on_wake(self, event: Event) -> None:
        w: Worker = event.actor  # type: ignore[attr-defined]
        self.now = w.due
        w.parked_ps += self.now
        w.rests = False
        self._settle_later()
        if self.watch:
            self.watch.stretch(w, Watched.PARKED, self.now)
        self._record_step(WAKE, w.id, w.stack[-1], 0)
        self._proceed(w)
