"""Transactions: attempts that open objects, commit, or abort and begin again (model 4.11).

A transaction is the part of a task between its ops BEGIN and COMMIT; an attempt is one execution of it. A memory is a
set of objects; each op that opens an object (LOAD to read it, STORE to write it) draws the object at random. In between
a worker only executes segments. An abort therefore restores the times that the worker had counted when the attempt
began, and takes the worker back to the op behind BEGIN.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from numasim.draws import DrawClass, base, below, draw, turn_seed
from numasim.engine.reference.actors import Worker
from numasim.engine.reference.clock import ABORT, PUT
from numasim.engine.reference.ledger import Held
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.run_state import Component, RunState
from numasim.plan.plan import MIN_STEP_PS, Plan
from numasim.schema.enumerations import TIMES
from numasim.workload.graph import Op
from numasim.workload.sync_parameters import Role

# ---- The writers and versions of the objects of all memories (model 4.11) --------------------------------------------
#
# Objects are numbered consecutively over all memories, in the order of the memories.


@dataclass(slots=True)
class Object:
    """An object of a memory. ``writer`` is the worker whose present attempt has opened the object to write it.
    ``version`` counts the commits that wrote the object, and ``last`` is the worker of the last one. ``conflicts``
    counts the attempts that aborted at the object.
    """

    writer: int | None = None
    last: int | None = None
    version: int = 0
    conflicts: int = 0


class ObjectOwners:
    """The objects of all memories, and the draws among them."""

    def __init__(self, plan: Plan) -> None:
        words = plan.words
        self._count = [
            parties if role == Role.OBJECTS else 0
            for role, parties in zip(words.role.tolist(), words.parties.tolist(), strict=True)
        ]
        self._first = [sum(self._count[:word]) for word in range(len(words))]
        self._weights = [weights.tolist() for weights in words.weights]
        self.objects = [Object() for _ in range(sum(self._count))]

    def drawn(self, memory: int, number: int) -> int:
        """Return the number of the object of ``memory`` that a random number picks, by the objects' weights."""
        sums = self._weights[memory]
        place = bisect_right(sums, below(number, sums[-1])) if sums else below(number, self._count[memory])
        return self._first[memory] + place

    def other_writer(self, number: int, worker: int) -> int | None:
        """Return the worker, other than ``worker``, that writes an object; None if nobody else writes."""
        writer = self.objects[number].writer
        return None if writer == worker else writer


@dataclass(slots=True)
class Read:
    """An object that an attempt has read; ``version`` and ``since_ps`` are its version and the time at the reading."""

    number: int
    version: int
    since_ps: int


@dataclass(slots=True)
class Attempt:
    """A worker's present attempt at a transaction, with the state to which an abort goes back."""

    at: int  # index of the op behind BEGIN
    path_ps: int  # the task's longest chain of work up to there
    number: int = 0  # aborted attempts at this transaction before
    began_ps: int = 0
    times_ps: tuple[int, ...] = ()  # the worker's counters named in TIMES when the attempt began
    reads: list[Read] = field(default_factory=list)
    writes: dict[int, int] = field(default_factory=dict)  # {object opened to write it: time of the opening}


class Transactions(Component):
    """Begins, commits and aborts attempts; ``operations`` are the ops of transactions by their code: each is called
    with a worker and the number of a memory, and returns False if the worker's attempt aborts.
    """

    def __init__(self, run: RunState, memory: MemorySystem) -> None:
        super().__init__(run)
        self._seed = self._turn_seed = run.seed
        self._node = run.plan.workers.node.tolist()
        self._helpers = memory.helpers
        self._owners = ObjectOwners(run.plan)
        self._attempts: dict[int, Attempt] = {}  # {worker: its present attempt}
        self.operations: dict[int, Callable[[Worker, int], bool]] = {
            Op.BEGIN: self._begin,
            Op.LOAD: partial(self._open, writes=False),
            Op.STORE: partial(self._open, writes=True),
            Op.COMMIT: self._commit,
        }

    def object_conflicts(self) -> list[int]:
        """Return [objects] how many attempts aborted at each object."""
        return [each.conflicts for each in self._owners.objects]

    def start_turn(self, turn: int) -> None:
        """Begin run number ``turn`` (from zero) of a phase, with new draws of objects."""
        self._turn_seed = turn_seed(self._seed, turn)

    # ---- ops -------------------------------------------------------------------------------------------------------

    def _begin(self, w: Worker, memory: int) -> bool:
        task = w.stack[-1]
        attempt = self._attempts[w.id] = Attempt(self._program.at[task], self._program.path_ps[task])
        self._start(w, attempt, self._clock.now)
        return True

    def _open(self, w: Worker, memory: int, writes: bool) -> bool:
        attempt = self._attempts[w.id]
        number = self._drawn(w, attempt, memory)
        other = self._owners.other_writer(number, w.id)
        if other is not None:
            return self._abort(w, memory, number, other)
        if writes:
            attempt.writes.setdefault(number, self._clock.now)
            self._owners.objects[number].writer = w.id
        else:
            attempt.reads.append(Read(number, self._owners.objects[number].version, self._clock.now))
        return True

    def _commit(self, w: Worker, memory: int) -> bool:
        attempt = self._attempts[w.id]
        for read in attempt.reads:
            one = self._owners.objects[read.number]  # conflict: another worker has written it since, or writes it now
            other = one.last if one.version != read.version else self._owners.other_writer(read.number, w.id)
            if other is not None:
                return self._abort(w, memory, read.number, other)
        for number in attempt.writes:
            self._owners.objects[number].version += 1
            self._owners.objects[number].last = w.id
        self._log(w, attempt)
        self._close(attempt)
        del self._attempts[w.id]
        w.commits += 1
        return True

    def _drawn(self, w: Worker, attempt: Attempt, memory: int) -> int:
        """Return the number of the object of ``memory`` that the worker's present op opens."""
        task = w.stack[-1]
        op = self._program.at[task] - 1 - self._program.start[task]
        stream = base(self._turn_seed, DrawClass.CONFLICT, task)
        number = 0 if self._plan.words.same[memory] else attempt.number
        return self._owners.drawn(memory, draw(stream, number << 32 | op))

    # ---- attempts --------------------------------------------------------------------------------------------------

    def _start(self, w: Worker, attempt: Attempt, began_ps: int) -> None:
        attempt.began_ps = began_ps
        attempt.times_ps = tuple(getattr(w, name) for name in TIMES)

    def _close(self, attempt: Attempt) -> None:
        for number in attempt.writes:
            self._owners.objects[number].writer = None
        attempt.writes.clear()
        attempt.reads.clear()

    def _log(self, w: Worker, attempt: Attempt) -> None:
        held, words, now = self._recorder.ledger.held, len(self._plan.words), self._clock.now
        if held is not None:
            held += [Held(-1 - read.number, w.id, read.since_ps, now) for read in attempt.reads]
            held += [Held(words + number, w.id, since_ps, now) for number, since_ps in attempt.writes.items()]

    def _abort(self, w: Worker, memory: int, number: int, other: int) -> bool:
        """Abort the attempt, which met worker ``other`` at object ``number``, and begin the next one; return False."""
        attempt, task = self._attempts[w.id], w.stack[-1]
        self._recorder.detail(ABORT, w.id, task, number)
        self._owners.objects[number].conflicts += 1
        self._recorder.ledger.node_conflicts[w.node][self._node[other]] += 1
        self._close(attempt)
        for name, before_ps in zip(TIMES, attempt.times_ps, strict=True):
            setattr(w, name, before_ps)
        w.wasted_ps += self._clock.now - attempt.began_ps
        w.aborts += 1
        self._program.at[task], self._program.path_ps[task] = attempt.at, attempt.path_ps
        restart_ps = self._helpers.restart_ps(w) if self._helpers else 0
        self._clock.schedule_overhead(w, PUT, max(MIN_STEP_PS, int(self._plan.words.undo_ps[memory]) + restart_ps))
        attempt.number += 1
        self._start(w, attempt, w.due)
        return False
