"""Workers that use synchronisation objects on the runtime's virtual clock: straight lines of ops, one for each worker.

What a worker does beside the words is as simple as can be, so that all that differs from the reference engine lies in
the runtime's words.
"""

from __future__ import annotations

from ctypes import byref, c_int64, c_uint32, c_void_p
from dataclasses import dataclass, field

from parts_library import Clock, Listener, PlanFile, Released, Woken, library

from numasim.engine.observe.trace_hash import Rank
from numasim.plan.plan import Plan
from numasim.workload.graph import SHARED, Op

Record = tuple[int, int, int, int, int]  # time, rank, actor, first, second


@dataclass
class Line:
    """A worker's program, where it stands in it, and what it has counted."""

    worker: int
    ops: list[tuple[int, int]]  # RUN with its time, or an op with its word
    at: int = 0
    owed_ps: int = 0
    overhead_ps: int = 0
    idle_barrier_ps: int = 0
    parked_ps: int = 0
    sleeps: bool = False
    serves: bool = False  # its request was for an atomic word, which it lets go of at once
    leaves: bool = False


@dataclass
class Driver:
    """One run of the bodies of a plan's first phase, body i by worker i.

    ``records`` are the grants, releases, wakes and ends of segments, in the order in which they happened.
    """

    plan: Plan
    records: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the words, and a clock."""
        self.library = library()
        self.file = PlanFile(self.plan)
        assert self.file.error == 0, self.file.problem
        self.now_ps, workers = 0, self.plan.workers.workers
        self.words_count = int(self.library.probe_words(self.file.handle))
        self.clock = Clock()
        assert self.library.ns_clock_create(byref(self.clock), workers + self.words_count)
        self.listener = Listener(released=Released(self._released), woken=Woken(self._woken))
        made = self.library.probe_sync(self.file.handle, byref(self.clock), workers, self.listener)
        self.words = c_void_p(made)
        self.lines = [Line(w, ops) for w, ops in enumerate(_programs(self.plan))]

    def run(self) -> None:
        """Let all workers come as far as they can."""
        for line in self.lines:
            self._proceed(line)
        while self.turn():
            pass

    def turn(self) -> bool:
        """Let the first event happen; False where none is pending."""
        time_ps, rank, actor = c_int64(), c_uint32(), c_uint32()
        if not self.library.probe_next(byref(self.clock), byref(time_ps), byref(rank), byref(actor)):
            return False
        self.now_ps = time_ps.value
        if rank.value == Rank.GRANT:
            self._on_grant(actor.value)
        elif rank.value == Rank.RELEASE:
            self._record(Rank.RELEASE, 1 + actor.value, self.library.ns_sync_open(self.words, actor.value), 0)
        else:
            self.library.probe_clear(byref(self.clock), actor.value)
            self._on_event(self.lines[actor.value], Rank(rank.value))
        return True

    @property
    def left(self) -> list[int]:
        """The workers that wait for what never comes."""
        return [line.worker for line in self.lines if line.sleeps or line.at < len(line.ops)]

    def counts(self) -> list[list[int]]:
        """[words][5] what the words have counted."""
        found = (self.library.ns_sync_count(self.words, word) for word in range(self.words_count))
        return [[getattr(row, name) for name, _ in row._fields_] for row in found]

    def close(self) -> None:
        """Free everything."""
        self.library.ns_sync_destroy(self.words)
        self.library.ns_clock_destroy(byref(self.clock))
        self.file.close()

    def _schedule(self, line: Line, rank: Rank, delay_ps: int) -> None:
        due_ps = self.now_ps + delay_ps
        self.library.probe_set(byref(self.clock), line.worker, due_ps, int(rank), line.worker)

    def _record(self, rank: Rank, actor: int, first: int, second: int) -> None:
        self.records.append((self.now_ps, int(rank), actor, first, second))

    def _on_event(self, line: Line, rank: Rank) -> None:
        if rank == Rank.SEG_END:
            self._record(Rank.SEG_END, line.worker, line.worker, self._segment(line))
            line.at += 1
        elif rank == Rank.WAKE:
            if not line.leaves:
                line.parked_ps += self.now_ps
            line.leaves = line.sleeps = False
            self._record(Rank.WAKE, line.worker, line.worker, 0)
        self._proceed(line)

    def _segment(self, line: Line) -> int:
        before = sum(op == Op.RUN for other in self.lines[: line.worker] for op, _ in other.ops)
        return before + sum(op == Op.RUN for op, _ in line.ops[: line.at])

    def _proceed(self, line: Line) -> None:
        while line.at < len(line.ops):
            op, argument = line.ops[line.at]
            if op == Op.RUN or line.owed_ps:
                owed, line.owed_ps = line.owed_ps, 0
                line.overhead_ps += owed
                self._schedule(line, Rank.SEG_END if op == Op.RUN else Rank.PUT, owed + (op == Op.RUN) * argument)
                return
            line.at += 1
            if not self._use(line, op, argument):
                return

    def _use(self, line: Line, op: int, word: int) -> bool:
        """An op on a synchronisation object; whether the worker goes on."""
        words, worker = self.words, line.worker
        if op in (Op.LOCK, Op.ATOMIC):
            line.sleeps, line.serves = True, op == Op.ATOMIC
            assert self.library.ns_sync_request(words, word, worker, 0, self.now_ps)
            return False
        if op == Op.UNLOCK:
            self.library.ns_sync_release(words, word, worker, self.now_ps)
            return True
        if op == Op.BARRIER:
            line.idle_barrier_ps -= self.now_ps
            line.sleeps = line.leaves = True
            self.library.ns_sync_arrive(words, word, worker, self.now_ps)
            return False
        if op == Op.AWAIT:
            owed = c_int64()
            passed = self.library.ns_sync_await(words, word, worker, byref(owed))
            line.owed_ps += owed.value
            if not passed:
                line.parked_ps -= self.now_ps
                line.sleeps = True
            return bool(passed)
        permits = 1 if op == Op.SIGNAL else int(self.plan.words.parties[word])
        line.owed_ps += self.library.ns_sync_signal(words, word, worker, permits)
        return True

    def _on_grant(self, word: int) -> None:
        waiter = self.library.ns_sync_grant(self.words, word, self.now_ps)
        line = self.lines[waiter.actor]
        line.sleeps = False
        line.overhead_ps += self.now_ps - waiter.since_ps
        self._record(Rank.GRANT, word, word, waiter.actor)
        if line.serves:
            self.library.ns_sync_release(self.words, word, waiter.actor, self.now_ps)
        self._proceed(line)

    def _released(self, _context: object, actor: int, leave_ps: int) -> None:
        line = self.lines[actor]
        line.idle_barrier_ps += leave_ps
        self._schedule(line, Rank.WAKE, leave_ps - self.now_ps)

    def _woken(self, _context: object, actor: int, delay_ps: int) -> None:
        self._schedule(self.lines[actor], Rank.WAKE, delay_ps)


def _programs(plan: Plan) -> list[list[tuple[int, int]]]:
    """[bodies] the ops of each body."""
    work = plan.workload
    ops = list(zip(work.op_code.tolist(), work.op_arg.tolist(), strict=True))
    times = work.segment_compute_ps.tolist()
    assert all(code == Op.RUN or code in SHARED for code, _ in ops)
    steps = [(code, times[argument] if code == Op.RUN else argument) for code, argument in ops]
    return [steps[a:b] for a, b in zip(work.op_ptr[:-1].tolist(), work.op_ptr[1:].tolist(), strict=True)]
