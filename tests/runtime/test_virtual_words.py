"""Programs of synchronisation objects in virtual time against the reference engine: the same releases and wakes at the
same times, the same waits, the same counts (model 5).
"""

from __future__ import annotations

from ctypes import byref, c_int64, c_uint32, c_void_p
from pathlib import Path
from random import Random
from typing import Any, get_args

import numpy as np
import pytest
from parts_library import Clock, Listener, PlanFile, Waited, library
from virtual_equality import differences, run_plan

from engine_setup import NS, plan_of, runtime, stealing, toy  # isort: skip
from task_graphs import Task, Use, body, graph, phase  # isort: skip

from numasim.plan.run import Run

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.parts.models.strategy_terms import KINDS_OF_KEY, BarrierName, LockName
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Op
from numasim.workload.sync_parameters import Role, SyncObject

LOCKS, BARRIERS = get_args(LockName), get_args(BarrierName)
TIMES_NS = (0, 0, 1, 20, 20, 70, 300, 9000)
COSTS = ("signal_ns", "futex_ns", "pause_ns", "wake_ns", "wake_remote_ns")
MACHINES = (toy(sockets=1, cores=3), toy(sockets=2, cores=4), toy(sockets=3, cores=2, nodes=2))
NS_ERROR_FIELD = -4


def random_plan(chance: Random, kind: str, barrier: str) -> Plan:
    """Bodies, one a worker, that use words of every role in any order; some end in a deadlock."""
    machine = chance.choice(MACHINES)
    workers = chance.randint(1, machine.threads)
    words = [SyncObject("gate", Role.BARRIER, chance.randrange(9), chance.choice((workers, workers, 1, 2)))]
    words += [
        SyncObject("", chance.choice([*Role][:3]), chance.randrange(9), chance.randint(1, workers)) for _ in "abcd"
    ]
    rounds = chance.randint(1, 4)
    bodies = [random_body(chance, words, worker, rounds) for worker in range(workers)]
    locks: dict[str, Any] = {"kind": kind, "barrier": barrier, "home": chance.choice(("owner", "master"))}
    locks |= {"words": chance.choice(("cached", "cached", "memory"))}
    choices = {"batch": (1, 2, 64), "fairness": ("near", "fair"), "spin_ns": (0, 30, 5000)}
    locks |= {key: chance.choice(values) for key, values in choices.items() if kind in KINDS_OF_KEY[key]}
    costs = {name: chance.choice((0, 7, 90, 2500)) for name in COSTS}
    work = graph(*bodies, phases=(phase(*range(workers), deal=Deal.CYCLIC),), words=tuple(words))
    how = runtime(costs=costs, poll_ns=50)
    return plan_of(work, workers, stealing(locks=locks, mapping="contiguous"), how, machine, skip=False)


def random_body(chance: Random, words: list[SyncObject], worker: int, rounds: int) -> Task:
    """Work and words by turns, with a meeting at the end of each round; the last stretch of work pays what is owed."""
    steps: list[Any] = []
    for _ in range(rounds):
        for _ in range(chance.randint(0, 4)):
            steps.append(chance.choice(TIMES_NS) * NS)
            word = chance.randrange(1, len(words))
            steps += uses(chance, words[word].role, word, worker)
        steps += [chance.choice(TIMES_NS) * NS, Use(Op.BARRIER, 0)]
    return body(*steps, 0)


def uses(chance: Random, role: Role, word: int, worker: int) -> list[Any]:
    """One use of a word; worker 0 lets the others pass."""
    if role == Role.LOCK:
        inside = [chance.choice(TIMES_NS) * NS] * chance.randint(0, 2)
        return [Use(Op.LOCK, word), *inside, Use(Op.UNLOCK, word)]
    if role == Role.CONDITION:
        return [Use(Op.AWAIT if worker and chance.random() < 0.3 else chance.choice((Op.SIGNAL, Op.BROADCAST)), word)]
    return [Use(Op.ATOMIC, word)]


def finishes(program: Path, plan: Plan) -> bool:
    """Hold a run of the plan against the reference engine; False where both end in a deadlock."""
    run = Run(plan, seed=1)
    try:
        simulate(plan, run.seed, "reference")
    except DeadlockError:
        with pytest.raises(InputError, match="tasks are left at"):
            run_plan(program, run)
        return False
    assert not list(differences(program, run, "reference"))
    return True


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("kind", LOCKS)
def test_equal_to_the_reference_engine(kind: str, barrier: str, program: Path) -> None:
    chance = Random(f"{kind} {barrier}")
    assert sum(finishes(program, random_plan(chance, kind, barrier)) for _ in range(8)) >= 4


def test_a_run_of_grants_within_a_node_ends_where_nobody_waits(program: Path) -> None:
    def section(start: int, length: int) -> list[Any]:
        return [start * NS, Use(Op.LOCK), length * NS, Use(Op.UNLOCK)]

    bodies = [
        body(*section(0, 1000), *section(4000, 1000)),
        body(*section(10, 5), *section(4400, 5)),  # at its second coming, before the remote one again
        body(0),
        body(0),
        body(*section(5200, 5)),
    ]
    work = graph(*bodies, phases=(phase(*range(5), deal=Deal.CYCLIC),), words=(SyncObject("door", Role.LOCK),))
    locks = {"kind": "cohort", "batch": 1}
    plan = plan_of(work, 5, stealing(locks=locks, mapping="contiguous"), machine=toy(sockets=2), skip=False)
    assert finishes(program, plan)


def test_the_end_of_a_phase_takes_the_locks_of_the_search_from_everybody() -> None:
    door = SyncObject("door", Role.LOCK)
    work = graph(*[body(0)] * 4, phases=(phase(*range(4), deal=Deal.CYCLIC),), words=(door, door))
    file, parts, clock = PlanFile(plan_of(work, 4, stealing(locks={"kind": "mcs"}))), library(), Clock()
    assert parts.ns_clock_create(byref(clock), 4 + 2)
    words = c_void_p(parts.probe_sync(file.handle, byref(clock), 4, Listener()))
    granted: list[tuple[int, int, int]] = []

    def grants() -> list[tuple[int, int, int]]:
        time_ps, rank, word = c_int64(), c_uint32(), c_uint32()
        while parts.probe_next(byref(clock), byref(time_ps), byref(rank), byref(word)):
            waiter = parts.ns_sync_grant(words, word, time_ps)
            granted.append((time_ps.value, word.value, waiter.actor))
        return granted

    for word, actor in ((1, 2), (1, 3), (1, 1), (0, 0)):  # the second is one of the search, the first the program's
        assert parts.ns_sync_request(words, word, actor, 0, 0)
    assert grants() == [(100 * NS, 0, 0), (100 * NS, 1, 2)]
    parts.ns_sync_release(words, 1, 2, 100 * NS)
    told: list[tuple[int, int]] = []
    waited = Waited(lambda _context, actor, since_ps: told.append((actor, since_ps)))
    parts.ns_sync_free_search(words, 1, 100 * NS, waited)
    assert sorted(told) == [(1, 0), (3, 0)]  # the one to which it was promised, and the other
    assert len(grants()) == 2
    assert parts.ns_sync_request(words, 1, 3, 0, 100 * NS)
    assert grants()[2:] == [(120 * NS, 1, 3)]
    parts.ns_sync_destroy(words)
    parts.ns_clock_destroy(byref(clock))
    file.close()


BAD_FIELDS: dict[str, tuple[Any, str]] = {
    "word_role": (np.array([5], np.uint8), "word_role has a value out of bounds: 5 at 0, not from 0 to 4"),
    "word_home": (np.array([1], np.int32), "word_home has a value out of bounds: 1 at 0, not from 0 to 0"),
    "worker_home": (np.array([0], np.int32), "worker_home has 1 entries instead of 2"),
    "word_parties": (np.array([0]), "word_parties has a value out of bounds: 0 at 0, not from 1 to 1048576"),
    "lock_kind": ("spinning", "lock_kind is 'spinning', which is not a name that is known"),
    "barrier_kind": ("", "barrier_kind is '', which is not a name that is known"),
    "lock_batch": (0, "lock_batch is 0, not from 1 to 1152921504606846976"),
    "lock_fair": (2, "lock_fair is 2, not from 0 to 1"),
    "signal_ps": (-1, "signal_ps is -1, not from 0 to 9007199254740992"),
    "spin_ps": ("long", "spin_ps is not there as one integer"),
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_fields_that_cannot_be_are_refused_with_a_sentence(name: str) -> None:
    value, sentence = BAD_FIELDS[name]
    words = (SyncObject("gate", Role.BARRIER, parties=2),)
    plan = plan_of(graph(body(0), body(0), phases=(phase(0, 1, deal=Deal.CYCLIC),), words=words), 2)
    file = PlanFile(plan, {name: value})
    assert (file.error, file.problem) == (NS_ERROR_FIELD, sentence)
    file.close()
