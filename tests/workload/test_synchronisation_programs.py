"""The programs that synchronise: `spinlock` (thesis Table 6.2) and `syncbench` (thesis Table 6.4)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, get_args

import pytest
from workload_setup import make, program

from numasim.api import run
from numasim.errors import InputError
from numasim.workload.families.syncbench import SyncbenchParameters
from numasim.workload.graph import Deal, Kind, Op
from numasim.workload.sync_parameters import Role

BASE = {"machine": "xeon-e5-2620-2s", "seed": 1}
CONSTRUCTS = get_args(SyncbenchParameters.model_fields["kind"].annotation)
ROUNDS = 24 * 20


def counters(**spec: Any) -> dict[str, Any]:
    """Return the row of a run, simulated once for all tests."""
    return row_of(json.dumps(spec))


@cache
def row_of(spec: str) -> dict[str, Any]:
    return run({**BASE, **json.loads(spec)}, check=True).row()


def bench(construct: str, rounds: int = ROUNDS, construct_ns: float = 0) -> dict[str, Any]:
    return {"name": "syncbench", "construct": construct, "repetitions": rounds, "construct_ns": construct_ns}


def overhead_us(
    construct: str,
    strategy: str | dict[str, Any],
    workers: int = 24,
    rounds: int = ROUNDS,
    construct_ns: float = 0,
    plain: bool = False,
) -> float:
    """Return the overhead of one construct, as syncbench prints it; threads are equally fast on the plain machine."""
    work = bench(construct, rounds, construct_ns)
    facts = make(**work, threads=workers).facts
    model = {"model": {"smt": "none", "clock": "fixed"}} if plain else {}
    row = counters(workload=work, strategy=strategy, workers=workers, **model)
    return (row["makespan_ps"] - facts["reference_ps"]) / facts["constructs"] / 1e6  # type: ignore[no-any-return]


def test_a_thread_of_spinlock() -> None:
    work = make("spinlock", threads=3, acquisitions=2, critical_ns=10, think_ns=5)
    section = [Op.RUN, Op.LOCK, Op.RUN, Op.UNLOCK]
    assert [[op for op, _ in program(work, thread)] for thread in range(3)] == [section * 2] * 3
    assert work.segment_compute_ps.tolist() == [5_000, 10_000] * 6
    assert (work.kind == Kind.IMPLICIT).all()
    assert work.phases[0].deal == Deal.CYCLIC
    assert [Op.RUN, *program(make("spinlock", acquisitions=1), 0)[0][:1]] == [Op.RUN, Op.LOCK]  # no thinking


@pytest.mark.parametrize(("mapping", "access_ns"), [("contiguous", 15.435), ("numa-even-cores-first", 38.428)])
def test_spinlock_gives_table_6_2(mapping: str, access_ns: float) -> None:
    """The mean time from release to acquisition of two threads on one socket, and of two on different sockets."""
    strategy = {"like": "randomized", "mapping": mapping, "locks": {"kind": "mcs"}}
    rounds = 5000
    row = counters(workload={"name": "spinlock", "acquisitions": rounds}, strategy=strategy, workers=2)
    first = 77.3  # the first access goes to memory
    assert row["makespan_ps"] == round((first + (2 * rounds - 1) * access_ns) * 1000)
    assert row["lock_handoffs_local"] + row["lock_handoffs_remote"] == 2 * rounds - 1


def test_threads_default_to_the_workers_of_the_run() -> None:
    for workers in (1, 5):
        row = counters(workload={"name": "spinlock", "acquisitions": 7}, strategy="randomized", workers=workers)
        assert row["lock_acquisitions"] == 7 * workers


def test_more_threads_than_workers_are_refused() -> None:
    work = {"name": "syncbench", "construct": "barrier", "threads": 5}
    with pytest.raises(InputError, match="got 5 threads, which wait for each other, but 4 workers; expected 1 to 4"):
        counters(workload=work, strategy="randomized", workers=4)


@pytest.mark.parametrize("construct", CONSTRUCTS)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_construct_ends_with_its_delays_done(construct: str, threads: int) -> None:
    given = {"name": "syncbench", "construct": construct, "repetitions": 10}
    work = make(**given, threads=threads)
    row = counters(workload=given, strategy="randomized", workers=threads)
    assert row["makespan_ps"] >= work.facts["reference_ps"]
    assert row["work_ps"] == work.segment_compute_ps.sum()
    arrivals = (work.op_code == Op.BARRIER).sum()
    parties = next(word.parties for word in work.words if word.role == Role.BARRIER)
    assert arrivals % parties == 0


AWARE = ("parallel", "parallel-for", "barrier", "critical", "lock", "atomic", "reduction")  # the rows of Table 6.4


@pytest.mark.parametrize("construct", AWARE)
def test_affinity_makes_every_construct_of_table_6_4_cheaper(construct: str) -> None:
    assert overhead_us(construct, "affinity-locks") < overhead_us(construct, "oblivious-locks")


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_what_the_runtime_does_for_a_construct_adds_to_its_overhead(construct: str) -> None:
    """Without SMT, turbo and parking, the runtime's work adds its own time, once for each construct."""
    plain, own = (
        overhead_us(construct, {"like": "randomized", "locks": {"kind": "mcs"}}, rounds=48, construct_ns=ns, plain=True)
        for ns in (0, 4000)
    )
    assert own - plain == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize("lines", [0, 3])
@pytest.mark.parametrize(("mapping", "access_ns"), [("contiguous", 15.435), ("numa-even-cores-first", 38.428)])
def test_lines_of_the_runtime_move_with_its_lock(mapping: str, access_ns: float, lines: int) -> None:
    """Lines of the lock, the variable and the runtime move to each new holder; the first holder gets the lines
    from memory.
    """
    strategy = {"like": "randomized", "mapping": mapping, "locks": {"kind": "mcs"}}
    work = {"name": "syncbench", "construct": "atomic", "construct_lines": lines}
    row = counters(workload=work, strategy=strategy, workers=2)
    moved = 2 + lines
    assert row["makespan_ps"] == round((moved * 77.3 + (100 - 1) * moved * access_ns) * 1000)


def test_constructs_without_a_section_write_no_lines_of_the_runtime() -> None:
    plain, lined = (make("syncbench", construct="reduction", threads=3, construct_lines=lines) for lines in (0, 5))
    assert plain.words == lined.words
    assert plain.op_code.tolist() == lined.op_code.tolist()
