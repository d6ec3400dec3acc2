"""Executing tasks: ops, segments, spawns, joins, dependences (model 3.1 to 3.3 and 4.1).

An op is a step of a task: run a segment (work without other ops), spawn, call, wait, ... A range item is a task without
ops. A group is the tasks that a task spawns between its ops GROUP and END_GROUP, with all their descendants. A worker's
stack holds its task in hand, on top of the tasks that wait in joins; its outbox the ready tasks that it has yet to put
into queues; its agenda the tasks that it begins before tasks of its queue. A PUT step is a time of overhead alone.

Interpretations of the model that are decided here:

- A step that costs nothing happens at once, inside the handler that leads to the step.
- Before an op on a synchronisation object a worker pays the overhead that it owes, in a PUT step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from numasim.engine.observe.trace_hash import pack
from numasim.engine.observe.watch import Watched
from numasim.engine.reference.actors import Worker
from numasim.engine.reference.clock import POLL, PUT, SEG_END, WAKE
from numasim.engine.reference.dispatcher import Dispatcher
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.producers import PRODUCTION, Producers
from numasim.engine.reference.resting import Resting
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.queue_lines import QueueLines
from numasim.engine.reference.task_programs import END, NOBODY
from numasim.engine.reference.thief import Thief
from numasim.workload.graph import SHARED, Kind, Op
from numasim.workload.span import NO_GROUP

RUN, SPAWN, CALL, WAIT = (int(op) for op in Op if op < SHARED.start)
GROUP, END_GROUP = int(Op.GROUP), int(Op.END_GROUP)
TASK, CALLED = int(Kind.TASK), int(Kind.CALL)


class Executor(Component):
    """Executes the tasks on the stack of every worker."""

    def __init__(
        self,
        run: RunState,
        memory: MemorySystem,
        operations: Mapping[int, Callable[[Worker, int], bool]],
        dispatcher: Dispatcher,
        making: Producers,
        thief: Thief,
        start_item: Callable[[Worker, int], None],
        lines: QueueLines | None,
        resting: Resting | None,
    ) -> None:
        """``operations`` are the ops on synchronisation objects by their code: each is called with a worker that owes
        no overhead and the id of the object, and returns False if the worker has to wait. ``start_item``, a call of
        the memory system or of a shortcut, starts a range item. ``lines`` are the cache lines of join counters if
        requests for lines queue up (model 5.6), ``resting`` the rules for idle workers if there are any.
        """
        super().__init__(run)
        plan, program = run.plan, run.program
        self._measured_ps = run.measures.ps if run.measures else None
        self.profile_ps = 0  # overhead at the end of each task for the measures of a controller
        self._details = run.recorder.details
        self._owners_announce = run.queues.owners_announce
        self._activity_changed = memory.work.activity_changed
        self._start_segment = memory.work.start_segment
        self._end_work = memory.work.end
        self._operations = operations
        self._dispatcher = dispatcher
        self._offer = dispatcher.offer
        self._seek = thief.seek
        self._end_idle = thief.end_idle
        self._produce = making.produce
        self._start_item = start_item
        self._blocked: dict[int, int] = {}  # {task in a blocking join: the task's worker}
        self._join: Callable[[Worker, int, int], bool] = {
            "help": self._seek_in_join,
            "own": self._seek_in_join,
            "strict": self._seek_in_join,
            "continuation": self._detach,
            "block": self._block,
            "leapfrog": self._seek_in_join,
        }[plan.join]
        self._coupled = memory.coupled
        self._has_dependences = bool(program.successors)
        self._begins_released = plan.release == "begin"
        self._inlines = run.tables.inlines
        self._work_first = run.tables.work_first
        self._work_first_tiers = run.tables.work_first_tiers
        self._counts_live = run.live.count
        self._lines = lines
        self._resting = resting
        self._join_ps = run.tables.join_ps
        self._latency = run.tables.latency
        self._resume_ps = plan.costs.resume_ps
        run.clock.react(SEG_END, self._segment_ended)
        run.clock.react(PUT, self._paid)
        run.clock.react(WAKE, self._woken)
        run.clock.react(POLL, self.proceed)

    # ---- ops -------------------------------------------------------------------------------------------------------

    def proceed(self, w: Worker) -> None:
        """Execute ops until one takes time or waits, or until the worker, without any task, waits for a probe."""
        program, stack, outbox = self._program, w.stack, w.outbox
        rows, place, codes, operands = program.rows, program.at, program.code, program.operand
        while True:
            if outbox or (w.backlog and self._dispatcher.take_up(w)):
                self._clock.schedule_overhead(w, PUT, self._tables.push_ps)
                return
            if not stack and not self._seek(w):
                return
            task = stack[-1]
            if task >= rows:
                self._start_item(w, task)
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
            elif code in (WAIT, END_GROUP):
                if not self._wait(w, task, at):
                    return
            elif code in (SPAWN, CALL):
                place[task] = at + 1
                (self._spawn if code == SPAWN else self._call)(w, task, operands[at])
            elif code == GROUP:
                place[task] = at + 1
                program.gathered_ps[operands[at]] = 0
            elif not self._synchronise(w, task, code, operands[at]):
                return

    def _synchronise(self, w: Worker, task: int, code: int, ident: int) -> bool:
        """Execute an op on a synchronisation object; return False if the worker waits, or first pays what it owes."""
        if w.owed_ps:
            self._clock.schedule_overhead(w, PUT, 0)
            return False
        self._program.at[task] += 1
        return self._operations[code](w, ident)

    def _paid(self, w: Worker) -> None:
        """After a PUT step, put the first task of the outbox, if any, into a queue; then proceed."""
        if self._recorder.watch:
            self._recorder.watch.overhead(w.id, self._clock.now)
        if w.outbox and not self._dispatcher.put_next(w):
            return
        self.proceed(w)

    def _segment_ended(self, w: Worker) -> None:
        if self._coupled:
            self._end_work(w)
        task, now = w.stack[-1], self._clock.now
        self._details.append(pack(now, SEG_END, w.id, task, w.segment))
        if self._recorder.watch:
            self._recorder.watch.stretch(Watched.WORK, w.id, w.began, now, task, w.segment, self._kernel(w, task))
        if task < self._program.rows:
            self._program.at[task] += 1
            if self._measured_ps is not None:
                self._measured_ps[task] += now - w.began
        else:
            w.stack.pop()
            self._count(w)
            self._progress.finish(1)
        self.proceed(w)

    def _kernel(self, w: Worker, task: int) -> int:
        """Return the number of the kernel (code with a name) of the segment or item that the worker executes."""
        work = self._plan.workload
        if task < self._program.rows:
            return int(work.segment_kernel[w.segment])
        return work.ranges[self._tables.item(task)[0]].kernel

    # ---- spawns and the end of a task ------------------------------------------------------------------------------

    def _spawn(self, w: Worker, task: int, child: int) -> None:
        program = self._program
        program.pending[task] += 1
        program.counter_holder[child] = NOBODY
        if program.group[child] != NO_GROUP:
            program.members[program.group[child]] += 1
        self._progress.spawn()
        if self._counts_live:
            self._live.create(child)
        program.spawner[child] = w.id
        if self._spawn_order:
            self._spawn_order.at_bottom(child)
        if program.path_ps[task] > program.path_ps[child]:
            program.path_ps[child] = program.path_ps[task]
        if self._has_dependences:
            program.spawned[child] = 1
            if program.held[child]:
                return
        if self._inlines and self._dispatcher.must_inline(w):
            w.stack.append(child)
            self._begin(w, child)
        elif self._goes_first(w, task, child):
            w.stack[-1] = child
            self._begin(w, child)
            self._offer(w, task)
        else:
            self._offer(w, child)

    def _call(self, w: Worker, task: int, callee: int) -> None:
        """Call a task: it takes the caller's place on the stack; the worker that ends it goes on with the caller."""
        self._program.path_ps[callee] = self._program.path_ps[task]
        self._program.counter_holder[callee] = NOBODY
        w.stack[-1] = callee
        if self._spawn_order:
            self._spawn_order.called(task, callee)
        if self._counts_live:
            self._live.create(callee)
            self._live.begin(w, callee)

    def _goes_first(self, w: Worker, task: int, child: int) -> bool:
        """Tell whether the worker goes on with the child that it spawns, and puts the parent into a queue."""
        if not self._work_first_tiers & self._controls.tiers[child]:
            return False
        return not self._spawn_order or self._spawn_order.goes_first(w, task, child)

    def _begin(self, w: Worker, child: int) -> None:
        if self._counts_live:
            self._live.begin(w, child)

    def _finish(self, w: Worker, task: int) -> None:
        """Count a finished task for joins, dependent tasks and the phase; a called task only resumes its caller."""
        program = self._program
        w.stack.pop()
        if self._counts_live and self._live.finish(task) and self._resting:
            self._resting.subtree_ended(w)
        if self._joins.leaps:
            self._joins.finished(task)
        path, parent, kind = program.path_ps[task], program.parent[task], program.kind[task]
        if kind == TASK:
            self._count(w)
            w.owed_ps += self.profile_ps
        elif kind == CALLED:
            program.path_ps[parent] = path
            w.stack.append(parent)
            return
        if path > self._progress.span_ps:
            self._progress.lengthen(path)
        if parent >= 0:
            self._count_child(w, parent, task)
        if program.group[task] != NO_GROUP:
            self._leave_group(w, program.group[task], path)
        if self._has_dependences and task in program.successors:
            self._release_successors(w, task, path)
        self._progress.finish(1)

    def _count_child(self, w: Worker, parent: int, child: int) -> None:
        """Count the finished ``child`` at its ``parent``; if the parent waits, its last child resumes it."""
        program, path_ps = self._program, self._program.path_ps[child]
        w.owed_ps += self._join_ps
        if self._latency:
            w.owed_ps += w.line_ps[program.spawner[child]]
        elif self._lines:
            self._lines.count_child(w, parent, program.spawner[child])
        if path_ps > program.joined_ps[parent]:
            program.joined_ps[parent] = path_ps
        left = program.pending[parent] = program.pending[parent] - 1
        if not left and program.waiting[parent]:
            program.waiting[parent] = 0
            self._resume(w, parent, program.joined_ps[parent])
        elif not left and self._resting:
            self._resting.join_ended(w, parent)

    def _leave_group(self, w: Worker, group: int, path_ps: int) -> None:
        """Count a finished task of ``group``; if the owner of the group waits, the last task resumes it."""
        program = self._program
        program.gathered_ps[group] = max(program.gathered_ps[group], path_ps)
        program.members[group] -= 1
        if not program.members[group] and program.gathering[group]:
            program.gathering[group] = 0
            self._resume(w, program.owner[group], program.gathered_ps[group])
        elif not program.members[group] and self._resting:
            self._resting.join_ended(w, program.owner[group])

    def _count(self, w: Worker) -> None:
        """Count a task that the worker has executed; it may take back the announcement of its queue (`TaskQueues`)."""
        w.tasks += 1
        if self._owners_announce and w.own is not None:
            self._queues.owner_executed(w.own)

    def _release_successors(self, w: Worker, task: int, path_ps: int) -> None:
        """Release the spawned successors whose last predecessor has finished: into queues, except that, if the runtime
        releases tasks by `begin`, a worker with nothing else in hand begins the first one next.
        """
        program = self._program
        for s in program.successors[task]:
            program.path_ps[s] = max(program.path_ps[s], path_ps)
            program.held[s] -= 1
            if program.held[s] or not program.spawned[s]:
                continue
            if self._begins_released and not w.stack and not w.agenda:
                w.agenda.append(s)
            else:
                w.outbox.append(s)
        self._dispatcher.offer_released(w)

    # ---- joins -----------------------------------------------------------------------------------------------------

    def _wait(self, w: Worker, task: int, at: int) -> bool:
        """Execute WAIT or END_GROUP: pass it if every child, or every task of the group, has finished, else act by the
        runtime's join. Return False if the worker has nothing to run now.
        """
        program = self._program
        if program.awaited(task):
            return self._join(w, task, at)
        if w.idle:
            self._end_idle(w)
        program.at[task] = at + 1
        joined_ps = program.joined_ps[task] if program.code[at] == WAIT else program.gathered_ps[program.operand[at]]
        program.path_ps[task] = max(program.path_ps[task], joined_ps)
        w.owed_ps += self._plan.costs.wait_ps
        w.looked = w.tasks
        if self._lines:
            self._lines.pass_wait(w, task)
        return True

    def _mark_waiting(self, task: int, at: int) -> None:
        """Mark the task as waiting at op ``at``: the worker that ends the last awaited task calls `_resume`."""
        program = self._program
        if program.code[at] == WAIT:
            program.waiting[task] = 1
        else:
            program.gathering[program.operand[at]] = 1

    def _seek_in_join(self, w: Worker, task: int, at: int) -> bool:
        """Joins `help`, `own`, `strict`, `leapfrog`: look for a task to run on top of the waiting one."""
        return self._seek(w)

    def _detach(self, w: Worker, task: int, at: int) -> bool:
        """Join `continuation`: the task leaves the worker; the worker that ends the last awaited task resumes it."""
        self._program.at[task] = at + 1
        self._mark_waiting(task, at)
        w.stack.pop()
        return True

    def _block(self, w: Worker, task: int, at: int) -> bool:
        """Join `block`: the worker pays the overhead owed and sleeps until the last awaited task has finished."""
        self._mark_waiting(task, at)
        self._blocked[task] = w.id
        w.waiting = True
        asleep = w.began = self._clock.now + w.pay()
        self._clock.expect(w, w.rank, asleep)
        w.parked_ps -= asleep
        w.rests = True
        self._activity_changed()
        return False

    def _resume(self, w: Worker, task: int, joined_ps: int) -> None:
        """Resume ``task``, whose last awaited task the worker has finished: put it on this worker's stack, or, in join
        `block`, wake the worker that sleeps in it. ``joined_ps`` is the longest chain of work of the awaited tasks.
        """
        if self._plan.join == "block":
            sleeper = self._workers[self._blocked.pop(task)]
            sleeper.waiting = False
            wake_ps = self._tables.wake_ps[sleeper.node != w.node]
            self._clock.schedule(sleeper, WAKE, max(wake_ps, sleeper.due - self._clock.now))
            return
        program = self._program
        program.path_ps[task] = max(program.path_ps[task], joined_ps)
        w.owed_ps += self._resume_ps
        if self._spawn_order:
            self._spawn_order.at_bottom(task)
        w.stack.append(task)

    def _woken(self, w: Worker) -> None:
        """Let a worker go on that slept in a join `block` or at a condition."""
        w.parked_ps += self._clock.now
        w.rests = False
        self._activity_changed()
        if self._recorder.watch:
            self._recorder.watch.stretch(Watched.PARKED, w.id, w.began, self._clock.now)
        self._recorder.step(WAKE, w.id, w.stack[-1], 0)
        self.proceed(w)
