"""Workers that use shared words on the runtime's virtual clock: straight lines of ops, one for each worker.

What a worker does beside the words is as simple as can be, so that all that differs from the reference engine lies in
the runtime's words.
"""

from __future__ import annotations

from ctypes import byref, c_int64, c_void_p
from dataclasses import dataclass, field

import numpy as np
from parts_library import (
    Clock,
    Event,
    Fire,
    Granted,
    Listener,
    Opened,
    PlanFile,
    Released,
    Report,
    Woken,
    library,
    transfers_of,
)

from numasim.engine.observe.trace_hash import Rank
from numasim.plan.plan import Plan
from numasim.workload.graph import FIRST_SHARED, Op

Record = tuple[int, int, int, int, int]  # time, rank, actor, first, second


@dataclass
class Line:
    """A worker's program, where it stands in it, and what it has counted."""

    worker: int
    ops: list[tuple[int, int]]  # RUN with its time, or an op with its word
    event: Event
    at: int = 0
    owed_ps: int = 0
    overhead_ps: int = 0
    idle_barrier_ps: int = 0
    parked_ps: int = 0
    sleeps: bool = False
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
        self.transfers, self._kept = transfers_of(self.plan, self.file.fields)
        self.clock = Clock()
        workers = self.plan.workers.workers
        assert self.library.ns_clock_create(byref(self.clock), workers + 1) == 0
        self.words = c_void_p()
        self.listener = Listener(None, Released(self._released), Opened(self._opened), Woken(self._woken))
        made = self.library.ns_words_create(
            byref(self.words), byref(self.file.reader), byref(self.transfers), byref(self.clock), self.listener
        )
        assert made == 0, self.file.problem
        self.then, self.done = Granted(self._granted), Granted(self._served)
        self.lines = [Line(w, ops, Event(actor=w)) for w, ops in enumerate(_programs(self.plan))]
        for line in self.lines:
            line.event.fire = Fire(lambda _event, line=line: self._on_event(line))

    def run(self) -> None:
        """Let all workers come as far as they can."""
        for line in self.lines:
            self._proceed(line)
        while self.library.ns_clock_turn(byref(self.clock)):
            pass

    @property
    def left(self) -> list[int]:
        """The workers that wait for what never comes."""
        return [line.worker for line in self.lines if line.sleeps or line.at < len(line.ops)]

    def counts(self) -> list[list[int]]:
        """[words][5] what the words have counted."""
        report, count = Report(), int(self.library.ns_words_count(self.words))
        assert self.library.ns_report_create(byref(report), 1, 1, count) == 0
        self.library.ns_words_report(self.words, byref(report))
        found = np.ctypeslib.as_array(report.words, (count, 5)).tolist()
        self.library.ns_report_destroy(byref(report))
        return found  # type: ignore[no-any-return]

    def close(self) -> None:
        """Free everything."""
        self.library.ns_words_destroy(self.words)
        self.library.ns_clock_destroy(byref(self.clock))
        self.file.close()

    def _schedule(self, line: Line, rank: Rank, delay_ps: int) -> None:
        self.library.ns_clock_schedule(byref(self.clock), byref(line.event), int(rank), delay_ps)

    def _record(self, rank: Rank, actor: int, first: int, second: int) -> None:
        self.records.append((self.clock.now_ps, int(rank), actor, first, second))

    def _on_event(self, line: Line) -> None:
        rank = line.event.rank
        if rank == Rank.SEG_END:
            self._record(Rank.SEG_END, line.worker, line.worker, self._segment(line))
            line.at += 1
        elif rank == Rank.WAKE:
            if not line.leaves:
                line.parked_ps += self.clock.now_ps
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
        """An op on a shared word; whether the worker goes on."""
        words, worker = self.words, line.worker
        if op in (Op.LOCK, Op.ATOMIC):
            self.library.ns_words_request(words, word, worker, self.then if op == Op.LOCK else self.done, None)
            line.sleeps = True
            return False
        if op == Op.UNLOCK:
            self.library.ns_words_release(words, word, worker)
            return True
        if op == Op.BARRIER:
            line.idle_barrier_ps -= self.clock.now_ps
            line.sleeps = line.leaves = True
            self.library.ns_words_arrive(words, word, worker)
            return False
        if op == Op.AWAIT:
            owed = c_int64()
            passed = self.library.ns_words_await(words, word, worker, byref(owed))
            line.owed_ps += owed.value
            if not passed:
                line.parked_ps -= self.clock.now_ps
                line.sleeps = True
            return bool(passed)
        permits = 1 if op == Op.SIGNAL else int(self.plan.words.parties[word])
        line.owed_ps += self.library.ns_words_signal(words, word, worker, permits)
        return True

    def _granted(self, _context: object, actor: int, word: int, since_ps: int) -> None:
        line = self.lines[actor]
        line.sleeps = False
        line.overhead_ps += self.clock.now_ps - since_ps
        self._record(Rank.GRANT, word, word, actor)
        self._proceed(line)

    def _served(self, _context: object, actor: int, word: int, since_ps: int) -> None:
        line = self.lines[actor]
        line.sleeps = False
        line.overhead_ps += self.clock.now_ps - since_ps
        self._record(Rank.GRANT, word, word, actor)
        self.library.ns_words_release(self.words, word, actor)
        self._proceed(line)

    def _released(self, _context: object, actor: int, _word: int, leave_ps: int) -> None:
        line = self.lines[actor]
        line.idle_barrier_ps += leave_ps
        self._schedule(line, Rank.WAKE, leave_ps - self.clock.now_ps)

    def _opened(self, _context: object, word: int, episode: int) -> None:
        self._record(Rank.RELEASE, 1 + word, episode, 0)

    def _woken(self, _context: object, actor: int, delay_ps: int) -> None:
        self._schedule(self.lines[actor], Rank.WAKE, delay_ps)


def _programs(plan: Plan) -> list[list[tuple[int, int]]]:
    """[bodies] the ops of each body."""
    work = plan.workload
    ops = list(zip(work.op_code.tolist(), work.op_arg.tolist(), strict=True))
    times = work.segment_compute_ps.tolist()
    assert all(code == Op.RUN or code >= FIRST_SHARED for code, _ in ops)
    steps = [(code, times[argument] if code == Op.RUN else argument) for code, argument in ops]
    return [steps[a:b] for a, b in zip(work.op_ptr[:-1].tolist(), work.op_ptr[1:].tolist(), strict=True)]
